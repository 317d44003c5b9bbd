//! The texts of a part: one list for all columns, in which a column's cells are places.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use lioprof_model::{Symbol, Symbols};
use lustre_debuglog::vocab::LockType;
use lustre_debuglog::{LockMode, Opcode, TargetName};
use rustc_hash::FxHashMap;

use crate::text;
use crate::words::Word;

/// Place of a text in [`Texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) i32);

/// Marks a symbol that has no place yet.
const NONE: i32 = -1;

/// Texts by place. The same text may have several places: Parquet's own dictionaries tell them apart by content.
#[derive(Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<i32>,
    /// All of them as Arrow wants them, until another comes.
    array: Option<ArrayRef>,
    by_symbol: Vec<i32>,
    opcodes: FxHashMap<Opcode, Text>,
    targets: FxHashMap<TargetName, Text>,
    words: FxHashMap<&'static str, Text>,
    others: FxHashMap<Box<str>, Text>,
    last_target: Option<(TargetName, Text)>,
}

impl Texts {
    /// The text of a symbol.
    #[inline]
    pub(crate) fn symbol(&mut self, symbol: Symbol, symbols: &Symbols) -> Text {
        match self.by_symbol.get(symbol.0 as usize) {
            Some(&place) if place != NONE => Text(place),
            _ => self.new_symbol(symbol, symbols),
        }
    }

    #[cold]
    fn new_symbol(&mut self, symbol: Symbol, symbols: &Symbols) -> Text {
        let text = self.push(&text::encode(symbols.bytes(symbol)));
        let at = symbol.0 as usize;
        if self.by_symbol.len() <= at {
            self.by_symbol.resize(at + 1, NONE);
        }
        self.by_symbol[at] = text.0;
        text
    }

    /// The name of an opcode, `opc_999` for those without one.
    #[inline]
    pub(crate) fn opcode(&mut self, opcode: Opcode) -> Text {
        match self.opcodes.get(&opcode) {
            Some(text) => *text,
            None => {
                let text = self.push(&opcode.to_string());
                self.opcodes.insert(opcode, text);
                text
            }
        }
    }

    /// The name of a target.
    #[inline]
    pub(crate) fn target(&mut self, target: TargetName) -> Text {
        if let Some((last, text)) = self.last_target
            && last == target
        {
            return text;
        }
        let text = match self.targets.get(&target) {
            Some(text) => *text,
            None => {
                let text = self.push(&target.to_string());
                self.targets.insert(target, text);
                text
            }
        };
        self.last_target = Some((target, text));
        text
    }

    /// The word of an enum's value.
    #[inline]
    pub(crate) fn word<W: Word>(&mut self, value: W) -> Text {
        self.fixed(W::ALL[value.number()].1)
    }

    /// The name of a lock mode.
    pub(crate) fn mode(&mut self, mode: LockMode) -> Text {
        self.fixed(mode.as_str())
    }

    /// The name of a lock type.
    pub(crate) fn lock_type(&mut self, lock_type: LockType) -> Text {
        self.fixed(lock_type.as_str())
    }

    /// A text of the program.
    #[inline]
    pub(crate) fn fixed(&mut self, word: &'static str) -> Text {
        match self.words.get(word) {
            Some(text) => *text,
            None => {
                let text = self.push(word);
                self.words.insert(word, text);
                text
            }
        }
    }

    /// Any text.
    pub(crate) fn other(&mut self, text: &str) -> Text {
        match self.others.get(text) {
            Some(text) => *text,
            None => {
                let place = self.push(text);
                self.others.insert(text.into(), place);
                place
            }
        }
    }

    fn push(&mut self, text: &str) -> Text {
        self.array = None;
        let place = i32::try_from(self.ends.len()).expect("texts are forgotten long before there are 2^31");
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(i32::try_from(self.bytes.len()).expect("texts are forgotten long before 2 GiB"));
        Text(place)
    }

    /// The text at a place.
    pub(crate) fn get(&self, Text(place): Text) -> &str {
        let at = usize::try_from(place).expect("places begin at 0");
        let offset = |end: i32| usize::try_from(end).expect("ends grow from 0");
        let start = if at == 0 { 0 } else { offset(self.ends[at - 1]) };
        str::from_utf8(&self.bytes[start..offset(self.ends[at])]).expect("made of strings, cut between them")
    }

    /// All texts, by place.
    pub(crate) fn array(&mut self) -> ArrayRef {
        let Self { bytes, ends, array, .. } = self;
        let make = || -> ArrayRef {
            let offsets = std::iter::once(0).chain(ends.iter().copied()).collect::<ScalarBuffer<i32>>();
            Arc::new(StringArray::new(OffsetBuffer::new(offsets), bytes.clone().into(), None))
        };
        Arc::clone(array.get_or_insert_with(make))
    }

    /// Memory, roughly.
    pub(crate) fn memory(&self) -> usize {
        // An entry of `others` holds its text again.
        2 * self.bytes.len() + 4 * (self.ends.len() + self.by_symbol.len()) + 64 * self.others.len()
    }

    /// Forgets which symbol has which text: another [`Symbols`] comes.
    pub(crate) fn forget_symbols(&mut self) {
        self.by_symbol.clear();
    }
}
