//! Times that are equally long.

/// Times of one stratum: how many own ones and how many of peers took this long, microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equal {
    /// Microseconds.
    pub time_us: u64,
    /// Own times.
    pub own: u64,
    /// Peers' times.
    pub peers: u64,
}
