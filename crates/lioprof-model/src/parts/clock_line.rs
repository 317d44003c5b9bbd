//! One clock as seen from another.

use serde::{Deserialize, Serialize};

/// Another clock's time as a linear function of this one's: `there = here + offset + drift * (here - at)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockLine {
    /// Time here at which the offset holds, microseconds since the epoch.
    pub at_us: i64,
    /// How far the other clock is ahead at `at_us`, µs.
    pub offset_us: f64,
    /// How much faster the other clock runs; 1e-6 is one microsecond per second.
    pub drift: f64,
}

impl ClockLine {
    /// How far the other clock is ahead when this one shows `here_us`, µs.
    #[expect(clippy::cast_precision_loss, reason = "a log's span has fewer than 52 bits of microseconds")]
    #[must_use]
    pub fn offset_us(&self, here_us: i64) -> f64 {
        self.offset_us + self.drift * (here_us.saturating_sub(self.at_us)) as f64
    }

    /// The other clock's time, to the microsecond.
    #[must_use]
    pub fn there_us(&self, here_us: i64) -> i64 {
        here_us.saturating_add(whole(self.offset_us(here_us)))
    }

    /// This clock as seen from the other one.
    #[must_use]
    pub fn back(&self) -> Self {
        let there_us = self.there_us(self.at_us);
        let drift = -self.drift / (1.0 + self.drift);
        let rounding_us = self.offset_us - whole_us(self.offset_us);
        Self { at_us: there_us, offset_us: -self.offset_us - drift * rounding_us, drift }
    }

    /// This line followed by `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let there_us = self.there_us(self.at_us);
        Self {
            at_us: self.at_us,
            offset_us: self.offset_us + next.offset_us(there_us),
            drift: (1.0 + self.drift) * (1.0 + next.drift) - 1.0,
        }
    }
}

/// Rounds to the microsecond.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "offsets of centuries saturate")]
pub fn whole(us: f64) -> i64 {
    us.round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "it was rounded from a number of this kind")]
fn whole_us(us: f64) -> f64 {
    whole(us) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_here() {
        let line = ClockLine { at_us: 1_795_250_000_000_000, offset_us: -48_312.6, drift: 73e-6 };
        for s in [0, 1, 600, 86_400] {
            let here = line.at_us + s * 1_000_000;
            let back = line.back().there_us(line.there_us(here));
            assert!((back - here).abs() <= 1, "{s}: {}", back - here);
            let same = line.then(&line.back());
            assert!(same.offset_us(here).abs() < 0.01, "{s}: {}", same.offset_us(here));
        }
    }

    #[test]
    fn lines_add_up() {
        let to_b = ClockLine { at_us: 1_000_000, offset_us: 500.0, drift: 1e-4 };
        let to_c = ClockLine { at_us: 2_000_000, offset_us: -200.0, drift: -3e-5 };
        for here in [0, 1_000_000, 3_600_000_000] {
            let step_by_step = to_c.there_us(to_b.there_us(here));
            assert!((to_b.then(&to_c).there_us(here) - step_by_step).abs() <= 1);
        }
    }
}
