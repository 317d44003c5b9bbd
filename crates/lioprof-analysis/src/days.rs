//! `--from` and `--to` as times of day: of the day on which the logs begin, unless they leave another one.

use lioprof_model::time::{self, DAY_US};
use lioprof_model::units::{micros, seconds};

use crate::config::{Bound, Config};

/// Why there is no time to analyze.
#[derive(Debug, thiserror::Error)]
pub enum IntervalError {
    /// Nothing can end in a time that is over before it begins.
    #[error("--from ({from}) is later than --to ({to}): expected the earlier time first", from = seconds(*from_us), to = seconds(*to_us))]
    Times {
        /// From when on RPCs were to count, microseconds since the epoch.
        from_us: i64,
        /// Until when.
        to_us: i64,
    },
    /// The logs leave more than one moment for a time of day.
    #[error("{name} needs a day with its time, as `{example}`: {why}")]
    Day {
        /// The argument.
        name: &'static str,
        /// One of the moments.
        example: String,
        /// What the logs cover.
        why: String,
    },
}

/// The configuration with moments for times of day.
pub(crate) struct Days {
    pub(crate) config: Config,
    /// The arguments that were times of day, and their moments.
    assumed: Vec<(&'static str, i64)>,
}

impl Days {
    /// Logs that begin at `begin_us`; `None`: no log has a record at its beginning.
    ///
    /// # Errors
    /// If there is no day, or the interval ends before it begins.
    pub(crate) fn new(config: &Config, begin_us: Option<i64>) -> Result<Self, IntervalError> {
        let mut days = Self { config: config.clone(), assumed: Vec::new() };
        let began = |name, us: i64| {
            let why = "no debug log says at its beginning which day it is of".to_owned();
            begin_us.ok_or_else(|| IntervalError::Day {
                name,
                example: time::utc(time::now_us() / DAY_US * DAY_US + us),
                why,
            })
        };
        if let Some(Bound::TimeOfDay(us)) = config.from {
            let begin_us = began("--from", us)?;
            days.config.from = Some(days.assume("--from", begin_us - begin_us.rem_euclid(DAY_US) + us));
        }
        if let Some(Bound::TimeOfDay(us)) = config.to {
            // The first such moment in the interval: logs may go on past midnight.
            let begin_us = match days.config.from {
                Some(Bound::Time(from_us)) => from_us.max(began("--to", us)?),
                _ => began("--to", us)?,
            };
            days.config.to = Some(days.assume("--to", begin_us + (us - begin_us).rem_euclid(DAY_US)));
        }
        if let (Some(Bound::Time(from_us)), Some(Bound::Time(to_us))) = (&days.config.from, &days.config.to)
            && from_us > to_us
        {
            return Err(IntervalError::Times { from_us: *from_us, to_us: *to_us });
        }
        Ok(days)
    }

    fn assume(&mut self, name: &'static str, us: i64) -> Bound {
        self.assumed.push((name, us));
        Bound::Time(us)
    }

    /// Whether the logs, once they are read, leave only one moment for each time of day. `last`: times of their last records, Unix seconds.
    ///
    /// # Errors
    /// If they leave another.
    pub(crate) fn check(&self, last: impl Iterator<Item = f64>) -> Result<(), IntervalError> {
        let Some(last) = last.reduce(f64::max) else { return Ok(()) };
        let last_us = micros(last);
        match self.assumed.iter().find(|(_, us)| us + DAY_US <= last_us) {
            None => Ok(()),
            Some((name, us)) => Err(IntervalError::Day {
                name,
                example: time::utc_short(*us),
                why: format!(
                    "the logs go on until {}, so {} is possible, too",
                    time::utc(last_us),
                    time::utc_short(us + DAY_US)
                ),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `2026-11-20T23:50:00Z`.
    const BEGIN_US: i64 = 1_795_218_600_000_000;
    const MINUTE_US: i64 = 60_000_000;

    fn limits(from: Option<&str>, to: Option<&str>) -> Result<[Option<String>; 2], IntervalError> {
        let bound = |text: Option<&str>| text.and_then(time::time_of_day).map(Bound::TimeOfDay);
        let config = Config { from: bound(from), to: bound(to), ..Config::default() };
        let days = Days::new(&config, Some(BEGIN_US))?;
        days.check([seconds(BEGIN_US), seconds(BEGIN_US + 20 * MINUTE_US)].into_iter())?;
        Ok([days.config.from, days.config.to].map(|bound| match bound {
            Some(Bound::Time(us)) => Some(time::utc(us)),
            _ => None,
        }))
    }

    /// The log is from 23:50 to 00:10.
    #[test]
    fn of_the_day_on_which_the_log_begins_or_the_next() {
        let moment = |text: &str| Some(text.to_owned());
        assert_eq!(
            limits(Some("23:55"), Some("00:05")).unwrap(),
            [moment("2026-11-20T23:55:00Z"), moment("2026-11-21T00:05:00Z")]
        );
        assert_eq!(limits(Some("20:00"), None).unwrap(), [moment("2026-11-20T20:00:00Z"), None]);
        assert_eq!(limits(None, Some("23:55:30")).unwrap(), [None, moment("2026-11-20T23:55:30Z")]);
        let error = limits(Some("00:05"), None).unwrap_err().to_string();
        assert_eq!(
            error,
            "--from needs a day with its time, as `2026-11-20T00:05:00Z`: the logs go on until 2026-11-21T00:10:00Z, so \
             2026-11-21T00:05:00Z is possible, too"
        );
    }

    #[test]
    fn no_log_no_day() {
        let config = Config { from: Some(Bound::TimeOfDay(0)), ..Config::default() };
        let error = Days::new(&config, None).err().unwrap().to_string();
        assert!(error.starts_with("--from needs a day with its time, as `2"), "{error}");
    }
}
