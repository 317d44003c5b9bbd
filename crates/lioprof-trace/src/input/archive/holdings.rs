//! What an archive holds besides logs, in numbers and the first names.

use std::collections::BTreeMap;
use std::fmt;

/// Names that are told of each kind.
const NAMES: usize = 3;

/// Members that are not read, by what they are called.
#[derive(Debug, Default)]
pub(super) struct Holdings(BTreeMap<&'static str, Few>);

/// How many members of a kind there are, and the first of them.
#[derive(Debug, Default)]
struct Few {
    count: usize,
    names: Vec<String>,
}

/// What members are called that are something else.
pub(super) const FOREIGN: &str = "other files";

impl Holdings {
    /// One more of a kind.
    pub(super) fn add(&mut self, what: &'static str, name: &str) {
        let few = self.0.entry(what).or_default();
        few.count += 1;
        if few.names.len() < NAMES {
            few.names.push(name.to_owned());
        }
    }

    /// One text for each kind: `12 links (a, b, c, ..)`.
    pub(super) fn kinds(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(what, few)| {
            let mut text = format!("{} {what} (", few.count);
            text.push_str(&few.names.join(", "));
            if few.count > few.names.len() {
                text.push_str(", ..");
            }
            text.push(')');
            text
        })
    }
}

impl fmt::Display for Holdings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("no files");
        }
        for (at, kind) in self.kinds().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            f.write_str(&kind)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_first_names() {
        let mut holdings = Holdings::default();
        assert_eq!(holdings.to_string(), "no files");
        ["a", "b", "c", "d"].iter().for_each(|name| holdings.add("links", name));
        holdings.add("devices", "x");
        assert_eq!(holdings.to_string(), "1 devices (x), 4 links (a, b, c, ..)");
    }
}
