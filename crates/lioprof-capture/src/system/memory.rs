//! The node's memory.

use std::path::Path;

use super::read_text;

/// `MemTotal` in MiB; `None` if `/proc/meminfo` is missing or odd.
pub(crate) fn total_mib(root: &Path) -> Option<u64> {
    let text = read_text(root, "proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024)
}
