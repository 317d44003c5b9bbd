//! From two values and what chance may do to them to an interval, and from that to a verdict.

use std::collections::BTreeMap;

use lioprof_model::units::interval;
use lioprof_model::{Better, ChangeVerdict, ComparisonRules, Figure};

use super::chance::{Chance, Uncertain, ratio};
use super::logs::Logs;
use super::noise::{MeanError, real};
use super::ranks::Ranks;

/// A value of one side, with how chance enters into it, or why that is unknown.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) value: Option<f64>,
    pub(super) chance: Result<Chance, String>,
}

impl Measured {
    /// Not judged if there is a reason.
    pub(super) fn unless(self, why: Option<String>) -> Self {
        match why {
            Some(why) => Self { chance: Err(why), ..self },
            None => self,
        }
    }

    /// A value that is what it is.
    pub(super) fn exact(value: Option<f64>) -> Self {
        Self { value, chance: Ok(Chance::Exact) }
    }

    /// A mean whose error is known unless there was too little to tell.
    pub(super) fn mean(value: Option<f64>, error: Option<MeanError>) -> Self {
        let chance = error.map(Chance::Mean);
        Self {
            value,
            chance: chance.ok_or_else(|| "only one request or time bin (--bin makes bins shorter)".to_owned()),
        }
    }

    /// A percentile of times, microseconds.
    pub(super) fn ranks(value_us: u64, ranks: Ranks) -> Self {
        Self { value: Some(real(value_us)), chance: Ok(Chance::Ranks(ranks)) }
    }

    /// Whether there is a limit at both ends.
    pub(super) fn has_both_limits(&self, error: f64) -> bool {
        matches!(&self.chance, Ok(Chance::Ranks(ranks)) if real(ranks.independent) >= ranks.needed(error))
    }

    /// So many events, each of which counts as `each`.
    pub(super) fn events(events: f64, each: f64) -> Self {
        Self { value: Some(events * each), chance: Ok(Chance::Events { events, each }) }
    }
}

/// A figure of both sides that is not judged yet.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) sides: [Measured; 2],
    /// What is better; without, only that it is the same can be said.
    pub(super) better: Option<Better>,
    pub(super) headline: bool,
}

pub(super) type Drafts = BTreeMap<String, Draft>;

impl Draft {
    pub(super) fn new(sides: [Measured; 2], better: Option<Better>) -> Self {
        Self { sides, better, headline: false }
    }

    /// Whether the figure is one of those that chance may make look changed.
    pub(super) fn is_inferred(&self) -> bool {
        self.better.is_some() && self.interval(0.5).is_ok_and(|it| it.low < it.high)
    }

    /// Limits of the logarithm of the change, or why there are none.
    pub(super) fn interval(&self, error: f64) -> Result<Logs, String> {
        let [before, after] = &self.sides;
        let (from, to) = match (before.value, after.value) {
            (None, None) => return Err("there is no figure on either side".to_owned()),
            (None, _) => return Err("there is no figure before".to_owned()),
            (_, None) => return Err("there is no figure after".to_owned()),
            (Some(before), Some(after)) => (before, after),
        };
        let (first, second) = match (&before.chance, &after.chance) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(why), Err(other)) if why == other => return Err(why.clone()),
            (Err(why), _) => return Err(format!("before: {why}")),
            (_, Err(why)) => return Err(format!("after: {why}")),
        };
        Ok(ratio(Uncertain { value: from, chance: first }, Uncertain { value: to, chance: second }, error))
    }

    /// The figure, with an interval that is wrong with this probability.
    pub(super) fn figure(&self, error: f64, rules: &ComparisonRules) -> Figure {
        let [before, after] = &self.sides;
        let change = match (before.value, after.value) {
            (Some(before), Some(after)) if before > 0.0 => Some(after / before - 1.0),
            _ => None,
        };
        let interval = self.interval(error);
        let judged = interval.clone().and_then(|it| self.judge(it, error, rules));
        let (verdict, reason) = match judged {
            Ok(verdict) => (verdict, None),
            Err(reason) => (ChangeVerdict::Unknown, Some(reason)),
        };
        let share = |log: f64| log.exp() - 1.0;
        let noise = change.zip(self.interval(rules.error_rate).ok()).and_then(|(change, it)| noise(change, it, rules));
        let interval = interval.ok();
        Figure {
            before: before.value,
            after: after.value,
            change,
            change_min: interval.map(|it| share(it.low)).filter(|it| it.is_finite()),
            change_max: interval.map(|it| share(it.high)).filter(|it| it.is_finite()),
            noise,
            verdict,
            reason,
            better: self.better,
            headline: self.headline,
        }
    }

    /// The verdict that the interval gives.
    fn judge(&self, it: Logs, error: f64, rules: &ComparisonRules) -> Result<ChangeVerdict, String> {
        // As far up as down, on a scale of ratios.
        let matters = rules.min_change.ln_1p();
        if it.low >= -matters && it.high <= matters {
            // Without a better end there is nothing to infer: it is the same, or it is not.
            if self.better.is_some() || it == Logs::point(0.0) {
                return Ok(ChangeVerdict::Same);
            }
        }
        let better = self.better.ok_or("neither more nor less of it is better")?;
        let verdict = |is_more: bool| {
            if is_more == (better == Better::Higher) { ChangeVerdict::Better } else { ChangeVerdict::Worse }
        };
        if it.low > 0.0 {
            Ok(verdict(true))
        } else if it.high < 0.0 {
            Ok(verdict(false))
        } else {
            Err(self.what_would_tell(it, error, rules))
        }
    }

    /// Why the interval says nothing, and what would.
    fn what_would_tell(&self, it: Logs, error: f64, rules: &ComparisonRules) -> String {
        for (side, name) in self.sides.iter().zip(["before", "after"]) {
            if let Ok(Chance::Ranks(ranks)) = &side.chance
                && real(ranks.independent) < ranks.needed(error)
            {
                let (independent, needed) = (ranks.independent, ranks.needed(error));
                return format!(
                    "too few requests {name}: they count as {independent} independent ones, and {needed} are needed"
                );
            }
        }
        let half = (it.high - it.low) / 2.0;
        if !half.is_finite() {
            return "too few events on one side; a longer run would tell".to_owned();
        }
        // Half as wide needs four times as much.
        let nearest = f64::midpoint(it.low, it.high).abs().max(rules.min_change.ln_1p());
        let times = (half / nearest).powi(2).max(2.0);
        const HOPELESS: f64 = 1000.0;
        let lies = format!("the change lies in {}", interval(Some(it.low.exp() - 1.0), Some(it.high.exp() - 1.0)));
        if times > HOPELESS {
            return format!("{lies}; only several runs of each would tell");
        }
        format!("{lies}; a run about {times:.0} times as long, or several runs, would tell")
    }
}

