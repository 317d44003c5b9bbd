//! Parquet.

use std::io::Write;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;

use super::sink::Sink;
use crate::error::QueryError;

pub(super) struct Parquet<'a> {
    writer: ArrowWriter<&'a mut (dyn Write + Send)>,
}

impl<'a> Parquet<'a> {
    pub(super) fn new(schema: &SchemaRef, out: &'a mut (dyn Write + Send)) -> Result<Self, QueryError> {
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties));
        Ok(Self { writer: writer.map_err(QueryError::encode)? })
    }
}

impl Sink for Parquet<'_> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), QueryError> {
        self.writer.write(batch).map_err(QueryError::encode)
    }

    fn finish(self: Box<Self>) -> Result<(), QueryError> {
        self.writer.close().map_err(QueryError::encode)?;
        Ok(())
    }
}
