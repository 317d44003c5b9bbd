//! Which settings there are, and where.

use std::fmt;

/// A setting of Lustre's debug log. All are of the node, not of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Param {
    /// Mask of message types.
    Debug,
    /// Mask of subsystems.
    SubsystemDebug,
    /// Size of the log's buffers, MiB.
    DebugMb,
    /// Commands to the debug daemon: a path, `size=MIB`, `stop`. Reading gives the path, or nothing.
    DaemonFile,
    /// Text for the log, since 2.16 (v2_15_62, LU-17053). Write only.
    DebugMarker,
    /// Path to write the buffers to at once. Write only.
    DumpKernel,
}

impl Param {
    /// Lustre's name of it, the same for the files and for `lctl`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::SubsystemDebug => "subsystem_debug",
            Self::DebugMb => "debug_mb",
            Self::DaemonFile => "daemon_file",
            Self::DebugMarker => "debug_marker",
            Self::DumpKernel => "dump_kernel",
        }
    }

    /// Where the file can be, newest place first: debugfs since 2.11 (v2_10_52, LU-8066), `/proc/sys/lnet` before.
    /// `debug_mb` in debugfs is a link to the parameter of the module.
    pub(crate) const fn places(self) -> &'static [&'static str] {
        match self {
            Self::Debug => &["sys/kernel/debug/lnet/debug", "proc/sys/lnet/debug"],
            Self::SubsystemDebug => &["sys/kernel/debug/lnet/subsystem_debug", "proc/sys/lnet/subsystem_debug"],
            Self::DebugMb => &[
                "sys/kernel/debug/lnet/debug_mb",
                "sys/module/libcfs/parameters/libcfs_debug_mb",
                "sys/module/lnet/parameters/libcfs_debug_mb",
                "proc/sys/lnet/debug_mb",
            ],
            Self::DaemonFile => &["sys/kernel/debug/lnet/daemon_file", "proc/sys/lnet/daemon_file"],
            Self::DebugMarker => &["sys/kernel/debug/lnet/debug_marker"],
            Self::DumpKernel => &["sys/kernel/debug/lnet/dump_kernel", "proc/sys/lnet/dump_kernel"],
        }
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
