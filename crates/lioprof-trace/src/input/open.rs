//! One file: compression and format by content, then a stream from byte 0.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lioprof_model::NodeFrom;
use lustre_debuglog::frame::Form;

use super::ahead::ReadAhead;
use super::archive::member::{Member, MemberContent, OpenMember};
use super::compression::Compression;
use super::content::{Content, PROBE_BYTES, before_kernel_lines, hint};
use super::damage::{Counted, Layer, SharedDamage, Tolerant};
use super::error::{Excerpt, InputError};
use super::kernel_log::OpenedKernelLog;
use super::magic::{is_tar, is_zip};
use super::mail::{is_mail, may_be_mail};
use super::node::{self, NodeRule};
use super::recoded::Recoded;
use crate::kept::Store;
use crate::kept::Stretch;
use crate::kept::{Spooled, spool, spool_packed};
use crate::progress::BytesRead;

const BUFFER: usize = 256 << 10;
/// First bytes of a file that tell whether it is an archive.
const HEAD_BYTES: usize = 512;
/// Compressed bytes that are enough for these: a block of bzip2 has at most 900 kB.
const PACKED_HEAD_BYTES: usize = 1 << 20;
/// An archive from a pipe is kept in memory up to this size, then in a temporary file.
const KEPT_BYTES: usize = 64 << 20;

/// An input to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Path as given, or below the given directory; `-` is standard input. Of a member of an archive `ARCHIVE!member`.
    pub path: PathBuf,
    /// Node it belongs to.
    pub node: String,
    /// Read standard input instead of a file.
    pub is_stdin: bool,
    /// It is a member of an archive.
    pub member: Option<Member>,
}

impl Found {
    /// Where it lies, for whoever compares inputs by their folders: its path; of a member of an archive the path that it would have if the
    /// archive were a folder (`oss01.tar.gz!tmp/rpc.txt` is `oss01/tmp/rpc.txt`).
    #[must_use]
    pub fn place(&self) -> &Path {
        self.member.as_ref().map_or(&self.path, |member| &member.place)
    }

    /// Whether the user's rule is for it.
    pub(crate) fn is_matched_by(&self, rule: &NodeRule) -> bool {
        rule.matches(&self.path) || rule.matches(self.place())
    }

    /// The node, if the user or the daemon has named it. A rule is for the member's name in its archive or for its place.
    pub(crate) fn fixed_node(&self, rules: &[NodeRule]) -> Option<(String, NodeFrom)> {
        match rules.iter().find(|rule| self.is_matched_by(rule)) {
            Some(rule) => Some((rule.node.clone(), NodeFrom::Option)),
            None => node::fixed(self.place(), &[]),
        }
    }
}

/// An open input.
pub struct Opened {
    /// How it is compressed.
    pub compression: Option<Compression>,
    /// Text or binary.
    pub form: Form,
    /// What of the file is undone in `stream`.
    pub(crate) recoded: Recoded,
    /// All decompressed bytes from byte 0. It never fails: damage ends it and is kept in [`Self::damage`].
    pub stream: Box<dyn Read + Send>,
    /// What was wrong with what was read from `stream` so far, or will be read next: a compressed stream is
    /// read ahead. Look again when the stream is at its end.
    pub damage: SharedDamage,
    /// How much of the file itself was read through `stream`.
    pub(crate) consumed: BytesRead,
    /// A way through an archive that began with opening this: how much of the file has been read, and of how much.
    pub(crate) pass: Option<(BytesRead, u64)>,
    /// The same bytes, if they lie in a file as they are and can be read anywhere.
    in_place: Option<Spooled>,
    /// Nothing of it may be kept but packed.
    is_member: bool,
}

