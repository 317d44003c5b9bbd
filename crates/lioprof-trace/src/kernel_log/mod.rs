//! Kernel logs: read as a whole, to the events that they tell. They are small beside debug logs, and nothing else of them is used.

mod hosts;
mod journal;
mod lines;
mod local_time;
mod read;

pub use hosts::{HostLog, KernelEvent};
pub use local_time::as_if_utc_until;
pub use read::{KernelLog, kernel_log_lines};

pub(crate) use read::read;
