//! What takes the batches of an answer.

use super::write::{Format, Watched, Written, fill, sink, write};
use crate::error::QueryError;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use std::fmt;
use std::io::{self, Write};

/// A format at work.
pub(super) trait Sink: Send {
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), QueryError>;

    fn finish(self: Box<Self>) -> Result<(), QueryError>;
}

/// What output is called in messages unless it is a file.
pub(super) const OUTPUT: &str = "the output";
