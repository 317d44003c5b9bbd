//! What a cell of a column can be.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array as _, RecordBatch, new_null_array};
use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, Int32Array, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use lioprof_model::Symbols;

use super::meaning::Meaning;
use super::texts::{Text, Texts};
use super::view::{BadColumn, Flags, Meanings, Numbers, Optional, PlainTexts, View};
use crate::quote::quote;

/// A cell: a number, a flag, a text; in an `Option` if the column may hold nulls.
pub(crate) trait Cell: Copy {
    /// What is buffered for each row, whether null or not.
    type Stored: Copy + Default;
    /// How it is read back.
    type View: View;
    /// Whether it may be null.
    const NULLABLE: bool;
    /// What a text is expected to mean.
    const MEANING: &'static str = "";

    /// The Arrow type.
    fn data_type() -> DataType;

    /// Value and whether there is one.
    fn split(self) -> (Self::Stored, bool);

    /// Writes a stored value as a cell of CSV.
    fn csv(value: Self::Stored, texts: &Texts, out: &mut Vec<u8>);

    /// An Arrow array of stored values.
    fn array(values: Vec<Self::Stored>, nulls: Option<NullBuffer>, texts: &mut Texts) -> ArrayRef;

    /// The column's field.
    fn field(name: &str) -> Field {
        Field::new(name, Self::data_type(), Self::NULLABLE)
    }
}

macro_rules! numbers {
    ($($native:ty: $arrow:ty;)+) => {$(
        impl Cell for $native {
            type Stored = Self;
            type View = Numbers<$arrow>;
            const NULLABLE: bool = false;

            fn data_type() -> DataType {
                <$arrow>::DATA_TYPE
            }

            #[inline]
            fn split(self) -> (Self, bool) {
                (self, true)
            }

            fn csv(value: Self, _: &Texts, out: &mut Vec<u8>) {
                out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }

            fn array(values: Vec<Self>, nulls: Option<NullBuffer>, _: &mut Texts) -> ArrayRef {
                Arc::new(PrimitiveArray::<$arrow>::new(ScalarBuffer::from(values), nulls))
            }
        }
    )+};
}

numbers! {
    i64: Int64Type;
    u64: UInt64Type;
    i32: Int32Type;
    u32: UInt32Type;
    u16: UInt16Type;
}

/// How texts with a meaning are read back; `str` stands for those that have none.
pub(crate) trait TextKind: 'static {
    type View: View;
    const EXPECTED: &'static str;
}

impl<M: Meaning> TextKind for M {
    type View = Meanings<M>;
    const EXPECTED: &'static str = M::EXPECTED;
}

impl TextKind for str {
    type View = PlainTexts;
    const EXPECTED: &'static str = "a text";
}

impl<M: TextKind + ?Sized> Cell for Text<M> {
    type Stored = i32;
    type View = M::View;
    const NULLABLE: bool = false;
    const MEANING: &'static str = M::EXPECTED;

    /// A text column reads back as a dictionary, whatever the file has.
    fn data_type() -> DataType {
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
    }

    #[inline]
    fn split(self) -> (i32, bool) {
        (self.place, true)
    }

    fn csv(place: i32, texts: &Texts, out: &mut Vec<u8>) {
        quote(texts.get(place), out);
    }

    fn array(keys: Vec<i32>, nulls: Option<NullBuffer>, texts: &mut Texts) -> ArrayRef {
        let keys = Int32Array::new(ScalarBuffer::from(keys), nulls);
        Arc::new(DictionaryArray::new(keys, texts.array()))
    }
}

impl Cell for bool {
    type Stored = Self;
    type View = Flags;
    const NULLABLE: bool = false;

    fn data_type() -> DataType {
        DataType::Boolean
    }

    #[inline]
    fn split(self) -> (Self, bool) {
        (self, true)
    }

    fn csv(value: Self, _: &Texts, out: &mut Vec<u8>) {
        out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    fn array(values: Vec<Self>, nulls: Option<NullBuffer>, _: &mut Texts) -> ArrayRef {
        Arc::new(BooleanArray::new(BooleanBuffer::from(values), nulls))
    }
}

impl<C: Cell> Cell for Option<C> {
    type Stored = C::Stored;
    type View = Optional<C::View>;
    const NULLABLE: bool = true;
    const MEANING: &'static str = C::MEANING;

    fn data_type() -> DataType {
        C::data_type()
    }

    #[inline]
    fn split(self) -> (C::Stored, bool) {
        self.map_or_else(|| (C::Stored::default(), false), C::split)
    }

    fn csv(value: C::Stored, texts: &Texts, out: &mut Vec<u8>) {
        C::csv(value, texts, out);
    }

    fn array(values: Vec<C::Stored>, nulls: Option<NullBuffer>, texts: &mut Texts) -> ArrayRef {
        C::array(values, nulls, texts)
    }
}

/// The column `name` of a batch. One that may be null may be missing, too.
pub(crate) fn open<C: Cell>(batch: &RecordBatch, name: &str, symbols: &mut Symbols) -> Result<C::View, BadColumn> {
    let expected = C::data_type();
    let bad = |found: String| BadColumn { column: name.to_owned(), expected: expected.to_string(), found };
    let array = match batch.column_by_name(name) {
        Some(array) => array.clone(),
        None if C::NULLABLE => new_null_array(&expected, batch.num_rows()),
        None => return Err(bad("no such column".to_owned())),
    };
    if array.data_type() != &expected {
        return Err(bad(array.data_type().to_string()));
    }
    if !C::NULLABLE && array.null_count() > 0 {
        return Err(bad(format!("{} nulls", array.null_count())));
    }
    C::View::new(&array, symbols).map_err(|found| BadColumn { expected: C::MEANING.to_owned(), ..bad(found) })
}
