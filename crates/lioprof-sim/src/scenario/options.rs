//! Options of a scenario: its size, and whose log is written.

use crate::wording::{V2_17, Wording};

/// Options of a scenario: its size, and whose log is written.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Where all chance comes from.
    pub seed: u64,
    /// When it begins, microseconds since the epoch.
    pub start_us: u64,
    /// Servers over which the OSTs are spread.
    pub servers: usize,
    /// OSTs.
    pub osts: usize,
    /// Clients.
    pub clients: usize,
    /// How much each client does, in units of the scenario's own.
    pub size: u64,
    /// How long a scenario of a steady rate runs, seconds.
    pub duration_s: u64,
    /// RPCs per second, all clients together, of a scenario of a steady rate.
    pub rate: u64,
    /// The release that logs.
    pub wording: &'static Wording,
    /// Only this server's log, or all servers in one.
    pub follow: Option<usize>,
    /// Messages that are made at all: (masks, subsystems).
    pub interest: (u32, u32),
    /// Clients log, too. Requests are then sent a few microseconds later, once a client's lines are written.
    pub client_logs: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            start_us: 1_795_250_600_000_000,
            servers: 1,
            osts: 4,
            clients: 4,
            size: 1,
            duration_s: 10,
            rate: 1000,
            wording: &V2_17,
            follow: None,
            interest: (u32::MAX, u32::MAX),
            client_logs: false,
        }
    }
}
