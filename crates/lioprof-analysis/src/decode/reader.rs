//! Cuts an input into chunks of whole records.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;

use lustre_debuglog::frame::binary::{Framer, Step};
use lustre_debuglog::frame::{Layout, Why, text};

use crate::input::ReadAt;

/// A piece of an input to be decoded on its own.
#[derive(Debug, Default)]
pub(crate) struct RawChunk {
    /// Where it starts in the input.
    pub(crate) offset: u64,
    /// Whole records.
    pub(crate) bytes: Vec<u8>,
    /// Binary: the records before these are missing or damaged.
    pub(crate) after_gap: bool,
}

/// Bytes of an input that belong to no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) why: Why,
}

/// Reads chunks of a text log from a stream.
pub(crate) struct TextReader {
    stream: Box<dyn Read + Send>,
    chunk_bytes: usize,
    offset: u64,
    /// Read, but behind the last cut.
    rest: Vec<u8>,
    eof: bool,
}

impl TextReader {
    pub(crate) fn new(stream: Box<dyn Read + Send>, chunk_bytes: usize) -> Self {
        Self { stream, chunk_bytes, offset: 0, rest: Vec::new(), eof: false }
    }

    /// The next chunk, `None` at the end.
    pub(crate) fn next_chunk(&mut self) -> io::Result<Option<RawChunk>> {
        let mut bytes = std::mem::take(&mut self.rest);
        let mut wanted = self.chunk_bytes;
        loop {
            if bytes.len() < wanted && !self.eof {
                let missing = wanted - bytes.len();
                let got = read_up_to(&mut self.stream, &mut bytes, missing)?;
                self.eof = got < missing;
            }
            if self.eof {
                break;
            }
            if let Some(cut) = text::find_cut(&bytes) {
                self.rest = bytes.split_off(cut);
                break;
            }
            // No header in sight: a very long record, or no log at all. Beyond twice the longest record
            // there is nothing to wait for, and memory stays bounded.
            if bytes.len() >= 2 * text::MAX_RECORD {
                break;
            }
            wanted = bytes.len() + self.chunk_bytes;
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        Ok(Some(RawChunk { offset, bytes, after_gap: false }))
    }
}

/// Appends up to `count` bytes; fewer only at the end.
fn read_up_to(stream: &mut dyn Read, bytes: &mut Vec<u8>, count: usize) -> io::Result<usize> {
    stream.take(count as u64).read_to_end(bytes)
}

/// Appends up to `count` bytes from `offset` on; fewer only at the end.
pub(crate) fn append_at(source: &dyn ReadAt, offset: u64, bytes: &mut Vec<u8>, count: usize) -> io::Result<usize> {
    let before = bytes.len();
    bytes.resize(before + count, 0);
    let got = source.read_full_at(offset, &mut bytes[before..])?;
    bytes.truncate(before + got);
    Ok(got)
}

/// Reads chunks of a binary log, one segment after the other.
pub(crate) struct BinaryReader {
    source: Box<dyn ReadAt>,
    layout: Layout,
    chunk_bytes: usize,
    segments: VecDeque<Range<u64>>,
    framer: Framer,
    /// Bytes from `position` on.
    buffer: Vec<u8>,
    position: u64,
    after_gap: bool,
    /// Stretches that are no records, adjacent ones joined.
    pub(crate) gaps: Vec<Gap>,
}

impl BinaryReader {
    /// Reads `segments` of `source` in this order.
    pub(crate) fn new(source: Box<dyn ReadAt>, layout: Layout, segments: &[Range<u64>], chunk_bytes: usize) -> Self {
        let mut segments: VecDeque<_> = segments.iter().cloned().collect();
        let position = segments.front().map_or(0, |s| s.start);
        segments.retain(|s| !s.is_empty());
        Self {
            source,
            layout,
            chunk_bytes,
            segments,
            framer: Framer::new(layout),
            buffer: Vec::new(),
            position,
            after_gap: true,
            gaps: Vec::new(),
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// This log goes on where the one before it ended.
    pub(crate) fn continues(&mut self) {
        self.after_gap = false;
    }

    /// The next chunk, `None` at the end.
    pub(crate) fn next_chunk(&mut self) -> io::Result<Option<RawChunk>> {
        while let Some(segment) = self.segments.front().cloned() {
            let mut used = 0;
            loop {
                let eof = self.position + self.buffer.len() as u64 == segment.end;
                match self.framer.step(&self.buffer[used..], eof) {
                    Step::Record(len) => {
                        used += len;
                        if used >= self.chunk_bytes {
                            return Ok(Some(self.cut(used)));
                        }
                    }
                    Step::Skipped(len, why) => {
                        // A chunk holds adjacent records only.
                        let chunk = (used > 0).then(|| self.cut(used));
                        self.skip(len, why);
                        used = 0;
                        if chunk.is_some() {
                            return Ok(chunk);
                        }
                    }
                    Step::NeedMore => {
                        let wanted = self.chunk_bytes.max(Framer::ENOUGH);
                        let left = segment.end - self.position - self.buffer.len() as u64;
                        let got = append_at(
                            self.source.as_ref(),
                            self.position + self.buffer.len() as u64,
                            &mut self.buffer,
                            usize::try_from(left).unwrap_or(usize::MAX).min(wanted),
                        )?;
                        if got == 0 {
                            // The file became shorter while it was read.
                            self.segments[0].end = self.position + self.buffer.len() as u64;
                            break;
                        }
                    }
                    Step::End => {
                        let chunk = (used > 0).then(|| self.cut(used));
                        self.segments.pop_front();
                        if let Some(next) = self.segments.front() {
                            self.position = next.start;
                            self.buffer.clear();
                            self.framer = Framer::new(self.layout);
                            self.after_gap = true;
                        }
                        if chunk.is_some() {
                            return Ok(chunk);
                        }
                        break;
                    }
                }
            }
        }
        Ok(None)
    }

    /// Takes the first `len` bytes as a chunk.
    fn cut(&mut self, len: usize) -> RawChunk {
        let rest = self.buffer.split_off(len);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        let offset = self.position;
        self.position += len as u64;
        RawChunk { offset, bytes, after_gap: std::mem::take(&mut self.after_gap) }
    }

    fn skip(&mut self, len: usize, why: Why) {
        self.buffer.drain(..len);
        match self.gaps.last_mut() {
            Some(gap) if gap.offset + gap.len == self.position => gap.len += len as u64,
            _ => self.gaps.push(Gap { offset: self.position, len: len as u64, why }),
        }
        self.position += len as u64;
        self.after_gap = true;
    }
}
