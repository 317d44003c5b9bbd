//! Decides when to trace less, and when to trace more again.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use lioprof_model::units::percent;
use serde::{Deserialize, Serialize};

use super::figures::{Figures, Recent, Tick};
use super::ladder::{Ladder, Level};
use super::limits::{Limits, Pace, Resource};

/// Multiple of a limit above which the budget steps down without waiting for the last step to take effect.
const URGENT: f64 = 2.0;
/// A step up must be foreseen to stay below this share of each limit.
const CALM: f64 = 0.8;
/// Rates over less time than this are meaningless.
const LEAST_SHOWN: Duration = Duration::from_secs(1);
/// Memory so far above its limit that the kernel would soon end the daemon: stop at once.
const MEMORY_STOP: f64 = 1.5;

/// Why a step was taken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub(crate) enum Why {
    /// A resource is above its limit.
    Above {
        /// The resource.
        resource: Resource,
        /// Its usage as a multiple of its limit.
        of_limit: f64,
    },
    /// Everything has been well below its limit for a while.
    Calm {
        /// For how long it has been.
        calm_s: f64,
    },
    /// Tracing was stopped long enough to try again.
    Retry {
        /// How long it was stopped.
        stopped_s: f64,
    },
}

/// A step up or down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Transition {
    /// Wall clock, microseconds since the epoch.
    pub(crate) time_us: i64,
    /// Level before.
    pub(crate) from: Level,
    /// Level from now on.
    pub(crate) to: Level,
    /// Reason for the step.
    pub(crate) why: Why,
    /// The figures that the decision is based on.
    pub(crate) figures: Figures,
}

impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}: ", self.from, self.to)?;
        match self.why {
            Why::Above { resource, of_limit } => write!(f, "{resource} at {} of its limit", percent(of_limit, 0)),
            Why::Calm { calm_s } => write!(f, "all figures low for {calm_s:.0} s"),
            Why::Retry { stopped_s } => write!(f, "stopped for {stopped_s:.0} s, trying again"),
        }
    }
}

/// The budget.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// The limits.
    pub(crate) limits: Limits,
    pace: Pace,
    ladder: Ladder,
    at: usize,
    recent: Recent,
    /// CPU share and records per second when they were last known.
    known_rates: (Option<f64>, Option<f64>),
    /// Uptime of the first tick at this level.
    since: Option<Duration>,
    calm_since: Option<Duration>,
    /// Since when each resource has been above its limit.
    above_since: BTreeMap<Resource, Duration>,
    /// Uptime of the last step, if it was a step up.
    last_up: Option<Duration>,
    /// Number of consecutive steps up that proved premature.
    premature: u32,
}

impl Budget {
    /// Begins at the top of the ladder.
    pub(crate) fn new(limits: Limits, pace: Pace, ladder: Ladder) -> Self {
        Self { limits, pace, ladder, ..Self::default() }
    }

    /// The present level.
    pub(crate) fn level(&self) -> Level {
        self.ladder.levels[self.at]
    }

    /// The present figures; rates are `None` for the first seconds after a step.
    pub(crate) fn figures(&self) -> Figures {
        self.recent.figures(self.settle())
    }

    /// The figures for people: rates of the time since the last step, however short, and until there is any those before it. No
    /// step is taken by them.
    pub(crate) fn figures_so_far(&self) -> Figures {
        let so_far = self.recent.figures(LEAST_SHOWN);
        let (cpu_share, records_per_s) = self.known_rates;
        Figures {
            cpu_share: so_far.cpu_share.or(cpu_share),
            records_per_s: so_far.records_per_s.or(records_per_s),
            ..so_far
        }
    }

    /// Takes a measurement. Returns the step to be taken, if any; the caller carries it out.
    pub(crate) fn tick(&mut self, tick: Tick) -> Option<Transition> {
        let now = tick.uptime;
        let since = *self.since.get_or_insert(now);
        self.recent.push(tick, self.settle());
        let age = now.saturating_sub(since);
        let figures = self.figures();
        for (resource, ratio) in figures.ratios(&self.limits) {
            if ratio > 1.0 {
                self.above_since.entry(resource).or_insert(now);
            } else {
                self.above_since.remove(&resource);
            }
        }
        let worst = figures.ratios(&self.limits).map(|(_, ratio)| ratio).fold(0.0, f64::max);

        let step = if self.level() == Level::Stopped {
            self.retry(age, &figures)
        } else if let Some((resource, of_limit)) = self.must_stop(&figures) {
            Some((self.ladder.last(), Why::Above { resource, of_limit }))
        } else if worst > 1.0 {
            self.calm_since = None;
            self.above(now, age, &figures).map(|(resource, of_limit)| (self.at + 1, Why::Above { resource, of_limit }))
        } else {
            self.recovered(now, &figures)
        };
        let (to, why) = step?;
        let from = self.level();
        self.enter(to, tick);
        Some(Transition { time_us: tick.time_us, from, to: self.level(), why, figures })
    }

