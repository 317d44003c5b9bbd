//! Why a server cannot be simulated.

use std::io;
use std::path::{Path, PathBuf};

use lioprof_trace::input::InputError;

use crate::kernel::LustreVersion;
use crate::scenario::UnknownScenario;
use crate::tree::MountError;

/// The server cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// What the user named cannot be used.
    #[error("{0}")]
    Input(String),
    /// A log cannot be opened.
    #[error(transparent)]
    Open(Box<InputError>),
    /// A file or directory cannot be used.
    #[error("failed to {doing} `{}`", path.display())]
    File {
        /// `read`, `write` and the like.
        doing: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        err: io::Error,
    },
    /// The logs hold nothing.
    #[error("the inputs hold no record: give the text of `lctl debug_file` or a raw debug daemon file")]
    NoRecords,
    /// A server has one log.
    #[error("logs of several servers (`{0}` and `{1}`): give those of one")]
    SeveralNodes(String, String),
    /// A CPU number that does not fit.
    #[error("`{}` has a record of CPU {cpu}: expected at most 65535", path.display())]
    BadCpu {
        /// In which file.
        path: PathBuf,
        /// Which number.
        cpu: u32,
    },
    /// There is no such scenario.
    #[error(transparent)]
    Scenario(#[from] UnknownScenario),
    /// A scenario has fewer servers.
    #[error("the scenario has {servers} servers: --server-number is from 0 to {}", servers - 1)]
    NoServer {
        /// How many.
        servers: usize,
    },
    /// The messages of that version are not simulated.
    #[error("scenarios log as Lustre 2.15 or 2.17 does, not as {0}: give --version 2.15 or 2.17")]
    NoWording(LustreVersion),
    /// The tree cannot be mounted.
    #[error(transparent)]
    Mount(#[from] MountError),
}

impl ReplayError {
    pub(super) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |err| Self::File { doing, path, err }
    }
}
