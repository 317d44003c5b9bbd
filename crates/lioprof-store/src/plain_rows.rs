//! Rows of plain data as Parquet files, and back.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{FieldRef, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_arrow::schema::{SchemaLike, TracingOptions};

use crate::error::StoreError;
use crate::files::{self, OsFiles};

const ZSTD_LEVEL: i32 = 3;

/// Rows as columns.
pub(crate) trait Columns: Sized {
    /// Names and types.
    fn fields() -> Vec<FieldRef>;

    /// The values, column by column.
    fn columns(rows: &[Self]) -> serde_arrow::Result<Vec<ArrayRef>>;
}

/// Rows whose fields are the columns.
macro_rules! plain {
    ($($row:ty),+ $(,)?) => {
        $(impl $crate::plain_rows::Columns for $row {
            fn fields() -> Vec<arrow_schema::FieldRef> {
                $crate::plain_rows::fields::<$row>()
            }

            fn columns(rows: &[Self]) -> serde_arrow::Result<Vec<arrow_array::ArrayRef>> {
                $crate::plain_rows::columns(&rows.iter().collect::<Vec<_>>())
            }
        })+
    };
}

pub(crate) use plain;

pub(crate) fn columns<T: Serialize + DeserializeOwned>(rows: &[&T]) -> serde_arrow::Result<Vec<ArrayRef>> {
    serde_arrow::to_arrow(&fields::<T>(), rows)
}

/// The columns of a type's fields.
pub(crate) fn fields<T: DeserializeOwned>() -> Vec<FieldRef> {
    let options = TracingOptions::default()
        .enums_without_data_as_strings(true)
        .strings_as_large_utf8(false)
        .map_as_struct(false)
        .sequence_as_large_list(false);
    Vec::<FieldRef>::from_type::<T>(options)
        .expect("rows are structs of numbers, texts, lists, maps and structs of these")
}

/// Writes a file; folders are made as needed.
pub(crate) fn write<T: Columns>(path: &Path, rows: &[T]) -> Result<(), StoreError> {
    let schema = Arc::new(Schema::new(T::fields()));
    let failed = |source| StoreError::Write { path: path.to_owned(), row_group: 0, column: "all", source };
    let columns = T::columns(rows).map_err(|err| failed(ParquetError::External(err.into())))?;
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(|err| failed(err.into()))?;
    let mut file = files::create(&OsFiles, path)?;
    let write = || {
        let level = ZstdLevel::try_new(ZSTD_LEVEL)?;
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
        let mut writer = ArrowWriter::try_new(&mut file, schema, Some(properties))?;
        writer.write(&batch)?;
        writer.close().map(|_| ())
    };
    write().map_err(failed)?;
    files::publish(&OsFiles, file, path).map(|_| ())
}

/// Reads a file.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, StoreError> {
    let failed = |place: &str, source| StoreError::Read(path.to_owned(), place.to_owned(), source);
    let file = File::open(path).map_err(StoreError::io("open", path))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|builder| builder.build());
    let mut rows = Vec::new();
    for batch in reader.map_err(|source| failed("the footer", source))? {
        let batch = batch.map_err(|err| failed("its rows", ParquetError::External(err.into())))?;
        let more: Vec<T> = serde_arrow::from_record_batch(&batch)
            .map_err(|err| failed("its rows", ParquetError::External(err.into())))?;
        rows.extend(more);
    }
    Ok(rows)
}

/// The complete files of a folder that may be there, by the end of their names; sorted.
pub(crate) fn list(dir: &Path, extension: &str) -> Result<Vec<PathBuf>, StoreError> {
    let mut paths = entries(dir)?;
    paths.retain(|path| path.extension().is_some_and(|it| it == extension));
    Ok(paths)
}

/// The folders in a folder that may be there, sorted.
pub(crate) fn folders(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut paths = entries(dir)?;
    paths.retain(|path| path.is_dir());
    Ok(paths)
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    match files::entries(dir) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other.map_err(StoreError::io("list", dir)),
    }
}

/// Deletes a file that may be there.
pub(crate) fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(StoreError::io("delete", path)(err)),
        _ => Ok(()),
    }
}
