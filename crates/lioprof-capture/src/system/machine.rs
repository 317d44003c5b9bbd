//! The machine: its memory, its CPUs, and which boot of it this is.

use std::path::Path;

use super::{below, read_text};

/// `MemTotal` in MiB; `None` if `/proc/meminfo` is missing or odd.
pub(crate) fn memory_mib(root: &Path) -> Option<u64> {
    let text = read_text(root, "proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024)
}

/// Number of possible CPUs, by which the kernel divides its debug buffer; `None` if the file is missing or odd.
pub(crate) fn possible_cpus(root: &Path) -> Option<u32> {
    count(read_text(root, "sys/devices/system/cpu/possible").ok()?.trim())
}

/// Members of a list such as `0-63` or `0,2-5`.
fn count(list: &str) -> Option<u32> {
    list.split(',').try_fold(0_u32, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

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
    let link = std::fs::read_link(below(root, "proc/self/ns/pid")).ok()?;
    Some(link.to_str() == Some(FIRST))
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn lists_of_ranges() {
        assert_eq!(count("0-63"), Some(64));
        assert_eq!(count("0"), Some(1));
        assert_eq!(count("0,2-5"), Some(5));
        assert_eq!(count(""), None);
        assert_eq!(count("5-2"), None);
        assert_eq!(count("0-4294967295"), None);
    }
}
