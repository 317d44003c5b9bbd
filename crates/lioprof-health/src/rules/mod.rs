//! Rules: functions from the facts of all servers to what is wrong.

mod alike;
mod disk_io;
mod draft;
mod judge;
mod kernel_log;
mod latency;
mod lnet;
mod room;
mod rule;
mod scheduling;
mod state;
mod survey;

pub use judge::{judge, judge_kernel_logs};
