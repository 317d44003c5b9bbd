//! What can go wrong with a dataset.

use std::io;
use std::path::PathBuf;

use parquet::errors::ParquetError;

/// Why a dataset could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// An operation on a file or folder failed: `create`, `rename`, ...
    #[error("failed to {0} `{path}`{hint}", path = .1.display(), hint = hint(.2))]
    Io(&'static str, PathBuf, #[source] io::Error),
    /// Parquet's encoder failed, or the file system below it.
    #[error("failed to write column `{column}` of row group {row_group} to `{}`", path.display())]
    Write {
        /// File.
        path: PathBuf,
        /// Number of the row group, from 0.
        row_group: usize,
        /// Column; `footer` for the end of the file.
        column: &'static str,
        /// Underlying error.
        #[source]
        source: ParquetError,
    },
    /// The writer of the first node was given a row of the second.
    #[error("a row of node `{1}` was given to the writer of node `{0}`; each node needs a writer of its own")]
    OtherNode(String, String),
    /// A file in `manifests` is not a valid manifest; what is wrong with the JSON, and where.
    #[error("`{path}` is not a manifest of a lioprof dataset: {1}; delete the file to read the other parts", path = .0.display())]
    Manifest(PathBuf, serde_json::Error),
    /// The file has the schema of another version of lioprof.
    #[error("`{}` has schema {found}, expected `{expected}`; use the lioprof version that wrote it, or a newer one", path.display())]
    Version {
        /// File.
        path: PathBuf,
        /// Schema in the file.
        found: String,
        /// Schema that this version reads.
        expected: &'static str,
    },
    /// A manifest names a file that is not there.
    #[error("`{}` is missing, but its manifest `{}` says that it holds {rows} rows; copy the dataset again, with all its folders", path.display(), manifest.display())]
    Missing {
        /// File.
        path: PathBuf,
        /// Manifest that names it.
        manifest: PathBuf,
        /// Rows that it should hold.
        rows: u64,
    },
    /// A file does not match its manifest.
    #[error("`{}` has {found} {what}, but its manifest says {expected}; the file is damaged or its copy incomplete", path.display())]
    Differs {
        /// File.
        path: PathBuf,
        /// What differs: `bytes`, `rows`, `as its CRC-32`.
        what: &'static str,
        /// Value in the file.
        found: u64,
        /// Value in the manifest.
        expected: u64,
    },
    /// A file does not hold the sums of a node; what was expected and what was found.
    #[error("`{path}`: {1}; run `lioprof rollup` on the dataset again", path = .0.display())]
    Sums(PathBuf, String),
    /// A part of a file is not readable Parquet: `the footer`, `row group 3`.
    #[error("failed to read {1} of `{path}`", path = .0.display())]
    Read(PathBuf, String, #[source] ParquetError),
    /// A column is missing, or has an unexpected type or value.
    #[error("`{}`, row group {row_group}, column `{column}`: expected {expected}, found {found}", path.display())]
    Column {
        /// File.
        path: PathBuf,
        /// Number of the row group, from 0.
        row_group: usize,
        /// Name of the column.
        column: String,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
}

impl StoreError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |err| Self::Io(action, path, err)
    }

    /// The error and its causes as one sentence.
    #[must_use]
    pub fn chain(&self) -> String {
        lioprof_model::with_causes(self)
    }
}

fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull => ", the file system is full (free some space, or keep less)",
        io::ErrorKind::QuotaExceeded => ", the quota is used up (raise it, or keep less)",
        io::ErrorKind::ReadOnlyFilesystem => ", the file system is read-only (choose another folder)",
        io::ErrorKind::PermissionDenied => " (run as the user that owns the folder, or choose another folder)",
        _ => "",
    }
}
