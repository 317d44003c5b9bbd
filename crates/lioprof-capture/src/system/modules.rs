//! The kernel modules that are loaded.

use std::path::Path;

use super::read_text;

/// Modules of which one at least is there when Lustre's debug log is. `libcfs` became a part of `lnet` on master.
const DEBUG_LOG: [&str; 2] = ["libcfs", "lnet"];

/// Is the debug log's module loaded? `None` if `/proc/modules` cannot be read.
pub(crate) fn debug_log_loaded(root: &Path) -> Option<bool> {
    loaded(root).map(|names| names.iter().any(|name| DEBUG_LOG.contains(&name.as_str())))
}

/// Is Lustre itself loaded, and not only LNet, which many nodes load at boot? `None` if `/proc/modules` cannot be read.
///
/// `obdclass` is there on every server and client; its version and its targets are known from then on.
pub(crate) fn lustre_loaded(root: &Path) -> Option<bool> {
    loaded(root).map(|names| names.iter().any(|name| name == "obdclass"))
}

/// Names of all loaded modules; `None` if `/proc/modules` cannot be read.
pub(crate) fn loaded(root: &Path) -> Option<Vec<String>> {
    let text = read_text(root, "proc/modules").ok()?;
    Some(text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}
