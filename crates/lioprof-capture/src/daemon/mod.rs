//! The daemon: checks, traces, drains, keeps, restores.
//!
//! One thread runs the main loop (control files, rotation, budget, socket, metrics); another one decodes and writes. They
//! share a queue of segments and a channel of events about them.

mod account;
mod capture;
mod clock;
mod ending;
mod error;
mod facts;
mod keep;
mod record;
mod recover;
mod running;
mod serve;
mod signals;
mod start;
mod trigger;
mod went_down;

pub use ending::{Ending, Reason};
pub(crate) use error::DaemonError;
pub use serve::run;
pub use signals::Signals;
pub use start::{Restored, restore};

pub use crate::drain::LeftLog;
