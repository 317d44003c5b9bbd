//! The texts of a part: one list for all columns, in which a column's cells are places.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use lioprof_model::{Symbol, Symbols};
use lustre_debuglog::{Opcode, TargetName};
use rustc_hash::FxHashMap;

use super::meaning::Word;
use crate::text;

/// Place in [`Texts`] of a text that means an `M`.
pub(crate) struct Text<M: ?Sized> {
    pub(crate) place: i32,
    means: PhantomData<fn() -> M>,
}

impl<M: ?Sized> Text<M> {
    fn at(place: i32) -> Self {
        Self { place, means: PhantomData }
    }
}

impl<M: ?Sized> Clone for Text<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: ?Sized> Copy for Text<M> {}

/// Marks a symbol that has no place yet.
const NONE: i32 = -1;

/// Texts by place. The same text may have several places: Parquet's own dictionaries tell them apart by content.
#[derive(Default)]
pub(crate) struct Texts {
    list: List,
    by_symbol: Vec<i32>,
    opcodes: FxHashMap<Opcode, i32>,
    targets: FxHashMap<TargetName, i32>,
    words: FxHashMap<&'static str, i32>,
    others: FxHashMap<Box<str>, i32>,
    last_target: Option<(TargetName, i32)>,
}

/// The texts themselves, one behind the other.
#[derive(Default)]
struct List {
    bytes: Vec<u8>,
    ends: Vec<i32>,
    /// All of them as Arrow wants them, until another comes.
    array: Option<ArrayRef>,
}

impl List {
    fn push(&mut self, text: &str) -> i32 {
        self.array = None;
        let place = i32::try_from(self.ends.len()).expect("texts are forgotten long before there are 2^31");
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(i32::try_from(self.bytes.len()).expect("texts are forgotten long before 2 GiB"));
        place
    }
}

impl Texts {
    /// The text of a symbol.
    #[inline]
    pub(crate) fn symbol(&mut self, symbol: Symbol, symbols: &Symbols) -> Text<Symbol> {
        Text::at(match self.by_symbol.get(symbol.0 as usize) {
            Some(&place) if place != NONE => place,
            _ => self.new_symbol(symbol, symbols),
        })
    }

    #[cold]
    fn new_symbol(&mut self, symbol: Symbol, symbols: &Symbols) -> i32 {
        let place = self.list.push(&text::encode(symbols.bytes(symbol)));
        let at = symbol.0 as usize;
        if self.by_symbol.len() <= at {
            self.by_symbol.resize(at + 1, NONE);
        }
        self.by_symbol[at] = place;
        place
    }

    /// The name of an opcode, `opc_999` for those without one.
    #[inline]
    pub(crate) fn opcode(&mut self, opcode: Opcode) -> Text<str> {
        Text::at(*self.opcodes.entry(opcode).or_insert_with(|| self.list.push(&opcode.to_string())))
    }

    /// The name of a target.
    #[inline]
    pub(crate) fn target(&mut self, target: TargetName) -> Text<TargetName> {
        if let Some((last, place)) = self.last_target
            && last == target
        {
            return Text::at(place);
        }
        let place = *self.targets.entry(target).or_insert_with(|| self.list.push(&target.to_string()));
        self.last_target = Some((target, place));
        Text::at(place)
    }

    /// The word of an enum's value.
    #[inline]
    pub(crate) fn word<W: Word>(&mut self, value: W) -> Text<W> {
        self.fixed(value.word())
    }

    /// A text of the program.
    #[inline]
    pub(crate) fn fixed<M>(&mut self, word: &'static str) -> Text<M> {
        Text::at(*self.words.entry(word).or_insert_with(|| self.list.push(word)))
    }

    /// Any text.
    pub(crate) fn other(&mut self, text: &str) -> Text<str> {
        Text::at(match self.others.get(text) {
            Some(place) => *place,
            None => {
                let place = self.list.push(text);
                self.others.insert(text.into(), place);
                place
            }
        })
    }

    /// The text at a place.
    pub(crate) fn get(&self, place: i32) -> &str {
        let List { bytes, ends, .. } = &self.list;
        let at = usize::try_from(place).expect("places begin at 0");
        let offset = |end: i32| usize::try_from(end).expect("ends grow from 0");
        let start = if at == 0 { 0 } else { offset(ends[at - 1]) };
        str::from_utf8(&bytes[start..offset(ends[at])]).expect("made of strings, cut between them")
    }

    /// All texts, by place.
    pub(crate) fn array(&mut self) -> ArrayRef {
        let List { bytes, ends, array } = &mut self.list;
        let make = || -> ArrayRef {
            let offsets = std::iter::once(0).chain(ends.iter().copied()).collect::<ScalarBuffer<i32>>();
            Arc::new(StringArray::new(OffsetBuffer::new(offsets), bytes.clone().into(), None))
        };
        Arc::clone(array.get_or_insert_with(make))
    }

    /// Memory, roughly.
    pub(crate) fn memory(&self) -> usize {
        // An entry of `others` holds its text again.
        2 * self.list.bytes.len() + 4 * (self.list.ends.len() + self.by_symbol.len()) + 64 * self.others.len()
    }

    /// Forgets which symbol has which text: another [`Symbols`] comes.
    pub(crate) fn forget_symbols(&mut self) {
        self.by_symbol.clear();
    }
}
