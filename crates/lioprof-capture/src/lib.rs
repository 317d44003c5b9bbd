//! The capture daemon as a library.
//!
//! ```text
//! kernel ── control ──> settings, journal            kernel's file ── drain ──> rows on disk
//!              └────────────── daemon (main loop: rotation, budget, counters, talk) ──┘
//! ```
//!
//! * [`config`] says what to do, [`doctor`] whether the node allows it.
//! * `control` reads and writes Lustre's settings, `journal` remembers what was changed and puts it back, `kmsg` hears
//!   what the kernel says about the debug log, `lock` lets one daemon run at a time, [`pointers`] find
//!   the journals of all.
//! * [`drain`] turns what the kernel writes into rows on disk.
//! * [`counters`] samples what the server counts itself, [`budget`] limits what all of it may cost.
//! * [`talk`] is the way to people, systemd and Prometheus.
//! * [`daemon`] runs it all.
//!
//! Everything but `talk` and the main loop is plain blocking code below a root directory, normally `/`.
#![forbid(unsafe_code)]

pub mod budget;
mod causes;
pub mod config;
mod control;
pub mod counters;
pub mod daemon;
pub mod doctor;
pub mod drain;
mod durable;
mod journal;
mod kmsg;
mod lock;
pub mod pointers;
mod system;
pub mod talk;
