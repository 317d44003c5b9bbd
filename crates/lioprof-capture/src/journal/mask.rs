//! Changes of lioprof's to one mask, and the write that leads to the wanted mask.

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
use crate::control::masks::MaskSet;
use crate::control::profile::Wanted;
use crate::control::{Control, ControlError, Param};

/// Bits of one mask that lioprof switched and has not switched back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaskChange {
    /// The mask before lioprof changed it, for messages and manifests.
    pub old: MaskSet,
    /// Bits that were off before and that lioprof switched on.
    pub switched_on: MaskSet,
    /// Bits that were on before and that lioprof switched off.
    pub switched_off: MaskSet,
}

/// One write to a mask, and what is lioprof's before and after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Bits to switch on now.
    pub on: MaskSet,
    /// Bits to switch off now.
    pub off: MaskSet,
    /// The change that the journal must hold during the write: valid before and after it.
    pub during: MaskChange,
    /// The change that the journal holds afterwards.
    pub after: MaskChange,
}

impl Step {
    /// Whether the mask is already as wanted.
    pub(crate) fn is_nothing(&self) -> bool {
        self.on.is_empty() && self.off.is_empty()
    }
}

impl MaskChange {
    /// Whether lioprof has no bit switched.
    pub(crate) fn is_nothing(&self) -> bool {
        self.switched_on.is_empty() && self.switched_off.is_empty()
    }

    /// What is left of the change, given the mask as it is found now: bits that somebody else switched back are not
    /// lioprof's any more.
    pub(crate) fn still_ours(&self, found: &MaskSet) -> Self {
        Self {
            old: self.old.clone(),
            switched_on: self.switched_on.and(found),
            switched_off: self.switched_off.minus(found),
        }
    }

    /// The write that leads from the mask `found` to the one wanted.
    ///
    /// Switches what is wanted and is not so yet, undoes what is lioprof's and is not wanted any more, and never touches
    /// another bit. With nothing wanted this is the restore.
    pub(crate) fn step(&self, found: &MaskSet, wanted: &Wanted) -> Step {
        let ours = self.still_ours(found);
        let must_go = wanted.only.as_ref().map(|only| found.minus(only).minus(&wanted.on)).unwrap_or_default();
        let must_stay_off = |bits: &MaskSet| match &wanted.only {
            Some(only) => bits.minus(only).minus(&wanted.on),
            None => MaskSet::default(),
        };

        let new_on = wanted.on.minus(found);
        let undo_on = ours.switched_on.minus(&wanted.on);
        let undo_off = ours.switched_off.minus(&must_stay_off(&ours.switched_off)).minus(&wanted.on);
        // A bit that lioprof had switched off and now wants on goes back to what it was: not a change.
        let back_on = new_on.and(&ours.switched_off);

        let after = Self {
            old: if ours.is_nothing() { found.clone() } else { self.old.clone() },
            switched_on: ours.switched_on.minus(&undo_on).or(&new_on.minus(&back_on)),
            switched_off: ours.switched_off.minus(&undo_off).minus(&back_on).or(&must_go.minus(&undo_on)),
        };
        let during = Self {
            old: after.old.clone(),
            switched_on: ours.switched_on.or(&after.switched_on),
            switched_off: ours.switched_off.or(&after.switched_off),
        };
        Step { on: new_on.or(&undo_off), off: must_go.or(&undo_on), during, after }
    }

    /// Switches back the bits that are still lioprof's.
    pub(super) fn put_back(&self, control: &Control, param: Param) -> Result<Outcome, ControlError> {
        let step = self.step(&control.mask(param)?, &Wanted::default());
        if step.is_nothing() {
            return Ok(Outcome::Left { why: "nothing of lioprof's is left in it".to_owned() });
        }
        let now = control.change_mask(param, &step.on, &step.off)?;
        Ok(Outcome::Restored { done: format!("now `{now}`") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &str) -> MaskSet {
        names.split_whitespace().map(str::to_owned).collect()
    }

    fn change(on: &str, off: &str) -> MaskChange {
        MaskChange { old: set("old"), switched_on: set(on), switched_off: set(off) }
    }

    fn want(on: &str, only: Option<&str>) -> Wanted {
        Wanted { on: set(on), only: only.map(set) }
    }

    /// mask found, lioprof's before, wanted; switched on, switched off now, lioprof's afterwards.
    type Case<'a> = (&'a str, MaskChange, Wanted, &'a str, &'a str, (&'a str, &'a str));

    #[test]
    fn from_any_state_to_any_wish() {
        let cases: Vec<Case<'_>> = vec![
            ("ha", change("", ""), want("rpctrace net", None), "net rpctrace", "", ("net rpctrace", "")),
            // what is on already is somebody else's
            ("ha net", change("", ""), want("rpctrace net", None), "rpctrace", "", ("rpctrace", "")),
            // full to light
            ("ha net rpctrace", change("net rpctrace", ""), want("rpctrace", None), "", "net", ("rpctrace", "")),
            // restore
            ("ha net rpctrace", change("net rpctrace", ""), want("", None), "", "net rpctrace", ("", "")),
            // somebody switched net off and info on
            ("ha info rpctrace", change("net rpctrace", ""), want("", None), "", "rpctrace", ("", "")),
            // subsystems: limit, keep limited, restore
            ("rpc mdc osc", change("", ""), want("rpc ldlm", Some("rpc ldlm")), "ldlm", "mdc osc", ("ldlm", "mdc osc")),
            ("rpc ldlm", change("ldlm", "mdc osc"), want("rpc ldlm", Some("rpc ldlm")), "", "", ("ldlm", "mdc osc")),
            ("rpc ldlm mdc", change("ldlm", "mdc osc"), want("", None), "osc", "ldlm", ("", "")),
            // somebody added a subsystem meanwhile: limited again, and put back later
            ("rpc ldlm mds", change("ldlm", "mdc"), want("rpc ldlm", Some("rpc ldlm")), "", "mds", ("ldlm", "mdc mds")),
            // no limit any more
            ("rpc ldlm", change("ldlm", "mdc osc"), want("rpc ldlm", None), "mdc osc", "", ("ldlm", "")),
            // a bit that was lioprof's off is wanted on: as before, nobody's change
            ("rpc", change("", "ldlm"), want("rpc ldlm", Some("rpc ldlm")), "ldlm", "", ("", "")),
            // a bit that was lioprof's on must be off: as before
            ("rpc ldlm", change("ldlm", ""), want("rpc", Some("rpc")), "", "ldlm", ("", "")),
        ];
        for (found, ours, wanted, on, off, (after_on, after_off)) in cases {
            let step = ours.step(&set(found), &wanted);
            let label = format!("{found} {ours:?} {wanted:?}");
            assert_eq!((&step.on, &step.off), (&set(on), &set(off)), "{label}");
            assert_eq!(
                (&step.after.switched_on, &step.after.switched_off),
                (&set(after_on), &set(after_off)),
                "{label}"
            );
        }
    }

    #[test]
    fn the_journal_holds_both_sides_of_the_write() {
        let step = change("net rpctrace", "").step(&set("net rpctrace"), &want("rpctrace dlmtrace", None));
        assert_eq!(step.during.switched_on, set("net rpctrace dlmtrace"));
        assert_eq!(step.after.switched_on, set("rpctrace dlmtrace"));
    }
}
