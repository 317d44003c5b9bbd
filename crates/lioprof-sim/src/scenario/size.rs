//! The size of a scenario on the command line.

use super::options::Options;

/// How large a scenario is; what is not given is as the scenario has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct SizeArgs {
    /// RPCs per second, all clients together, of a scenario of a steady rate
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub rate: Option<u64>,

    /// Seconds that a scenario of a steady rate runs
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub duration: Option<u64>,

    /// OSTs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub osts: Option<u16>,

    /// Clients
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub clients: Option<u16>,

    /// Work of each client, in the scenario's own unit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub size: Option<u64>,

    /// Random seed: the same seed gives the same log
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl SizeArgs {
    /// The options with what the command line says on top.
    #[must_use]
    pub fn apply(&self, options: Options) -> Options {
        Options {
            rate: self.rate.unwrap_or(options.rate),
            duration_s: self.duration.unwrap_or(options.duration_s),
            osts: self.osts.map_or(options.osts, usize::from),
            clients: self.clients.map_or(options.clients, usize::from),
            size: self.size.unwrap_or(options.size),
            seed: self.seed.unwrap_or(options.seed),
            ..options
        }
    }
}
