//! The journal of kernel settings that lioprof changes, written before each change and used to restore them.
//!
//! * [`Journal`]: the [`Change`] of each parameter.
//! * [`JournalFile`]: the journal on disk; survives `SIGKILL` and power loss.
//! * [`Session`]: changes settings in the one right order, journal first.
//! * [`restore`]: compares with the current settings and undoes only changes that are still lioprof's.
//!
//! A bit counts as lioprof's if the journal says that lioprof switched it and it still has that value. One case cannot be
//! told apart by anybody: while lioprof holds a bit, somebody switches it back *and* lioprof's way again, and lioprof did not
//! look in between. [`Session::look`] keeps that gap small.

mod change;
mod daemon;
mod file;
mod mask;
mod outcome;
pub(crate) mod restore;
pub(crate) mod session;
mod size;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use change::Change;
pub(crate) use daemon::DaemonChange;
pub(crate) use file::{JournalError, JournalFile, JournalStore};
pub(crate) use mask::MaskChange;
pub(crate) use outcome::Foreign;
pub(crate) use restore::Report;
pub(crate) use session::{Session, SessionError};

use crate::control::Param;

/// All changes of lioprof that are not restored yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// Boot id of the node at the time of the changes, which do not outlive a boot.
    pub boot_id: Option<String>,
    /// Id of the process that made the changes, for messages.
    pub pid: u32,
    /// Start of the capture, microseconds since the epoch, for messages.
    pub since_us: u64,
    /// The changes; in JSON one object per parameter, beside the keys above.
    #[serde(flatten, deserialize_with = "change::stored")]
    pub(crate) changes: BTreeMap<Param, Change>,
}

impl Journal {
    /// Whether nothing is changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Change of a parameter; `None` if it is unchanged.
    pub(crate) fn change(&self, param: Param) -> Option<&Change> {
        self.changes.get(&param)
    }

    /// Sets the change of a parameter.
    pub(crate) fn set(&mut self, param: Param, change: Change) {
        match change {
            Change::Mask(mask) if mask.is_nothing() => self.forget(param),
            change => drop(self.changes.insert(param, change)),
        }
    }

    /// Removes the change of a parameter that is restored, or that somebody else has set.
    pub(crate) fn forget(&mut self, param: Param) {
        self.changes.remove(&param);
    }

    /// Change of a mask, which may be empty.
    pub(crate) fn mask(&self, param: Param) -> MaskChange {
        if let Some(Change::Mask(mask)) = self.change(param) { mask.clone() } else { MaskChange::default() }
    }

    /// The kernel's debug daemon, if lioprof started it.
    pub(crate) fn daemon(&self) -> Option<&DaemonChange> {
        if let Some(Change::Daemon(daemon)) = self.change(Param::DaemonFile) { Some(daemon) } else { None }
    }
}

#[cfg(test)]
mod tests {
    mod interleave;
    mod kill;
}
