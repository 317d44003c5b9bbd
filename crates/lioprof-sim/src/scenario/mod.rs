//! Named workloads: healthy ones and those that somebody should find out about.
//!
//! Each says what a tool must find in it; the true figures are in the run's [`Counters`](crate::counters::Counters).

mod base;
mod case_studies;
mod control;
mod faults;
mod healthy;
mod load;
mod locks;
mod placement;
mod shapes;
mod size;
mod table;

use thiserror::Error;

pub use size::SizeArgs;

use crate::cluster::{Cluster, Simulation};
use crate::wording::{V2_17, Wording};

/// How large a scenario is, and how it is seen.
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
        }
    }
}

/// A scenario.
pub struct Scenario {
    /// How one asks for it.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    build: fn(&Options) -> Cluster,
}

/// There is no scenario of this name.
#[derive(Debug, Error)]
#[error("no scenario is called `{name}`: there are {known}")]
pub struct UnknownScenario {
    /// What was asked for.
    pub name: String,
    /// All names.
    pub known: String,
}

impl Scenario {
    /// All of them.
    pub fn all() -> &'static [Self] {
        table::ALL
    }

    /// All of them for people, one per line.
    pub fn list() -> String {
        Self::all().iter().map(|scenario| format!("{:26} {}\n", scenario.name, scenario.summary)).collect()
    }

    /// Starts the scenario of a name.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn named(name: &str, options: &Options) -> Result<Simulation, UnknownScenario> {
        let scenario = Self::all().iter().find(|scenario| scenario.name == name).ok_or_else(|| UnknownScenario {
            name: name.to_owned(),
            known: Self::all().iter().map(|scenario| scenario.name).collect::<Vec<_>>().join(", "),
        })?;
        Ok(scenario.start(options))
    }

    /// Starts it.
    pub fn start(&self, options: &Options) -> Simulation {
        (self.build)(options).start()
    }
}
