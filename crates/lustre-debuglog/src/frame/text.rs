//! The text form: `SUBSYS:MASK:CPU.TYPE[F]:SEC.USEC:STACK:PID:EXTPID:(FILE:LINE:FUNC()) TEXT`.
//!
//! Hot: every byte of a text log passes through [`TextRecords`].
//!
//! Variants read: with and without `.TYPE` (1.8 prints none), `F` flag, and the crash-dump scripts'
//! unpadded microseconds (the digits after the dot are an integer number of microseconds, always).
//! A line that does not start with a header continues the record before it: `DEBUG_REQ` texts of
//! Lustre 2.12 and older, and some lock messages, hold line breaks. A text that was logged without a
//! final line break leaves the next header in the middle of a line; it is found there.

mod header;

use memchr::{memchr, memchr_iter, memchr2_iter, memmem, memrchr};

use super::call_sites::CallSites;
use super::skipped::{SkipReason, Skipped};
use crate::Record;
use crate::vocab::digits;
use header::{
    HEADER_END, Header, HeaderMemory, header_at, header_at_end, looks_like_header, next_header, parse_header,
};

/// Longest record kept, header and text. A kernel record fits a page (at most 64 KiB on the machines
/// Lustre servers run on); what is longer is damage.
pub const MAX_RECORD: usize = 128 * 1024;

/// The line that `lctl` prints last when its output goes to a terminal or pipe.
pub const SUMMARY: &[u8] = b"Debug log: ";

/// What [`TextRecords`] hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextItem<'a> {
    /// A record, and the offset of its header.
    Record(Record<'a>, usize),
    /// Bytes that are no record.
    Skipped(Skipped),
    /// `lctl`'s closing line: offset and length.
    Summary(usize, usize),
}

/// Iterates over the records of a piece of text.
///
/// A piece must start at a line start and, unless it is the end of the input, end before a header
/// (see [`find_cut`]).
#[derive(Clone, Debug)]
pub struct TextRecords<'a> {
    data: &'a [u8],
    pos: usize,
    /// Header at `pos`, if it has been read already. It is written in place, field by field, and copied a
    /// whole record later: the processor would wait for a copy of what was written just before.
    next: Header<'a>,
    memory: HeaderMemory,
    /// A line without header follows the first line of the record handed out last.
    is_continued: bool,
}

impl<'a> TextRecords<'a> {
    /// Starts at the beginning of `data`.
    #[must_use]
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, pos: 0, next: Header::NONE, memory: HeaderMemory::new(), is_continued: false }
    }

    /// Whether the text of the record handed out last goes on behind its first line.
    #[inline]
    #[must_use]
    pub fn is_continued(&self) -> bool {
        self.is_continued
    }

    /// Where the record that starts at `start` ends; the header there, if there is one, is read.
    ///
    /// It goes on until a line starts with a header, or one stands inside a line.
    fn end_of_record(&mut self, start: usize, text_at: usize) -> usize {
        let data = self.data;
        let mut may_hold_header = false;
        self.is_continued = false;
        let mut end = data.len();
        for at in memchr2_iter(b'\n', b')', &data[text_at..]).map(|at| text_at + at) {
            if data[at] == b')' {
                may_hold_header |= data[at - 1..].starts_with(HEADER_END);
                continue;
            }
            let line = at + 1;
            let ends = line - start > MAX_RECORD
                || match data.get(line) {
                    Some(b'0'..=b'9' | b'a'..=b'f') => self.read_header(line),
                    Some(b'D') => data[line..].starts_with(SUMMARY),
                    // No text holds NULs; a crashed or full file system leaves them in files.
                    None | Some(0) => true,
                    Some(_) => false,
                };
            if ends {
                end = line;
                break;
            }
            self.is_continued = true;
        }
        if may_hold_header && let Some((inside, header)) = self.header_inside(text_at, end) {
            self.next = header;
            end = inside;
        }
        end
    }

    /// Reads the header at `at` into `self.next`; whether one is there.
    #[inline(always)]
    fn read_header(&mut self, at: usize) -> bool {
        next_header(self.data, at, &mut self.memory, &mut self.next).is_some()
    }

    /// A header inside `self.data[from..to]`, a stretch of text without header at a line start: the
    /// record before it had no final line break.
    fn header_inside(&self, from: usize, to: usize) -> Option<(usize, Header<'a>)> {
        for found in memmem::find_iter(&self.data[from..to], HEADER_END) {
            let end = from + found + HEADER_END.len();
            // The shortest header is 8 + 1 + 8 + 1 + ... bytes; the longest has a long file and function name.
            let lowest = end.saturating_sub(256).max(from);
            for colon in memchr_iter(b':', &self.data[lowest..end]) {
                let Some(start) = (lowest + colon).checked_sub(8).filter(|start| *start >= lowest) else { continue };
                if looks_like_header(&self.data[start..])
                    && let Some(header) = parse_header(&self.data[start..to])
                    && start + header.text_at == end
                {
                    return Some((start, header));
                }
            }
        }
        None
    }

    /// Skips from `start` to the next header or the end.
    fn skip(&mut self, start: usize, why: SkipReason) -> TextItem<'a> {
        let mut at = start;
        loop {
            at = match memchr(b'\n', &self.data[at..]) {
                Some(n) => at + n + 1,
                None => self.data.len(),
            };
            if at >= self.data.len() {
                break;
            }
            if let Some(header) = header_at(self.data, at) {
                self.next = header;
                break;
            }
            if self.data[at..].starts_with(SUMMARY) {
                break;
            }
        }
        if let Some((inside, header)) = self.header_inside(start, at) {
            self.next = header;
            at = inside;
        }
        self.pos = at;
        TextItem::Skipped(Skipped { offset: start, len: at - start, why })
    }
}

