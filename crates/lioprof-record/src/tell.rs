//! What happens, as whoever records wants to see it.

/// Hears what happens.
pub trait Tell: Send + Sync {
    /// Something to know, one sentence.
    fn note(&self, text: &str);
    /// The state of all hosts, about once a second; of none once captures are being ended.
    fn progress(&self, hosts: &[Progress]);
}

/// How a host is doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Its name.
    pub host: String,
    /// What its daemon does, or what is wrong.
    pub state: String,
    /// RPCs handled per second.
    pub rpcs_per_s: f64,
    /// Bytes read and written per second.
    pub bytes_per_s: f64,
    /// RPCs so far.
    pub rpcs: u64,
    /// Bytes read and written so far.
    pub bytes: u64,
    /// Share of the RPCs that are lost, 0 to 1; `None`: unknown.
    pub lost_fraction: Option<f64>,
    /// How far decoding is behind the log.
    pub lag_s: Option<f64>,
}
