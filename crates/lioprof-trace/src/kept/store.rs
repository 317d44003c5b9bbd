//! Bytes that are kept while inputs are read: appended, and read at any offset.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Kept bytes: the first ones in memory, the rest in an unnamed temporary file (in `TMPDIR`). What is kept is packed, as it came or by
/// `packed.rs`.
#[derive(Debug, Default)]
pub(crate) struct Store {
    /// Bytes that memory may take.
    limit: usize,
    kept: Mutex<Kept>,
}

/// Bytes of memory that are taken at once: what is kept there stays where it is.
const PIECE: usize = 256 << 10;

#[derive(Debug, Default)]
struct Kept {
    /// All but the last one hold [`PIECE`] bytes.
    memory: Vec<Vec<u8>>,
    memory_len: usize,
    /// What did not fit into memory.
    file: Option<File>,
    file_len: u64,
}

impl Store {
    /// Nothing yet, up to `limit` bytes of it in memory.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> u64 {
        self.kept().len()
    }

    /// Whether so many bytes more fit into memory.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        let kept = self.kept();
        kept.file_len == 0 && kept.memory_len + bytes <= self.limit
    }

    /// Appends `bytes` and says where they are. Fails if there is no room for a temporary file.
    pub(crate) fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let mut kept = self.kept();
        let at = kept.len();
        let room = if kept.file_len > 0 { 0 } else { self.limit.saturating_sub(kept.memory_len) };
        let (here, there) = bytes.split_at(bytes.len().min(room));
        kept.add(here);
        if !there.is_empty() {
            let end = kept.file_len;
            let file = match &mut kept.file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile().map_err(temporary)?),
            };
            file.write_all_at(there, end).map_err(temporary)?;
            kept.file_len = end + there.len() as u64;
        }
        Ok(at)
    }

    /// Appends a stream to its end; where it begins, and how long it is.
    pub(crate) fn append_all(&self, stream: &mut dyn Read) -> io::Result<(u64, u64)> {
        let (start, mut len) = (self.len(), 0);
        let mut buffer = vec![0; 256 << 10];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return Ok((start, len)),
                Ok(n) => {
                    self.append(&buffer[..n])?;
                    len += n as u64;
                }
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err),
            }
        }
    }

    /// Reads some bytes at `offset`; 0 only at or behind the end, or if `buf` is empty.
    pub(crate) fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let kept = self.kept();
        let in_memory = kept.memory_len as u64;
        if offset < in_memory {
            let rest = usize::try_from(offset).map_or(&[][..], |at| &kept.memory[at / PIECE][at % PIECE..]);
            let n = buf.len().min(rest.len());
            buf[..n].copy_from_slice(&rest[..n]);
            return Ok(n);
        }
        match &kept.file {
            Some(file) if offset < kept.len() => file.read_at(buf, offset - in_memory),
            _ => Ok(0),
        }
    }
}

impl Kept {
    fn len(&self) -> u64 {
        self.memory_len as u64 + self.file_len
    }

    fn add(&mut self, mut bytes: &[u8]) {
        self.memory_len += bytes.len();
        while !bytes.is_empty() {
            let piece = match self.memory.last_mut() {
                Some(piece) if piece.len() < PIECE => piece,
                // Small inputs have but one.
                _ => self.memory.push_mut(Vec::with_capacity(if self.memory.is_empty() { 0 } else { PIECE })),
            };
            let (here, rest) = bytes.split_at(bytes.len().min(PIECE - piece.len()));
            piece.extend_from_slice(here);
            bytes = rest;
        }
    }
}

/// The same error, with the place and what to do.
pub(crate) fn temporary(err: io::Error) -> io::Error {
    let dir = std::env::temp_dir();
    let text = format!(
        "failed to keep the input in a temporary file in `{}`: {err}; set TMPDIR to a directory with more space",
        dir.display()
    );
    io::Error::new(err.kind(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_wherever_they_lie() {
        let data: Vec<u8> = (0..4_000_u32).flat_map(u32::to_le_bytes).collect();
        for limit in [0, 1, 777, data.len() - 1, data.len(), usize::MAX] {
            let store = Store::new(limit);
            for piece in data.chunks(333) {
                let before = store.len();
                assert_eq!(store.append(piece).unwrap(), before);
            }
            assert_eq!(store.len(), data.len() as u64);
            assert_eq!(store.kept().file.is_some(), limit < data.len(), "{limit}");
            let mut got = Vec::new();
            let mut buf = [0; 100];
            while let n @ 1.. = store.read_at(got.len() as u64, &mut buf).unwrap() {
                got.extend_from_slice(&buf[..n]);
            }
            assert_eq!(got, data, "{limit}");
            assert_eq!(store.read_at(u64::MAX, &mut buf).unwrap(), 0);
        }
    }

    #[test]
    fn streams_lie_behind_each_other() {
        let store = Store::new(10);
        assert_eq!(store.append_all(&mut &b"0123456"[..]).unwrap(), (0, 7));
        assert_eq!(store.append_all(&mut &b"abcdefg"[..]).unwrap(), (7, 7));
        let mut buf = [0; 4];
        assert_eq!((store.read_at(10, &mut buf).unwrap(), &buf), (4, b"defg"));
    }
}
