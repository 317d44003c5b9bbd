//! Changes of lioprof's to a size.

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
use crate::control::sizing::STEP_MIB_PER_CPU;
use crate::control::{Control, ControlError, Param};

/// Change of a size, which the kernel shows as it was written, or as one more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SizeChange {
    /// The size that the kernel showed before, MiB.
    pub old_mib: u64,
    /// The size that lioprof wrote, and the one that the kernel then showed if different.
    pub written_mib: Vec<u64>,
}

impl SizeChange {
    /// Whether the kernel shows one of lioprof's values.
    pub(super) fn is_ours(&self, shown_mib: u64) -> bool {
        self.written_mib.iter().any(|&written| shown_mib == written || shown_mib == written.saturating_add(1))
    }

    /// Restores the old size, unless somebody else has set another.
    pub(super) fn put_back(&self, control: &Control, param: Param) -> Result<Outcome, ControlError> {
        let old = self.old_mib;
        let shown = control.mib(param)?;
        if !self.is_ours(shown) {
            return Ok(Outcome::Left { why: format!("it shows {shown} MiB, which lioprof did not set") });
        }
        // What shows the old value need not be the old value: the kernel counts whole pages and adds one, so its default of 5 MiB
        // per CPU shows as one more, and on a node with one CPU both 5 and 6 show as 6.
        let one_less = old.saturating_sub(1);
        let likely = if one_less.is_multiple_of(STEP_MIB_PER_CPU) { [one_less, old] } else { [old, one_less] };
        for mib in likely.into_iter().filter(|&mib| mib > 0) {
            if control.set_mib(param, mib)? == old {
                return Ok(Outcome::Restored { done: format!("from {shown} to {old} MiB") });
            }
        }
        let now = control.set_mib(param, old)?;
        if now == old.saturating_add(1) {
            return Ok(Outcome::Restored { done: format!("from {shown} to {old} MiB, shown as {now}") });
        }
        Err(ControlError::NotAccepted { param, wrote: old.to_string(), found: now.to_string() })
    }
}
