//! What clients are like.

use super::LinkConfig;

lioprof_model::with_defaults! {
    /// A client's mount.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ClientConfig {
        /// I/O RPCs to one target at a time.
        pub max_in_flight: usize = 8,
        /// Bytes of the largest I/O RPC.
        pub max_rpc_bytes: u64 = 4 << 20,
        /// There and back, microseconds.
        pub rtt_us: u64 = 60,
        /// So much longer takes the way there, microseconds ..
        pub extra_there_us: u64 = 0,
        /// .. and the way back.
        pub extra_back_us: u64 = 0,
        /// LNet network that it is on.
        pub network: &'static str = "tcp",
        /// Bytes that its user may still write.
        pub quota_bytes: u64 = u64::MAX,
        /// Its network link.
        pub link: LinkConfig = LinkConfig::default(),
        /// What is wrong with it.
        pub faults: ClientFaults = ClientFaults::default(),
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
