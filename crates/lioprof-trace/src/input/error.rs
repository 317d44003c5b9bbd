//! What can be wrong with an input.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::compression::Compression;
use super::damage::Damage;
use super::kernel_log::OpenedKernelLog;

/// Why an input cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// No such file, no permission, ...
    #[error("failed to {action} `{}`", path.display())]
    Io {
        /// What was tried: `open`, `read`, `read directory`.
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// A directory where a file was expected.
    #[error("`{}` is a directory, expected a file", path.display())]
    IsADirectory { path: PathBuf },
    /// Nothing to read in a directory, in which so many files were looked at.
    #[error("`{}` holds no Lustre debug log: {files} other files", path.display())]
    NothingFound { path: PathBuf, files: usize },
    /// No log in an archive.
    #[error("`{}` is an archive that holds no Lustre debug log, but {holds}", path.display())]
    NothingInArchive {
        path: PathBuf,
        /// How many members of which kinds, with the first names.
        holds: String,
    },
    /// An archive of which a part was expected that is none.
    #[error("`{}` is an archive", path.display())]
    IsAnArchive { path: PathBuf },
    /// A zip archive that cannot be read from its end.
    #[error("`{}` is a zip archive, which cannot be read from a pipe: what it holds is listed at its end", path.display())]
    ZipFromPipe { path: PathBuf },
    /// Files of rows, but not the folder that says what they are.
    #[error("`{}` holds no Lustre debug log, and {files} Parquet files without the manifests of a dataset", path.display())]
    NoManifests { path: PathBuf, files: usize },
    /// No bytes.
    #[error("`{}` is empty{}", path.display(), after_decompression(*compression))]
    Empty { path: PathBuf, compression: Option<Compression> },
    /// Readable, but something else.
    #[error("`{}` is not a Lustre debug log: expected a record header at byte 0, found {found}", path.display())]
    NotADebugLog {
        path: PathBuf,
        found: Excerpt,
        /// What to try.
        hint: String,
    },
    /// A kernel log, which has no records: it tells of events only.
    #[error("`{}` is a kernel log, no Lustre debug log", path.display())]
    KernelLog {
        path: PathBuf,
        /// The log, to be read as what it is.
        log: Box<OpenedKernelLog>,
    },
    /// A kernel log in an envelope that is not known.
    #[error("`{}` seems to be a kernel log with {before} before each line, which lioprof cannot take off", path.display())]
    UnreadKernelLog {
        path: PathBuf,
        /// What stands before the first sentence of Lustre.
        before: Excerpt,
    },
    /// Nothing could be decompressed, or too little to see what it is.
    #[error("`{}` cannot be decompressed: {damage}", path.display())]
    Damaged { path: PathBuf, damage: Damage },
}

fn after_decompression(compression: Option<Compression>) -> String {
    compression.map(|it| format!(" (the {it} data in it decompress to nothing)")).unwrap_or_default()
}

impl InputError {
    /// File or directory.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::IsADirectory { path }
            | Self::NothingFound { path, .. }
            | Self::NothingInArchive { path, .. }
            | Self::IsAnArchive { path }
            | Self::ZipFromPipe { path }
            | Self::NoManifests { path, .. }
            | Self::Empty { path, .. }
            | Self::NotADebugLog { path, .. }
            | Self::KernelLog { path, .. }
            | Self::UnreadKernelLog { path, .. }
            | Self::Damaged { path, .. } => path,
        }
    }

    /// What to try, if there is something.
    pub(crate) fn hint(&self) -> Option<&str> {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Some("debug logs belong to root: run as root, or copy the file and give yourself access")
            }
            Self::Io { .. } | Self::IsADirectory { .. } => None,
            Self::NothingFound { .. } | Self::NothingInArchive { .. } => Some(GIVE_A_LOG),
            Self::IsAnArchive { .. } => Some("unpack it and give its files"),
            Self::ZipFromPipe { .. } => Some("save it as a file and give that, or pipe a tar archive"),
            Self::NoManifests { .. } => Some(GIVE_A_DATASET),
            Self::Empty { .. } => Some("was the debug mask set, and the log not cleared, before it was written?"),
            Self::NotADebugLog { hint, .. } => Some(hint),
            Self::KernelLog { .. } => Some("`lioprof analyze` reads what Lustre tells in it"),
            Self::UnreadKernelLog { .. } => Some(
                "give what `dmesg`, `dmesg -T` or `journalctl -k -o short-iso` prints, or only what stands behind, from `Lustre` or `LNet` on",
            ),
            Self::Damaged { damage, .. } => Some(damage.hint()),
        }
    }

    /// Whether the file is simply something else than a log: no fault if it was found in a directory.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(
            self,
            Self::NotADebugLog { .. }
                | Self::KernelLog { .. }
                | Self::UnreadKernelLog { .. }
                | Self::Empty { .. }
                | Self::NothingInArchive { .. }
        )
    }
}

pub(super) const GIVE_A_DATASET: &str = "give the folder that has `manifests` in it, not a table or a file of it; if there is none, copy the dataset again, with all folders";

pub(super) const GIVE_A_LOG: &str = "give the text of `lctl debug_file` or a raw `lctl debug_daemon` file, plain or .gz, .zst, .xz, .bz2, or a tar or zip archive of them";

/// How much a problem matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing that was asked for is missing.
    Note,
    /// Something that was asked for is missing.
    Error,
}

/// Something to tell about an input; the others are read all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputProblem {
    /// File or directory.
    pub path: PathBuf,
    /// How much it matters.
    pub severity: Severity,
    /// The whole message, with the file's name, the cause and what to try.
    pub message: String,
}

impl InputProblem {
    pub(super) fn note(path: &Path, message: String) -> Self {
        Self { path: path.to_owned(), severity: Severity::Note, message }
    }

    pub(super) fn error(path: &Path, message: String) -> Self {
        Self { path: path.to_owned(), severity: Severity::Error, message }
    }
}

impl From<&InputError> for InputProblem {
    fn from(error: &InputError) -> Self {
        let mut message = lioprof_model::with_causes(error);
        if let Some(hint) = error.hint() {
            message.push_str("; ");
            message.push_str(hint);
        }
        Self { path: error.path().to_owned(), severity: Severity::Error, message }
    }
}

/// The first bytes of something, printed with escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt(Vec<u8>);

impl Excerpt {
    /// Bytes that are kept.
    pub(crate) const BYTES: usize = 32;

    /// Of the start of `bytes`.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(bytes[..bytes.len().min(Self::BYTES)].to_vec())
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_printable() {
        let text = Excerpt::of(b"\x89PNG\r\n\x1a\n\0\0").to_string();
        assert_eq!(text, r#""\x89PNG\r\n\x1a\n\x00\x00""#);
        assert_eq!(Excerpt::of(&[b'a'; 100]).to_string().len(), Excerpt::BYTES + 2);
    }

    #[test]
    fn problems_hold_file_cause_and_hint() {
        let source = io::Error::from(io::ErrorKind::PermissionDenied);
        let problem = InputProblem::from(&InputError::Io { action: "open", path: "a/rpc.bin".into(), source });
        assert_eq!(problem.severity, Severity::Error);
        for part in ["`a/rpc.bin`", "permission denied", "root"] {
            assert!(problem.message.contains(part), "{}", problem.message);
        }
    }
}
