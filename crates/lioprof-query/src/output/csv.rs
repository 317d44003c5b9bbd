//! CSV.

use std::io::Write;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::{Writer, WriterBuilder};
use datafusion::arrow::datatypes::SchemaRef;

use super::sink::Sink;
use crate::error::QueryError;

pub(super) struct Csv<'a> {
    writer: Writer<&'a mut (dyn Write + Send)>,
}

impl<'a> Csv<'a> {
    pub(super) fn new(schema: &SchemaRef, out: &'a mut (dyn Write + Send)) -> Result<Self, QueryError> {
        let mut csv = Self { writer: WriterBuilder::new().with_header(true).build(out) };
        // The header is written with the first batch: an answer without rows has one, too.
        csv.batch(&RecordBatch::new_empty(schema.clone()))?;
        Ok(csv)
    }
}

impl Sink for Csv<'_> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), QueryError> {
        self.writer.write(batch).map_err(QueryError::encode)
    }

    fn finish(self: Box<Self>) -> Result<(), QueryError> {
        // Each batch was written to the end.
        Ok(())
    }
}
