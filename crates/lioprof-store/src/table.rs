//! The tables: which columns they have, how rows become columns and back.
//!
//! Each table is declared once, with one line per column: name, type (`Option` if it may be null) and encoding. From
//! that come the writer's buffers, the Parquet schema and the reader's view.

pub(crate) mod cell;
pub(crate) mod column;
pub(crate) mod counters;
pub(crate) mod lock_events;
pub(crate) mod meaning;
pub(crate) mod rpcs;
pub(crate) mod sent_rpcs;
pub(crate) mod texts;
pub(crate) mod view;
pub(crate) mod window;

use std::sync::Arc;

use arrow_schema::{Field, Schema};
use parquet::basic::Encoding;

use cell::Cell;
pub(crate) use column::{AnyColumn, Column};

/// Version of the tables' schema, in the Parquet metadata of each file. Adding nullable columns keeps it.
pub const ROWS_SCHEMA: &str = "lioprof.rows/1";

/// How a column's values are written, before compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// Differences of neighbours, bit-packed.
    Delta,
    /// Numbers in a dictionary of the row group.
    Dictionary,
    /// First bytes of all values, then second bytes, ...
    Split,
}

impl Coding {
    /// Parquet's encoding, unless it is a dictionary's. Readers that know integers in streams of bytes are rather new.
    pub(crate) fn plain(self, old_readers: bool) -> Option<Encoding> {
        match self {
            Self::Dictionary => None,
            Self::Delta => Some(Encoding::DELTA_BINARY_PACKED),
            Self::Split if old_readers => Some(Encoding::DELTA_BINARY_PACKED),
            Self::Split => Some(Encoding::BYTE_STREAM_SPLIT),
        }
    }
}

/// A column as it is declared.
#[derive(Clone, Debug)]
pub(crate) struct ColumnSpec {
    pub(crate) name: &'static str,
    pub(crate) field: Field,
    pub(crate) coding: Coding,
    /// Whether row groups carry its smallest and largest value, so that engines can skip them.
    pub(crate) bounds: bool,
}

impl ColumnSpec {
    pub(crate) fn new<C: Cell>(name: &'static str, coding: Coding, bounds: bool) -> Self {
        Self { name, field: C::field(name), coding, bounds }
    }
}

/// What the writer needs of a table.
pub(crate) trait Table: Default {
    /// Name of the table and of its folder.
    const NAME: &'static str;

    /// The columns, in the order of [`Self::columns`].
    fn specs() -> Vec<ColumnSpec>;

    /// The rows gathered so far, column by column.
    fn columns(&self) -> Vec<&dyn AnyColumn>;

    /// Forgets the rows.
    fn clear(&mut self);

    /// How many rows there are.
    fn rows(&self) -> usize;

    /// The order in which rows are written, if another one packs better: `seq` tells the true one.
    fn order(&self) -> Vec<u32>;

    /// Memory of the rows.
    fn bytes(&self) -> usize {
        self.columns().iter().map(|column| column.bytes()).sum()
    }
}

/// The Arrow schema of a table.
pub(crate) fn schema<T: Table>() -> Arc<Schema> {
    Arc::new(Schema::new(T::specs().into_iter().map(|spec| spec.field).collect::<Vec<_>>()))
}

/// Names and Arrow schemas of all tables, as [`ROWS_SCHEMA`] has them; texts are dictionaries. What the names of the folders
/// say (`fs`, `node`, `date`) is no column of the files.
#[must_use]
pub fn table_schemas() -> [(&'static str, Arc<Schema>); 4] {
    use {counters::CounterColumns, lock_events::LockEventColumns, rpcs::RpcColumns, sent_rpcs::SentRpcColumns};
    [
        (RpcColumns::NAME, schema::<RpcColumns>()),
        (LockEventColumns::NAME, schema::<LockEventColumns>()),
        (SentRpcColumns::NAME, schema::<SentRpcColumns>()),
        (CounterColumns::NAME, schema::<CounterColumns>()),
    ]
}

/// Row numbers sorted by a key of the row.
pub(crate) fn order_by(rows: usize, key: impl Fn(usize) -> u64) -> Vec<u32> {
    let numbers = 0..u32::try_from(rows).expect("a row group has fewer than 2^32 rows");
    let mut keyed: Vec<(u64, u32)> = numbers.map(|row| (key(row as usize), row)).collect();
    // The row number makes the order one: nothing is left to the sort.
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, row)| row).collect()
}

/// Declares a table: its buffers, its columns and the view of rows read back. Columns after `derived` follow from the
/// others; they are there for queries and are not read back. `by` gives the key by which rows are sorted when they are written,
/// `push` adds a row: what it prepares, and of each column the value.
macro_rules! table {
    (
        $(#[$meta:meta])*
        $buffers:ident, $view:ident, $name:literal, by |$rows:ident, $row:ident| $key:expr;
        push($($given:ident: $given_type:ty),+) { $($prepare:tt)* }
        $($column:ident: $cell:ty = $coding:ident $($bounds:ident)? => $value:expr,)+
        ; derived:
        $($derived:ident: $derived_cell:ty = $derived_coding:ident => $derived_value:expr,)*
    ) => {
        $(#[$meta])*
        #[derive(Default)]
        pub(crate) struct $buffers {
            $(pub(crate) $column: $crate::table::Column<$cell>,)+
            $(pub(crate) $derived: $crate::table::Column<$derived_cell>,)*
        }

        impl $buffers {
            /// Adds a row.
            pub(crate) fn push(&mut self, $($given: $given_type),+) {
                $($prepare)*
                $(self.$column.push($value);)+
                $(self.$derived.push($derived_value);)*
            }
        }

        impl $crate::table::Table for $buffers {
            const NAME: &'static str = $name;

            fn specs() -> Vec<$crate::table::ColumnSpec> {
                vec![
                    $($crate::table::ColumnSpec::new::<$cell>(
                        stringify!($column),
                        $crate::table::Coding::$coding,
                        false $(|| stringify!($bounds) == "bounds")?,
                    ),)+
                    $($crate::table::ColumnSpec::new::<$derived_cell>(
                        stringify!($derived),
                        $crate::table::Coding::$derived_coding,
                        false,
                    ),)*
                ]
            }

            fn columns(&self) -> Vec<&dyn $crate::table::AnyColumn> {
                vec![$(&self.$column,)+ $(&self.$derived,)*]
            }

            fn clear(&mut self) {
                $(self.$column.clear();)+
                $(self.$derived.clear();)*
            }

            fn rows(&self) -> usize {
                self.seq.stored().len()
            }

            fn order(&self) -> Vec<u32> {
                let $rows = self;
                $crate::table::order_by(self.rows(), |$row| $key)
            }
        }

        /// The same columns, read back.
        pub(crate) struct $view {
            $(pub(crate) $column: <$cell as $crate::table::cell::Cell>::View,)+
        }

        impl $crate::table::view::Rows for $view {
            const TABLE: &'static str = $name;
            const COLUMNS: &'static [&'static str] = &[$(stringify!($column)),+];

            fn open(
                batch: &arrow_array::RecordBatch,
                symbols: &mut lioprof_model::Symbols,
            ) -> Result<Self, $crate::table::view::BadColumn> {
                Ok(Self {
                    $($column: $crate::table::cell::open::<$cell>(batch, stringify!($column), symbols)?,)+
                })
            }

            fn seqs(&self) -> &[i64] {
                self.seq.values()
            }
        }
    };
}
pub(crate) use table;
