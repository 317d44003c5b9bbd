//! What clients are like.

use super::link::LinkConfig;

/// A client's mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// I/O RPCs to one target at a time.
    pub max_in_flight: usize,
    /// Bytes of the largest I/O RPC.
    pub max_rpc_bytes: u64,
    /// There and back, microseconds.
    pub rtt_us: u64,
    /// So much longer takes the way there, microseconds ..
    pub extra_there_us: u64,
    /// .. and the way back.
    pub extra_back_us: u64,
    /// Its network link.
    pub link: LinkConfig,
    /// What is wrong with it.
    pub faults: ClientFaults,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            max_in_flight: 8,
            max_rpc_bytes: 4 << 20,
            rtt_us: 60,
            extra_there_us: 0,
            extra_back_us: 0,
            link: LinkConfig::default(),
            faults: ClientFaults::default(),
        }
    }
}

/// What is wrong with a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientFaults {
    /// It never gives back a lock that another client wants.
    pub keeps_locks: bool,
    /// It does not answer callbacks.
    pub deaf: bool,
}
