//! `lioprof daemon` as a process, on a simulated server (`lioprof replay`) with real files.
//!
//! * `same`: what the daemon keeps gives the same analysis as the log that was played.
//! * `kill`: SIGKILL at any stage, then a restart: no row lost, none twice, all settings as before.
//! * `disk`: full disks, for the rows and for the kernel.
//! * `files`: segments that vanish.
//! * `others`: other debug daemons, other people's masks, modules unloaded.
//! * `overload`: a burst above the kernel's buffer, a clock that is stepped.
//! * `start`: what keeps it from starting.
//! * `talk`: commands, metrics, rubbish.
//! * `ending`: signals, `--for`, `--until`, triggers.
//! * `budget`: step by step down to nothing.
//!
//! They need root and `/dev/fuse`, wait for states instead of sleeping, and each has its own directory.
#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

mod budget;
mod disk;
mod ending;
mod files;
mod fixture;
mod kill;
mod node;
mod others;
mod overload;
mod process;
mod same;
mod start;
mod talk;
mod tmpfs;
