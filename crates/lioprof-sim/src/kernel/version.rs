//! What differs between Lustre versions in the debug log's control surface.

use std::fmt;
use std::str::FromStr;

/// The Lustre version whose behaviour is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LustreVersion {
    /// 2.10: `lnet` under `/proc/sys`, targets under `/proc/fs/lustre`.
    V2_10,
    /// 2.15: `lnet` in debugfs, counters of targets under `/proc/fs/lustre`.
    V2_15,
    /// 2.17: counters of targets in debugfs, too; `debug_marker`.
    #[default]
    V2_17,
}

impl LustreVersion {
    /// As `lctl get_param -n version` prints it.
    #[must_use]
    pub fn full(self) -> &'static str {
        match self {
            Self::V2_10 => "2.10.8",
            Self::V2_15 => "2.15.8",
            Self::V2_17 => "2.17.57",
        }
    }

    /// A kernel that this version ran on.
    #[must_use]
    pub fn kernel_release(self) -> &'static str {
        match self {
            Self::V2_10 => "3.10.0-957.el7_lustre.x86_64",
            Self::V2_15 => "5.10.0-32-amd64",
            Self::V2_17 => "6.1.0-56-amd64",
        }
    }

    /// Lines of the kernel log about the debug daemon begin with `Lustre: ` (since 2.14).
    #[must_use]
    pub fn kmsg_prefix(self) -> &'static str {
        if self >= Self::V2_15 { "Lustre: " } else { "" }
    }
}

/// What came with the first simulated version that has it.
macro_rules! since {
    ($($(#[$doc:meta])* $what:ident: $version:ident;)*) => {
        impl LustreVersion {
            $($(#[$doc])*
            #[must_use]
            pub fn $what(self) -> bool {
                self >= Self::$version
            })*
        }
    };
}

since! {
    /// `debug`, `daemon_file` and the like are in debugfs (since 2.10.52, LU-8066), not in `/proc/sys/lnet`.
    lnet_in_debugfs: V2_15;
    /// Counters and exports of targets are in debugfs (since 2.16.53, LU-8066), not in `/proc/fs/lustre`.
    target_counters_in_debugfs: V2_17;
    /// `debug_marker` exists (since 2.15.62, LU-17053); before, `lctl mark` is an ioctl.
    has_debug_marker: V2_17;
    /// `subsystem_printk` exists (since 2.16.52, LU-17995).
    has_subsystem_printk: V2_17;
    /// Commas separate names of masks, like white space (since 2.14.52, LU-13055).
    comma_separates_masks: V2_15;
    /// `+` or `-` applies to one name (since 2.16.53), not to all up to the next operator.
    operator_is_for_one_name: V2_17;
    /// `default` is a mask (since 2.15.51, LU-9859).
    has_default_mask: V2_17;
    /// `none` is a mask (since 2.17.54, LU-19901).
    has_none_mask: V2_17;
    /// Leading white space of a command is removed, too, and only what is longer than 64 KiB is too long
    /// (`E2BIG`, since 2.14.51). Before, the limit was two pages (`EINVAL`).
    trims_both_ends: V2_15;
    /// The number behind `size=` is read strictly (since 2.12).
    strict_size: V2_15;
    /// Pages that the daemon has written are kept in one list (since 2.14.56, LU-14428), not one per buffer. With
    /// it came: after a failed write only that page and those behind it are written again, not the whole pass.
    one_history: V2_15;
}

impl fmt::Display for LustreVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V2_10 => "2.10",
            Self::V2_15 => "2.15",
            Self::V2_17 => "2.17",
        })
    }
}

/// A version that is not simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Lustre {0:?} is not simulated: give 2.10, 2.15 or 2.17")]
pub struct UnknownVersion(String);

impl FromStr for LustreVersion {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let all = [Self::V2_10, Self::V2_15, Self::V2_17];
        all.into_iter().find(|version| version.to_string() == text).ok_or_else(|| UnknownVersion(text.to_owned()))
    }
}