impl Opened {
    /// Whether the file can be read anywhere as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.in_place.is_some()
    }

    /// A part of a text that was opened before; `damage` is that of the text.
    pub(crate) fn text(stream: Box<dyn Read + Send>, compression: Option<Compression>, damage: SharedDamage) -> Self {
        Self {
            compression,
            form: Form::Text,
            recoded: Recoded::default(),
            stream,
            damage,
            consumed: BytesRead::default(),
            pass: None,
            in_place: None,
            is_member: false,
        }
    }

    /// The last bytes of what lies in a file as it is, up to so many; none of anything else, or if they cannot be read.
    pub(crate) fn tail(&self, bytes: usize) -> Vec<u8> {
        let Some(in_place) = &self.in_place else { return Vec::new() };
        let len = in_place.len();
        let mut tail = vec![0; bytes.min(usize::try_from(len).unwrap_or(bytes))];
        let filled = in_place.read_full_at(len - tail.len() as u64, &mut tail).unwrap_or(0);
        if filled == tail.len() { tail } else { Vec::new() }
    }

    /// The whole input for random access: what lies in a file as it is is used there, anything else is kept, see [`spool`]. Fails if the
    /// temporary file cannot be written.
    pub(crate) fn into_read_at(self, limit: usize) -> io::Result<Spooled> {
        match self.in_place {
            Some(in_place) => Ok(in_place),
            None if self.is_member => spool_packed(self.stream, limit),
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
    match &found.member {
        Some(member) => open_member(&found.path, member),
        None if found.is_stdin => match open_door(found)? {
            Door::Log(opened) => Ok(*opened),
            Door::Archive(_) => Err(InputError::IsAnArchive { path: found.path.clone() }),
        },
        None => open_file(&found.path),
    }
}

/// What comes out of something that can be read only once.
pub(crate) enum Door {
    /// A log.
    Log(Box<Opened>),
    /// A tar archive, kept as it came.
    Archive(Stretch),
}

/// Opens standard input or a pipe.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_door(found: &Found) -> Result<Door, InputError> {
    let path = &found.path;
    let read_error = |source| InputError::Io { action: "read", path: path.clone(), source };
    let mut pipe: Box<dyn Read + Send> = if found.is_stdin {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(|source| InputError::Io { action: "open", path: path.clone(), source })?)
    };
    let mut head = Vec::new();
    if !begins_an_archive(&mut pipe, &mut head).map_err(read_error)? {
        let raw = Raw::pipe(Box::new(Cursor::new(head).chain(pipe)));
        return open_stream(path, raw).map(|opened| Door::Log(Box::new(opened)));
    }
    if is_zip(&head) {
        return Err(InputError::ZipFromPipe { path: path.clone() });
    }
    keep(head, pipe).map(Door::Archive).map_err(read_error)
}

/// Whether a file is an archive. If it cannot be read, it is none, and why is told when it is read.
pub(super) fn is_archive_file(path: &Path) -> bool {
    File::open(path).and_then(|mut file| begins_an_archive(&mut file, &mut Vec::new())).unwrap_or(false)
}

/// Whether a stream begins as an archive does, compressed or not. What was read of it goes to `head`.
fn begins_an_archive(stream: &mut dyn Read, head: &mut Vec<u8>) -> io::Result<bool> {
    stream.take(HEAD_BYTES as u64).read_to_end(head)?;
    let Some(kind) = Compression::detect(head) else {
        // A mail shows what it is at the end of its head.
        if may_be_mail(head) {
            stream.take((PROBE_BYTES - HEAD_BYTES) as u64).read_to_end(head)?;
        }
        return Ok(is_archive(head) || is_mail(head));
    };
    // As little as it takes: a pipe may be slow.
    let mut unpacked = Vec::new();
    loop {
        unpacked.clear();
        let decoder = kind.decoder(Cursor::new(head.clone()))?;
        Tolerant::new(decoder, Layer::Compression(kind), BytesRead::default(), SharedDamage::default())
            .take(HEAD_BYTES as u64)
            .read_to_end(&mut unpacked)?;
        let more = head.len() as u64;
        let is_enough = unpacked.len() == HEAD_BYTES || head.len() >= PACKED_HEAD_BYTES;
        if is_enough || stream.take(more).read_to_end(head)? == 0 {
            break;
        }
    }
    Ok(is_archive(&unpacked))
}

/// Keeps an archive from a pipe, as it is.
fn keep(head: Vec<u8>, pipe: Box<dyn Read + Send>) -> io::Result<Stretch> {
    let store = Arc::new(Store::new(KEPT_BYTES));
    let (start, len) = store.append_all(&mut Cursor::new(head).chain(pipe))?;
    Ok(Stretch::of_store(store, start, len))
}

fn is_archive(head: &[u8]) -> bool {
    is_tar(head) || is_zip(head)
}

pub(super) fn open_file(path: &Path) -> Result<Opened, InputError> {
    let open_error = |source| InputError::Io { action: "open", path: path.to_owned(), source };
    let file = File::open(path).map_err(open_error)?;
    let metadata = file.metadata().map_err(open_error)?;
    if metadata.is_dir() {
        return Err(InputError::IsADirectory { path: path.to_owned() });
    }
    let mut raw = Raw::pipe(Box::new(file.try_clone().map_err(open_error)?));
    if metadata.is_file() {
        raw.in_place = Some(Spooled::file(file).map_err(open_error)?);
    }
    open_stream(path, raw)
}

