//! Random access to a stream.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::packed::{Packed, Packer};
use super::store::{Store, temporary};
use super::stretch::StretchReader;
use crate::progress::BytesRead;

/// A whole input, in memory, in a file or packed. Its bytes can be read at any offset.
#[derive(Debug)]
pub(crate) struct Spooled {
    storage: Storage,
    read: Option<BytesRead>,
}

#[derive(Debug)]
enum Storage {
    Memory(Vec<u8>),
    File {
        file: File,
        len: u64,
    },
    /// A member of an archive that lies in a file as it is.
    Stretch(StretchReader),
    /// A member of an archive that does not.
    Packed(Packed),
}

impl Spooled {
    /// A plain file as it is; what is appended later is not seen.
    /// Fails if its length cannot be told.
    pub(crate) fn file(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { storage: Storage::File { file, len }, read: None })
    }

    /// A part of a file as it is.
    pub(crate) fn stretch(reader: StretchReader) -> Self {
        Self { storage: Storage::Stretch(reader), read: None }
    }

    /// From now on what is read is counted.
    pub(crate) fn count(&mut self) -> BytesRead {
        self.read.get_or_insert_default().clone()
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> u64 {
        match &self.storage {
            Storage::Memory(bytes) => bytes.len() as u64,
            Storage::File { len, .. } => *len,
            Storage::Stretch(reader) => reader.len(),
            Storage::Packed(packed) => packed.len(),
        }
    }

    /// Reads some bytes at `offset`; 0 only at or behind the end, or if `buf` is empty.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.len().saturating_sub(offset);
        let n = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if n == 0 {
            return Ok(0);
        }
        match &self.storage {
            Storage::Memory(bytes) => {
                let rest = usize::try_from(offset).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                buf[..n].copy_from_slice(&rest[..n]);
                Ok(n)
            }
            Storage::File { file, .. } => file.read_at(&mut buf[..n], offset),
            Storage::Stretch(reader) => reader.read_at(offset, &mut buf[..n]),
            Storage::Packed(packed) => packed.read_at(offset, &mut buf[..n]),
        }
    }

    /// Reads at `offset` until `buf` is full or the end is reached; returns how many bytes.
    pub(crate) fn read_full_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buf.len() {
            match self.read_at(offset.saturating_add(filled as u64), &mut buf[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err),
            }
        }
        if let Some(read) = &self.read {
            read.add(filled);
        }
        Ok(filled)
    }
}

impl From<Vec<u8>> for Spooled {
    fn from(bytes: Vec<u8>) -> Self {
        Self { storage: Storage::Memory(bytes), read: None }
    }
}

/// Reads a stream to its end: into memory up to `limit` bytes, a longer one into an unnamed temporary
/// file (in `TMPDIR`).
/// Fails if the stream fails or the temporary file cannot be written.
pub(crate) fn spool(mut stream: Box<dyn Read + Send>, limit: usize) -> io::Result<Spooled> {
    let mut bytes = Vec::new();
    stream.by_ref().take((limit as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() <= limit {
        return Ok(bytes.into());
    }
    let mut file = tempfile::tempfile().map_err(temporary)?;
    file.write_all(&bytes).map_err(temporary)?;
    drop(bytes);
    io::copy(&mut stream, &mut file).map_err(temporary)?;
    file.rewind().map_err(temporary)?;
    Spooled::file(file)
}

/// Reads a stream to its end and keeps it packed: up to `limit` packed bytes in memory, the rest in an unnamed temporary file.
/// Fails if the stream fails or the temporary file cannot be written.
pub(crate) fn spool_packed(mut stream: Box<dyn Read + Send>, limit: usize) -> io::Result<Spooled> {
    let mut packer = Packer::new(Arc::new(Store::new(limit)));
    packer.add_all(&mut stream)?;
    Ok(Spooled { storage: Storage::Packed(packer.finish()?), read: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Spooled {
        /// The bytes, if they are in memory.
        pub(crate) fn as_slice(&self) -> Option<&[u8]> {
            match &self.storage {
                Storage::Memory(bytes) => Some(bytes),
                Storage::File { .. } | Storage::Stretch(_) | Storage::Packed(_) => None,
            }
        }
    }

    fn check(source: &Spooled, want: &[u8]) {
        assert_eq!(source.len(), want.len() as u64);
        for offset in [0, 1, want.len() / 2, want.len().saturating_sub(1), want.len(), want.len() + 7] {
            let mut buf = vec![0; 100];
            let n = source.read_full_at(offset as u64, &mut buf).unwrap();
            let rest = want.get(offset..).unwrap_or_default();
            assert_eq!(&buf[..n], &rest[..rest.len().min(100)], "offset {offset}");
        }
        assert_eq!(source.read_at(u64::MAX, &mut [0; 4]).unwrap(), 0);
    }

    #[test]
    fn memory_up_to_the_limit_then_a_file() {
        let data: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
        for limit in [0, 1, data.len() - 1, data.len(), data.len() + 1, usize::MAX] {
            let spooled = spool(Box::new(io::Cursor::new(data.clone())), limit).unwrap();
            assert_eq!(spooled.as_slice().is_some(), data.len() <= limit, "limit {limit}");
            check(&spooled, &data);
        }
    }

    #[test]
    fn nothing_at_all() {
        let spooled = spool(Box::new(io::empty()), 10).unwrap();
        assert_eq!(spooled.len(), 0);
        check(&spooled, b"");
    }

    #[test]
    fn what_is_appended_to_a_file_later_is_not_seen() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let source = Spooled::file(file.try_clone().unwrap()).unwrap();
        file.write_all(b"more").unwrap();
        check(&source, b"0123456789");
    }
}
