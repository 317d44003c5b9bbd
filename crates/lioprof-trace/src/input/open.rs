//! One file: compression and format by content, then a stream from byte 0.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use encoding_rs::Encoding;
use encoding_rs_io::DecodeReaderBytesBuilder;
use lustre_debuglog::frame::{self, Form};
use lustre_debuglog::kernel_log;
use memchr::memmem;

use super::ahead::ReadAhead;
use super::compression::Compression;
use super::damage::{Counted, SharedDamage, Tolerant};
use super::error::{Excerpt, GIVE_A_DATASET, GIVE_A_LOG, InputError};
use super::spool::{Spooled, spool};
use crate::envelope::repair;
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
    /// The file is UTF-16; `stream` is UTF-8.
    pub(crate) is_utf16: bool,
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

    /// A part of a text that was opened before; `damage` is that of the text.
    pub(crate) fn text(stream: Box<dyn Read + Send>, compression: Option<Compression>, damage: SharedDamage) -> Self {
        Self {
            compression,
            form: Form::Text,
            is_utf16: false,
            stream,
            damage,
            consumed: BytesRead::default(),
            plain: None,
        }
    }

    /// The last bytes of a plain file, up to so many; none of anything else, or if they cannot be read.
    pub(crate) fn tail(&self, bytes: usize) -> Vec<u8> {
        let Some(file) = &self.plain else { return Vec::new() };
        let len = file.metadata().map_or(0, |metadata| metadata.len());
        let mut tail = vec![0; bytes.min(usize::try_from(len).unwrap_or(bytes))];
        let from = len - tail.len() as u64;
        match file.read_exact_at(&mut tail, from) {
            Ok(()) => tail,
            Err(_) => Vec::new(),
        }
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

    let mut head = read_head(&mut stream, PROBE_BYTES).map_err(read_error)?;
    let utf16 = utf16_of(&head);
    let mut stream: Box<dyn Read + Send> = Box::new(stream);
    if let Some(encoding) = utf16 {
        let whole = Cursor::new(head).chain(stream);
        stream = Box::new(DecodeReaderBytesBuilder::new().encoding(Some(encoding)).build(whole));
        head = read_head(&mut stream, PROBE_BYTES).map_err(read_error)?;
    }
    let form = frame::detect(&head, head.len() < PROBE_BYTES);
    let Some(form) = form.or_else(|| repair::is_log(&head).then_some(Form::Text)) else {
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
        is_utf16: utf16.is_some(),
        stream: match compression {
            Some(_) => Box::new(head.chain(ReadAhead::new(stream))),
            None => Box::new(head.chain(stream)),
        },
        damage,
        consumed,
        plain: if compression.is_none() && utf16.is_none() { file } else { None },
    })
}

/// Up to `limit` bytes, fewer only at the end.
fn read_head(stream: &mut impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    stream.take(limit as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// The encoding of a text of two bytes per character: by its mark, or by the NULs beside its digits.
fn utf16_of(head: &[u8]) -> Option<&'static Encoding> {
    let low_first = |pair: &[u8]| pair[0].is_ascii_graphic() && pair[1] == 0;
    let high_first = |pair: &[u8]| pair[0] == 0 && pair[1].is_ascii_graphic();
    let start = head.get(..16);
    match head {
        [0xff, 0xfe, ..] => Some(encoding_rs::UTF_16LE),
        [0xfe, 0xff, ..] => Some(encoding_rs::UTF_16BE),
        _ if start.is_some_and(|start| start.chunks_exact(2).all(low_first)) => Some(encoding_rs::UTF_16LE),
        _ if start.is_some_and(|start| start.chunks_exact(2).all(high_first)) => Some(encoding_rs::UTF_16BE),
        _ => None,
    }
}

/// Whether the text begins as JSON does.
fn is_json(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let behind = head.get(1..).unwrap_or_default().trim_ascii_start();
    matches!(head.first(), Some(b'{' | b'[')) && matches!(behind.first(), Some(b'"' | b'{' | b'[' | b'}'))
}

/// Whether the text is what `lctl get_param` prints: a parameter's name and `=`, or the statistics that most parameters are.
fn is_parameters(head: &[u8]) -> bool {
    let is_name = |name: &[u8]| {
        name.len() < 200
            && name.contains(&b'.')
            && name.iter().all(|b| b.is_ascii_alphanumeric() || b"._-*@:".contains(b))
    };
    repair::lines(head).take(20).any(|line| {
        memchr::memchr(b'=', line).is_some_and(|at| is_name(&line[..at]))
            || line.starts_with(b"snapshot_time")
            || line.starts_with(b"job_stats:")
    })
}

/// What to try, from what the file is instead.
fn hint(head: &[u8]) -> &'static str {
    match head {
        [b'P', b'K', 3, 4, ..] | [b'7', b'z', 0xbc, 0xaf, ..] => "it is an archive: unpack it and give its files",
        _ if head.get(257..262) == Some(b"ustar") => "it is a tar archive: unpack it and give its files",
        [4, 0x22, 0x4d, 0x18, ..] => "it is lz4: decompress it first, or use .gz, .zst, .xz, .bz2",
        _ if Compression::detect(head).is_some() => "it is compressed twice: decompress it once",
        [b'P', b'A', b'R', b'1', ..] => GIVE_A_DATASET,
        _ if head.starts_with(b"Debug log: ") => "it is what `lctl` says about a log: give the log itself",
        _ if is_json(head) && memmem::find(head, b"\"lioprof.analysis/").is_some() => {
            "it is a saved analysis: `lioprof report FILE` makes its page, `lioprof compare` compares two"
        }
        _ if is_json(head) && repair::holds_header(head) => {
            "it is JSON that holds the lines of a debug log as strings, as tools that read crash dumps print: extract the lines, for example with `jq -r '.lines[]' FILE >log.txt`, and give that"
        }
        _ if is_json(head) => {
            "it is JSON; give the debug log itself: the text of `lctl dk` or a raw `lctl debug_daemon` file"
        }
        _ if is_parameters(head) => {
            "it is what `lctl get_param` prints, counters or parameters, and they are no debug log: give the text of `lctl dk`, or a raw `lctl debug_daemon` file"
        }
        _ if head.iter().all(|&byte| byte == 0) => "it holds only NUL bytes so far: was it copied completely?",
        _ => GIVE_A_LOG,
    }
}
