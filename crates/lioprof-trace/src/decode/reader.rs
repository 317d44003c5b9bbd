//! Cuts an input into chunks of whole records.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;

use lustre_debuglog::frame::binary::{FramedRecord, FramedRecords, Framer, Step};
use lustre_debuglog::frame::{HeaderLayout, SkipReason, text};
use memchr::memrchr;

use super::read_buffer::{ChunkBytes, ReadBuffer};
use crate::envelope::repair;
use crate::kept::Spooled;

/// A piece of an input to be decoded on its own.
#[derive(Debug)]
pub(crate) struct RawChunk {
    /// Where it starts in the input.
    pub(crate) offset: u64,
    /// Whole records.
    pub(crate) bytes: ChunkBytes,
    /// Binary: these records.
    pub(crate) framed: Vec<FramedRecord>,
    /// Binary: the records before these are missing or damaged.
    pub(crate) after_gap: bool,
    /// Text: the input ends behind it.
    pub(crate) is_last: bool,
}

impl RawChunk {
    /// The records of a binary log.
    pub(crate) fn records(&self, layout: HeaderLayout) -> FramedRecords<'_> {
        FramedRecords::new(&self.bytes, layout, &self.framed)
    }
}

/// Bytes of an input that belong to no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) why: SkipReason,
}

/// Reads chunks of a text log from a stream.
pub(crate) struct TextReader {
    stream: Box<dyn Read + Send>,
    chunk_bytes: usize,
    offset: u64,
    read_buffer: ReadBuffer,
    eof: bool,
    /// A part without whole headers at the beginnings of lines was met: the next ones may be like it.
    is_changed: bool,
}

impl TextReader {
    pub(crate) fn new(stream: Box<dyn Read + Send>, chunk_bytes: usize) -> Self {
        Self { stream, chunk_bytes, offset: 0, read_buffer: ReadBuffer::default(), eof: false, is_changed: false }
    }

    /// The next chunk, `None` at the end.
    pub(crate) fn next_chunk(&mut self) -> io::Result<Option<RawChunk>> {
        let mut wanted = self.chunk_bytes;
        let len = loop {
            self.read_until(wanted)?;
            let bytes = self.read_buffer.bytes();
            if self.eof {
                break bytes.len();
            }
            // No record is longer: where no line of this part begins with a whole header, most do not.
            let tail = bytes.len().saturating_sub(text::MAX_RECORD);
            if !self.is_changed
                && let Some(cut) = text::find_cut(&bytes[tail..])
            {
                break tail + cut;
            }
            // No header in sight: a very long record, or no log at all. Beyond twice the longest record
            // there is nothing to wait for, and memory stays bounded.
            if bytes.len() >= 2 * text::MAX_RECORD {
                self.is_changed = true;
                break repair::find_cut(bytes).or(memrchr(b'\n', bytes).map(|at| at + 1)).unwrap_or(bytes.len());
            }
            wanted = bytes.len() + self.chunk_bytes;
        };
        if len == 0 {
            return Ok(None);
        }
        let offset = self.offset;
        self.offset += len as u64;
        let is_last = self.eof && len == self.read_buffer.len();
        Ok(Some(RawChunk { offset, bytes: self.read_buffer.cut(len), framed: Vec::new(), after_gap: false, is_last }))
    }

