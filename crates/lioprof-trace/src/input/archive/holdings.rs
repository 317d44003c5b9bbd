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

    /// Whether there is nothing of the kind.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// `1 device (x), 12 links (a, b, c, ..)`.
impl fmt::Display for Holdings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("no files");
        }
        for (at, (what, few)) in self.0.iter().enumerate() {
            let (comma, more) = (if at > 0 { ", " } else { "" }, if few.count > few.names.len() { ", .." } else { "" });
            let what = if few.count == 1 { singular(what) } else { (*what).to_owned() };
            write!(f, "{comma}{} {what} ({}{more})", few.count, few.names.join(", "))?;
        }
        Ok(())
    }
}

/// `file that cannot be read` for `files that cannot be read`: the first word with an `s` at its end loses it.
fn singular(plural: &str) -> String {
    let mut words: Vec<&str> = plural.split(' ').collect();
    if let Some(noun) = words.iter_mut().find(|word| word.ends_with('s')) {
        *noun = noun.trim_end_matches('s');
    }
    words.join(" ")
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
        assert_eq!(singular("files packed by other methods"), "file packed by other methods");
        assert_eq!(holdings.to_string(), "1 device (x), 4 links (a, b, c, ..)");
    }
}
