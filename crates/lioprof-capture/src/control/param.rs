//! A table of the parameters of the debug log, with what lioprof needs to know of each.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bits;

/// A parameter of Lustre's debug log. All belong to the node, not to a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Param {
    /// Mask of message types.
    Debug,
    /// Mask of subsystems.
    SubsystemDebug,
    /// Size of the log's buffers, MiB.
    DebugMb,
    /// Commands to the debug daemon: a path, `size=MIB`, `stop`. Reading gives the path, or nothing.
    #[serde(rename = "daemon")] // in journals
    DaemonFile,
    /// Text for the log, since 2.16 (v2_15_62, LU-17053). Write only.
    DebugMarker,
}

/// How a parameter is read, changed and restored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Named bits, each changed and restored on its own: a bit that somebody else switched meanwhile is left alone.
    Mask(&'static [(u32, &'static str)]),
    /// A size in MiB. It is left alone once somebody else has set it.
    Mib,
    /// The kernel's debug daemon. It is left alone once it writes a file that is not lioprof's.
    Daemon,
    /// Text that is only written: there is nothing to restore.
    Marker,
}

/// The properties of a parameter.
pub(crate) struct About {
    param: Param,
    /// Lustre's name, the same for the files and for `lctl`.
    name: &'static str,
    pub(crate) kind: Kind,
    /// Position in the order of restoring: masks first, so that nothing more is logged; then the debug daemon, which writes out
    /// the buffer; then the buffer's size. Changes are made in the reverse order.
    put_back: u8,
    /// May be restored only after this parameter: all subsystems with lioprof's masks still on would flood the log.
    pub(crate) after: Option<Param>,
    /// Modules that have it as a module parameter, to which debugfs only has a link.
    modules: &'static [&'static str],
}

/// The table, in the order of [`Param`], which is also that of messages.
static TABLE: [About; 5] = {
    use Param::{DaemonFile, Debug, DebugMarker, DebugMb, SubsystemDebug};
    [
        about(Debug, "debug", Kind::Mask(&bits::DEBUG), 0, None, &[]),
        about(SubsystemDebug, "subsystem_debug", Kind::Mask(&bits::SUBSYSTEMS), 1, Some(Debug), &[]),
        about(DebugMb, "debug_mb", Kind::Mib, 3, None, &["libcfs", "lnet"]),
        about(DaemonFile, "daemon_file", Kind::Daemon, 2, None, &[]),
        about(DebugMarker, "debug_marker", Kind::Marker, 4, None, &[]),
    ]
};

/// Builds a row of the table.
const fn about(
    param: Param,
    name: &'static str,
    kind: Kind,
    put_back: u8,
    after: Option<Param>,
    modules: &'static [&'static str],
) -> About {
    About { param, name, kind, put_back, after, modules }
}

impl Param {
    /// The parameter's row of the table.
    pub(crate) fn about(self) -> &'static About {
        &TABLE[self as usize]
    }

    /// The parameters that lioprof changes, in the order of [`Param`].
    pub(crate) fn settings() -> impl Iterator<Item = Self> {
        TABLE.iter().filter(|about| !matches!(about.kind, Kind::Marker)).map(|about| about.param)
    }

    /// The masks that lioprof changes.
    pub(crate) fn masks() -> impl DoubleEndedIterator<Item = Self> {
        TABLE.iter().filter(|about| matches!(about.kind, Kind::Mask(_))).map(|about| about.param)
    }

    /// The parameters that lioprof changes, in the order of restoring.
    pub(crate) fn as_put_back() -> Vec<Self> {
        let mut settings: Vec<Self> = Self::settings().collect();
        settings.sort_by_key(|param| param.about().put_back);
        settings
    }

    /// Lustre's name of the parameter, the same for the files and for `lctl`.
    pub(crate) fn name(self) -> &'static str {
        self.about().name
    }

    /// Where the file can be, newest place first: debugfs since 2.11 (v2_10_52, LU-8066), `/proc/sys/lnet` before.
    pub(super) fn paths(self) -> Vec<String> {
        let name = self.name();
        let modules = self.about().modules.iter().map(|module| format!("sys/module/{module}/parameters/libcfs_{name}"));
        let debugfs = format!("sys/kernel/debug/lnet/{name}");
        [debugfs].into_iter().chain(modules).chain([format!("proc/sys/lnet/{name}")]).collect()
    }

    /// Bits and names of a mask.
    pub(crate) fn bits(self) -> &'static [(u32, &'static str)] {
        if let Kind::Mask(bits) = self.about().kind { bits } else { &[] }
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_parameters() {
        for (at, about) in TABLE.iter().enumerate() {
            assert_eq!(about.param as usize, at);
        }
    }
}
