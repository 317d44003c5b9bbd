//! A table of the part that is being written: rows gathered, row groups in the file.

use std::path::PathBuf;

use super::facts::Options;
use super::parquet_file::ParquetFile;
use crate::error::StoreError;
use crate::files::{self, Files};
use crate::manifest::TableFile;
use crate::table::Table;
use crate::table::texts::Texts;

/// Where a part's files go and how they are written.
pub(crate) struct PartFiles<'a> {
    pub(crate) files: &'a dyn Files,
    /// Folder of the dataset.
    pub(crate) dir: &'a std::path::Path,
    /// `fs=../node=../date=..`.
    pub(crate) partition: &'a std::path::Path,
    pub(crate) stem: &'a str,
    pub(crate) options: &'a Options,
}

impl PartFiles<'_> {
    fn path(&self, table: &str) -> PathBuf {
        self.dir.join(table).join(self.partition).join(format!("{}.parquet", self.stem))
    }
}

/// One table.
#[derive(Default)]
pub(crate) struct TableWriter<T> {
    pub(crate) rows: T,
    file: Option<ParquetFile>,
}

impl<T: Table> TableWriter<T> {
    /// Writes the rows gathered so far as a row group.
    pub(crate) fn flush(&mut self, to: &PartFiles<'_>, texts: &mut Texts) -> Result<(), StoreError> {
        if self.rows.rows() == 0 {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(ParquetFile::create::<T>(to.path(T::NAME), to.options, to.files)?),
        };
        file.write_row_group(&self.rows, texts)?;
        self.rows.clear();
        Ok(())
    }

    /// Rows of the part, gathered and written.
    pub(crate) fn total_rows(&self) -> u64 {
        self.rows.rows() as u64 + self.file.as_ref().map_or(0, ParquetFile::rows)
    }

    /// Bytes written and rows in them.
    pub(crate) fn written(&self) -> (u64, u64) {
        self.file.as_ref().map_or((0, 0), |file| (file.bytes(), file.rows()))
    }

    /// Completes the file, if there is one.
    pub(crate) fn publish(
        &mut self,
        facts: &[(&'static str, String)],
        files: &dyn Files,
        published: &mut Vec<PathBuf>,
    ) -> Result<Option<TableFile>, StoreError> {
        let Some(file) = self.file.take() else { return Ok(None) };
        // Noted before, so that a failure half way finds both names.
        published.push(file.path().to_owned());
        file.publish(facts, files).map(Some)
    }

    /// Forgets the part: rows and file.
    pub(crate) fn abandon(&mut self, files: &dyn Files) {
        self.rows.clear();
        if let Some(file) = self.file.take() {
            let temporary = files::temporary(file.path());
            drop(file);
            discard(files, &temporary);
        }
    }
}

/// Deletes a file that is of no use; what cannot be deleted is found by `clean_leftovers`.
pub(crate) fn discard(files: &dyn Files, path: &std::path::Path) {
    let _gone_or_left_for_later = files.remove(path);
}