    /// The resource that is furthest above its limit, of those that have been above it for long enough: one segment that is late once is
    /// no reason to trace less. Rates are averages over that time already.
    fn above(&self, now: Duration, age: Duration, figures: &Figures) -> Option<(Resource, f64)> {
        let ripe = |(resource, ratio): &(Resource, f64)| {
            let wait = if *ratio >= URGENT { self.settle() / 4 } else { self.settle() };
            let since = self.above_since.get(resource).copied().unwrap_or(now);
            let is_average = matches!(resource, Resource::Cpu | Resource::RecordRate);
            *ratio > 1.0 && age >= wait && (is_average || now.saturating_sub(since) >= wait)
        };
        figures.ratios(&self.limits).filter(ripe).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Time that the present level gets before it is judged: long enough for an average, and a whole period of
    /// a duty cycle, whose halves differ.
    fn settle(&self) -> Duration {
        let period = self.level().duty().map_or(0, |duty| duty.period_s);
        self.pace.settle.max(Duration::from_secs(period.into()))
    }

    /// Resources where no smaller step would help in time.
    fn must_stop(&self, figures: &Figures) -> Option<(Resource, f64)> {
        figures.ratios(&self.limits).find(|&(resource, ratio)| match resource {
            Resource::Disk => ratio >= 1.0,
            Resource::ResidentMemory => ratio >= MEMORY_STOP,
            _ => false,
        })
    }

    /// Whether enough time has passed since tracing stopped. What tracing would cost cannot be seen while there is
    /// none, so the smallest level is tried.
    fn retry(&self, age: Duration, figures: &Figures) -> Option<(usize, Why)> {
        let enough = age >= self.patience(self.pace.retry);
        let room = figures.ratios(&self.limits).all(|(_, ratio)| ratio <= CALM);
        (enough && room && self.at > 0).then(|| (self.at - 1, Why::Retry { stopped_s: age.as_secs_f64() }))
    }

    fn recovered(&mut self, now: Duration, figures: &Figures) -> Option<(usize, Why)> {
        let up = self.ladder.levels[self.at.checked_sub(1)?];
        let growth = up.relative_load() / self.level().relative_load();
        let calm = figures.cpu_share.is_some()
            && figures.ratios(&self.limits).all(|(resource, ratio)| {
                // What is on disk does not grow in proportion to the load.
                let growth = if resource == Resource::Disk { 1.0 } else { growth };
                ratio * growth <= CALM
            });
        if !calm {
            self.calm_since = None;
            return None;
        }
        let calm = now.saturating_sub(*self.calm_since.get_or_insert(now));
        (calm >= self.patience(self.pace.recover)).then(|| (self.at - 1, Why::Calm { calm_s: calm.as_secs_f64() }))
    }

    /// `time`, doubled for each premature step up in a row.
    fn patience(&self, time: Duration) -> Duration {
        let factor = 1_u32.checked_shl(self.premature.min(31)).unwrap_or(u32::MAX);
        time.saturating_mul(factor).min(self.pace.recover_max.max(time))
    }

    fn enter(&mut self, to: usize, tick: Tick) {
        let now = tick.uptime;
        // A step up was justified if it held for as long as the calm that preceded it.
        let trial = self.patience(self.pace.recover).max(self.settle() * 2);
        let held = self.last_up.map(|up| now.saturating_sub(up) > trial);
        match (to > self.at, held) {
            (true, Some(false)) => self.premature = (self.premature + 1).min(16),
            (true, Some(true)) => self.premature = 0,
            (false, Some(true)) => self.premature = self.premature.saturating_sub(1),
            _ => {}
        }
        self.last_up = (to < self.at).then_some(now);
        self.at = to.min(self.ladder.last());
        self.since = Some(now);
        self.calm_since = None;
        self.above_since.clear();
        let last = self.figures_so_far();
        self.known_rates = (last.cpu_share, last.records_per_s);
        self.recent.clear();
        self.recent.push(tick, self.settle());
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
