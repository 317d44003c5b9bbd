//! One file: compression and format by content, then a stream from byte 0.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use lustre_debuglog::frame::{self, Form};
use lustre_debuglog::kernel_log;

use super::ahead::ReadAhead;
use super::compression::Compression;
use super::damage::{Counted, SharedDamage, Tolerant};
use super::error::{Excerpt, GIVE_A_DATASET, GIVE_A_LOG, InputError};
use super::spool::{Spooled, spool};
use crate::kernel_log::OpenedKernelLog;
use crate::progress::BytesRead;

/// How much of a decompressed file tells whether it is a Lustre debug log, and in which form.
pub(crate) const PROBE_BYTES: usize = 64 << 10;

const BUFFER: usize = 256 << 10;

/// An input to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Path as given, or below the given directory; `-` is standard input.
    pub path: PathBuf,
    /// Node it belongs to.
    pub node: String,
    /// Read standard input instead of a file.
    pub is_stdin: bool,
}

/// An open input.
pub struct Opened {
    /// How it is compressed.
    pub compression: Option<Compression>,
    /// Text or binary.
    pub form: Form,
    /// All decompressed bytes from byte 0. It never fails: damage ends it and is kept in [`Self::damage`].
    pub stream: Box<dyn Read + Send>,
    /// What was wrong with what was read from `stream` so far, or will be read next: a compressed stream is
    /// read ahead. Look again when the stream is at its end.
    pub damage: SharedDamage,
    /// How much of the file itself was read through `stream`.
    pub(crate) consumed: BytesRead,
    /// The file itself, if it is a plain one that can be read anywhere.
    plain: Option<File>,
}

impl Opened {
    /// Whether the file can be read anywhere as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain.is_some()
    }

    /// The whole input for random access: a plain file is used as it is, anything else goes through [`spool`]. Fails if the
    /// temporary file cannot be written.
    pub(crate) fn into_read_at(self, limit: usize) -> io::Result<Spooled> {
        match self.plain {
            Some(file) => Spooled::file(file),
            None => spool(self.stream, limit),
        }
    }
}

/// Opens one input.
///
/// # Errors
/// If it cannot be read at all, is empty, or is something else than a Lustre debug log. Damage behind
/// the first readable bytes is no error, see `Opened::damage`.
pub fn open(found: &Found) -> Result<Opened, InputError> {
    if found.is_stdin {
        return open_stream(&found.path, Box::new(io::stdin()), None);
    }
    open_file(&found.path)
}

pub(super) fn open_file(path: &Path) -> Result<Opened, InputError> {
    let open_error = |source| InputError::Io { action: "open", path: path.to_owned(), source };
    let file = File::open(path).map_err(open_error)?;
    let metadata = file.metadata().map_err(open_error)?;
    if metadata.is_dir() {
        return Err(InputError::IsADirectory { path: path.to_owned() });
    }
    let again = if metadata.is_file() { Some(file.try_clone().map_err(open_error)?) } else { None };
    open_stream(path, Box::new(file), again)
}

fn open_stream(path: &Path, mut raw: Box<dyn Read + Send>, file: Option<File>) -> Result<Opened, InputError> {
    let read_error = |source| InputError::Io { action: "read", path: path.to_owned(), source };
    let magic = read_head(&mut raw, Compression::MAGIC_BYTES).map_err(read_error)?;
    let compression = Compression::detect(&magic);

    let damage = SharedDamage::default();
    let consumed = BytesRead::default();
    let whole = BufReader::with_capacity(BUFFER, Cursor::new(magic).chain(raw));
    let counted = Counted::new(whole, consumed.clone());
    let decoded: Box<dyn Read + Send> = match compression {
        Some(kind) => kind.decoder(counted).map_err(read_error)?,
        None => Box::new(counted),
    };
    let mut stream = Tolerant::new(decoded, compression, consumed.clone(), damage.clone());

    let head = read_head(&mut stream, PROBE_BYTES).map_err(read_error)?;
    let Some(form) = frame::detect(&head, head.len() < PROBE_BYTES) else {
        return Err(match damage.get() {
            Some(damage) => InputError::Damaged { path: path.to_owned(), damage },
            None if head.is_empty() => InputError::Empty { path: path.to_owned(), compression },
            None if let Some(form) = kernel_log::detect(&head) => {
                let stream = Box::new(Cursor::new(head).chain(stream));
                let log = Box::new(OpenedKernelLog { form, compression, stream, damage });
                InputError::KernelLog { path: path.to_owned(), log }
            }
            None => InputError::NotADebugLog {
                path: path.to_owned(),
                found: Excerpt::of(&head),
                hint: hint(&head).to_owned(),
            },
        });
    };
    let head = Cursor::new(head);
    Ok(Opened {
        compression,
        form,
        stream: match compression {
            Some(_) => Box::new(head.chain(ReadAhead::new(stream))),
            None => Box::new(head.chain(stream)),
        },
        damage,
        consumed,
        plain: if compression.is_none() { file } else { None },
    })
}

/// Up to `limit` bytes, fewer only at the end.
fn read_head(stream: &mut impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    stream.take(limit as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// What to try, from what the file is instead.
fn hint(head: &[u8]) -> &'static str {
    match head {
        [b'P', b'K', 3, 4, ..] | [b'7', b'z', 0xbc, 0xaf, ..] => "it is an archive: unpack it and give its files",
        _ if head.get(257..262) == Some(b"ustar") => "it is a tar archive: unpack it and give its files",
        [4, 0x22, 0x4d, 0x18, ..] => "it is lz4: decompress it first, or use .gz, .zst, .xz, .bz2",
        _ if Compression::detect(head).is_some() => "it is compressed twice: decompress it once",
        [b'P', b'A', b'R', b'1', ..] => GIVE_A_DATASET,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it is UTF-16 text: convert it to UTF-8 first",
        _ if head.starts_with(b"Debug log: ") => "it is what `lctl` says about a log: give the log itself",
        _ if head.iter().all(|&byte| byte == 0) => "it holds only NUL bytes so far: was it copied completely?",
        _ => GIVE_A_LOG,
    }
}
