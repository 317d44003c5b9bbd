//! Starts a capture while a target is busy.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lioprof_model::CounterSnapshot;
use lioprof_model::counters::Reading;
use lioprof_model::units::real;

use crate::config;

/// Watches the load of the targets.
#[derive(Debug)]
pub(crate) struct Trigger {
    bytes_per_s: Option<f64>,
    rpcs_per_s: Option<f64>,
    stop_after: Duration,
    every: Duration,
    next: Option<Instant>,
    last: Option<(Instant, BTreeMap<String, Reading>)>,
    busy: Option<Instant>,
}

impl Trigger {
    pub(crate) fn new(config: &config::Trigger) -> Self {
        Self {
            bytes_per_s: config.start_mib_per_s.get().map(|mib| real(mib) * 1_048_576.0),
            rpcs_per_s: config.start_rpcs_per_s.get().map(real),
            stop_after: config.stop_after.0,
            every: config.every.0,
            next: None,
            last: None,
            busy: None,
        }
    }

    /// Whether the next look at the load is due.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        let due = self.next.is_none_or(|next| now >= next);
        if due {
            self.next = Some(now + self.every);
        }
        due
    }

    /// Takes the counters; returns whether the load is high enough, or was so less than `stop_after` ago.
    pub(crate) fn wants_capture(&mut self, now: Instant, totals: &CounterSnapshot) -> bool {
        let readings: BTreeMap<String, Reading> =
            totals.targets.iter().map(|(target, reading)| (target.to_string(), *reading)).collect();
        if let Some((then, before)) = &self.last {
            let passed = now.duration_since(*then).as_secs_f64().max(1e-3);
            let busy = readings
                .iter()
                .any(|(target, now)| before.get(target).is_some_and(|before| self.is_busy(before, now, passed)));
            if busy {
                self.busy = Some(now);
            }
        }
        self.last = Some((now, readings));
        self.busy.is_some_and(|busy| now.duration_since(busy) <= self.stop_after)
    }

    fn is_busy(&self, before: &Reading, now: &Reading, passed: f64) -> bool {
        // Counters that were cleared say nothing this time.
        let rate = |get: fn(&Reading) -> u64| real(get(now).saturating_sub(get(before))) / passed;
        let bytes = rate(|reading| reading.rw.read.bytes + reading.rw.write.bytes);
        let rpcs = rate(|reading| reading.rw.read.rpcs + reading.rw.write.rpcs);
        self.bytes_per_s.is_some_and(|limit| bytes > limit) || self.rpcs_per_s.is_some_and(|limit| rpcs > limit)
    }
}

#[cfg(test)]
mod tests {
    use lioprof_model::ReadWrite;
    use lioprof_model::counters::Count;

    use super::*;
    use crate::config::{OrOff, Span};

    fn totals(bytes: u64, rpcs: u64) -> CounterSnapshot {
        let rw = ReadWrite { read: Count { rpcs, bytes }, ..ReadWrite::default() };
        let reading = Reading { rw, ..Reading::default() };
        CounterSnapshot { targets: [("lustre-OST0000".into(), reading)].into(), ..CounterSnapshot::default() }
    }

    #[test]
    fn load_starts_and_quiet_stops() {
        let config = config::Trigger {
            start_mib_per_s: OrOff::Is(100),
            stop_after: Span::from_secs(10),
            every: Span::from_secs(1),
            ..config::Trigger::default()
        };
        let mut trigger = Trigger::new(&config);
        let start = Instant::now();
        let at = |s: u64| start + Duration::from_secs(s);
        assert!(trigger.is_due(at(0)) && !trigger.is_due(at(0)) && trigger.is_due(at(1)));
        assert!(!trigger.wants_capture(at(0), &totals(1 << 40, 0)), "one look is no rate");
        assert!(!trigger.wants_capture(at(1), &totals((1 << 40) + (50 << 20), 9)), "50 MiB/s");
        assert!(trigger.wants_capture(at(2), &totals((1 << 40) + (250 << 20), 9)), "200 MiB/s");
        assert!(trigger.wants_capture(at(12), &totals((1 << 40) + (250 << 20), 9)), "10 s ago");
        assert!(!trigger.wants_capture(at(13), &totals((1 << 40) + (250 << 20), 9)));
        assert!(!trigger.wants_capture(at(14), &totals(0, 0)), "cleared counters are no load");
    }

    #[test]
    fn rpcs_count_without_bytes() {
        let config = config::Trigger { start_rpcs_per_s: OrOff::Is(1000), ..config::Trigger::default() };
        let mut trigger = Trigger::new(&config);
        let start = Instant::now();
        trigger.wants_capture(start, &totals(0, 0));
        assert!(trigger.wants_capture(start + Duration::from_secs(1), &totals(0, 1001)));
    }
}
