//! How the daemon tells what it does, and is told what to do.
//!
//! * [`status`] holds what there is to know, as JSON and as text.
//! * `protocol` and [`socket`] are requests and replies over a unix socket, server and client.
//! * [`metrics`] are figures for Prometheus over HTTP.
//! * [`notify`] tells systemd of readiness and life.
//! * [`logging`] writes messages.

pub mod logging;
pub mod metrics;
pub mod notify;
pub(crate) mod protocol;
pub mod socket;
pub mod status;
