//! Signals that end a recording in order.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What whoever records has sent us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Ctrl-C. The terminal sends it to the command, too.
    Interrupt,
    /// SIGTERM or SIGHUP, which only we get.
    Terminate,
}

/// From now on these signals end nothing by themselves.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    pub(crate) async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.interrupt.recv() => Wish::Interrupt,
            _ = self.terminate.recv() => Wish::Terminate,
            _ = self.hangup.recv() => Wish::Terminate,
        }
    }
}
