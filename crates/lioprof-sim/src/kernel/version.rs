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

    /// `debug`, `daemon_file` and the like are in debugfs (since 2.10.52, LU-8066), not in `/proc/sys/lnet`.
    #[must_use]
    pub fn lnet_in_debugfs(self) -> bool {
        self >= Self::V2_15
    }

    /// Counters and exports of targets are in debugfs (since 2.16.53, LU-8066), not in `/proc/fs/lustre`.
    #[must_use]
    pub fn target_counters_in_debugfs(self) -> bool {
        self >= Self::V2_17
    }

    /// `debug_marker` exists (since 2.15.62, LU-17053); before, `lctl mark` is an ioctl.
    #[must_use]
    pub fn has_debug_marker(self) -> bool {
        self >= Self::V2_17
    }

    /// `subsystem_printk` exists (since 2.16.52, LU-17995).
    #[must_use]
    pub fn has_subsystem_printk(self) -> bool {
        self >= Self::V2_17
    }

    /// Commas separate names of masks, like white space (since 2.14.52, LU-13055).
    #[must_use]
    pub fn comma_separates_masks(self) -> bool {
        self >= Self::V2_15
    }

    /// `+` or `-` applies to all names up to the next operator (before 2.16.53).
    #[must_use]
    pub fn operator_sticks(self) -> bool {
        self < Self::V2_17
    }

    /// `default` is a mask (since 2.15.51, LU-9859).
    #[must_use]
    pub fn has_default_mask(self) -> bool {
        self >= Self::V2_17
    }

    /// `none` is a mask (since 2.17.54, LU-19901).
    #[must_use]
    pub fn has_none_mask(self) -> bool {
        self >= Self::V2_17
    }

    /// Leading white space of a command is removed, too, and only what is longer than 64 KiB is too long
    /// (`E2BIG`, since 2.14.51). Before, the limit was two pages (`EINVAL`).
    #[must_use]
    pub fn trims_both_ends(self) -> bool {
        self >= Self::V2_15
    }

    /// The number behind `size=` is read strictly (since 2.12).
    #[must_use]
    pub fn strict_size(self) -> bool {
        self >= Self::V2_15
    }

    /// Lines of the kernel log about the debug daemon begin with `Lustre: ` (since 2.14).
    #[must_use]
    pub fn kmsg_prefix(self) -> &'static str {
        if self >= Self::V2_15 { "Lustre: " } else { "" }
    }

    /// Pages that the daemon has written are kept in one list (since 2.14.56, LU-14428), not one per buffer. With
    /// it came: after a failed write only that page and those behind it are written again, not the whole pass.
    #[must_use]
    pub fn one_history(self) -> bool {
        self >= Self::V2_15
    }
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
        match text {
            "2.10" => Ok(Self::V2_10),
            "2.15" => Ok(Self::V2_15),
            "2.17" => Ok(Self::V2_17),
            other => Err(UnknownVersion(other.to_owned())),
        }
    }
}
