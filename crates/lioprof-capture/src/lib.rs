//! The capture daemon as a library.
//!
//! ```text
//! kernel ── control ──> settings, journal            kernel's file ── drain ──> rows on disk
//!              └─────────── daemon (main loop: rotation, budget, counters, status) ───┘
//! ```
//!
//! * [`config`] says what to do, [`doctor`] whether the node allows it.
//! * `control` reads and writes Lustre's settings, `journal` remembers what was changed and puts it back, `kmsg` hears
//!   what the kernel says about the debug log, `lock` lets one daemon run at a time, [`pointers`] find
//!   the journals of all.
//! * `drain` turns what the kernel writes into rows on disk.
//! * `counters` samples what the server counts itself, `budget` limits what all of it may cost.
//! * `status` is what the daemon says of itself: `socket` answers clients ([`Client`]), `metrics` Prometheus, `systemd` the
//!   service manager, [`logging`] writes messages.
//! * `live` tells what the server does now, by a [`LiveView`] that the caller brings.
//! * [`daemon`] runs it all.
//!
//! Everything but the servers and the main loop is plain blocking code below a root directory, normally `/`.
//!
//! # Example
//!
//! Whether a node could be traced; nothing is changed:
//!
//! ```
//! use lioprof_capture::config::Config;
//! use lioprof_capture::doctor;
//!
//! let mut config = Config::default();
//! config.control.root = "/nonexistent".into();
//! let checks = doctor::preflight(&config);
//! assert!(!doctor::may_start(&checks), "there is no Lustre");
//! ```
#![forbid(unsafe_code)]

mod budget;
pub mod config;
mod control;
mod counters;
pub mod daemon;
pub mod doctor;
mod drain;
mod durable;
mod journal;
mod kmsg;
mod left_out;
mod live;
mod lock;
pub mod logging;
mod metrics;
pub mod pointers;
mod socket;
mod status;
mod system;
mod systemd;

pub use live::LiveView;
pub use socket::{Client, ClientError};
pub use status::STATUS_SCHEMA;
