//! Playing a captured log, or anything else that makes a server log, through the simulated kernel.

mod args;
mod error;
mod log;
mod player;
mod run;

pub use args::{ReplayArgs, ServerArgs};
pub use error::ReplayError;
pub use log::RecordedLog;
pub use player::{BadSpeed, Played, Player, Speed};
pub use run::{Progress, Server, Summary, run, run_server, stop_on_signals};
