//! Interned byte strings: NIDs, uuids, job ids, thread and target names occur millions of times.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use lustre_debuglog::vocab;
use rustc_hash::FxBuildHasher;

/// Number of an interned string in one [`Symbols`] table.
///
/// Must not be used with another table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// An append-only table of byte strings.
///
/// All texts lie in one store: a hundred thousand clients would otherwise be as many small blocks of memory, in the table
/// of each chunk.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    store: Vec<u8>,
    /// Where each symbol's text ends; it begins where the one before it ends.
    ends: Vec<usize>,
    by_text: HashTable<Symbol>,
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
    fn text_that_is_not_utf8_is_escaped() {
        assert_eq!(escape(b"a\xffb\n"), "a\\xffb\\x0a");
        assert_eq!(escape("dä".as_bytes()), "dä");
    }
}
