//! Policies of the request scheduler.

/// What hands the regular requests of a service to threads, but `fifo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// `tbf`: a rule for one job; what falls under none may pass at [`Policy::DEFAULT_RATE`].
    Tbf {
        /// Its job.
        job: &'static str,
        /// Requests a second of each client and operation.
        rate: u32,
    },
    /// `delay`: every request waits for a time between these, microseconds.
    Delay {
        /// At least.
        min_us: u64,
        /// At most.
        max_us: u64,
    },
}

impl Policy {
    /// Rate of the rule `default` of a token bucket filter.
    pub const DEFAULT_RATE: u32 = 10_000;
}
