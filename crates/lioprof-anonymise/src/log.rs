//! Reads a log in the order of its bytes, and writes it again.

use std::io::{self, Read, Write};

use lioprof_trace::input::Opened;
use lioprof_trace::logged_text;
use lustre_debuglog::Record;
use lustre_debuglog::frame::binary::{Framer, Step};
use lustre_debuglog::frame::text::{MAX_RECORD, TextItem, TextRecords};
use lustre_debuglog::frame::{Form, HeaderLayout, SkipReason};

use crate::names::{Names, Pseudonyms};
use crate::record_bytes;
use crate::rewrite::{self, Dropped, REMOVED};

/// Bytes read at once.
const PIECE: usize = 1 << 20;
/// The kernel takes no ring to be smaller; lioprof looks for a wrap only in a file of this size (`decode/ring.rs`).
const SMALLEST_RING: u64 = 10 << 20;
/// Longest text that fits a page with its header and names.
const LONGEST_TEXT: usize = 3800;

/// What is made of the parts of a log.
trait Visitor {
    fn record(&mut self, record: &Record<'_>) -> io::Result<()>;
    /// Bytes that are no record. If a whole header stands at their beginning, `why` says so.
    fn skipped(&mut self, bytes: &[u8], why: SkipReason) -> io::Result<()>;
    fn summary(&mut self, line: &[u8]) -> io::Result<()>;
}

/// Collects the names in a log.
///
/// # Errors
/// Those of reading.
pub(crate) fn collect(opened: Opened, names: &mut Names) -> io::Result<()> {
    read(opened, &mut Collector(names))
}

/// Writes a log with pseudonyms.
///
/// # Errors
/// Those of reading and writing.
pub(crate) fn rewrite(
    opened: Opened,
    pseudonyms: &Pseudonyms,
    dropped: &mut Dropped,
    out: &mut dyn Write,
) -> io::Result<u64> {
    let form = opened.form;
    let mut writer =
        Writer { form, pseudonyms, dropped, out, text: Vec::new(), bytes: Vec::new(), read: 0, written: 0, records: 0 };
    read(opened, &mut writer)?;
    Ok(writer.records)
}

fn read(mut opened: Opened, visitor: &mut dyn Visitor) -> io::Result<()> {
    match opened.form {
        // What stands before and between the lines is no log, and may hold names.
        Form::Text => logged_text(opened.stream, |text, left_out| {
            for bytes in left_out {
                visitor.skipped(bytes, SkipReason::NoHeader)?;
            }
            read_text(text, visitor)
        }),
        Form::Binary(layout) => read_binary(&mut opened.stream, layout, visitor),
    }
}

fn read_text(text: &[u8], visitor: &mut dyn Visitor) -> io::Result<()> {
    let mut records = TextRecords::new(text).peekable();
    while let Some(item) = records.next() {
        match item {
            TextItem::Record(record, start) => {
                let next = match records.peek() {
                    Some(TextItem::Record(_, next) | TextItem::Summary(next, _)) => *next,
                    Some(TextItem::Skipped(skipped)) => skipped.offset,
                    None => text.len(),
                };
                if next - start >= MAX_RECORD {
                    visitor.skipped(&text[start..next], SkipReason::TooLong)?;
                } else {
                    visitor.record(&record)?;
                }
            }
            TextItem::Skipped(skipped) => {
                visitor.skipped(&text[skipped.offset..skipped.offset + skipped.len], skipped.why)?;
            }
            TextItem::Summary(start, len) => visitor.summary(&text[start..start + len])?,
        }
    }
    Ok(())
}

fn read_binary(stream: &mut dyn Read, layout: HeaderLayout, visitor: &mut dyn Visitor) -> io::Result<()> {
    let mut framer = Framer::new(layout);
    let (mut buffer, mut used, mut eof) = (Vec::new(), 0, false);
    loop {
        match framer.step(&buffer[used..], eof) {
            Step::Record(framed) => {
                if let Some(record) = framed.read(&buffer[used..], layout) {
                    visitor.record(&record)?;
                }
                used += framed.len();
            }
            Step::Skipped(len, why) => {
                visitor.skipped(&buffer[used..used + len], why)?;
                used += len;
            }
            Step::NeedMore => {
                buffer.drain(..used);
                used = 0;
                eof = stream.take(PIECE as u64).read_to_end(&mut buffer)? < PIECE;
            }
            Step::End => return Ok(()),
        }
    }
}

struct Collector<'a>(&'a mut Names);

