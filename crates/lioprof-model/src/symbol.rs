//! Interned byte strings: NIDs, uuids, job ids, thread and target names occur millions of times.

use rustc_hash::FxHashMap;

/// Number of an interned string in one [`Symbols`] table.
///
/// Must not be used with another table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// An append-only table of byte strings.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    by_text: FxHashMap<Box<[u8]>, Symbol>,
    texts: Vec<Box<[u8]>>,
}

impl Symbols {
    /// The symbol of `text`, new or known.
    pub fn intern(&mut self, text: &[u8]) -> Symbol {
        if let Some(&symbol) = self.by_text.get(text) {
            return symbol;
        }
        let number = u32::try_from(self.texts.len()).expect("fewer than 2^32 distinct strings");
        let symbol = Symbol(number);
        self.texts.push(text.into());
        self.by_text.insert(text.into(), symbol);
        symbol
    }

    /// The bytes of a symbol of this table.
    #[must_use]
    pub fn bytes(&self, symbol: Symbol) -> &[u8] {
        &self.texts[symbol.0 as usize]
    }

    /// The text of a symbol; what is not UTF-8 is shown as `\xHH`.
    #[must_use]
    pub fn text(&self, symbol: Symbol) -> String {
        escape(self.bytes(symbol))
    }

    /// How many distinct strings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The strings that have come in since there were `len` of them, in the order of their symbols.
    pub fn since(&self, len: usize) -> impl Iterator<Item = &[u8]> {
        self.texts[len..].iter().map(AsRef::as_ref)
    }

    /// All strings in the order of their symbols.
    pub fn iter(&self) -> impl Iterator<Item = (Symbol, &[u8])> {
        (0u32..).map(Symbol).zip(self.texts.iter().map(AsRef::as_ref))
    }
}

/// Bytes as text: valid UTF-8 without control characters stays, anything else becomes `\xHH`.
#[must_use]
pub fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() {
                let mut buffer = [0; 4];
                for b in c.encode_utf8(&mut buffer).bytes() {
                    push_hex(&mut out, b);
                }
            } else {
                out.push(c);
            }
        }
        for &b in chunk.invalid() {
            push_hex(&mut out, b);
        }
    }
    out
}

fn push_hex(out: &mut String, byte: u8) {
    use std::fmt::Write;
    write!(out, "\\x{byte:02x}").expect("writing to a String cannot fail");
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
