//! What lioprof changed in the kernel, written down before it is changed, and put back afterwards.
//!
//! * [`Journal`]: the [`Change`] of each parameter.
//! * [`JournalFile`]: the journal on disk; survives `SIGKILL` and power loss.
//! * [`Session`]: changes settings in the one right order, journal first.
//! * [`restore`]: compares with what is there now and undoes only what is still lioprof's.
//!
//! A bit counts as lioprof's if the journal says that lioprof switched it and it still has that value. One case cannot be
//! told apart by anybody: while lioprof holds a bit, somebody switches it back *and* lioprof's way again, and lioprof did not
//! look in between. [`Session::look`] keeps that gap small.

mod change;
mod daemon;
mod file;
mod foreign;
mod mask;
mod outcome;
pub(crate) mod restore;
pub(crate) mod session;
mod size;

#[cfg(test)]
mod interleave;
#[cfg(test)]
mod kill;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use change::Change;
pub(crate) use daemon::DaemonChange;
pub(crate) use file::{JournalError, JournalFile, JournalStore};
pub(crate) use foreign::Foreign;
pub(crate) use mask::MaskChange;
pub(crate) use restore::Report;
pub(crate) use session::{Session, SessionError};

use crate::control::Param;

/// All that lioprof changed and did not put back yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// Boot of the node in which the changes were made. They do not outlive it.
    pub boot_id: Option<String>,
    /// Process that made them, for people.
    pub pid: u32,
    /// When it began, microseconds since the epoch, for people.
    pub since_us: u64,
    /// What was changed; an object of JSON for each parameter, beside the keys above.
    #[serde(flatten, deserialize_with = "change::stored")]
    pub(crate) changes: BTreeMap<Param, Change>,
}

impl Journal {
    /// Is everything as it was?
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Change of a parameter; `None` if it is as it was.
    pub(crate) fn change(&self, param: Param) -> Option<&Change> {
        self.changes.get(&param)
    }

    /// Enters what a parameter's change is now.
    pub(crate) fn set(&mut self, param: Param, change: Change) {
        match change {
            Change::Mask(mask) if mask.is_nothing() => self.forget(param),
            change => drop(self.changes.insert(param, change)),
        }
    }

    /// A parameter is as it was, or somebody else's.
    pub(crate) fn forget(&mut self, param: Param) {
        self.changes.remove(&param);
    }

    /// Change of a mask, which may be none.
    pub(crate) fn mask(&self, param: Param) -> MaskChange {
        if let Some(Change::Mask(mask)) = self.change(param) { mask.clone() } else { MaskChange::default() }
    }

    /// The kernel's debug daemon, if lioprof started it.
    pub(crate) fn daemon(&self) -> Option<&DaemonChange> {
        if let Some(Change::Daemon(daemon)) = self.change(Param::DaemonFile) { Some(daemon) } else { None }
    }
}
