//! All scenarios, by name.

use thiserror::Error;

use super::options::{Options, Scenario};
use super::table;
use crate::cluster::Simulation;

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
