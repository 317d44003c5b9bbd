//! Which boot of the node this is.

use std::path::Path;

use super::read_text;

/// The kernel's random identity of this boot; `None` where the file is missing (a directory made by a test).
pub(crate) fn boot_id(root: &Path) -> Option<String> {
    let text = read_text(root, "proc/sys/kernel/random/boot_id").ok()?;
    let id = text.trim();
    (!id.is_empty()).then(|| id.to_owned())
}

/// Is this process in the first pid namespace? `None` if it cannot be told. In a container, `/proc/1` is not the
/// node's first process, and paths seen here may mean something else to the kernel.
pub(crate) fn in_first_pid_namespace(root: &Path) -> Option<bool> {
    /// PROC_PID_INIT_INO of include/linux/proc_ns.h: the same on all kernels since 3.8.
    const FIRST: &str = "pid:[4026531836]";
    let link = std::fs::read_link(super::below(root, "proc/self/ns/pid")).ok()?;
    Some(link.to_str() == Some(FIRST))
}
