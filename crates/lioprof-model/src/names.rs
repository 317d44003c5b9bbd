//! What targets, objects and jobs are called, for people: on plots, on pages and in text. (JSON and CSV leave out what has no name.)

use std::borrow::Cow;

/// What reads and writes are of whose OST the log does not name.
pub const UNATTRIBUTED: &str = "unattributed";

/// An object of which the log has neither FID nor resource.
pub const UNKNOWN_OBJECT: &str = "unknown object";

/// A target, or what stands for one in a row of its server: `oss1, target unknown`.
#[must_use]
pub fn target_of<'a>(target: Option<&'a str>, node: &str) -> Cow<'a, str> {
    target.map_or_else(|| format!("{node}, target unknown").into(), Cow::Borrowed)
}

/// An object on its target.
#[must_use]
pub fn object(target: &str, id: &str) -> String {
    format!("{target} {id}")
}

/// A job. Without one the client sent none, or it is not known: Lustre before 2.13 prints none with a request, and later ones' logs do
/// not name that of every wait. `printed`: the logs name any job.
#[must_use]
pub fn job(job: Option<&str>, printed: bool) -> &str {
    match job {
        Some("") => "(none)",
        Some(job) => job,
        None if printed => "(not known)",
        None => "(not printed by this version)",
    }
}

/// What all targets have before `OST0001` or `MDT0000`, with the dash; `None` if they are not of one file system.
#[must_use]
pub fn file_system<'a>(targets: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let file_system = |name: &'a str| {
        let at = ["-OST", "-MDT"].iter().filter_map(|kind| name.find(kind)).min()?;
        Some(&name[..=at])
    };
    let mut all = targets.into_iter().filter(|name| *name != UNATTRIBUTED).map(file_system);
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

/// `OST0001` for `lustre-OST0001` if all are of one file system.
#[must_use]
pub fn without_file_system<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let same = file_system(names.iter().copied()).unwrap_or_default();
    names.into_iter().map(|name| name.strip_prefix(same).unwrap_or(name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_file_system_is_left_out() {
        let short = without_file_system(["a-b-OST0000", "a-b-MDT0001", UNATTRIBUTED]);
        assert_eq!(short, ["OST0000", "MDT0001", UNATTRIBUTED]);
        assert_eq!(without_file_system(["a-OST0000", "b-OST0000"]), ["a-OST0000", "b-OST0000"]);
        assert_eq!(without_file_system(["a-OST0000", "MGS"]), ["a-OST0000", "MGS"]);
        assert_eq!(without_file_system(["MGS", "a-OST0000"]), ["MGS", "a-OST0000"]);
    }

    #[test]
    fn what_has_no_name_is_called_something() {
        assert_eq!(
            [target_of(Some("a-OST0000"), "oss1"), target_of(None, "oss1")],
            ["a-OST0000", "oss1, target unknown"]
        );
        let jobs =
            [(Some("dd.0"), true), (Some(""), true), (None, true), (None, false)].map(|(it, printed)| job(it, printed));
        assert_eq!(jobs, ["dd.0", "(none)", "(not known)", "(not printed by this version)"]);
    }
}
