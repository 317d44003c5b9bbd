//! Errors of replay.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use crate::kernel::LustreVersion;
use crate::scenario::UnknownScenario;
use crate::tree::MountError;

/// The server cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// An argument cannot be used.
    #[error("{0}")]
    Input(String),
    /// A log cannot be opened.
    #[error(transparent)]
    Open(Box<dyn Error + Send + Sync>),
    /// A file or directory cannot be used.
    #[error("failed to {0} `{path}`", path = .1.display())]
    File(&'static str, PathBuf, #[source] io::Error),
    /// The inputs contain no records.
    #[error("the inputs contain no records: expected the text of `lctl debug_file` or a raw debug daemon file")]
    NoRecords,
    /// The inputs are logs of several servers.
    #[error("logs of several servers (`{0}` and `{1}`): name those of one server")]
    SeveralNodes(String, String),
    /// The CPU number of a record is too large.
    #[error("`{path}` has a record of CPU {1}: expected at most 65535", path = .0.display())]
    BadCpu(PathBuf, u32),
    /// There is no such scenario.
    #[error(transparent)]
    Scenario(#[from] UnknownScenario),
    /// The scenario has fewer servers than `--server-number` requires.
    #[error("the scenario has {0} servers: --server-number must be from 0 to {last}", last = .0 - 1)]
    NoServer(usize),
    /// The messages of that version are not simulated.
    #[error("scenarios log like Lustre 2.15 or 2.17, not {0}: use --version 2.15 or 2.17")]
    NoWording(LustreVersion),
    /// The tree cannot be mounted.
    #[error(transparent)]
    Mount(#[from] MountError),
}

impl ReplayError {
    pub(super) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |err| Self::File(doing, path, err)
    }
}
