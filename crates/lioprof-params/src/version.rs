//! Lustre's version.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A release of Lustre.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LustreVersion {
    /// As the server prints it, for example `2.17.57_62_gc881f8e`.
    pub text: String,
    /// Major version: 2 of `2.15.8`.
    pub major: u32,
    /// Minor version: 15 of `2.15.8`.
    pub minor: u32,
    /// Patch level: 8 of `2.15.8`; 0 if there is none.
    pub patch: u32,
}

impl LustreVersion {
    /// Parses the text of `version`: `2.15.8`, `lustre: 2.10.8` and more lines, `2.17.57_62_gc881f8e`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let word = text
            .split_whitespace()
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))?;
        let mut numbers = word.split(|c: char| !c.is_ascii_digit()).map(|digits| digits.parse::<u32>().ok());
        let (major, minor) = (numbers.next()??, numbers.next()??);
        let patch = numbers.next().flatten().unwrap_or(0);
        Some(Self { text: word.to_owned(), major, minor, patch })
    }

    /// Whether it is older than `major.minor`.
    #[must_use]
    pub fn is_before(&self, major: u32, minor: u32) -> bool {
        (self.major, self.minor) < (major, minor)
    }
}

impl fmt::Display for LustreVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_all_ages() {
        let numbers = |text| LustreVersion::parse(text).map(|v| (v.major, v.minor, v.patch));
        assert_eq!(numbers("lustre: 2.10.8\nkernel: patchless_client\nbuild: 2.10.8\n"), Some((2, 10, 8)));
        assert_eq!(numbers("2.17.57_62_gc881f8e\n"), Some((2, 17, 57)));
        assert_eq!(numbers("lustre: 2.16\n"), Some((2, 16, 0)));
        assert_eq!(numbers("lustre: unknown\n"), None);
        assert_eq!(numbers(""), None);
    }
}
