//! The headers of a tar archive, one after the other: old, ustar, GNU and pax.
//!
//! The crate `tar` says what is in a header. It is not asked to iterate: it reads names and pax headers whole, and a megabyte of
//! hostile gzip holds a name of a gigabyte.

use std::io::{self, Read};

use tar::{EntryType, Header};

use super::name::readable;
use crate::input::damage::{Damage, Layer};
use crate::input::magic::{BLOCK, sum_is_right};
use crate::kept::StretchReader;

/// Of a name or pax header that is longer, only the beginning is used.
const MAX_EXTENSION: usize = 64 << 10;

/// What reads an archive: bytes that are not wanted can be left out.
pub(super) trait Skip: Read {
    /// Leaves out so many bytes; fewer only at the end. Returns how many.
    fn skip(&mut self, bytes: u64) -> io::Result<u64>;
}

impl Skip for StretchReader {
    fn skip(&mut self, bytes: u64) -> io::Result<u64> {
        Ok(StretchReader::skip(self, bytes))
    }
}

/// Reads on to leave something out.
pub(super) struct Streamed<R>(pub(super) R);

impl<R: Read> Read for Streamed<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read(buf)
    }
}

impl<R: Read> Skip for Streamed<R> {
    fn skip(&mut self, bytes: u64) -> io::Result<u64> {
        io::copy(&mut self.0.by_ref().take(bytes), &mut io::sink())
    }
}

/// What a member of an archive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    /// Something without bytes of its own, or whose bytes are no file as they are: what such things are called.
    Special(&'static str),
}

/// A member of a tar archive.
#[derive(Debug)]
pub(super) struct TarMember {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Where its data begin in the archive.
    pub(super) start: u64,
    /// Bytes of its data in the archive.
    pub(super) len: u64,
    /// When it was last changed, microseconds since the epoch.
    pub(super) changed_us: Option<i64>,
}

/// Reads a tar archive member by member.
pub(super) struct TarReader<R> {
    inner: R,
    /// Bytes of the archive that have been read or left out.
    at: u64,
    /// Of the current member: bytes of data that have not been read, and those that fill its last block.
    data_left: u64,
    padding: u64,
    /// A block of zeros was met, as they are at the end.
    has_end: bool,
}

/// What the headers before the one of a member say of it.
#[derive(Default)]
struct Extensions {
    name: Option<Vec<u8>>,
    len: Option<u64>,
    is_sparse: bool,
}

