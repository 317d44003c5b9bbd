//! JSON, one object per line.

use std::io::Write;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::json::writer::LineDelimited;
use datafusion::arrow::json::{Writer, WriterBuilder};

use super::sink::Sink;
use crate::error::QueryError;

pub(super) struct Json<'a> {
    writer: Writer<&'a mut (dyn Write + Send), LineDelimited>,
}

impl<'a> Json<'a> {
    pub(super) fn new(out: &'a mut (dyn Write + Send)) -> Self {
        // A column is in every line, whether its value is known or not.
        Self { writer: WriterBuilder::new().with_explicit_nulls(true).build(out) }
    }
}

impl Sink for Json<'_> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), QueryError> {
        self.writer.write(batch).map_err(QueryError::encode)
    }

    fn finish(mut self: Box<Self>) -> Result<(), QueryError> {
        self.writer.finish().map_err(QueryError::encode)
    }
}
