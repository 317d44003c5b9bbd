//! What a cell of a column can be.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array as _, RecordBatch, new_null_array};
use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, Int32Array, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};

use super::texts::{Text, Texts};
use super::view::{BadColumn, Flags, Numbers, OptionalNumbers, OptionalWords, View, Words};
use crate::quote::quote;

/// A cell: a number, a flag, a text; in an `Option` if the column may hold nulls.
pub(crate) trait Cell: Copy {
    /// What is buffered for each row, whether null or not.
    type Stored: Copy + Default;
    /// How it is read back.
    type View;
    /// Whether it may be null.
    const NULLABLE: bool;

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

        impl Cell for Option<$native> {
            type Stored = $native;
            type View = OptionalNumbers<$arrow>;
            const NULLABLE: bool = true;

            fn data_type() -> DataType {
                <$arrow>::DATA_TYPE
            }

            #[inline]
            fn split(self) -> ($native, bool) {
                (self.unwrap_or_default(), self.is_some())
            }

            fn csv(value: $native, texts: &Texts, out: &mut Vec<u8>) {
                <$native>::csv(value, texts, out);
            }

            fn array(values: Vec<$native>, nulls: Option<NullBuffer>, texts: &mut Texts) -> ArrayRef {
                <$native>::array(values, nulls, texts)
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

/// A text column reads back as a dictionary, whatever the file has.
fn text_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

impl Cell for Text {
    type Stored = i32;
    type View = Words;
    const NULLABLE: bool = false;

    fn data_type() -> DataType {
        text_type()
    }

    #[inline]
    fn split(self) -> (i32, bool) {
        (self.0, true)
    }

    fn csv(place: i32, texts: &Texts, out: &mut Vec<u8>) {
        quote(texts.get(Text(place)), out);
    }

    fn array(keys: Vec<i32>, nulls: Option<NullBuffer>, texts: &mut Texts) -> ArrayRef {
        let keys = Int32Array::new(ScalarBuffer::from(keys), nulls);
        Arc::new(DictionaryArray::new(keys, texts.array()))
    }
}

impl Cell for Option<Text> {
    type Stored = i32;
    type View = OptionalWords;
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        text_type()
    }

    #[inline]
    fn split(self) -> (i32, bool) {
        self.map_or((0, false), |text| (text.0, true))
    }

    fn csv(place: i32, texts: &Texts, out: &mut Vec<u8>) {
        Text::csv(place, texts, out);
    }

    fn array(keys: Vec<i32>, nulls: Option<NullBuffer>, texts: &mut Texts) -> ArrayRef {
        Text::array(keys, nulls, texts)
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

/// The column `name` of a batch. One that may be null may be missing, too.
pub(crate) fn open<C: Cell<View: View>>(batch: &RecordBatch, name: &str) -> Result<C::View, BadColumn> {
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
    Ok(C::View::new(&array))
}
