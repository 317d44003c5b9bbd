//! What was repaired, counted.

/// How a line had been changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Every line stood in quotes, or ended with the same words.
    Frame,
}

impl Repair {
    const ALL: [Self; 6] = [Self::Prefix, Self::Wrapped, Self::Characters, Self::AtSign, Self::Utf16, Self::Frame];

    /// As written in `analysis.json`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Prefix => "prefix",
            Self::Wrapped => "wrapped",
            Self::Characters => "characters",
            Self::AtSign => "at_sign",
            Self::Utf16 => "utf16",
            Self::Frame => "frame",
        }
    }
}

/// Lines repaired, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repairs([u64; Repair::ALL.len()]);

impl Repairs {
    /// Counts lines.
    pub(crate) fn add(&mut self, kind: Repair, lines: u64) {
        self.0[kind as usize] += lines;
    }

    /// Adds the lines of another part.
    pub(crate) fn merge(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, lines)| *mine += lines);
    }

    /// The kinds that there are.
    pub(crate) fn iter(self) -> impl Iterator<Item = (Repair, u64)> {
        Repair::ALL.into_iter().zip(self.0).filter(|(_, lines)| *lines > 0)
    }
}
