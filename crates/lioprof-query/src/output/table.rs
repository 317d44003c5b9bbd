//! A table for people.

use std::borrow::Cow;
use std::io::Write;

use comfy_table::{CellAlignment, presets};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

use super::sink::{OUTPUT, Sink};
use crate::error::QueryError;

/// What stands for an unknown value: neither empty text nor 0.
const NULL: &str = "NULL";

pub(super) struct Table<'a> {
    table: comfy_table::Table,
    out: &'a mut (dyn Write + Send),
}

impl<'a> Table<'a> {
    pub(super) fn new(schema: &SchemaRef, out: &'a mut (dyn Write + Send)) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_header(schema.fields().iter().map(|field| plain(field.name())));
        for (at, field) in schema.fields().iter().enumerate() {
            if let Some(column) = table.column_mut(at) {
                column.set_padding((0, 2));
                if field.data_type().is_numeric() {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        Self { table, out }
    }
}

impl Sink for Table<'_> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), QueryError> {
        let options = FormatOptions::new().with_null(NULL).with_display_error(true);
        let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(QueryError::encode)?;
        for row in 0..batch.num_rows() {
            self.table.add_row(columns.iter().map(|column| plain(&column.value(row).to_string()).into_owned()));
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), QueryError> {
        for line in self.table.lines() {
            writeln!(self.out, "{}", line.trim_end()).map_err(QueryError::output(OUTPUT))?;
        }
        Ok(())
    }
}

/// Texts come from clients: one with control characters must not steer the terminal. Lines are cells of several lines.
fn plain(text: &str) -> Cow<'_, str> {
    let odd = |c: char| c.is_control() && c != '\n';
    if text.contains(odd) {
        Cow::Owned(text.chars().map(|c| if odd(c) { c.escape_default().to_string() } else { c.to_string() }).collect())
    } else {
        Cow::Borrowed(text)
    }
}
