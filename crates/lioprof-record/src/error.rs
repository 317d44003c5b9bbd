//! What can go wrong.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use lioprof_remote::RemoteError;

/// Why a host cannot take part, or not any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostError {
    /// ssh, or lioprof over there.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// A lioprof that knows no agents, or something else of that name.
    #[error("lioprof {here} is wanted there: {found}")]
    NoAgent {
        /// Version of this program.
        here: &'static str,
        /// What was found instead.
        found: String,
    },
    /// An agent of another version.
    #[error("lioprof {there} is there, {here} here: install the same version on both")]
    Version {
        /// Version over there.
        there: String,
        /// Version of this program.
        here: &'static str,
    },
    /// There is no daemon of this recording.
    #[error("no daemon of this recording runs there")]
    NoDaemon,
    /// The agent could not do it, and why.
    #[error("{0}")]
    Failed(String),
    /// No answer came.
    #[error("no answer within {} s", .0.as_secs())]
    Silent(Duration),
    /// The answer is none.
    #[error("expected an answer of lioprof's agent, found {0}")]
    Protocol(String),
    /// A file here.
    #[error("failed to write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file, in the recording's directory, that did not arrive as it is there.
    #[error("`{0}` did not arrive as it is there: its checksum differs")]
    Checksum(String),
}

impl HostError {
    /// Whether the connection is of no use any more.
    pub(crate) fn is_of_connection(&self) -> bool {
        matches!(self, Self::Remote(_) | Self::Silent(_) | Self::Protocol(_))
    }

    /// Whether another lioprof over there would help.
    pub(crate) fn is_of_program(&self) -> bool {
        matches!(self, Self::Remote(RemoteError::NotFound(_)) | Self::NoAgent { .. } | Self::Version { .. })
    }
}

/// Why there is no recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Something is wrong with some hosts, and nothing has been changed on any: a paragraph for each of these.
    #[error("nothing was recorded and nothing has been changed:\n{0}")]
    Refused(String),
    /// A daemon could not be started, and not all that were could be ended.
    #[error(
        "nothing was recorded:\n{table}\nwhat was started could not be ended everywhere, it ends by itself when its lease runs out:\n  {}",
        left.join("\n  ")
    )]
    Left {
        /// A paragraph for each host with trouble.
        table: String,
        /// Hosts whose daemon could not be ended, and why.
        left: Vec<String>,
    },
    /// There is a recording already.
    #[error(
        "`{}` already holds a recording: name another directory with -o, or fetch what is missing of it with `lioprof record fetch`",
        .0.display()
    )]
    Taken(PathBuf),
    /// Somebody else works on it.
    #[error(
        "the recording in `{}` still runs, or is being fetched: wait for its end; `lioprof record mark` puts a mark into its logs meanwhile",
        .0.display()
    )]
    InUse(PathBuf),
    /// There is no recording.
    #[error("`{}` holds no recording: expected the directory that was given to `lioprof record -o`", .0.display())]
    NotThere(PathBuf),
    /// The list of what was recorded cannot be read or written.
    #[error("`{}`: {message}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// Signals cannot be waited for.
    #[error("failed to wait for signals: {0}")]
    Signals(#[source] io::Error),
    /// Ctrl-C before anything was started.
    #[error("interrupted before anything was changed")]
    Interrupted,
}
