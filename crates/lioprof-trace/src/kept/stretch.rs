//! A part of a file, or of what is kept of a pipe: opened as often as it is wanted, read at any offset.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::store::Store;

/// Where a [`Stretch`] lies.
#[derive(Clone, Debug)]
enum Ground {
    /// A file, opened when it is read: thousands may be known at once.
    File(Arc<Path>),
    Kept(Arc<Store>),
}

/// Adjacent bytes that can be read anywhere.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    ground: Ground,
    start: u64,
    len: u64,
    /// It should be longer, but what it lies in ends.
    is_cut: bool,
}

impl Stretch {
    /// A whole file, as long as it is now. Fails if that cannot be told.
    pub(crate) fn of_file(path: &Path) -> io::Result<Self> {
        let len = path.metadata()?.len();
        Ok(Self { ground: Ground::File(path.into()), start: 0, len, is_cut: false })
    }

    /// What is kept, from `start` on, so many bytes.
    pub(crate) fn of_store(store: Arc<Store>, start: u64, len: u64) -> Self {
        Self { ground: Ground::Kept(store), start, len, is_cut: false }
    }

    /// Where it begins in the file.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Whether it should be longer.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Bytes of this stretch, as many of them as there are.
    pub(crate) fn part(&self, start: u64, len: u64) -> Self {
        let there = self.len.saturating_sub(start).min(len);
        let is_cut = there < len || (self.is_cut && start + len == self.len);
        Self { ground: self.ground.clone(), start: self.start.saturating_add(start), len: there, is_cut }
    }

    /// Opens what it lies in.
    pub(crate) fn open(&self) -> io::Result<StretchReader> {
        let ground = match &self.ground {
            Ground::File(path) => OpenGround::File(File::open(path)?),
            Ground::Kept(store) => OpenGround::Kept(Arc::clone(store)),
        };
        Ok(StretchReader { ground, start: self.start, len: self.len, is_cut: self.is_cut, at: 0 })
    }
}

#[derive(Debug)]
enum OpenGround {
    File(File),
    Kept(Arc<Store>),
}

/// An open [`Stretch`]. Reading at the end of one that is cut is an error, once all that is there has been read.
#[derive(Debug)]
pub(crate) struct StretchReader {
    ground: OpenGround,
    start: u64,
    len: u64,
    is_cut: bool,
    at: u64,
}

impl StretchReader {
    /// Number of bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Reads some bytes at `offset`; 0 only at or behind the end, or if `buf` is empty.
    pub(crate) fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.len.saturating_sub(offset);
        let n = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if n == 0 {
            return Ok(0);
        }
        let place = self.start + offset;
        match &self.ground {
            OpenGround::File(file) => file.read_at(&mut buf[..n], place),
            OpenGround::Kept(store) => store.read_at(place, &mut buf[..n]),
        }
    }

    /// Leaves out so many bytes; fewer at the end. Returns how many.
    pub(crate) fn skip(&mut self, bytes: u64) -> u64 {
        let skipped = bytes.min(self.len.saturating_sub(self.at));
        self.at += skipped;
        skipped
    }
}

impl Read for StretchReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.read_at(self.at, buf)?;
        self.at += n as u64;
        if n == 0 && !buf.is_empty() && self.is_cut {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the archive ends within this member"));
        }
        Ok(n)
    }
}

impl Seek for StretchReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a place before the beginning"))?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch() -> Stretch {
        let store = Store::new(4);
        store.append(b"0123456789").unwrap();
        Stretch::of_store(Arc::new(store), 1, 8)
    }

    fn all(stretch: &Stretch) -> (Vec<u8>, Option<io::ErrorKind>) {
        let mut got = Vec::new();
        let end = stretch.open().unwrap().read_to_end(&mut got);
        (got, end.err().map(|err| err.kind()))
    }

    #[test]
    fn parts_of_parts() {
        assert_eq!(all(&stretch()), (b"12345678".to_vec(), None));
        assert_eq!(all(&stretch().part(2, 4)), (b"3456".to_vec(), None));
        assert_eq!(all(&stretch().part(2, 4).part(1, 3)), (b"456".to_vec(), None));
        assert_eq!(all(&stretch().part(8, 0)), (b"".to_vec(), None));
    }

    #[test]
    fn what_is_cut_says_so_at_its_end() {
        let cut = Some(io::ErrorKind::UnexpectedEof);
        assert_eq!(all(&stretch().part(5, 4)), (b"678".to_vec(), cut));
        assert_eq!(all(&stretch().part(5, u64::MAX)), (b"678".to_vec(), cut));
        assert_eq!(all(&stretch().part(u64::MAX, 1)), (b"".to_vec(), cut));
    }

    #[test]
    fn seeking() {
        let mut reader = stretch().open().unwrap();
        assert_eq!(reader.seek(SeekFrom::End(-3)).unwrap(), 5);
        assert_eq!(reader.skip(1), 1);
        let mut buf = [0; 10];
        assert_eq!((reader.read(&mut buf).unwrap(), &buf[..2]), (2, &b"78"[..]));
        assert_eq!(reader.skip(7), 0);
        assert!(reader.seek(SeekFrom::Current(-9)).is_err());
    }
}
