//! A part of a dataset.

use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::layout::{self};
use crate::manifest::Manifest;

/// A part of a dataset: a manifest and the files that it names.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Facts of the part, as read from its manifest.
    pub manifest: Manifest,
    /// Path of the manifest.
    pub manifest_path: PathBuf,
    /// Folder of the dataset: that of `manifests`.
    pub(crate) dir: PathBuf,
}

impl Part {
    pub(crate) fn read(manifest_path: PathBuf, dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { manifest: Manifest::read(&manifest_path)?, manifest_path, dir: dir.to_owned() })
    }

    /// The name that its files have.
    #[must_use]
    pub fn name(&self) -> String {
        self.manifest_path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The file of a table, whether the part has rows of it or not.
    #[must_use]
    pub fn table_path(&self, table: &str) -> PathBuf {
        layout::table_path(&self.dir, &self.manifest_path, table)
    }

    /// Rows of a table, as the manifest tells.
    pub(crate) fn rows(&self, table: &str) -> u64 {
        self.manifest.tables.get(table).map_or(0, |table| table.rows)
    }

    /// What no other part of its node has.
    pub(super) fn identity(&self) -> (i64, String, u64) {
        let (start_us, session, part) = self.order();
        (start_us, session.to_owned(), part)
    }

    /// Order of the parts of a node.
    pub(super) fn order(&self) -> (i64, &str, u64) {
        let Manifest { session, part, .. } = &self.manifest;
        (session.start_us, &session.id, *part)
    }
}
