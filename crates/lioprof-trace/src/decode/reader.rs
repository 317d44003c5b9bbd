//! Cuts an input into chunks of whole records.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;

use lustre_debuglog::frame::binary::{Framer, Step};
use lustre_debuglog::frame::{Layout, Why, text};

use super::window::{ChunkBytes, Window};
use crate::input::Spooled;

/// A piece of an input to be decoded on its own.
#[derive(Debug)]
pub(crate) struct RawChunk {
    /// Where it starts in the input.
    pub(crate) offset: u64,
    /// Whole records.
    pub(crate) bytes: ChunkBytes,
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
    window: Window,
    eof: bool,
}

impl TextReader {
    pub(crate) fn new(stream: Box<dyn Read + Send>, chunk_bytes: usize) -> Self {
        Self { stream, chunk_bytes, offset: 0, window: Window::default(), eof: false }
    }

    /// The next chunk, `None` at the end.
    pub(crate) fn next_chunk(&mut self) -> io::Result<Option<RawChunk>> {
        let mut wanted = self.chunk_bytes;
        let len = loop {
            self.read_until(wanted)?;
            let bytes = self.window.bytes();
            if self.eof {
                break bytes.len();
            }
            if let Some(cut) = text::find_cut(bytes) {
                break cut;
            }
            // No header in sight: a very long record, or no log at all. Beyond twice the longest record
            // there is nothing to wait for, and memory stays bounded.
            if bytes.len() >= 2 * text::MAX_RECORD {
                break bytes.len();
            }
            wanted = bytes.len() + self.chunk_bytes;
        };
        if len == 0 {
            return Ok(None);
        }
        let offset = self.offset;
        self.offset += len as u64;
        Ok(Some(RawChunk { offset, bytes: self.window.cut(len), after_gap: false }))
    }

    /// Reads until there are `wanted` bytes, or the stream ends.
    fn read_until(&mut self, wanted: usize) -> io::Result<()> {
        while self.window.len() < wanted && !self.eof {
            match self.stream.read(self.window.room(wanted)) {
                Ok(0) => self.eof = true,
                Ok(got) => self.window.filled(got),
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err),
            }
        }
        Ok(())
    }
}

/// Appends up to `count` bytes from `offset` on; fewer only at the end.
pub(crate) fn append_at(source: &Spooled, offset: u64, bytes: &mut Vec<u8>, count: usize) -> io::Result<usize> {
    let before = bytes.len();
    bytes.resize(before + count, 0);
    let got = source.read_full_at(offset, &mut bytes[before..])?;
    bytes.truncate(before + got);
    Ok(got)
}

/// Bytes read beyond a binary chunk, so that its last record and the one behind it are in sight.
const READ_AHEAD: usize = 8 << 10;

/// Reads chunks of a binary log, one segment after the other.
pub(crate) struct BinaryReader {
    source: Spooled,
    layout: Layout,
    chunk_bytes: usize,
    segments: VecDeque<Range<u64>>,
    framer: Framer,
    /// Bytes from `position` on.
    window: Window,
    position: u64,
    after_gap: bool,
    /// Stretches that are no records, adjacent ones joined.
    pub(crate) gaps: Vec<Gap>,
}

impl BinaryReader {
    /// Reads `segments` of `source` in this order.
    pub(crate) fn new(source: Spooled, layout: Layout, segments: &[Range<u64>], chunk_bytes: usize) -> Self {
        let mut segments: VecDeque<_> = segments.iter().cloned().collect();
        let position = segments.front().map_or(0, |s| s.start);
        segments.retain(|s| !s.is_empty());
        Self {
            source,
            layout,
            chunk_bytes,
            segments,
            framer: Framer::new(layout),
            window: Window::default(),
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
    #[inline(never)] // `scripts/check-instructions` counts it
    pub(crate) fn next_chunk(&mut self) -> io::Result<Option<RawChunk>> {
        while let Some(segment) = self.segments.front().cloned() {
            let mut used = 0;
            loop {
                let eof = self.read_to() == segment.end;
                match self.framer.step(&self.window.bytes()[used..], eof) {
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
                        if self.read_more(used, segment.end)? == 0 {
                            // The file became shorter while it was read.
                            self.segments[0].end = self.read_to();
                            break;
                        }
                    }
                    Step::End => {
                        let chunk = (used > 0).then(|| self.cut(used));
                        self.segments.pop_front();
                        if let Some(next) = self.segments.front() {
                            self.position = next.start;
                            self.window.skip(self.window.len());
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

    /// Where in the input the window ends.
    fn read_to(&self) -> u64 {
        self.position + self.window.len() as u64
    }

    /// Reads on, behind `used` bytes that are framed; returns how many bytes.
    fn read_more(&mut self, used: usize, end: u64) -> io::Result<usize> {
        let at = self.read_to();
        let whole_chunk = self.chunk_bytes + READ_AHEAD;
        let wanted = if self.window.len() < whole_chunk { whole_chunk } else { used + Framer::ENOUGH };
        let left = usize::try_from(end - at).unwrap_or(usize::MAX);
        let total = wanted.min(self.window.len().saturating_add(left));
        let got = self.source.read_full_at(at, self.window.room(total))?;
        self.window.filled(got);
        Ok(got)
    }

    /// Takes the first `len` bytes as a chunk.
    fn cut(&mut self, len: usize) -> RawChunk {
        let (offset, bytes) = (self.position, self.window.cut(len));
        self.position += len as u64;
        RawChunk { offset, bytes, after_gap: std::mem::take(&mut self.after_gap) }
    }

    fn skip(&mut self, len: usize, why: Why) {
        self.window.skip(len);
        match self.gaps.last_mut() {
            Some(gap) if gap.offset + gap.len == self.position => gap.len += len as u64,
            _ => self.gaps.push(Gap { offset: self.position, len: len as u64, why }),
        }
        self.position += len as u64;
        self.after_gap = true;
    }
}
