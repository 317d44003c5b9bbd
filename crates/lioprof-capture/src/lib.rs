//! The capture daemon as a library.
//!
//! The control half: [`config`] says what to do, [`doctor`] whether the node allows it, [`control`] reads and writes
//! Lustre's settings, [`journal`] remembers what was changed and puts it back, [`kmsg`] hears what the kernel says
//! about the debug log, [`lock`] keeps daemons from being two. All of it is plain blocking code over `std::fs` below a root directory, normally `/`.
#![forbid(unsafe_code)]

mod causes;
pub mod config;
pub mod control;
pub mod doctor;
pub mod journal;
pub mod kmsg;
pub mod lock;
pub mod system;
