//! The masks that lioprof switches on.

use serde::{Deserialize, Serialize};

use super::Param;
use super::lustre::LustreVersion;
use super::masks::MaskSet;

/// How much to trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Profile {
    /// RPCs with exact bytes and the OST of direct I/O, and the lifetimes of locks.
    Full,
    /// RPCs only.
    Light,
}

/// The required state of a mask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Bits that must be on.
    pub on: MaskSet,
    /// If given, all bits that are not in this set must be off.
    pub only: Option<MaskSet>,
}

/// Masks that print a lot for each operation. With one of them on, messages of all subsystems would be a flood.
const HEAVY: [&str; 16] = [
    "trace", "inode", "super", "malloc", "cache", "info", "net", "buffs", "other", "dentry", "nettrace", "page",
    "vfstrace", "reada", "mmap", "iotrace",
];

/// The masks of a set that print a lot for each operation.
pub(crate) fn heavy(debug: &MaskSet) -> MaskSet {
    debug.and(&MaskSet::of(&HEAVY))
}

impl Profile {
    /// The required state of a mask, given the masks that others have switched on in `debug`.
    pub(crate) fn wanted(self, param: Param, others_debug: &MaskSet, version: Option<&LustreVersion>) -> Wanted {
        match param {
            Param::Debug => self.debug(),
            Param::SubsystemDebug => self.subsystems(others_debug, version),
            _ => Wanted::default(),
        }
    }

    /// The message types. Types that are already on stay on: somebody else needs them.
    fn debug(self) -> Wanted {
        let on = match self {
            Self::Full => MaskSet::of(&["rpctrace", "dlmtrace", "net"]),
            Self::Light => MaskSet::of(&["rpctrace"]),
        };
        Wanted { on, only: None }
    }

    /// The subsystems, given the masks that others have switched on in `debug`.
    ///
    /// `rpc` has the RPCs, `filter` the `refresh rw locks` lines with OST, object and extent (in 2.5 and older `ost`),
    /// `ldlm` the locks. `full` allows these only: with `net` on, LNet itself would be more than half of the log.
    /// `light` adds what is missing and switches nothing off: rpctrace hardly prints anything elsewhere (limiting it saves a
    /// few percent), and the other subsystems' messages about connections and configuration stay in the log for whoever
    /// wants them. If somebody else has masks on that print a lot for each operation, `light` limits as `full` does.
    fn subsystems(self, others_debug: &MaskSet, version: Option<&LustreVersion>) -> Wanted {
        let mut on = MaskSet::of(&["rpc", "filter", "ldlm"]);
        if version.is_some_and(|version| version.is_before(2, 6)) {
            on = on.or(&MaskSet::of(&["ost"]));
        }
        let limited = self == Self::Full || !heavy(others_debug).is_empty();
        Wanted { only: limited.then(|| on.clone()), on }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Option<LustreVersion> {
        LustreVersion::parse(text)
    }

    #[test]
    fn full_limits_the_subsystems() {
        let wanted = Profile::Full.subsystems(&MaskSet::default(), version("2.15.8").as_ref());
        assert_eq!(wanted.on, MaskSet::of(&["rpc", "filter", "ldlm"]));
        assert_eq!(wanted.only, Some(wanted.on.clone()));
    }

    #[test]
    fn old_servers_need_ost() {
        let ost = MaskSet::of(&["ost"]);
        let old = Profile::Full.subsystems(&MaskSet::default(), version("2.5.3").as_ref());
        assert!(!old.on.and(&ost).is_empty());
        assert!(Profile::Full.subsystems(&MaskSet::default(), None).on.and(&ost).is_empty());
    }

    #[test]
    fn light_leaves_subsystems_unless_others_trace_heavily() {
        let calm = MaskSet::of(&["ioctl", "neterror", "warning", "error", "emerg", "ha", "config", "console", "lfsck"]);
        assert_eq!(Profile::Light.subsystems(&calm, None).only, None);
        assert!(Profile::Light.subsystems(&calm.or(&MaskSet::of(&["info"])), None).only.is_some());
    }
}
