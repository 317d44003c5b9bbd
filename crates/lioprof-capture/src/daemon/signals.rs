//! Signals that end a capture.

/// SIGTERM, SIGINT, and SIGHUP: a terminal that is closed must not leave a server tracing.
pub(super) struct Signals {
    pub(super) terminate: tokio::signal::unix::Signal,
    pub(super) interrupt: tokio::signal::unix::Signal,
    pub(super) hangup: tokio::signal::unix::Signal,
}

impl Signals {
    pub(super) fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.hangup.recv() => "SIGHUP",
        }
    }
}