fn open_member(path: &Path, member: &Member) -> Result<Opened, InputError> {
    let opened = member.open().map_err(|source| InputError::Io { action: "open", path: path.to_owned(), source })?;
    match opened {
        OpenMember::Raw { stream, consumed, layer, start, in_place } => {
            let raw = Raw { stream, consumed: Some(consumed), layer, start, in_place };
            open_stream(path, raw).map(|opened| Opened { is_member: true, ..opened })
        }
        OpenMember::Stream { stream, damage, pass } => {
            let stream = member.recoded.undone(stream);
            let compression = member.compression;
            match member.content {
                MemberContent::Log(form) => Ok(Opened {
                    compression,
                    form,
                    recoded: member.recoded.clone(),
                    stream,
                    damage,
                    consumed: BytesRead::default(),
                    pass,
                    in_place: None,
                    is_member: true,
                }),
                MemberContent::KernelLog(form) => {
                    let log = Box::new(OpenedKernelLog {
                        form,
                        compression,
                        recoded: member.recoded.clone(),
                        stream,
                        damage,
                    });
                    Err(InputError::KernelLog { path: path.to_owned(), log })
                }
            }
        }
    }
}

/// Bytes as they come, maybe compressed.
struct Raw {
    stream: Box<dyn Read + Send>,
    /// Counts what is read of the file; else the stream is the file.
    consumed: Option<BytesRead>,
    /// What is damaged if reading fails.
    layer: Layer,
    /// Where the stream begins in the file.
    start: u64,
    in_place: Option<Spooled>,
}

impl Raw {
    fn pipe(stream: Box<dyn Read + Send>) -> Self {
        Self { stream, consumed: None, layer: Layer::File, start: 0, in_place: None }
    }
}

fn open_stream(path: &Path, mut raw: Raw) -> Result<Opened, InputError> {
    let read_error = |source| InputError::Io { action: "read", path: path.to_owned(), source };
    let damage = SharedDamage::default();
    let (is_counted, consumed) = (raw.consumed.is_some(), raw.consumed.unwrap_or_default());
    let mut magic = Vec::new();
    match raw.stream.by_ref().take(Compression::MAGIC_BYTES as u64).read_to_end(&mut magic) {
        Err(source) if raw.layer == Layer::File => return Err(read_error(source)),
        // A member that ends here is damaged, which is met again when it is read.
        Ok(_) | Err(_) => {}
    }
    let compression = Compression::detect(&magic);
    let whole = BufReader::with_capacity(BUFFER, Cursor::new(magic).chain(raw.stream));
    let counter = if is_counted { BytesRead::default() } else { consumed.clone() };
    let counted = Counted::new(whole, counter);
    let decoded: Box<dyn Read + Send> = match compression {
        Some(kind) => kind.decoder(counted).map_err(read_error)?,
        None => Box::new(counted),
    };
    let layer = compression.map_or(raw.layer, Layer::Compression);
    let mut stream = Tolerant::new(decoded, layer, consumed.clone(), damage.clone()).starting_at(raw.start);

    let mut head = read_head(&mut stream, PROBE_BYTES).map_err(read_error)?;
    let recoded = Recoded::of(&head);
    let mut stream: Box<dyn Read + Send> = Box::new(stream);
    if !recoded.is_none() {
        stream = recoded.undone(Box::new(Cursor::new(head).chain(stream)));
        head = read_head(&mut stream, PROBE_BYTES).map_err(read_error)?;
    }
    let content = Content::of(&head);
    let Some(Content::Log(form)) = content else {
        return Err(match (content, damage.get()) {
            (Some(Content::Tar | Content::Zip | Content::Mail), _) => InputError::IsAnArchive { path: path.to_owned() },
            (Some(Content::KernelLog(form)), None) => {
                let stream = Box::new(Cursor::new(head).chain(stream));
                let log = Box::new(OpenedKernelLog { form, compression, recoded, stream, damage });
                InputError::KernelLog { path: path.to_owned(), log }
            }
            (_, Some(damage)) => InputError::Damaged { path: path.to_owned(), damage },
            (_, None) if head.is_empty() => InputError::Empty { path: path.to_owned(), compression },
            (_, None) if let Some(before) = before_kernel_lines(&head) => {
                InputError::UnreadKernelLog { path: path.to_owned(), before: Excerpt::of(before) }
            }
            (_, None) => InputError::NotADebugLog {
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
        in_place: raw.in_place.filter(|_| compression.is_none() && recoded.is_none()),
        recoded,
        stream: match compression {
            Some(_) => Box::new(head.chain(ReadAhead::new(stream))),
            None if raw.layer == Layer::Zip => Box::new(head.chain(ReadAhead::new(stream))),
            None => Box::new(head.chain(stream)),
        },
        damage,
        consumed,
        pass: None,
        is_member: false,
    })
}

/// Up to `limit` bytes, fewer only at the end.
fn read_head(stream: &mut impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    stream.take(limit as u64).read_to_end(&mut head)?;
    Ok(head)
}
