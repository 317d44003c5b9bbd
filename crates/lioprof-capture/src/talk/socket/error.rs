//! Why there is no socket.

use std::io;
use std::path::PathBuf;

/// Why the daemon cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Another daemon listens there.
    #[error(
        "`{}`: a daemon is listening there already; `lioprof status` tells what it does, `lioprof stop` ends it",
        path.display()
    )]
    InUse {
        /// Socket.
        path: PathBuf,
    },
    /// A path of a socket must fit into 107 bytes (`sun_path`).
    #[error("`{}`: the path of the socket may have {most} bytes, this one has {found}: choose a shorter one", path.display())]
    TooLong {
        /// Socket.
        path: PathBuf,
        /// Limit.
        most: usize,
        /// Its length.
        found: usize,
    },
    /// Something that is no socket is in the way.
    #[error("`{}`: expected a socket or nothing, found another kind of file: remove it or choose another path", path.display())]
    NotASocket {
        /// Path.
        path: PathBuf,
    },
    /// A step failed.
    #[error("failed to {step} `{}`", path.display())]
    Io {
        /// What was tried.
        step: &'static str,
        /// On which file.
        path: PathBuf,
        /// Cause.
        #[source]
        err: io::Error,
    },
}
