//! Errors that stop the daemon.

use std::io;
use std::path::PathBuf;

use crate::control::ControlError;
use crate::drain::DrainError;
use crate::journal::{JournalError, Report, SessionError};
use crate::lock::LockError;
use crate::metrics::MetricsError;
use crate::pointers::Pointer;
use crate::socket::SocketError;

/// Why the daemon did not start, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The node cannot be traced.
    #[error("this node cannot be traced now:\n{0}\n`lioprof doctor` lists all checks")]
    Preflight(String),
    /// Another lioprof daemon runs, or the lock cannot be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Another lioprof daemon runs, with another data directory.
    #[error(
        "another lioprof daemon runs (process {}), with its data in `{}`; a node has one debug daemon, so a second one cannot run \
         beside it. `lioprof status --socket {}` shows what it is doing, `lioprof stop --socket {}` stops it",
        .0.pid, .0.dir.display(), .0.socket.display(), .0.socket.display()
    )]
    OtherDaemon(Box<Pointer>),
    /// `--restore` was called while the daemon that changed the settings runs.
    #[error(
        "a lioprof daemon is running and will restore its settings itself: use `lioprof stop --socket {}`",
        socket.display()
    )]
    InUse { socket: PathBuf },
    /// A directory cannot be created or read, or the kernel's file cannot be renamed.
    #[error("failed to {doing} `{path}`: {source}")]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    /// Settings that an earlier daemon changed could not be restored.
    #[error("failed to restore settings that an earlier daemon changed:\n{0}fix the causes above, then start again")]
    NotRestored(Box<Report>),
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Lustre's control files cannot be read or written.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// Lustre's settings cannot be changed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The socket cannot be opened.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The port of the metrics cannot be opened.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// The decoding thread cannot be started.
    #[error(transparent)]
    Drain(#[from] DrainError),
    /// Data of earlier captures cannot be read.
    #[error("{0}")]
    Store(String),
    /// A thread or the runtime cannot be started.
    #[error("failed to start the daemon's threads: {0}")]
    Runtime(#[source] io::Error),
    /// Another process took over or stopped the kernel's debug daemon; what that does now, such as "was stopped by somebody else".
    #[error("the kernel's debug daemon {0}; lioprof's capture has ended and left the other setting alone")]
    LostDaemon(String),
    /// Lustre's modules were unloaded.
    #[error("Lustre's modules were unloaded; the capture has ended, there are no settings to restore")]
    Unloaded,
    /// The decoding thread died.
    #[error("the decoding thread ended unexpectedly; segments that were not decoded are in `{path}`")]
    WorkerDied { path: PathBuf },
}
