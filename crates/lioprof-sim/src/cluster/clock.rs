//! What a node's clock shows.

/// A clock that is off. Times in the simulation are true; only records carry what the clock shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// What it shows more than is true when the run begins, microseconds.
    pub offset_us: i64,
    /// How much faster than time it runs, in nanoseconds per second.
    pub drift_ppb: i64,
}

impl Clock {
    /// What it shows at a time, in a run that began at `start_us`.
    pub fn shows(&self, start_us: u64, time_us: u64) -> i64 {
        let time_us = time_us.cast_signed();
        let gained_us = i128::from(time_us - start_us.cast_signed()) * i128::from(self.drift_ppb) / 1_000_000_000;
        time_us + self.offset_us + i64::try_from(gained_us).unwrap_or(0)
    }
}
