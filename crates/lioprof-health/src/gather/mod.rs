//! Reads the facts of one server.

mod client_io;
mod disk;
mod kernel_log;
mod lnet;
mod server;
mod services;
mod settings;
mod targets;
mod watch;

pub use client_io::ClientIo;
pub use kernel_log::LogDay;
pub use server::gather;
pub use watch::Watch;
