//! What takes the batches of an answer.

use datafusion::arrow::array::RecordBatch;

use crate::error::QueryError;

/// A format at work.
pub(super) trait Sink: Send {
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), QueryError>;

    fn finish(self: Box<Self>) -> Result<(), QueryError>;
}

/// What output is called in messages unless it is a file.
pub(super) const OUTPUT: &str = "the output";
