//! One Parquet file while it is read.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use super::part::Part;
use crate::error::StoreError;
use crate::table::ROWS_SCHEMA;
use crate::table::view::BadColumn;

/// An open file of a part.
pub(crate) struct ParquetFile {
    path: PathBuf,
    file: File,
    metadata: ArrowReaderMetadata,
}

impl ParquetFile {
    /// Opens a table of a part; `None` if the part has no rows of it.
    pub(crate) fn open(part: &Part, table: &str) -> Result<Option<Self>, StoreError> {
        let Some(said) = part.manifest.tables.get(table) else { return Ok(None) };
        let path = part.table_path(table);
        let mut file = match File::open(&path) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::Missing { path, manifest: part.manifest_path.clone(), rows: said.rows });
            }
            other => other.map_err(StoreError::io("open", &path))?,
        };
        let differs = |what, found, expected| StoreError::Differs { path: path.clone(), what, found, expected };
        let bytes = file.metadata().map_err(StoreError::io("read", &path))?.len();
        if bytes != said.bytes {
            return Err(differs("bytes", bytes, said.bytes));
        }
        // Parquet's decoders trust what they read: they may panic on damage.
        if let Some(expected) = said.crc32 {
            let found = crc32(&mut file).map_err(StoreError::io("read", &path))?;
            if found != expected {
                return Err(differs("as its CRC-32", found.into(), expected.into()));
            }
        }
        let footer = |source| StoreError::Read(path.clone(), "the footer".to_owned(), source);
        let metadata = load(&file).map_err(footer)?;
        let keys = metadata.metadata().file_metadata().key_value_metadata();
        let schema =
            keys.into_iter().flatten().find(|pair| pair.key == "lioprof.schema").and_then(|it| it.value.clone());
        if schema.as_deref() != Some(ROWS_SCHEMA) {
            let found = schema.map_or("none".to_owned(), |it| format!("`{it}`"));
            return Err(StoreError::Version { path, found, expected: ROWS_SCHEMA });
        }
        let rows = metadata.metadata().file_metadata().num_rows();
        if u64::try_from(rows) != Ok(said.rows) {
            return Err(differs("rows", u64::try_from(rows).unwrap_or(0), said.rows));
        }
        Ok(Some(Self { path, file, metadata }))
    }

    pub(crate) fn row_groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// Columns of a row group, those that there are.
    pub(crate) fn row_group(&self, number: usize, columns: &[&str]) -> Result<RecordBatch, StoreError> {
        self.decode(number, columns)
            .map_err(|err| StoreError::Read(self.path.clone(), format!("row group {number}"), err))
    }

    fn decode(&self, number: usize, columns: &[&str]) -> Result<RecordBatch, ParquetError> {
        let rows = self.metadata.metadata().row_group(number).num_rows();
        let rows = usize::try_from(rows).map_err(|_| ParquetError::General(format!("{rows} rows")))?;
        let parquet = self.metadata.parquet_schema();
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.try_clone()?, self.metadata.clone());
        let mut reader = builder
            .with_projection(ProjectionMask::columns(parquet, columns.iter().copied()))
            .with_row_groups(vec![number])
            .with_batch_size(rows.max(1))
            .build()?;
        let batch = match reader.next() {
            Some(batch) => batch?,
            None => RecordBatch::new_empty(reader_schema(self.metadata.schema())),
        };
        if batch.num_rows() == rows {
            Ok(batch)
        } else {
            Err(ParquetError::General(format!("{} rows, expected {rows}", batch.num_rows())))
        }
    }

    /// The error for a column that is not what it should be.
    pub(crate) fn bad_column(&self, row_group: usize, bad: BadColumn) -> StoreError {
        let BadColumn { column, expected, found } = bad;
        StoreError::Column { path: self.path.clone(), row_group, column, expected, found }
    }
}

/// The sum of all bytes of a file; goes back to its start.
fn crc32(file: &mut File) -> io::Result<u32> {
    let mut sum = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            len => sum.update(&buffer[..len]),
        }
    }
    file.rewind()?;
    Ok(sum.finalize())
}

/// The footer; texts are to be read as dictionaries, so that each is looked at once.
fn load(file: &File) -> Result<ArrowReaderMetadata, ParquetError> {
    let metadata = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())?;
    let schema = reader_schema(metadata.schema());
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), ArrowReaderOptions::new().with_schema(schema))
}

fn reader_schema(schema: &Schema) -> Arc<Schema> {
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 => field.as_ref().clone().with_data_type(dictionary.clone()),
        _ => field.as_ref().clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}
