//! Files of the repository that say what the code does; `LIOPROF_BLESS=1` writes them anew.

use std::fs;
use std::ops::Range;

use crate::files::repository;

/// The file at a path in the repository must be as it should be by now, which `now` makes out of what it is.
///
/// # Panics
/// If it is not, or cannot be read or written.
#[track_caller]
pub fn blessed(path: &str, now: impl FnOnce(&str) -> String) {
    let file = repository(path);
    let is = fs::read_to_string(&file).unwrap_or_default();
    let now = now(&is);
    if is == now {
        return;
    }
    if std::env::var_os("LIOPROF_BLESS").is_some() {
        fs::write(&file, now).unwrap_or_else(|err| panic!("`{}`: {err}", file.display()));
        return;
    }
    let differs = is.lines().zip(now.lines()).position(|(is, now)| is != now);
    let at = differs.unwrap_or_else(|| is.lines().count().min(now.lines().count()));
    panic!(
        "{path} is not what it should be (LIOPROF_BLESS=1 puts it right); line {} is\n{}\nand should be\n{}",
        at + 1,
        is.lines().nth(at).unwrap_or("(not there)"),
        now.lines().nth(at).unwrap_or("(not there)"),
    );
}

/// [`blessed()`] for what stands between two marks.
///
/// # Panics
/// As [`blessed()`], and if the marks are not there.
#[track_caller]
pub fn blessed_table(path: &str, (begin, end): (&str, &str), now: &str) {
    blessed(path, |is| {
        let mut text = is.to_owned();
        text.replace_range(between(is, begin, end).unwrap_or_else(|| panic!("{path} has no {begin} .. {end}")), now);
        text
    });
}

fn between(text: &str, begin: &str, end: &str) -> Option<Range<usize>> {
    let start = text.find(begin)? + begin.len();
    Some(start..start + text[start..].find(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_as_it_should_be_stays() {
        blessed("ARCHITECTURE.md", str::to_owned);
        blessed_table("ARCHITECTURE.md", ("# Archi", "ure"), "tect");
    }

    #[test]
    fn marks_are_found_in_their_order() {
        assert_eq!(between("b a-b", "a", "b"), Some(3..4));
        assert_eq!(between("b a", "a", "b"), None);
    }
}