    /// Reads until there are `wanted` bytes, or the stream ends.
    fn read_until(&mut self, wanted: usize) -> io::Result<()> {
        while self.read_buffer.len() < wanted && !self.eof {
            match self.stream.read(self.read_buffer.room(wanted)) {
                Ok(0) => self.eof = true,
                Ok(got) => self.read_buffer.filled(got),
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
/// Bytes per record in a log of short ones.
const BYTES_PER_RECORD: usize = 128;

/// Reads chunks of a binary log, one stretch after the other.
pub(crate) struct BinaryReader {
    source: Spooled,
    layout: HeaderLayout,
    chunk_bytes: usize,
    stretches: VecDeque<Range<u64>>,
    framer: Framer,
    /// Bytes from `position` on.
    read_buffer: ReadBuffer,
    position: u64,
    after_gap: bool,
    /// Stretches that are no records, adjacent ones joined.
    pub(crate) gaps: Vec<Gap>,
}

impl BinaryReader {
    /// Reads `stretches` of `source` in this order.
    pub(crate) fn new(source: Spooled, layout: HeaderLayout, stretches: &[Range<u64>], chunk_bytes: usize) -> Self {
        let mut stretches: VecDeque<_> = stretches.iter().cloned().collect();
        let position = stretches.front().map_or(0, |s| s.start);
        stretches.retain(|s| !s.is_empty());
        Self {
            source,
            layout,
            chunk_bytes,
            stretches,
            framer: Framer::new(layout),
            read_buffer: ReadBuffer::default(),
            position,
            after_gap: true,
            gaps: Vec::new(),
        }
    }

    pub(crate) fn layout(&self) -> HeaderLayout {
        self.layout
    }

    /// This log goes on where the one before it ended.
    pub(crate) fn continues(&mut self) {
        self.after_gap = false;
    }

    /// The next chunk, `None` at the end.
    #[inline(never)] // `scripts/check-instructions` counts it
    pub(crate) fn next_chunk(&mut self) -> io::Result<Option<RawChunk>> {
        while let Some(stretch) = self.stretches.front().cloned() {
            let (mut used, mut framed) = (0, Vec::with_capacity(self.chunk_bytes / BYTES_PER_RECORD));
            loop {
                let left = self.chunk_bytes.saturating_sub(used);
                used += self.framer.run(&self.read_buffer.bytes()[used..], left, &mut framed);
                if used >= self.chunk_bytes {
                    return Ok(Some(self.cut(used, framed)));
                }
                let eof = self.read_to() == stretch.end;
                match self.framer.step(&self.read_buffer.bytes()[used..], eof) {
                    Step::Record(record) => {
                        framed.push(record);
                        used += record.len();
                    }
                    Step::Skipped(len, why) => {
                        // A chunk holds adjacent records only.
                        let chunk = (used > 0).then(|| self.cut(used, std::mem::take(&mut framed)));
                        self.skip(len, why);
                        used = 0;
                        if chunk.is_some() {
                            return Ok(chunk);
                        }
                    }
                    Step::NeedMore => {
                        if self.read_more(used, stretch.end)? == 0 {
                            // The file became shorter while it was read.
                            self.stretches[0].end = self.read_to();
                            break;
                        }
                    }
                    Step::End => {
                        let chunk = (used > 0).then(|| self.cut(used, framed));
                        self.stretches.pop_front();
                        if let Some(next) = self.stretches.front() {
                            self.position = next.start;
                            self.read_buffer.skip(self.read_buffer.len());
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

    /// Where in the input the read buffer ends.
    fn read_to(&self) -> u64 {
        self.position + self.read_buffer.len() as u64
    }

    /// Reads on, behind `used` bytes that are framed; returns how many bytes.
    fn read_more(&mut self, used: usize, end: u64) -> io::Result<usize> {
        let at = self.read_to();
        let whole_chunk = self.chunk_bytes + READ_AHEAD;
        let wanted = if self.read_buffer.len() < whole_chunk { whole_chunk } else { used + Framer::ENOUGH };
        let left = usize::try_from(end - at).unwrap_or(usize::MAX);
        let total = wanted.min(self.read_buffer.len().saturating_add(left));
        let got = self.source.read_full_at(at, self.read_buffer.room(total))?;
        self.read_buffer.filled(got);
        Ok(got)
    }

    /// Takes the first `len` bytes, which are these records, as a chunk.
    fn cut(&mut self, len: usize, framed: Vec<FramedRecord>) -> RawChunk {
        let (offset, bytes) = (self.position, self.read_buffer.cut(len));
        self.position += len as u64;
        RawChunk { offset, bytes, framed, after_gap: std::mem::take(&mut self.after_gap), is_last: false }
    }

    fn skip(&mut self, len: usize, why: SkipReason) {
        self.read_buffer.skip(len);
        match self.gaps.last_mut() {
            Some(gap) if gap.offset + gap.len == self.position => gap.len += len as u64,
            _ => self.gaps.push(Gap { offset: self.position, len: len as u64, why }),
        }
        self.position += len as u64;
        self.after_gap = true;
    }
}
