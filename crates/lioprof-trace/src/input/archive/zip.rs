//! What a zip archive holds: by its directory, or if that is missing because the archive was cut, by the headers of its members.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::bufread::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::name::readable;
use super::origin::Origin;
use super::tar::Kind;
use crate::input::damage::{Damage, Layer};
use crate::kept::{Stretch, StretchReader};

/// A directory is read whole. One of 100,000 members takes about 10 MB; more is read of archives that are made to fill the memory.
const MAX_DIRECTORY: u64 = 64 << 20;
/// Header of a member without its name (APPNOTE.TXT 4.3.7).
const LOCAL_HEADER: usize = 30;
const IS_ENCRYPTED: u16 = 1;
/// Sizes and checksum come behind the data.
const HAS_DESCRIPTOR: u16 = 1 << 3;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// A member of a zip archive.
pub(super) struct ZipMember {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// How to read it, if it is a file.
    pub(super) origin: Origin,
}

/// What was found in a zip archive.
pub(super) struct ZipMembers {
    pub(super) members: Vec<ZipMember>,
    /// What is wrong with the archive.
    pub(super) damage: Option<Damage>,
    /// It has more members than were asked for.
    pub(super) has_more: bool,
}

/// The members of a zip archive, up to `limit` of them.
pub(super) fn members(stretch: &Stretch, limit: usize) -> io::Result<ZipMembers> {
    let reader = Limited { inner: stretch.open()?, left: MAX_DIRECTORY };
    let archive = match ZipArchive::new(BufReader::with_capacity(8 << 10, reader)) {
        Ok(archive) => archive,
        Err(err) => return by_local_headers(stretch, limit, &err.to_string()),
    };
    let mut headers = stretch.open()?;
    let mut found = ZipMembers { members: Vec::new(), damage: None, has_more: archive.len() > limit };
    for number in 0..archive.len().min(limit) {
        let Ok(entry) = archive.by_index_data(number) else { continue };
        let name = entry.name().map_or_else(|_| readable(entry.name_raw()), |name| readable(name.as_bytes()));
        let mode = entry.unix_mode().unwrap_or(0);
        let method = match entry.compression() {
            CompressionMethod::STORE => Some(STORED),
            CompressionMethod::DEFLATE => Some(DEFLATED),
            _ => None,
        };
        let kind = match (entry.is_dir(), entry.encrypted()) {
            (true, _) => Kind::Folder,
            (_, true) => Kind::Special("encrypted files"),
            _ => file_kind(method, mode),
        };
        let header = header_at(&mut headers, entry.header_start())?;
        let Some(header) = header else {
            found
                .damage
                .get_or_insert_with(|| damage(entry.header_start(), "a member is not where the directory says", false));
            continue;
        };
        let packed = stretch.part(header.data_start, entry.compressed_size());
        let origin = if method == Some(DEFLATED) {
            Origin::Deflated { packed, expected: (entry.crc32(), entry.size()) }
        } else {
            Origin::Stretch(packed, Layer::Zip)
        };
        found.members.push(ZipMember { name: with_slashes(name), kind, origin });
    }
    Ok(found)
}

/// A file, or what else of a member cannot be read: by its method and its mode on Unix.
fn file_kind(method: Option<u16>, mode: u32) -> Kind {
    match mode & 0o170_000 {
        0o120_000 => Kind::Special("links"),
        0o010_000 => Kind::Special("FIFOs"),
        0o020_000 | 0o060_000 => Kind::Special("devices"),
        _ if method.is_none() => Kind::Special("files packed by another method than deflate"),
        _ => Kind::File,
    }
}

/// Some programs of Windows write `\` for `/`.
fn with_slashes(name: String) -> String {
    if name.contains('/') { name } else { name.replace('\\', "/") }
}

fn damage(at: u64, why: &str, truncated: bool) -> Damage {
    Damage { layer: Layer::Zip, file_offset: at, offset: at, why: why.to_owned(), truncated }
}

/// The members of an archive whose directory is missing or damaged, as far as they lie behind each other.
fn by_local_headers(stretch: &Stretch, limit: usize, why: &str) -> io::Result<ZipMembers> {
    let mut found = ZipMembers { members: Vec::new(), damage: None, has_more: false };
    let mut reader = stretch.open()?;
    let mut at = 0;
    while let Some(header) = header_at(&mut reader, at)? {
        if found.members.len() == limit {
            found.has_more = true;
            break;
        }
        let mut packed = stretch.part(header.data_start, header.packed_bytes);
        let mut expected = (header.crc, header.bytes);
        let mut next = header.data_start.saturating_add(header.packed_bytes);
        let mut is_known = true;
        if header.flags & HAS_DESCRIPTOR != 0 && header.packed_bytes == 0 {
            let rest = stretch.part(header.data_start, stretch.len().saturating_sub(header.data_start));
            match end_of_data(&rest, header.method)? {
                Some(end) => {
                    packed = stretch.part(header.data_start, end.packed_bytes);
                    expected = (end.crc, end.bytes);
                    next = header.data_start + end.packed_bytes + end.descriptor_bytes;
                }
                None => {
                    // One byte more than there are: its end is missing.
                    packed = stretch.part(header.data_start, rest.len().saturating_add(1));
                    is_known = false;
                }
            }
        }
        let method = Some(header.method).filter(|method| [STORED, DEFLATED].contains(method));
        let kind = match (header.name.ends_with('/'), header.flags & IS_ENCRYPTED != 0) {
            (true, _) => Kind::Folder,
            (_, true) => Kind::Special("encrypted files"),
            _ => file_kind(method, 0),
        };
        let origin = if method == Some(DEFLATED) {
            Origin::Deflated { packed, expected }
        } else {
            Origin::Stretch(packed, Layer::Zip)
        };
        found.members.push(ZipMember { name: with_slashes(header.name), kind, origin });
        at = next;
        if !is_known {
            at = stretch.len();
            break;
        }
    }
    found.damage = Some(damage(at.min(stretch.len()), &format!("no directory at its end: {why}"), true));
    Ok(found)
}