/// The standard error of a change with these limits at the usual probability of error.
fn noise(change: f64, it: Logs, rules: &ComparisonRules) -> Option<f64> {
    let half = (it.high - it.low) / 2.0;
    (half.is_finite() && change > -1.0).then(|| (1.0 + change) * half / rules.noise_factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(value: f64, relative: f64) -> Measured {
        Measured::mean(Some(value), Some(MeanError { relative, freedom: 1e9 }))
    }

    fn figure(sides: [Measured; 2], better: Option<Better>) -> Figure {
        let rules = ComparisonRules::default();
        Draft::new(sides, better).figure(rules.error_rate, &rules)
    }

    #[test]
    fn the_interval_decides() {
        use ChangeVerdict::{Better as B, Same, Unknown, Worse};
        let (lower, higher) = (Some(Better::Lower), Some(Better::Higher));
        let verdict = |before, after, better| figure([before, after], better).verdict;
        assert_eq!(verdict(mean(100.0, 0.03), mean(90.0, 0.0), lower), B);
        assert_eq!(verdict(mean(100.0, 0.0), mean(90.0, 0.03), higher), Worse);
        assert_eq!(verdict(mean(100.0, 0.0), mean(110.0, 0.03), higher), B);
        // A change of 10 % is neither certain nor excluded.
        assert_eq!(verdict(mean(100.0, 0.06), mean(90.0, 0.0), lower), Unknown);
        // All of the interval lies within 5 %.
        assert_eq!(verdict(mean(100.0, 0.01), mean(101.0, 0.01), lower), Same);
        assert_eq!(verdict(mean(100.0, 0.0), mean(101.0, 0.001), lower), Same);
        // A large change of large noise: +71 % to +1,000 %.
        assert_eq!(verdict(mean(5.3, 0.4), mean(23.1, 0.1), higher), B);
        // From nothing and to nothing.
        assert_eq!(verdict(Measured::exact(Some(0.0)), mean(2.0, 0.1), lower), Worse);
        assert_eq!(verdict(mean(2.0, 0.1), Measured::exact(Some(0.0)), lower), B);
        assert_eq!(verdict(Measured::exact(Some(4.0)), Measured::exact(Some(4.0)), None), Same);
        assert_eq!(verdict(Measured::exact(Some(400.0)), Measured::exact(Some(401.0)), None), Unknown);
    }

    #[test]
    fn the_interval_is_one_of_ratios() {
        let it = figure([mean(5.3, 0.4), mean(23.1, 0.0)], Some(Better::Higher));
        let near = |got: Option<f64>, wanted: f64| (got.unwrap() - wanted).abs() < 0.01;
        // A factor of exp(1.96 * 0.4 * 1.16) to both sides.
        assert!(near(it.change, 3.358) && near(it.change_min, 0.755) && near(it.change_max, 9.82), "{it:?}");
        // The standard error of the change, as of a ratio.
        assert!(near(it.noise, 4.358 * 0.4 * 1.16), "{it:?}");
    }

    #[test]
    fn unknown_says_what_would_tell() {
        let reason = |sides| figure(sides, Some(Better::Lower)).reason.unwrap();
        let wide = reason([mean(100.0, 0.1), mean(100.0, 0.1)]);
        assert_eq!(wide, "the change lies in -24..+32 %; a run about 33 times as long, or several runs, would tell");
        assert_eq!(
            reason([Measured::mean(Some(1.0), None), mean(1.0, 0.1)]),
            "before: only one request or time bin (--bin makes bins shorter)"
        );
        let few = Measured { value: Some(3.0), chance: Ok(Chance::Ranks(Ranks::of_all(&[3.0, 3.0, 3.0], 0.5, 3.0))) };
        assert_eq!(
            reason([mean(1.0, 0.1), few]),
            "too few requests after: they count as 3 independent ones, and 6 are needed"
        );
        let events = |events| Measured::events(events, 1.0);
        assert!(reason([events(0.0), events(2.0)]).contains("too few events"));
    }

    #[test]
    fn unknown_is_no_zero() {
        let one = figure([Measured::exact(None), Measured::exact(Some(3.0))], Some(Better::Lower));
        assert_eq!((one.change, one.noise, one.change_min, one.verdict), (None, None, None, ChangeVerdict::Unknown));
        assert_eq!(one.reason.as_deref(), Some("there is no figure before"));
        let zero = figure([Measured::exact(Some(0.0)), Measured::exact(Some(3.0))], Some(Better::Lower));
        assert_eq!((zero.change, zero.change_min, zero.verdict), (None, None, ChangeVerdict::Worse));
    }
}
