//! The node's name and kernel.

use std::path::Path;

use crate::text::read_text;

/// The host name up to its first dot; `None` if the kernel does not tell.
#[must_use]
pub fn short_name(root: &Path) -> Option<String> {
    let text = read_text(root, "proc/sys/kernel/hostname")
        .unwrap_or_else(|_| rustix::system::uname().nodename().to_string_lossy().into_owned());
    let name = text.trim().split('.').next().unwrap_or_default();
    (!name.is_empty() && name != "(none)").then(|| name.to_owned())
}

/// Release of the kernel; `None` if it does not tell.
#[must_use]
pub fn kernel_release(root: &Path) -> Option<String> {
    read_text(root, "proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domain_is_left_out() {
        let root = tempfile::tempdir().unwrap();
        assert!(short_name(root.path()).is_some_and(|name| !name.contains('.')));
        std::fs::create_dir_all(root.path().join("proc/sys/kernel")).unwrap();
        std::fs::write(root.path().join("proc/sys/kernel/hostname"), "oss03.example.org\n").unwrap();
        assert_eq!(short_name(root.path()).as_deref(), Some("oss03"));
    }
}
