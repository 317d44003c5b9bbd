//! What was repaired, counted.

use std::collections::BTreeMap;

/// How a line had been changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Repair {
    /// Something stood before its header.
    Prefix,
    /// It was broken into several.
    Wrapped,
    /// Characters of its text were replaced: blanks, entities, colours, signs.
    Characters,
    /// `@` had become ` at `.
    AtSign,
    /// The text was UTF-16.
    Utf16,
    /// A heading, a fence, a remark: lines that are no part of the log.
    Remark,
}

impl Repair {
    /// As written in `analysis.json`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Prefix => "prefix",
            Self::Wrapped => "wrapped",
            Self::Characters => "characters",
            Self::AtSign => "at_sign",
            Self::Utf16 => "utf16",
            Self::Remark => "remark",
        }
    }
}

/// Lines repaired, by kind.
pub(crate) type Repairs = BTreeMap<Repair, u64>;

/// Adds the lines of another part.
pub(crate) fn merge(mine: &mut Repairs, other: Repairs) {
    for (kind, lines) in other {
        *mine.entry(kind).or_default() += lines;
    }
}
