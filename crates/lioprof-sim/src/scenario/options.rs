//! Options of a scenario: its size, and whose log is written.

use crate::wording::{V2_17, Wording};

lioprof_model::with_defaults! {
    /// Options of a scenario: its size, and whose log is written.
    #[derive(Clone, Copy, Debug)]
    pub struct Options {
        /// Where all chance comes from.
        pub seed: u64 = 1,
        /// When it begins, microseconds since the epoch.
        pub start_us: u64 = 1_795_250_600_000_000,
        /// Servers over which the OSTs are spread.
        pub servers: usize = 1,
        /// OSTs.
        pub osts: usize = 4,
        /// Clients.
        pub clients: usize = 4,
        /// How much each client does, in units of the scenario's own.
        pub size: u64 = 1,
        /// How long a scenario of a steady rate runs, seconds.
        pub duration_s: u64 = 10,
        /// RPCs per second, all clients together, of a scenario of a steady rate.
        pub rate: u64 = 1000,
        /// The release that logs.
        pub wording: &'static Wording = &V2_17,
        /// Only this server's log, or all servers in one.
        pub follow: Option<usize> = None,
        /// Messages that are made at all: (masks, subsystems).
        pub interest: (u32, u32) = (u32::MAX, u32::MAX),
        /// Clients log, too. Requests are then sent a few microseconds later, once a client's lines are written.
        pub client_logs: bool = false,
    }
}
