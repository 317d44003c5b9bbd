//! Reports the daemon's status, and receives its commands.
//!
//! * [`status`] is the daemon's status, as JSON and as text.
//! * `protocol` and [`socket`] are requests and replies over a unix socket, server and client.
//! * [`metrics`] are figures for Prometheus over HTTP.
//! * [`notify`] tells systemd that the daemon is ready and alive.
//! * [`logging`] writes messages.

pub mod logging;
pub mod metrics;
pub mod notify;
pub(crate) mod protocol;
pub mod socket;
pub mod status;
