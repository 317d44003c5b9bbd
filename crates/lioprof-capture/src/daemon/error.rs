//! What can stop the daemon.

use std::io;
use std::path::PathBuf;

use crate::control::ControlError;
use crate::drain::DrainError;
use crate::journal::{JournalError, Report, SessionError};
use crate::lock::LockError;
use crate::pointers::Pointer;
use crate::talk::metrics::MetricsError;
use crate::talk::socket::SocketError;

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
         beside it. `lioprof status --socket {}` tells what it does, `lioprof stop --socket {}` ends it",
        .0.pid, .0.dir.display(), .0.socket.display(), .0.socket.display()
    )]
    OtherDaemon(Box<Pointer>),
    /// Its settings are in use.
    #[error(
        "a lioprof daemon runs and will put its settings back itself: use `lioprof stop --socket {}`",
        socket.display()
    )]
    InUse {
        /// Its socket.
        socket: PathBuf,
    },
    /// A folder cannot be made.
    #[error("failed to make the folder `{path}`: {err}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Cause.
        #[source]
        err: io::Error,
    },
    /// The folder of segments cannot be read.
    #[error("failed to read the folder `{path}`: {err}")]
    ReadFolder {
        /// The folder.
        path: PathBuf,
        /// Cause.
        #[source]
        err: io::Error,
    },
    /// The kernel's file cannot be renamed.
    #[error("failed to rename the kernel's file `{path}`: {err}")]
    Rename {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        err: io::Error,
    },
    /// Settings of an earlier daemon could not be put back.
    #[error("settings that an earlier daemon changed could not be put back:\n{0}mend what it says, then start again")]
    NotRestored(Box<Report>),
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Lustre's settings cannot be reached.
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
    /// What is kept already cannot be read.
    #[error("{0}")]
    Store(String),
    /// A thread or the runtime cannot be started.
    #[error("failed to start the daemon's threads: {0}")]
    Runtime(#[source] io::Error),
    /// Somebody else took the debug daemon over, or stopped it.
    #[error("the kernel's debug daemon {now}; lioprof's capture has ended, nothing of theirs was changed")]
    LostDaemon {
        /// What it does now.
        now: String,
    },
    /// The modules are gone.
    #[error("Lustre's modules were unloaded; the capture has ended, there is nothing to put back")]
    Unloaded,
    /// The decoding thread died.
    #[error("the decoding thread has ended unexpectedly; segments that were not decoded are in `{path}`")]
    WorkerDied {
        /// The spool.
        path: PathBuf,
    },
}
