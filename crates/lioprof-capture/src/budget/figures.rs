//! What the daemon measures of itself, and how it compares with the limits.

use std::collections::VecDeque;
use std::time::Duration;

use lioprof_model::units::real;
use serde::{Deserialize, Serialize};

use super::limits::{Limits, Resource};

/// One measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tick {
    /// Monotonic time since the daemon started.
    pub(crate) uptime: Duration,
    /// Wall clock, microseconds since the epoch; only copied into events.
    pub(crate) time_us: i64,
    /// CPU time of this process since it started.
    pub(crate) cpu: Duration,
    /// Resident memory of this process.
    pub(crate) resident_bytes: u64,
    /// Segments that wait to be decoded.
    pub(crate) queued_bytes: u64,
    /// Files that the daemon keeps.
    pub(crate) disk_bytes: u64,
    /// Log records since the start.
    pub(crate) records: u64,
    /// How far decoding is behind the log.
    pub(crate) lag_s: f64,
}

/// A [`Tick`] with rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// CPU seconds per second; `None` until enough time has passed.
    pub(crate) cpu_share: Option<f64>,
    /// Resident memory of this process, bytes.
    pub(crate) resident_bytes: u64,
    /// Segments that wait to be decoded.
    pub(crate) queued_bytes: u64,
    /// Files that the daemon keeps.
    pub(crate) disk_bytes: u64,
    /// Log records per second; `None` until enough time has passed.
    pub(crate) records_per_s: Option<f64>,
    /// How far decoding is behind the log.
    pub(crate) lag_s: f64,
}

/// A share of a limit, as a number at which floating point does no harm.
fn share(used: u64, limit: u64) -> f64 {
    real(used) / real(limit.max(1))
}

fn of_limit(used: f64, limit: f64) -> f64 {
    if limit > 0.0 && used.is_finite() { used / limit } else { 0.0 }
}

impl Figures {
    /// Each resource as a multiple of its limit. A rate that is not known yet is left out.
    pub(super) fn ratios(&self, limits: &Limits) -> impl Iterator<Item = (Resource, f64)> {
        let known = |resource, used: Option<f64>, limit| used.map(|used| (resource, of_limit(used, limit)));
        [
            Some((Resource::Disk, share(self.disk_bytes, limits.disk_bytes))),
            Some((Resource::ResidentMemory, share(self.resident_bytes, limits.resident_bytes))),
            Some((Resource::QueuedSegments, share(self.queued_bytes, limits.queued_bytes))),
            Some((Resource::Lag, of_limit(self.lag_s, limits.lag_s))),
            known(Resource::Cpu, self.cpu_share, limits.cpu_share),
            known(Resource::RecordRate, self.records_per_s, limits.records_per_s),
        ]
        .into_iter()
        .flatten()
    }
}

/// The ticks since the last step, for rates.
#[derive(Debug, Default)]
pub(super) struct Recent {
    ticks: VecDeque<Tick>,
}

impl Recent {
    pub(super) fn clear(&mut self) {
        self.ticks.clear();
    }

    /// Adds a tick and forgets what is not needed for an average over `span`.
    pub(super) fn push(&mut self, tick: Tick, span: Duration) {
        if self.ticks.back().is_some_and(|last| tick.cpu < last.cpu || tick.records < last.records) {
            self.clear();
        }
        self.ticks.push_back(tick);
        while self.ticks.get(1).is_some_and(|second| tick.uptime.saturating_sub(second.uptime) >= span) {
            self.ticks.pop_front();
        }
    }

    /// Figures; rates are averages over at least `span`.
    pub(super) fn figures(&self, span: Duration) -> Figures {
        let (Some(first), Some(last)) = (self.ticks.front(), self.ticks.back()) else { return Figures::default() };
        let passed = last.uptime.saturating_sub(first.uptime);
        let per_s = |amount: f64| (passed >= span && !passed.is_zero()).then(|| amount / passed.as_secs_f64());
        let records = real(last.records.saturating_sub(first.records));
        Figures {
            cpu_share: per_s(last.cpu.saturating_sub(first.cpu).as_secs_f64()),
            resident_bytes: last.resident_bytes,
            queued_bytes: last.queued_bytes,
            disk_bytes: last.disk_bytes,
            records_per_s: per_s(records),
            lag_s: last.lag_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(s: u64, cpu_ms: u64, records: u64) -> Tick {
        Tick { uptime: Duration::from_secs(s), cpu: Duration::from_millis(cpu_ms), records, ..Tick::default() }
    }

    #[test]
    fn rates_need_the_whole_span_and_forget_what_is_older() {
        let span = Duration::from_secs(10);
        let mut recent = Recent::default();
        recent.push(tick(0, 0, 0), span);
        recent.push(tick(5, 5000, 50), span);
        assert_eq!(recent.figures(span).cpu_share, None);
        recent.push(tick(10, 5000, 100), span);
        assert_eq!(recent.figures(span).cpu_share, Some(0.5));
        assert_eq!(recent.figures(span).records_per_s, Some(10.0));
        recent.push(tick(15, 5000, 150), span);
        assert_eq!(recent.figures(span).cpu_share, Some(0.0), "the busy first five seconds are over");
        recent.push(tick(20, 0, 0), span);
        assert_eq!(recent.figures(span).cpu_share, None, "a count that went back begins anew");
    }
}
