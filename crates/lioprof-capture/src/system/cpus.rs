//! The CPUs that a node can have.

use std::path::Path;

use super::read_text;

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
