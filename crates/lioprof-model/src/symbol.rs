//! Interned byte strings: NIDs, uuids, job ids, thread and target names occur millions of times.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use lustre_debuglog::vocab;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

/// Number of an interned string in one [`Symbols`] table.
///
/// Must not be used with another table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Symbol(pub u32);

/// An append-only table of byte strings.
///
/// All texts lie in one store: a hundred thousand clients would otherwise be as many small blocks of memory, in the table
/// of each chunk.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(into = "Texts", from = "Texts")]
pub struct Symbols {
    store: Vec<u8>,
    /// Where each symbol's text ends; it begins where the one before it ends.
    ends: Vec<usize>,
    by_text: HashTable<Symbol>,
}

/// A table as it is written: its strings in the order of their symbols.
#[derive(Serialize, Deserialize)]
struct Texts(Vec<Vec<u8>>);

impl From<Symbols> for Texts {
    fn from(symbols: Symbols) -> Self {
        Self(symbols.since(0).map(<[u8]>::to_vec).collect())
    }
}

impl From<Texts> for Symbols {
    fn from(Texts(texts): Texts) -> Self {
        let mut symbols = Self::default();
        // A text that is there twice, in a file that nobody should trust, would move all that follow.
        texts.iter().for_each(|text| symbols.push(text));
        symbols
    }
}

impl Symbols {
    /// The symbol of `text`, new or known.
    pub fn intern(&mut self, text: &[u8]) -> Symbol {
        let Self { store, ends, by_text } = self;
        let hash = FxBuildHasher.hash_one(text);
        if let Some(&symbol) = by_text.find(hash, |known| text_at(store, ends, known.0 as usize) == text) {
            return symbol;
        }
        let symbol = Symbol(u32::try_from(ends.len()).expect("fewer than 2^32 distinct strings"));
        store.extend_from_slice(text);
        ends.push(store.len());
        by_text.insert_unique(hash, symbol, |known| FxBuildHasher.hash_one(text_at(store, ends, known.0 as usize)));
        symbol
    }

    /// Adds a string as the next symbol, whether or not it is known.
    fn push(&mut self, text: &[u8]) {
        let len = self.len();
        self.intern(text);
        if self.len() == len {
            self.store.extend_from_slice(text);
            self.ends.push(self.store.len());
        }
    }

    /// The bytes of a symbol of this table.
    #[must_use]
    pub fn bytes(&self, symbol: Symbol) -> &[u8] {
        text_at(&self.store, &self.ends, symbol.0 as usize)
    }

    /// The text of a symbol; what is not UTF-8 is shown as `\xHH`.
    #[must_use]
    pub fn text(&self, symbol: Symbol) -> String {
        escape(self.bytes(symbol))
    }

    /// How many distinct strings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The strings that have come in since there were `len` of them, in the order of their symbols.
    pub fn since(&self, len: usize) -> impl Iterator<Item = &[u8]> {
        (len..self.len()).map(|number| text_at(&self.store, &self.ends, number))
    }

    /// Takes in all strings of another table. Returns the symbol that each has here, in the order of the other's symbols.
    pub fn take_in(&mut self, other: &Self) -> Vec<Symbol> {
        other.since(0).map(|text| self.intern(text)).collect()
    }

    /// All strings, one behind the other: what is nowhere in it is in none of them.
    #[must_use]
    pub fn all(&self) -> &[u8] {
        &self.store
    }

    /// All strings in the order of their symbols.
    pub fn iter(&self) -> impl Iterator<Item = (Symbol, &[u8])> {
        (0u32..).map(Symbol).zip(self.since(0))
    }
}

/// The text that was the `number`th to come in.
fn text_at<'a>(store: &'a [u8], ends: &[usize], number: usize) -> &'a [u8] {
    let start = if number == 0 { 0 } else { ends[number - 1] };
    &store[start..ends[number]]
}

/// Bytes as text: valid UTF-8 without control characters stays, anything else becomes `\xHH`.
#[must_use]
pub fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    vocab::escape(&mut out, bytes, char::is_control).expect("writing to a String cannot fail");
    out
}

/// A name that somebody has given to a file as text that can do nothing where it is shown: what is not UTF-8, control characters,
/// characters that cannot be seen or turn the direction of writing, and the backslash become `\xHH`.
#[must_use]
pub fn shown(name: &[u8]) -> String {
    let mut out = String::with_capacity(name.len());
    vocab::escape(&mut out, name, |c| c.is_control() || c == '\\' || is_unseen(c))
        .expect("writing to a String cannot fail");
    out
}

/// Spaces without a glyph, and what steers how text is set (Unicode's default ignorable and bidirectional formatting characters).
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interning_is_stable() {
        let mut symbols = Symbols::default();
        let a = symbols.intern(b"10.0.0.1@tcp");
        let b = symbols.intern(b"10.0.0.2@tcp");
        assert_eq!(symbols.intern(b"10.0.0.1@tcp"), a);
        assert_ne!(a, b);
        assert_eq!(symbols.bytes(b), b"10.0.0.2@tcp");
        assert_eq!(symbols.len(), 2);
    }

    #[test]
    fn strings_of_another_table_are_found_here() {
        let [mut one, mut other] = [Symbols::default(), Symbols::default()];
        for (table, texts) in [(&mut one, "ab"), (&mut other, "cbd")] {
            for text in texts.as_bytes().chunks(1) {
                table.intern(text);
            }
        }
        assert_eq!(one.take_in(&other), [2, 1, 3].map(Symbol));
        assert_eq!(one.iter().map(|(_, text)| text).collect::<Vec<_>>(), [b"a", b"b", b"c", b"d"]);
    }

    #[test]
    fn text_that_is_not_utf8_is_escaped() {
        assert_eq!(escape(b"a\xffb\n"), "a\\xffb\\x0a");
        assert_eq!(escape("dä".as_bytes()), "dä");
    }

    #[test]
    fn names_of_files_can_do_nothing_where_they_are_shown() {
        for (name, want) in [
            (&b"plain name.h5"[..], "plain name.h5"),
            ("d\u{e4}ten".as_bytes(), "d\u{e4}ten"),
            (b"two\nlines\ttab", "two\\x0alines\\x09tab"),
            (b"\x1b[31mred\x07", "\\x1b[31mred\\x07"),
            (b"not\xffutf8\xc3", "not\\xffutf8\\xc3"),
            ("exe\u{202e}cod.txt".as_bytes(), "exe\\xe2\\x80\\xaecod.txt"),
            ("no\u{200b}thing\u{feff}".as_bytes(), "no\\xe2\\x80\\x8bthing\\xef\\xbb\\xbf"),
            (b"\\x0a", "\\x5cx0a"),
        ] {
            assert_eq!(shown(name), want);
        }
    }
}
