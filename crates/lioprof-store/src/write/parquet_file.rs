//! One Parquet file while it is written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::Schema;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use super::facts::Options;
use crate::error::StoreError;
use crate::files::{self, Files, SummedFile};
use crate::manifest::TableFile;
use crate::table::texts::Texts;
use crate::table::{self, ColumnSpec, Table};

/// Place that errors name for what is not in a column.
const FOOTER: &str = "footer";

/// A Parquet file under its temporary name.
pub(crate) struct ParquetFile {
    path: PathBuf,
    writer: SerializedFileWriter<SummedFile>,
    columns: ArrowRowGroupWriterFactory,
    schema: Arc<Schema>,
    specs: Vec<ColumnSpec>,
    row_groups: usize,
    rows: u64,
}

impl ParquetFile {
    /// Opens the temporary file of `path` for a table.
    pub(crate) fn create<T: Table>(path: PathBuf, options: &Options, files: &dyn Files) -> Result<Self, StoreError> {
        let specs = T::specs();
        let schema = table::schema::<T>();
        let file = files::create(files, &path)?;
        let make = || {
            let properties = Arc::new(properties(&specs, options)?);
            let parquet = ArrowSchemaConverter::new().schema_root(T::NAME).convert(&schema)?;
            let writer = SerializedFileWriter::new(file, parquet.root_schema_ptr(), properties)?;
            let columns = ArrowRowGroupWriterFactory::new(&writer, Arc::clone(&schema));
            Ok((writer, columns))
        };
        match make() {
            Ok((writer, columns)) => Ok(Self { path, writer, columns, schema, specs, row_groups: 0, rows: 0 }),
            Err(source) => Err(StoreError::Write { path, row_group: 0, column: FOOTER, source }),
        }
    }

    /// Writes the rows of a table as one row group, column by column, so that only one of them is in memory twice.
    pub(crate) fn write_row_group<T: Table>(&mut self, rows: &T, texts: &mut Texts) -> Result<(), StoreError> {
        let Self { path, writer, columns, schema, specs, row_groups, .. } = self;
        let failed = |path: &Path, column, source| StoreError::Write {
            path: path.to_owned(),
            row_group: *row_groups,
            column,
            source,
        };
        let order = rows.order();
        let encoders = columns.create_column_writers(*row_groups).map_err(|err| failed(path, FOOTER, err))?;
        let mut group = writer.next_row_group().map_err(|err| failed(path, FOOTER, err))?;
        let cells = rows.columns();
        for (((encoder, column), field), spec) in encoders.into_iter().zip(cells).zip(schema.fields()).zip(specs) {
            let array = column.gather(&order, texts);
            let mut encoder = encoder;
            let encode = || -> Result<(), ParquetError> {
                for leaf in compute_leaves(field, &array)? {
                    encoder.write(&leaf)?;
                }
                encoder.close()?.append_to_row_group(&mut group)
            };
            encode().map_err(|err| failed(path, spec.name, err))?;
        }
        group.close().map_err(|err| failed(path, FOOTER, err))?;
        self.row_groups += 1;
        self.rows += rows.rows() as u64;
        Ok(())
    }

    /// Rows in finished row groups.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes of finished row groups.
    pub(crate) fn bytes(&self) -> u64 {
        self.writer.bytes_written() as u64
    }

    /// Writes the footer, brings the file to the disk and gives it its name.
    pub(crate) fn publish(
        mut self,
        facts: &[(&'static str, String)],
        files: &dyn Files,
    ) -> Result<TableFile, StoreError> {
        for (key, value) in facts {
            self.writer.append_key_value_metadata(KeyValue::new((*key).to_owned(), value.clone()));
        }
        let failed =
            |source| StoreError::Write { path: self.path.clone(), row_group: self.row_groups, column: FOOTER, source };
        let file = self.writer.into_inner().map_err(failed)?;
        let written = files::publish(files, file, &self.path)?;
        Ok(TableFile { rows: self.rows, bytes: written.bytes, crc32: Some(written.crc32) })
    }

    /// Name that the file will have.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// How the columns of a table are written.
fn properties(specs: &[ColumnSpec], options: &Options) -> Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("lioprof version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(options.zstd_level)?))
        // Pages and their indexes are for engines that look up single rows; here they only cost.
        .set_data_page_row_count_limit(usize::MAX)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true);
    for spec in specs {
        let column = ColumnPath::from(spec.name);
        properties = match spec.coding.plain(options.old_readers) {
            Some(encoding) => properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column.clone(), encoding),
            None => properties.set_column_dictionary_enabled(column.clone(), true),
        };
        if spec.bounds {
            properties = properties.set_column_statistics_enabled(column, EnabledStatistics::Chunk);
        }
    }
    Ok(properties.build())
}
