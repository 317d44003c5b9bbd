//! What lioprof changed in the kernel, written down before it is changed, and put back afterwards.
//!
//! * [`Journal`]: the change of each setting, see [`change`].
//! * [`JournalFile`]: the journal on disk; survives `SIGKILL` and power loss.
//! * [`Session`]: changes settings in the one right order, journal first.
//! * [`restore`]: compares with what is there now and undoes only what is still lioprof's.
//!
//! A bit counts as lioprof's if the journal says that lioprof switched it and it still has that value. One case cannot be
//! told apart by anybody: while lioprof holds a bit, somebody switches it back *and* lioprof's way again, and lioprof did not
//! look in between. [`Session::look`] keeps that gap small.

pub mod change;
mod file;
pub mod restore;
pub mod session;

#[cfg(test)]
mod interleave;
#[cfg(test)]
mod kill;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use change::MaskChange;
pub use file::{JournalError, JournalFile, JournalStore};
pub use restore::{Outcome, Report};
pub use session::{Foreign, Session, SessionError};

use crate::control::masks::MaskKind;

/// All that lioprof changed and did not put back yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    /// Boot of the node in which the changes were made. They do not outlive it.
    pub boot_id: Option<String>,
    /// Process that made them, for people.
    pub pid: u32,
    /// When it began, microseconds since the epoch, for people.
    pub since_us: u64,
    /// Change of `debug`.
    #[serde(default, skip_serializing_if = "MaskChange::is_nothing")]
    pub debug: MaskChange,
    /// Change of `subsystem_debug`.
    #[serde(default, skip_serializing_if = "MaskChange::is_nothing")]
    pub subsystem_debug: MaskChange,
    /// Change of `debug_mb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug_mb: Option<BufferChange>,
    /// The kernel's debug daemon, if lioprof started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon: Option<DaemonChange>,
}

/// Change of `debug_mb`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferChange {
    /// What the kernel showed before.
    pub old_mib: u64,
    /// What lioprof wrote, and what the kernel then showed if it was something else.
    pub written_mib: Vec<u64>,
}

impl BufferChange {
    /// Does the kernel show one of lioprof's values? It may show one more than was written.
    #[must_use]
    pub fn is_ours(&self, shown_mib: u64) -> bool {
        self.written_mib.iter().any(|&written| shown_mib == written || shown_mib == written.saturating_add(1))
    }
}

/// The debug daemon that lioprof started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DaemonChange {
    /// Its file.
    pub path: PathBuf,
    /// The size limit that was set, MiB. The kernel keeps it for later starts and shows it to nobody.
    pub size_mib: u64,
}

impl Journal {
    /// Is everything as it was?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.debug.is_nothing() && self.subsystem_debug.is_nothing() && self.debug_mb.is_none() && self.daemon.is_none()
    }

    /// Change of one of the masks.
    #[must_use]
    pub fn mask(&self, kind: MaskKind) -> &MaskChange {
        match kind {
            MaskKind::Debug => &self.debug,
            MaskKind::SubsystemDebug => &self.subsystem_debug,
        }
    }

    pub(crate) fn mask_mut(&mut self, kind: MaskKind) -> &mut MaskChange {
        match kind {
            MaskKind::Debug => &mut self.debug,
            MaskKind::SubsystemDebug => &mut self.subsystem_debug,
        }
    }
}
