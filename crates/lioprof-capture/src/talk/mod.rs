//! How the daemon tells what it does, and is told what to do.
//!
//! * [`status`]: what there is to know, as JSON and as text.
//! * [`protocol`], [`socket`]: requests and replies over a unix socket; server and client.
//! * [`metrics`]: figures for Prometheus over HTTP.
//! * [`notify`]: readiness and watchdog for systemd.
//! * [`logging`]: messages.

pub mod logging;
pub mod metrics;
pub mod notify;
pub mod protocol;
pub mod socket;
pub mod status;
