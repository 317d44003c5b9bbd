//! The part of an input that is in memory, and chunks cut off it.
//!
//! Buffers go round: a chunk's is used again once the chunk has been decoded.

use std::ops::{Deref, Range};

use super::buffer_pool::BufferPool;

/// Bytes of a chunk. Their buffer goes back when they are dropped.
#[derive(Debug)]
pub(crate) struct ChunkBytes {
    buffer: Vec<u8>,
    range: Range<usize>,
    pool: BufferPool<u8>,
}

impl Deref for ChunkBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[self.range.clone()]
    }
}

impl Drop for ChunkBytes {
    fn drop(&mut self) {
        self.pool.give_back(std::mem::take(&mut self.buffer));
    }
}

/// Bytes that were read and not yet handed out.
#[derive(Debug, Default)]
pub(crate) struct ReadBuffer {
    buffer: Vec<u8>,
    range: Range<usize>,
    pool: BufferPool<u8>,
}

impl ReadBuffer {
    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.range.clone()]
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.range.len()
    }

    /// Room behind the bytes, so that there may be `total` of them; [`Self::filled`] says how much of it was used.
    pub(crate) fn room(&mut self, total: usize) -> &mut [u8] {
        if self.range.start + total > self.buffer.len() {
            if total > self.buffer.len() {
                let buffer = self.fresh(total);
                self.move_to(buffer);
            } else {
                self.buffer.copy_within(self.range.clone(), 0);
                self.range = 0..self.range.len();
            }
        }
        &mut self.buffer[self.range.end..(self.range.start + total).max(self.range.end)]
    }

    /// Takes over what was written to the room.
    pub(crate) fn filled(&mut self, len: usize) {
        self.range.end = self.buffer.len().min(self.range.end + len);
    }

    /// Drops the first `len` bytes.
    pub(crate) fn skip(&mut self, len: usize) {
        self.range.start = self.range.end.min(self.range.start + len);
    }

    /// Hands out the first `len` bytes. Of them and the rest, only the smaller part is copied.
    pub(crate) fn cut(&mut self, len: usize) -> ChunkBytes {
        let chunk = self.range.start..self.range.end.min(self.range.start + len);
        let rest = chunk.end..self.range.end;
        if rest.len() > chunk.len() {
            let mut buffer = self.fresh(chunk.len());
            buffer[..chunk.len()].copy_from_slice(&self.buffer[chunk.clone()]);
            self.range = rest;
            return ChunkBytes { buffer, range: 0..chunk.len(), pool: self.pool.clone() };
        }
        let mut buffer = if rest.is_empty() { Vec::new() } else { self.fresh(self.buffer.len()) };
        buffer[..rest.len()].copy_from_slice(&self.buffer[rest.clone()]);
        self.range = 0..rest.len();
        let buffer = std::mem::replace(&mut self.buffer, buffer);
        ChunkBytes { buffer, range: chunk, pool: self.pool.clone() }
    }

    /// A buffer of at least `len` bytes, whatever they hold.
    fn fresh(&self, len: usize) -> Vec<u8> {
        self.pool.take().filter(|buffer| buffer.len() >= len).unwrap_or_else(|| vec![0; len])
    }

    /// Goes on in another buffer, which must have room for all bytes.
    fn move_to(&mut self, mut buffer: Vec<u8>) {
        buffer[..self.range.len()].copy_from_slice(self.bytes());
        self.range = 0..self.range.len();
        let old = std::mem::replace(&mut self.buffer, buffer);
        if !old.is_empty() {
            self.pool.give_back(old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(read_buffer: &mut ReadBuffer, total: usize, next: &mut u8) {
        for byte in read_buffer.room(total) {
            *byte = *next;
            *next = next.wrapping_add(1);
        }
        read_buffer.filled(total - read_buffer.len());
    }

    #[test]
    fn nothing_is_lost_whatever_is_cut_and_read() {
        let mut read_buffer = ReadBuffer::default();
        let (mut written, mut read) = (0_u8, 0_u8);
        let mut chunks = Vec::new();
        for step in 0..5000_usize {
            let total = read_buffer.len().max(step % 97);
            fill(&mut read_buffer, total, &mut written);
            let len = step * 31 % (read_buffer.len() + 1);
            if step % 7 == 0 {
                read_buffer.skip(len);
            } else {
                let chunk = read_buffer.cut(len);
                assert_eq!(chunk.len(), len);
                for (byte, want) in chunk.iter().zip((0..len).map(|n| read.wrapping_add(u8::try_from(n).unwrap()))) {
                    assert_eq!(*byte, want);
                }
                // Some live longer than others.
                chunks.push(chunk);
                chunks.truncate(step % 5);
            }
            read = read.wrapping_add(u8::try_from(len).unwrap());
            assert_eq!(read_buffer.bytes().first().copied().unwrap_or(read), read);
        }
    }

    #[test]
    fn buffers_are_used_again() {
        let mut read_buffer = ReadBuffer::default();
        let mut written = 0;
        let mut places = std::collections::BTreeSet::new();
        for _ in 0..100 {
            fill(&mut read_buffer, 1000, &mut written);
            let chunk = read_buffer.cut(900);
            places.insert(chunk.as_ptr().addr());
        }
        assert!(places.len() <= 4, "{places:?}");
    }
}