impl<'a> Iterator for TextRecords<'a> {
    type Item = TextItem<'a>;

    fn next(&mut self) -> Option<TextItem<'a>> {
        let start = self.pos;
        let data = self.data;
        if start >= data.len() {
            return None;
        }
        if !self.next.is_some() && !self.read_header(start) {
            if data[start..].starts_with(SUMMARY) {
                let len = memchr(b'\n', &data[start..]).map_or(data.len() - start, |n| n + 1);
                self.pos = start + len;
                return Some(TextItem::Summary(start, len));
            }
            // Right behind a record only a header can stand, or what made the record too long.
            let why = if start == 0 || data[start] == 0 { SkipReason::NoHeader } else { SkipReason::TooLong };
            return Some(self.skip(start, why));
        }
        let header = self.next;
        self.next.text_at = 0;
        let text_at = start + header.text_at;
        let mut end = self.end_of_record(start, text_at);
        if end - start > MAX_RECORD {
            end = start + MAX_RECORD;
            self.next.text_at = 0;
        }
        self.pos = end;
        let record = Record { text: &data[text_at..end], ..header.record };
        Some(TextItem::Record(record, start))
    }
}

/// Length of the header at the start of `line`, up to its text. `None`: no whole header is there.
#[must_use]
pub fn header_len(line: &[u8]) -> Option<usize> {
    header_at(line, 0).map(|header| header.text_at)
}

/// Reads headers of lines that stand by themselves, with the help of those that it has read before.
#[derive(Clone, Debug)]
pub struct LineHeaders {
    seen: HeaderMemory,
    ended: CallSites,
}

impl Default for LineHeaders {
    fn default() -> Self {
        Self { seen: HeaderMemory::new(), ended: CallSites::new() }
    }
}

impl LineHeaders {
    /// The record in a line, without the line's end. `None`: no whole header is there.
    #[must_use]
    pub fn record_in<'a>(&mut self, line: &'a [u8]) -> Option<Record<'a>> {
        let mut header = Header::NONE;
        if line.ends_with(HEADER_END.trim_ascii_end()) {
            header_at_end(line, &mut self.seen, &mut self.ended, &mut header)?;
        } else {
            next_header(line, 0, &mut self.seen, &mut header)?;
        }
        Some(Record { text: &line[header.text_at..], ..header.record })
    }
}

/// Whether `line` starts as headers do, `SUBSYS:MASK:CPU`, whatever follows: the header may be cut or broken.
#[inline]
#[must_use]
pub fn starts_like_header(line: &[u8]) -> bool {
    let Some([a @ .., b':', b0, b1, b2, b3, b4, b5, b6, b7, b':', b'0'..=b'9']) = line.first_chunk::<19>() else {
        return false;
    };
    let masks = [*a, [*b0, *b1, *b2, *b3, *b4, *b5, *b6, *b7]];
    masks.into_iter().all(|mask| digits::hex_lower_8(mask).is_some())
}