impl<R: Skip> TarReader<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, at: 0, data_left: 0, padding: 0, has_end: false }
    }

    /// The next member, `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<TarMember>, Damage> {
        let mut extensions = Extensions::default();
        loop {
            self.leave_data()?;
            let Some(block) = self.header()? else { return Ok(None) };
            let header = Header::from_byte_slice(&block);
            let mut len = header.entry_size().map_err(|err| self.damage(&err))?;
            match header.entry_type() {
                EntryType::GNULongName => {
                    let mut name = self.extension(len)?;
                    name.truncate(name.iter().position(|&byte| byte == 0).unwrap_or(name.len()));
                    extensions.name = Some(name);
                    continue;
                }
                EntryType::XHeader => {
                    let pax = self.extension(len)?;
                    extensions.pax(&pax);
                    continue;
                }
                EntryType::GNULongLink | EntryType::XGlobalHeader => {
                    self.data_is(len);
                    continue;
                }
                _ => {}
            }
            if let Some(longer) = extensions.len {
                len = longer;
            }
            let name = extensions.name.unwrap_or_else(|| header.path_bytes().into_owned());
            let kind = match header.entry_type() {
                EntryType::Directory => Kind::Folder,
                // As the oldest programs write it.
                EntryType::Regular if name.ends_with(b"/") => Kind::Folder,
                EntryType::Link | EntryType::Symlink => Kind::Special("links"),
                EntryType::Char | EntryType::Block => Kind::Special("devices"),
                EntryType::Fifo => Kind::Special("FIFOs"),
                EntryType::GNUSparse => Kind::Special("sparse files"),
                _ if extensions.is_sparse => Kind::Special("sparse files"),
                // A volume's label, a folder's list, the rest of a file of the volume before (GNU).
                it if b"VDMN".contains(&it.as_byte()) => Kind::Special("members of GNU dumps"),
                // What is unknown is a file (POSIX).
                _ => Kind::File,
            };
            // These have none, whatever the header says (GNU tar, Python).
            if matches!(kind, Kind::Folder | Kind::Special("links" | "devices" | "FIFOs")) {
                len = 0;
            }
            if header.entry_type() == EntryType::GNUSparse {
                self.leave_sparse_headers(header.as_gnu().is_some_and(tar::GnuHeader::is_extended))?;
            }
            self.data_is(len);
            let changed_s = header.mtime().ok().filter(|seconds| *seconds > 0);
            let changed_us = changed_s.and_then(|seconds| i64::try_from(seconds).ok()?.checked_mul(1_000_000));
            return Ok(Some(TarMember { name: readable(&name), kind, start: self.at, len, changed_us }));
        }
    }

    /// The data of the member at hand.
    pub(super) fn data(&mut self) -> TarData<'_, R> {
        TarData(self)
    }

    /// The archive; what comes behind its end has not been read.
    pub(super) fn into_inner(self) -> R {
        self.inner
    }

    fn data_is(&mut self, len: u64) {
        self.data_left = len;
        self.padding = len.wrapping_neg() % BLOCK as u64;
    }

    fn leave_data(&mut self) -> Result<(), Damage> {
        let wanted = self.data_left.saturating_add(self.padding);
        let skipped = self.inner.skip(wanted).map_err(|err| self.damage(&err))?;
        self.at += skipped;
        // The last block need not be full.
        let is_cut = skipped < self.data_left;
        (self.data_left, self.padding) = (0, 0);
        if is_cut { Err(self.damage(&cut("within a member"))) } else { Ok(()) }
    }

    /// The next header that is not empty, `None` at the end. Archives behind each other are read as one (`cat a.tar b.tar`).
    fn header(&mut self) -> Result<Option<[u8; BLOCK]>, Damage> {
        loop {
            let mut block = [0; BLOCK];
            let filled = self.fill(&mut block)?;
            if filled < BLOCK {
                let is_end = self.has_end || (filled == 0 && self.at == 0);
                return if is_end { Ok(None) } else { Err(self.damage(&cut("without the mark of its end"))) };
            }
            if block.iter().all(|&byte| byte == 0) {
                self.has_end = true;
            } else if sum_is_right(Header::from_byte_slice(&block)) {
                self.has_end = false;
                return Ok(Some(block));
            } else if self.has_end {
                // Whatever lies behind the end.
                return Ok(None);
            } else {
                return Err(self.damage(&io::Error::other("the sum of a header is wrong")));
            }
        }
    }

    /// The data of a header that only says something of the next member.
    fn extension(&mut self, len: u64) -> Result<Vec<u8>, Damage> {
        self.data_is(len);
        let mut data = vec![0; usize::try_from(len).unwrap_or(MAX_EXTENSION).min(MAX_EXTENSION)];
        let filled = self.fill(&mut data)?;
        self.data_left -= filled as u64;
        data.truncate(filled);
        Ok(data)
    }

    fn leave_sparse_headers(&mut self, mut more: bool) -> Result<(), Damage> {
        while more {
            let mut block = [0; BLOCK];
            if self.fill(&mut block)? < BLOCK {
                return Err(self.damage(&cut("within a header")));
            }
            // `isextended` of `struct sparse_header` (GNU tar, tar.h).
            more = block[504] == 1;
        }
        Ok(())
    }

    /// Fills `buf` as far as there are bytes.
    fn fill(&mut self, buf: &mut [u8]) -> Result<usize, Damage> {
        let mut filled = 0;
        while filled < buf.len() {
            match self.inner.read(&mut buf[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(self.damage(&err)),
            }
        }
        self.at += filled as u64;
        Ok(filled)
    }

    fn damage(&self, err: &io::Error) -> Damage {
        Damage {
            layer: Layer::Tar,
            file_offset: self.at,
            offset: self.at,
            why: err.to_string(),
            truncated: err.kind() == io::ErrorKind::UnexpectedEof,
        }
    }
}

fn cut(how: &str) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("it ends {how}"))
}

impl Extensions {
    /// Takes what a pax header says: lines `LENGTH KEY=VALUE`.
    fn pax(&mut self, mut data: &[u8]) {
        while let Some(blank) = data.iter().position(|&byte| byte == b' ') {
            let len = std::str::from_utf8(&data[..blank]).ok().and_then(|text| text.parse::<usize>().ok());
            let Some(record) = len.and_then(|len| data.get(blank + 1..len.checked_sub(1)?)) else { return };
            data = &data[blank + 1 + record.len() + 1..];
            let Some(sign) = record.iter().position(|&byte| byte == b'=') else { return };
            let (key, value) = (&record[..sign], &record[sign + 1..]);
            match key {
                b"path" if !self.is_sparse => self.name = Some(value.to_vec()),
                b"size" => self.len = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()),
                b"GNU.sparse.name" => (self.name, self.is_sparse) = (Some(value.to_vec()), true),
                _ if key.starts_with(b"GNU.sparse.") => self.is_sparse = true,
                _ => {}
            }
        }
    }
}

/// The data of a member. That they end too early is an error.
pub(super) struct TarData<'a, R>(&'a mut TarReader<R>);

impl<R: Skip> Read for TarData<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let tar = &mut *self.0;
        let n = buf.len().min(usize::try_from(tar.data_left).unwrap_or(usize::MAX));
        if n == 0 {
            return Ok(0);
        }
        let n = tar.inner.read(&mut buf[..n])?;
        if n == 0 {
            return Err(cut("within this member"));
        }
        tar.data_left -= n as u64;
        tar.at += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
#[path = "tar_tests.rs"]
mod tests;
