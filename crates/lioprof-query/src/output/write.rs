//! Answers in each format, to a file or a terminal.

use std::fmt;
use std::io::{self, Write};

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

use super::csv;
use super::json;
use super::parquet;
use super::sink::{OUTPUT, Sink};
use super::table;
use crate::error::QueryError;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Columns side by side, for people.
    Table,
    /// CSV with a header; nothing for null.
    Csv,
    /// One JSON object per row and line.
    Json,
    /// Parquet, zstd.
    Parquet,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Table, Self::Csv, Self::Json, Self::Parquet];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Parquet => "parquet",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Rows.
    pub rows: usize,
    /// There are more rows than a table was to have.
    pub more: bool,
}

/// Writes rows as they come; of a table, which has to know all its rows first, at most `max_rows`.
pub(crate) async fn write(
    rows: SendableRecordBatchStream,
    format: Format,
    max_rows: Option<usize>,
    out: &mut (dyn Write + Send),
) -> Result<Written, QueryError> {
    let mut out = Watched { out, failed: None };
    let written = fill(rows, format, max_rows, &mut out).await;
    match out.failed {
        Some(source) => Err(QueryError::Output(OUTPUT.to_owned(), source)),
        None => written,
    }
}

pub(super) async fn fill(
    mut rows: SendableRecordBatchStream,
    format: Format,
    max_rows: Option<usize>,
    out: &mut Watched<'_>,
) -> Result<Written, QueryError> {
    let schema = rows.schema();
    let mut sink = sink(format, &schema, out)?;
    let mut written = Written::default();
    while let Some(batch) = rows.next().await {
        let mut batch = batch?;
        if let (Format::Table, Some(max_rows)) = (format, max_rows)
            && written.rows + batch.num_rows() > max_rows
        {
            batch = batch.slice(0, max_rows - written.rows);
            written.more = true;
        }
        written.rows += batch.num_rows();
        sink.batch(&batch)?;
        if written.more {
            break;
        }
    }
    sink.finish()?;
    out.flush().map_err(QueryError::output(OUTPUT))?;
    Ok(written)
}

/// Keeps the first error: the encoders turn errors into texts, which do not tell a closed pipe from a full disk.
pub(super) struct Watched<'a> {
    pub(super) out: &'a mut (dyn Write + Send),
    pub(super) failed: Option<io::Error>,
}

impl Watched<'_> {
    pub(super) fn watch<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|err| {
            let kind = err.kind();
            self.failed.get_or_insert(err);
            kind.into()
        })
    }
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.out.write(bytes);
        // A signal is no failure: whoever writes tries again.
        if result.as_ref().is_err_and(|err| err.kind() == io::ErrorKind::Interrupted) {
            result
        } else {
            self.watch(result)
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.flush();
        self.watch(result)
    }
}

fn sink<'a>(format: Format, schema: &SchemaRef, out: &'a mut Watched<'_>) -> Result<Box<dyn Sink + 'a>, QueryError> {
    Ok(match format {
        Format::Table => Box::new(table::Table::new(schema, out)),
        Format::Csv => Box::new(csv::Csv::new(schema, out)?),
        Format::Json => Box::new(json::Json::new(out)),
        Format::Parquet => Box::new(parquet::Parquet::new(schema, out)?),
    })
}