/// Where to cut a buffer so that the first part holds whole records only: the start of the last line
/// that begins with a complete header. `None` if there is none but at the very start.
#[must_use]
pub fn find_cut(data: &[u8]) -> Option<usize> {
    let mut end = data.len();
    while let Some(newline) = memrchr(b'\n', &data[..end]) {
        let line = newline + 1;
        if header_at(data, line).is_some() {
            return (line > 0).then_some(line);
        }
        end = newline;
    }
    None
}

/// Offset of the first line that begins with a header.
#[must_use]
pub(super) fn find_header(data: &[u8]) -> Option<usize> {
    let mut line = 0;
    loop {
        if header_at(data, line).is_some() {
            return Some(line);
        }
        line += memchr(b'\n', &data[line..])? + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Context;

    const LINE: &[u8] = b"00000100:00100000:12.0F:1700000000.123456:0:43210:0:(service.c:2543:ptlrpc_server_handle_request()) Handling RPC x\n";

    fn records(data: &[u8]) -> Vec<Record<'_>> {
        TextRecords::new(data)
            .map(|item| match item {
                TextItem::Record(record, _) => record,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn header_of_2_0_and_later() {
        let [record] = records(LINE)[..] else { panic!() };
        assert_eq!(record.subsystem, 0x100);
        assert_eq!(record.mask, 0x10_0000);
        assert_eq!((record.cpu, record.context, record.first), (12, Some(Context::Process), true));
        assert_eq!(record.time_us, 1_700_000_000_123_456);
        assert_eq!((record.stack, record.pid, record.extern_pid), (0, 43210, 0));
        assert_eq!(record.file, b"service.c");
        assert_eq!(record.line, 2543);
        assert_eq!(record.function, b"ptlrpc_server_handle_request");
        assert_eq!(record.text, b"Handling RPC x\n");
        let mut rendered = Vec::new();
        record.append_text(&mut rendered);
        assert_eq!(rendered, LINE);
    }

    #[test]
    fn header_of_1_8_has_no_context() {
        let line = b"00000100:00100000:3:1234567890.000001:9:7:0:(events.c:1:f()) peer\n";
        let [record] = records(line)[..] else { panic!() };
        assert_eq!((record.cpu, record.context, record.first), (3, None, false));
        let mut rendered = Vec::new();
        record.append_text(&mut rendered);
        assert_eq!(rendered, line);
    }

    #[test]
    fn header_of_a_crash_dump_has_unpadded_microseconds() {
        let line = b"00000100:00100000:3.1:1234567890.42:000000:7:0:(events.c:1:f()) peer\n";
        let [record] = records(line)[..] else { panic!() };
        assert_eq!(record.time_us, 1_234_567_890_000_042);
        assert_eq!(record.context, Some(Context::SoftIrq));
    }

    #[test]
    fn a_line_without_header_continues_the_record() {
        let mut data = LINE.to_vec();
        data.extend_from_slice(b" req@ffff x1\n0000: no header either\n");
        data.extend_from_slice(LINE);
        let got = records(&data);
        assert_eq!(got.len(), 2);
        assert_eq!(got[0].text, b"Handling RPC x\n req@ffff x1\n0000: no header either\n");
    }

    #[test]
    fn a_text_without_line_break_ends_where_the_next_header_starts() {
        let mut data = LINE.strip_suffix(b"\n").unwrap().to_vec();
        data.extend_from_slice(LINE);
        data.extend_from_slice(LINE);
        let got = records(&data);
        assert_eq!(got.len(), 3);
        assert_eq!(got[0].text, b"Handling RPC x");
        assert_eq!(got[1], Record { text: b"Handling RPC x\n", ..got[0] });
    }

    /// What was read of other lines makes no difference: one that ends with its header, one whose text ends as headers do.
    #[test]
    fn lines_are_read_alike_however_often() {
        let header = "00000100:00100000:1.0:1795250772.849236:0:2432:0:(service.c:2592:ptlrpc_server_handle_request())";
        let other = header.replace("2592", "2593");
        let texts = ["", " ", " text", " calls foo())", "  two", "x", ")) y())"];
        let lines: Vec<String> =
            [header, &other].iter().flat_map(|header| texts.map(|text| format!("{header}{text}"))).collect();
        let mut seen = LineHeaders::default();
        for first in &lines {
            for line in [first].into_iter().chain(&lines) {
                let alone = LineHeaders::default().record_in(line.as_bytes());
                assert_eq!(seen.record_in(line.as_bytes()), alone, "{line}");
                let header = header_at(line.as_bytes(), 0);
                assert_eq!(
                    alone.map(|it| (it.file, it.line, it.function)),
                    header.map(|it| (it.record.file, it.record.line, it.record.function))
                );
                assert_eq!(alone.map(|it| line.len() - it.text.len()), header.map(|it| it.text_at), "{line}");
            }
        }
    }

    #[test]
    fn the_closing_line_of_lctl_is_no_record() {
        let mut data = LINE.to_vec();
        let summary = b"Debug log: 1 lines, 1 kept, 0 dropped, 0 bad.\n";
        data.extend_from_slice(summary);
        let items: Vec<_> = TextRecords::new(&data).collect();
        assert!(matches!(items[0], TextItem::Record(..)));
        assert_eq!(items[1..], [TextItem::Summary(LINE.len(), summary.len())]);
    }

    #[test]
    fn leading_garbage_is_skipped_and_counted() {
        let mut data = b"what\nis this\n".to_vec();
        data.extend_from_slice(LINE);
        let items: Vec<_> = TextRecords::new(&data).collect();
        assert_eq!(items[0], TextItem::Skipped(Skipped { offset: 0, len: 13, why: SkipReason::NoHeader }));
        assert!(matches!(items[1], TextItem::Record(_, 13)));
    }

    #[test]
    fn a_record_longer_than_any_is_cut() {
        let mut data = LINE.strip_suffix(b"\n").unwrap().to_vec();
        data.resize(3 * MAX_RECORD, b'x');
        data.push(b'\n');
        data.extend_from_slice(LINE);
        let items: Vec<_> = TextRecords::new(&data).collect();
        assert!(matches!(items[0], TextItem::Record(record, 0) if record.text.len() < MAX_RECORD));
        assert_eq!(
            items[1],
            TextItem::Skipped(Skipped { offset: MAX_RECORD, len: 2 * MAX_RECORD + 1, why: SkipReason::TooLong })
        );
        assert!(matches!(items[2], TextItem::Record(..)));
        assert_eq!(items.len(), 3);
    }

    #[test]
    fn nuls_between_lines_belong_to_no_record() {
        let data = [LINE, &[0; 4096], b"\n", LINE].concat();
        let items: Vec<_> = TextRecords::new(&data).collect();
        assert!(matches!(items[0], TextItem::Record(record, 0) if record.text == b"Handling RPC x\n"));
        assert_eq!(items[1], TextItem::Skipped(Skipped { offset: LINE.len(), len: 4097, why: SkipReason::NoHeader }));
        assert!(matches!(items[2], TextItem::Record(..)));
    }

    #[test]
    fn near_misses_are_no_headers() {
        for line in [
            &b"00000100:00100000:12.3:1700000000.123456:0:1:0:(a.c:1:f()) x\n"[..],
            b"0000010G:00100000:12.0:1700000000.123456:0:1:0:(a.c:1:f()) x\n",
            b"00000100:00100000:12.0:1700000000.1234567:0:1:0:(a.c:1:f()) x\n",
            b"00000100:00100000:12.0:1700000000.123456:0:1:0:(a.c:1:f) x\n",
            b"00000100:00100000:12.0:1700000000.123456:0:1:(a.c:1:f()) x\n",
        ] {
            assert!(find_header(line).is_none(), "{}", line.escape_ascii());
        }
    }

    #[test]
    fn a_cut_is_a_record_start() {
        let mut data = LINE.repeat(3);
        data.extend_from_slice(b" continued\n0000");
        assert_eq!(find_cut(&data), Some(2 * LINE.len()));
        assert_eq!(find_cut(LINE), None);
    }
}
