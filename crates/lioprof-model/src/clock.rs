//! A clock, read from outside.

use serde::{Deserialize, Serialize};

/// A node's clock as somebody read it who read those of the other nodes, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReading {
    /// What it showed, microseconds since the epoch.
    pub at_us: i64,
    /// Microseconds that it was ahead of the reader's clock; negative: behind.
    #[serde(rename = "offset_us")]
    pub ahead_us: i64,
    /// How far off that may be.
    pub error_us: i64,
}

impl ClockReading {
    /// When that was, on the reader's clock.
    #[must_use]
    pub fn read_us(self) -> i64 {
        self.at_us - self.ahead_us
    }
}
