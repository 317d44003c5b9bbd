//! Rollups kept beside the rows that they were made of.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use arrow_schema::{Schema, SchemaRef};
use lioprof_model::parts::sums::Second;

use super::sums_file::{MOST_SUMS_BYTES, SumsFile};
use crate::error::StoreError;
use crate::files::{self, OsFiles};
use crate::layout;
use crate::plain_rows::{self, Columns, plain};

/// Folder of the rollups of a dataset.
pub const ROLLUPS: &str = "rollups";

/// The table with one row per target and second.
pub const SECONDS: &str = "seconds";

/// The folder of the nodes' sums.
pub const SUMS: &str = "sums";

/// Version of what is in the folder: the table, and the first lines of the sums.
pub const ROLLUP_SCHEMA: &str = "lioprof.rollup/2";

plain!(Second);

/// Columns of the table of seconds.
#[must_use]
pub fn seconds_schema() -> SchemaRef {
    Schema::new(Second::fields()).into()
}

/// Rollups of a dataset.
#[derive(Clone, Debug)]
pub struct Rollups {
    dir: PathBuf,
}

impl Rollups {
    /// Of the dataset at `dir`.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.join(ROLLUPS) }
    }

    /// Writes the rollup of one node.
    ///
    /// # Errors
    /// If a file cannot be written; the node has no rollup then.
    pub fn write(&self, sums: &SumsFile, seconds: &[Second]) -> Result<(), StoreError> {
        let path = self.sums_path(&sums.header.node);
        plain_rows::remove(&path)?;
        plain_rows::write(&self.seconds_path(&sums.header.node), seconds)?;
        let mut file = files::create(&OsFiles, &path)?;
        file.write_all(&sums.to_bytes()).map_err(StoreError::io("write", &path))?;
        files::publish(&OsFiles, file, &path).map(|_| ())
    }

    /// The sums of a node, if it has a rollup.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn sums(&self, node: &str) -> Result<Option<SumsFile>, StoreError> {
        let path = self.sums_path(node);
        if !path.exists() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(StoreError::io("open", &path))?;
        file.take(MOST_SUMS_BYTES).read_to_end(&mut bytes).map_err(StoreError::io("read", &path))?;
        SumsFile::from_bytes(&bytes).map(Some).map_err(|why| StoreError::Sums(path, why))
    }

    /// Deletes the rollup of a node, if it has one, with what older versions kept of it: its file in every folder, the sums first.
    ///
    /// # Errors
    /// If a file cannot be deleted.
    pub fn remove(&self, node: &str) -> Result<(), StoreError> {
        plain_rows::remove(&self.sums_path(node))?;
        for folder in plain_rows::folders(&self.dir)? {
            plain_rows::remove(&folder.join(format!("{}.parquet", layout::hive(node))))?;
        }
        Ok(())
    }

    /// Names of the nodes that have a rollup, sorted.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn nodes(&self) -> Result<Vec<String>, StoreError> {
        let files = plain_rows::list(&self.dir.join(SUMS), "sums")?;
        let mut nodes: Vec<String> =
            files.iter().filter_map(|path| layout::unhive(path.file_stem()?.to_str()?)).collect();
        nodes.sort();
        Ok(nodes)
    }

    /// Whether a node has a table of seconds without sums, as older versions left it.
    #[must_use]
    pub fn is_older(&self, node: &str) -> bool {
        self.seconds_path(node).exists() && !self.sums_path(node).exists()
    }

    /// Folders that older versions filled and this one does not use, sorted.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn unused(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut folders = plain_rows::folders(&self.dir)?;
        folders.retain(|folder| !folder.ends_with(SECONDS) && !folder.ends_with(SUMS));
        Ok(folders)
    }

    fn seconds_path(&self, node: &str) -> PathBuf {
        self.dir.join(SECONDS).join(format!("{}.parquet", layout::hive(node)))
    }

    fn sums_path(&self, node: &str) -> PathBuf {
        self.dir.join(SUMS).join(format!("{}.sums", layout::hive(node)))
    }
}

/// Whether a part is among others, if only as a copy under another name.
#[must_use]
pub fn has_part(parts: &BTreeSet<String>, name: &str) -> bool {
    parts.contains(name) || parts.iter().any(|part| is_same_part(part, name))
}

/// Whether two names of files are of the same part: file managers and people name a copy after the original.
#[must_use]
pub fn is_same_part(name: &str, other: &str) -> bool {
    name.contains(other) || other.contains(name)
}
