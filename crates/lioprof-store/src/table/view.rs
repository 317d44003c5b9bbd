//! Columns read back from a file.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int32Array, PrimitiveArray, RecordBatch, StringArray};
use arrow_buffer::NullBuffer;
use lioprof_model::{RowSink, Symbol, Symbols};

use super::meaning::Meaning;

/// A column that is not what it should be.
#[derive(Debug)]
pub(crate) struct BadColumn {
    pub(crate) column: String,
    pub(crate) expected: String,
    pub(crate) found: String,
}

/// The rows of a table in a row group.
pub(crate) trait Rows: Sized {
    /// Folder of the table.
    const TABLE: &'static str;
    /// Columns that are read.
    const COLUMNS: &'static [&'static str];

    /// Takes a row group.
    fn open(batch: &RecordBatch, symbols: &mut Symbols) -> Result<Self, BadColumn>;

    /// `seq` of each row.
    fn seqs(&self) -> &[i64];
}

/// Rows that a [`RowSink`] takes.
pub(crate) trait NodeRows: Rows {
    /// Hands a row of `node` to the sink.
    fn give(&self, at: usize, node: Symbol, symbols: &Symbols, sink: &mut dyn RowSink) -> Result<(), BadColumn>;
}

/// A column whose type is right and that has no nulls where none are allowed.
pub(crate) trait View: Sized {
    /// What a row has.
    type Value<'a>
    where
        Self: 'a;

    /// A view of the array. Only texts can be other than expected: the sentence is what was found.
    fn new(array: &ArrayRef, symbols: &mut Symbols) -> Result<Self, String>;

    fn get(&self, row: usize) -> Self::Value<'_>;
}

/// Cells that may be null.
pub(crate) struct Optional<V> {
    view: V,
    nulls: Option<NullBuffer>,
}

impl<V: View> View for Optional<V> {
    type Value<'a>
        = Option<V::Value<'a>>
    where
        V: 'a;

    fn new(array: &ArrayRef, symbols: &mut Symbols) -> Result<Self, String> {
        Ok(Self { view: V::new(array, symbols)?, nulls: array.nulls().cloned() })
    }

    fn get(&self, row: usize) -> Option<V::Value<'_>> {
        self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)).then(|| self.view.get(row))
    }
}

/// Numbers.
pub(crate) struct Numbers<A: ArrowPrimitiveType>(PrimitiveArray<A>);

impl<A: ArrowPrimitiveType> View for Numbers<A> {
    type Value<'a> = A::Native;

    fn new(array: &ArrayRef, _: &mut Symbols) -> Result<Self, String> {
        Ok(Self(array.as_primitive::<A>().clone()))
    }

    fn get(&self, row: usize) -> A::Native {
        self.0.value(row)
    }
}

impl<A: ArrowPrimitiveType> Numbers<A> {
    pub(crate) fn values(&self) -> &[A::Native] {
        self.0.values()
    }
}

/// Flags.
pub(crate) struct Flags(BooleanArray);

impl View for Flags {
    type Value<'a> = bool;

    fn new(array: &ArrayRef, _: &mut Symbols) -> Result<Self, String> {
        Ok(Self(array.as_boolean().clone()))
    }

    fn get(&self, row: usize) -> bool {
        self.0.value(row)
    }
}

/// Texts that are taken as they are.
pub(crate) struct PlainTexts {
    keys: Int32Array,
    texts: StringArray,
}

impl View for PlainTexts {
    type Value<'a> = &'a str;

    fn new(array: &ArrayRef, _: &mut Symbols) -> Result<Self, String> {
        let dictionary = array.as_dictionary::<Int32Type>();
        Ok(Self { keys: dictionary.keys().clone(), texts: dictionary.values().as_string::<i32>().clone() })
    }

    fn get(&self, row: usize) -> &str {
        self.texts.value(place(self.keys.value(row)))
    }
}

/// What the texts of a column mean; looked up once per text and not once per row.
pub(crate) struct Meanings<M> {
    keys: Int32Array,
    meanings: Vec<M>,
}

impl<M: Meaning> View for Meanings<M> {
    type Value<'a> = M;

    fn new(array: &ArrayRef, symbols: &mut Symbols) -> Result<Self, String> {
        let PlainTexts { keys, texts } = PlainTexts::new(array, symbols)?;
        let mut meaning = |text: &str| M::read(text, symbols).ok_or_else(|| format!("`{}`", text.escape_debug()));
        let meanings = (0..texts.len()).map(|at| meaning(texts.value(at))).collect::<Result<_, _>>()?;
        Ok(Self { keys, meanings })
    }

    fn get(&self, row: usize) -> M {
        self.meanings[place(self.keys.value(row))]
    }
}

/// A dictionary's keys are places in it: Arrow refuses others.
fn place(key: i32) -> usize {
    usize::try_from(key).expect("a place in the dictionary")
}
