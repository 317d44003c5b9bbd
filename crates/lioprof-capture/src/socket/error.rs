//! Errors of opening the control socket.

use std::io;
use std::path::PathBuf;

/// Why the daemon cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Another daemon listens there.
    #[error(
        "`{}`: a daemon is already listening there; `lioprof status` shows what it is doing, `lioprof stop` stops it",
        path.display()
    )]
    InUse { path: PathBuf },
    /// A path of a socket must fit into 107 bytes (`sun_path`).
    #[error("`{}`: the path of the socket may have at most {most} bytes, this one has {found}: choose a shorter one", path.display())]
    TooLong { path: PathBuf, most: usize, found: usize },
    /// The path exists, but is not a socket.
    #[error("`{}`: expected a socket or nothing, found another kind of file: remove it or choose another path", path.display())]
    NotASocket { path: PathBuf },
    /// A step failed.
    #[error("failed to {step} `{}`", path.display())]
    Io {
        /// Step that failed, such as `create the socket`.
        step: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}
