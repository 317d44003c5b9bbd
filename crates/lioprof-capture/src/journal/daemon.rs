//! The debug daemon that lioprof started.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
use crate::control::{Control, ControlError, KERNELS_DAEMON_SIZE_MIB};

/// The debug daemon that lioprof started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DaemonChange {
    /// File that the debug daemon writes.
    pub path: PathBuf,
    /// The size limit that was set, MiB. The kernel keeps it for later starts and does not show it.
    pub size_mib: u64,
}

impl DaemonChange {
    /// Stops the debug daemon, unless it writes somebody else's file.
    pub(super) fn put_back(&self, control: &Control) -> Result<Outcome, ControlError> {
        let found = control.daemon_file()?;
        if let Some(theirs) = found.as_ref().filter(|path| **path != self.path) {
            return Ok(Outcome::Left { why: format!("somebody else's daemon writes `{}`", theirs.display()) });
        }
        if found.is_some() {
            control.stop_daemon()?;
        }
        // Nobody can read the former limit. With lioprof's, the next daemon that is started without one might fill a disk.
        control.set_daemon_size(KERNELS_DAEMON_SIZE_MIB)?;
        Ok(match found {
            Some(_) => {
                Outcome::Restored { done: format!("stopped; file size limit back to {KERNELS_DAEMON_SIZE_MIB} MiB") }
            }
            None => Outcome::Left { why: "the daemon does not run".to_owned() },
        })
    }
}
