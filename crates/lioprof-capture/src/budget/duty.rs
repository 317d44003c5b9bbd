//! Tracing part of the time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Trace the first `on_s` seconds of every `period_s` seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Duty {
    /// Seconds of tracing.
    pub(crate) on_s: u32,
    /// Seconds from one start to the next.
    pub(crate) period_s: u32,
}

impl Duty {
    /// Share of the time that is traced, 0 to 1.
    pub(crate) fn share(self) -> f64 {
        if self.period_s == 0 { 1.0 } else { (f64::from(self.on_s) / f64::from(self.period_s)).min(1.0) }
    }

    /// Whether to trace, `since` after the cycle began.
    pub(crate) fn is_on(self, since: Duration) -> bool {
        self.phase(since) < Duration::from_secs(self.on_s.into())
    }

    /// Time since the present period began.
    fn phase(self, since: Duration) -> Duration {
        let period = Duration::from_secs(self.period_s.max(1).into());
        let whole = since.as_nanos() / period.as_nanos();
        let begun = u32::try_from(whole).ok().and_then(|n| period.checked_mul(n));
        begun.map_or(Duration::ZERO, |begun| since.saturating_sub(begun))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_of_sixty_seconds() {
        let duty = Duty { on_s: 5, period_s: 60 };
        let ms = Duration::from_millis;
        for (at, on) in [(0, true), (4999, true), (5000, false), (59_999, false)] {
            for period in [0, 1, 7] {
                let since = ms(at + period * 60_000);
                assert_eq!(duty.is_on(since), on, "{since:?}");
            }
        }
        assert!((duty.share() - 1.0 / 12.0).abs() < 1e-12);
    }

    #[test]
    fn always_on() {
        assert!(Duty { on_s: 60, period_s: 60 }.is_on(Duration::from_secs(59)));
    }
}