impl Visitor for Collector<'_> {
    fn record(&mut self, record: &Record<'_>) -> io::Result<()> {
        rewrite::collect(record, self.0);
        Ok(())
    }

    fn skipped(&mut self, _: &[u8], _: SkipReason) -> io::Result<()> {
        Ok(())
    }

    fn summary(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

struct Writer<'a> {
    form: Form,
    pseudonyms: &'a Pseudonyms,
    dropped: &'a mut Dropped,
    out: &'a mut dyn Write,
    /// Of the record that is written.
    text: Vec<u8>,
    bytes: Vec<u8>,
    /// Bytes of the original, and of what stands for them.
    read: u64,
    written: u64,
    records: u64,
}

impl Writer<'_> {
    fn put(&mut self, original_len: usize) -> io::Result<()> {
        self.read += original_len as u64;
        self.written += self.bytes.len() as u64;
        self.out.write_all(&self.bytes)
    }

    /// A ring that became smaller than any ring would be read in another order: removed texts make up for it.
    fn pad(&mut self) {
        let missing = self.read.saturating_sub(self.written);
        if !matches!(self.form, Form::Binary(_)) || self.read + PIECE as u64 <= SMALLEST_RING || missing == 0 {
            return;
        }
        if let Some(at) = memchr::memmem::rfind(&self.text, REMOVED) {
            let room = LONGEST_TEXT.saturating_sub(self.text.len());
            let dots = usize::try_from(missing).unwrap_or(room).min(room);
            let at = at + REMOVED.len();
            self.text.splice(at..at, std::iter::repeat_n(b'.', dots));
        }
    }
}

impl Visitor for Writer<'_> {
    fn record(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.text.clear();
        self.bytes.clear();
        rewrite::rewrite(record, self.pseudonyms, self.dropped, &mut self.text);
        self.pad();
        let written = Record { text: &self.text, ..record_bytes::with_safe_names(*record) };
        match self.form {
            Form::Text => written.append_text(&mut self.bytes),
            Form::Binary(layout) => record_bytes::append(&written, layout, &mut self.bytes),
        }
        self.records += 1;
        let original_len = record.binary_len();
        self.put(original_len)
    }

    fn skipped(&mut self, bytes: &[u8], why: SkipReason) -> io::Result<()> {
        self.dropped.skipped_bytes += bytes.len() as u64;
        self.bytes.clear();
        match self.form {
            // Line breaks and NULs decide where the next header is looked for.
            Form::Text => {
                let header = if why == SkipReason::TooLong { record_bytes::text_header_len(bytes) } else { 0 };
                self.bytes.extend_from_slice(&bytes[..header]);
                let filler = |byte: &u8| if matches!(byte, b'\n' | 0) { *byte } else { b'.' };
                self.bytes.extend(bytes[header..].iter().map(filler));
            }
            // The reasons that are told of whole headers need these.
            Form::Binary(_) if matches!(why, SkipReason::TruncatedTail | SkipReason::Overwritten) => {
                let head = record_bytes::binary_head_len(bytes);
                self.bytes.extend_from_slice(&bytes[..head]);
                self.bytes.resize(bytes.len(), b'.');
            }
            Form::Binary(_) => self.bytes.resize(bytes.len(), 0),
        }
        self.put(bytes.len())
    }

    fn summary(&mut self, line: &[u8]) -> io::Result<()> {
        self.bytes.clear();
        // `Debug log: N lines, N kept, N dropped, N bad.`
        let known = |word: &[u8]| {
            let word = word.strip_suffix(b",").or_else(|| word.strip_suffix(b".")).unwrap_or(word);
            matches!(word, b"Debug" | b"log:" | b"lines" | b"kept" | b"dropped" | b"bad" | b"")
                || word.iter().all(u8::is_ascii_digit)
        };
        let filler = b"Debug log: (text removed)\n";
        let words = line.split(|byte| byte.is_ascii_whitespace());
        self.bytes.extend_from_slice(if words.into_iter().all(known) { line } else { filler });
        self.put(line.len())
    }
}