/// The header in front of a member's data.
struct LocalHeader {
    flags: u16,
    method: u16,
    crc: u32,
    packed_bytes: u64,
    bytes: u64,
    name: String,
    data_start: u64,
}

fn header_at(reader: &mut StretchReader, at: u64) -> io::Result<Option<LocalHeader>> {
    let mut fixed = [0; LOCAL_HEADER];
    reader.seek(SeekFrom::Start(at))?;
    if !fill(reader, &mut fixed)? || !fixed.starts_with(b"PK\x03\x04") {
        return Ok(None);
    }
    let u16_at = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
    let u32_at = |at: usize| u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let (name_len, extra_len) = (u16_at(26), u16_at(28));
    let mut name = vec![0; name_len.into()];
    let mut extra = vec![0; extra_len.into()];
    if !fill(reader, &mut name)? || !fill(reader, &mut extra)? {
        return Ok(None);
    }
    let (mut packed_bytes, mut bytes) = (u64::from(u32_at(18)), u64::from(u32_at(22)));
    if packed_bytes == u64::from(u32::MAX) || bytes == u64::from(u32::MAX) {
        (bytes, packed_bytes) = zip64_sizes(&extra).unwrap_or((bytes, packed_bytes));
    }
    Ok(Some(LocalHeader {
        flags: u16_at(6),
        method: u16_at(8),
        crc: u32_at(14),
        packed_bytes,
        bytes,
        name: readable(&name),
        data_start: at + LOCAL_HEADER as u64 + u64::from(name_len) + u64::from(extra_len),
    }))
}

/// Bytes of a large member, and of its data, from the extra fields of its header (APPNOTE.TXT 4.5.3).
fn zip64_sizes(mut extra: &[u8]) -> Option<(u64, u64)> {
    while let [id_low, id_high, len_low, len_high, rest @ ..] = extra {
        let len = usize::from(u16::from_le_bytes([*len_low, *len_high]));
        let field = rest.get(..len)?;
        if [*id_low, *id_high] == [1, 0] {
            let number = |at: usize| Some(u64::from_le_bytes(field.get(at..at + 8)?.try_into().ok()?));
            return Some((number(0)?, number(8)?));
        }
        extra = &rest[len..];
    }
    None
}

/// Where the data of a member end whose header does not tell.
struct DataEnd {
    packed_bytes: u64,
    bytes: u64,
    crc: u32,
    descriptor_bytes: u64,
}

/// Inflates a member to find its end; `None` if that is missing or there is no telling.
fn end_of_data(rest: &Stretch, method: u16) -> io::Result<Option<DataEnd>> {
    if method != DEFLATED {
        return Ok(None);
    }
    let mut inflated = DeflateDecoder::new(BufReader::new(rest.open()?));
    let mut crc = flate2::Crc::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        match inflated.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => crc.update(&piece[..n]),
            Err(_) => return Ok(None),
        }
    }
    let packed_bytes = inflated.total_in();
    let mut descriptor = [0; 28];
    let mut reader = rest.open()?;
    reader.seek(SeekFrom::Start(packed_bytes))?;
    fill(&mut reader, &mut descriptor)?;
    // With or without a mark, with sizes of four or eight bytes; what comes next begins with a mark.
    let mark = if descriptor.starts_with(b"PK\x07\x08") { 4 } else { 0 };
    let is_crc = descriptor[mark..mark + 4] == crc.sum().to_le_bytes();
    let ends = [mark + 12, mark + 20];
    let end = ends.into_iter().find(|&end| descriptor.get(end..end + 2) == Some(b"PK".as_slice()));
    let Some(end) = end.or(is_crc.then_some(mark + 12)).filter(|_| is_crc) else { return Ok(None) };
    Ok(Some(DataEnd { packed_bytes, bytes: inflated.total_out(), crc: crc.sum(), descriptor_bytes: end as u64 }))
}

/// Whether there was enough to fill `buf`.
fn fill(reader: &mut StretchReader, buf: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    while filled < buf.len() {
        match reader.read(&mut buf[filled..]) {
            Ok(0) => return Ok(false),
            Ok(n) => filled += n,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(err) => return Err(err),
        }
    }
    Ok(true)
}

/// Refuses to read more than so many bytes.
struct Limited {
    inner: StretchReader,
    left: u64,
}

impl Read for Limited {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.left = self
            .left
            .checked_sub(n as u64)
            .ok_or_else(|| io::Error::other(format!("a directory of more than {} MiB", MAX_DIRECTORY >> 20)))?;
        Ok(n)
    }
}

impl Seek for Limited {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

#[cfg(test)]
#[path = "zip_tests.rs"]
mod tests;
