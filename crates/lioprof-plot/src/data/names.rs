//! Names as they fit on an axis.

/// What reads and writes without a known OST are called.
pub(crate) const UNATTRIBUTED: &str = "unattributed";

/// `lustre-OST0001` as `OST0001` if every name starts with the same file system.
pub(crate) fn without_file_system<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let file_system = |name: &'a str| name.split_once("-OST").map(|(fs, _)| fs);
    let mut all = names.iter().filter(|n| **n != UNATTRIBUTED).map(|n| file_system(n));
    let same = match all.next().flatten() {
        Some(first) if all.all(|fs| fs == Some(first)) => Some(first),
        _ => None,
    };
    let short = |name: &str| match same {
        Some(fs) => name.strip_prefix(fs).and_then(|n| n.strip_prefix('-')).unwrap_or(name).to_owned(),
        None => name.to_owned(),
    };
    names.into_iter().map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_file_system_is_left_out() {
        let short = without_file_system(["a-b-OST0000", "a-b-OST0001", UNATTRIBUTED]);
        assert_eq!(short, ["OST0000", "OST0001", UNATTRIBUTED]);
        assert_eq!(without_file_system(["a-OST0000", "b-OST0000"]), ["a-OST0000", "b-OST0000"]);
    }
}
