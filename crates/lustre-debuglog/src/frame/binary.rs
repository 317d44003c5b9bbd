//! The binary form: what the kernel's debug daemon, `dump_kernel` and `lctl dk raw` write.
//!
//! A bare concatenation of `struct ptldebug_header` (48 bytes, packed, host byte order), file name,
//! function name and text; no magic, no padding, no alignment (`libcfs_debug.h`, unchanged since 2.0;
//! 1.8 differs in one field). The kernel writes page by page, so records never straddle a write, but a
//! wrapped ring leaves one torn record at its seam and a failed write may leave a partial page.
//!
//! [`Framer`] applies a much stricter test than `lctl` and, after damage, searches byte by byte.

use super::call_sites::{CallSites, Hash, SiteNames};
use super::skipped::{SkipReason, Skipped};
use crate::Record;
use crate::record::Context;

/// Size of the fixed header.
const HEADER_LEN: usize = 48;
/// Longest record: a kernel record fits a page, and pages are at most 64 KiB.
pub const MAX_RECORD: usize = 64 * 1024;
/// Shortest record: header, `a.c`, `f` and their NULs.
const MIN_RECORD: usize = HEADER_LEN + 4 + 2;
/// Longest file and function name looked for, with NUL.
const MAX_FILE: usize = 64;
const MAX_FUNCTION: usize = 128;

/// Byte order and version of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeaderLayout {
    /// Byte order of the node that wrote the file.
    pub big_endian: bool,
    /// 1.8: a 32-bit CPU instead of CPU and context. Told apart only on big-endian nodes; on others it
    /// reads as context 0.
    pub v1: bool,
}

impl HeaderLayout {
    /// The layouts there are, most likely first.
    pub const ALL: [Self; 3] = [
        Self { big_endian: false, v1: false },
        Self { big_endian: true, v1: false },
        Self { big_endian: true, v1: true },
    ];
}

/// The fixed header as its twelve 32-bit words, in the byte order of this machine.
#[derive(Clone, Copy)]
struct Header {
    words: [u32; HEADER_LEN / 4],
    layout: HeaderLayout,
}

impl Header {
    /// The header at the start of `data`, whatever it is.
    #[inline(always)]
    fn read(data: &[u8], layout: HeaderLayout) -> Option<Self> {
        let bytes = data.first_chunk::<HEADER_LEN>()?;
        let mut words = [0; HEADER_LEN / 4];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        if layout.big_endian {
            words = words.map(u32::swap_bytes);
        }
        Some(Self { words, layout })
    }

    /// `ph_len`.
    #[inline(always)]
    fn len(&self) -> usize {
        self.words[0] as usize
    }

    /// `ph_cpu_id`, and `ph_type` where there is one.
    #[inline(always)]
    fn cpu_and_type(&self) -> (u32, u32) {
        let (low, high) = (self.words[4] & 0xffff, self.words[4] >> 16);
        match self.layout {
            HeaderLayout { v1: true, .. } => (self.words[4], 0),
            HeaderLayout { big_endian: false, .. } => (low, high),
            HeaderLayout { big_endian: true, .. } => (high, low),
        }
    }

    /// `ph_usec`.
    #[inline(always)]
    fn micros(&self) -> u64 {
        let (first, second) = (u64::from(self.words[6]), u64::from(self.words[7]));
        if self.layout.big_endian { first << 32 | second } else { second << 32 | first }
    }

    /// The strict test of all but the names.
    #[inline(always)]
    fn is_plausible(&self) -> bool {
        let [_, flags, subsystem, mask, _, seconds, _, _, stack, _, extern_pid, line] = self.words;
        let (cpu, kind) = self.cpu_and_type();
        (MIN_RECORD..=MAX_RECORD).contains(&self.len())
            && flags <= 1
            && subsystem != 0
            && mask != 0
            && kind <= 2
            && cpu < 8192
            && seconds >= 1 << 30
            && self.micros() < 1_000_000
            && stack <= 65_536
            && extern_pid == 0
            && (1..=65_536).contains(&line)
    }

    /// The record of which this is the header, with these names; `data` is all of it.
    #[inline(always)]
    fn record<'a>(&self, data: &'a [u8], names: SiteNames) -> Option<Record<'a>> {
        let [_, flags, subsystem, mask, _, seconds, _, _, stack, pid, extern_pid, line] = self.words;
        let (cpu, kind) = self.cpu_and_type();
        let body = data.get(HEADER_LEN..)?;
        Some(Record {
            subsystem,
            mask,
            cpu,
            context: if self.layout.v1 { None } else { Context::from_number(kind) },
            first: flags & 1 != 0,
            time_us: i64::from(seconds) * 1_000_000 + i64::try_from(self.micros()).ok()?,
            stack,
            pid,
            extern_pid,
            file: body.get(..names.file_len)?,
            line,
            function: body.get(names.function_at..names.function_at + names.function_len)?,
            text: body.get(names.len..)?,
        })
    }
}

/// Reads the record at the start of `data`, which must hold all of it; applies the strict test, but
/// does not look at what follows. For many records use a [`Framer`] and [`FramedRecords`].
#[must_use]
pub fn read_record(data: &[u8], layout: HeaderLayout) -> Option<(Record<'_>, usize)> {
    let framed = check(data, layout, test_names)?;
    Some((framed.read(data, layout)?, framed.len()))
}

/// What a [`Framer`] found out about a record: enough to read it without another test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramedRecord {
    len: u32,
    file_len: u8,
    function_len: u8,
}

impl FramedRecord {
    /// A record with this header and these names.
    #[inline(always)]
    fn new(header: &Header, names: SiteNames) -> Option<Self> {
        Some(Self {
            len: header.words[0],
            file_len: u8::try_from(names.file_len).ok()?,
            function_len: u8::try_from(names.function_len).ok()?,
        })
    }

    /// Bytes of the record.
    #[inline(always)]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no record is empty")]
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Where its names stand behind the header.
    #[inline(always)]
    fn names(self) -> SiteNames {
        SiteNames::between_nuls(self.file_len.into(), self.function_len.into())
    }

    /// Where its text begins.
    #[inline(always)]
    fn text_at(self) -> usize {
        HEADER_LEN + self.names().len
    }

    /// The record at the start of `data`, which must be the one that was framed: it is not tested again.
    #[inline(always)]
    #[must_use]
    pub fn read(self, data: &[u8], layout: HeaderLayout) -> Option<Record<'_>> {
        Header::read(data, layout)?.record(data.get(..self.len())?, self.names())
    }
}

/// Iterates over records that follow each other without a gap, as a [`Framer`] has found them.
#[derive(Clone, Debug)]
pub struct FramedRecords<'a> {
    rest: &'a [u8],
    layout: HeaderLayout,
    framed: std::slice::Iter<'a, FramedRecord>,
}

impl<'a> FramedRecords<'a> {
    /// Starts at the beginning of `data`, which is what was framed.
    #[must_use]
    pub fn new(data: &'a [u8], layout: HeaderLayout, framed: &'a [FramedRecord]) -> Self {
        Self { rest: data, layout, framed: framed.iter() }
    }

    /// What has not been read: nothing at the end, if all bytes were framed.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for FramedRecords<'a> {
    type Item = Record<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Record<'a>> {
        let framed = self.framed.next()?;
        let record = framed.read(self.rest, self.layout)?;
        self.rest = self.rest.get(framed.len()..)?;
        Some(record)
    }
}

/// The strict header test. `data` may end before the record does, but must hold the names, which `names` finds behind the header.
#[inline(always)]
fn check(data: &[u8], layout: HeaderLayout, names: impl FnOnce(&[u8]) -> Option<SiteNames>) -> Option<FramedRecord> {
    if data.len() < MIN_RECORD {
        return None;
    }
    let header = Header::read(data, layout).filter(Header::is_plausible)?;
    FramedRecord::new(&header, names(&data[..data.len().min(header.len())])?)
}

/// The names behind the header at the start of `record`, which may end in its text.
#[inline(always)]
fn known_names(record: &[u8], sites: &mut CallSites) -> Option<SiteNames> {
    // The line in the file and the first bytes of its name.
    let (head, body) = record.split_at_checked(HEADER_LEN)?;
    let (line, file) = (*head.last_chunk::<4>()?, *body.first_chunk::<4>()?);
    let hash = Hash::new(u64::from(u32::from_le_bytes(line)) << 32 | u64::from(u32::from_le_bytes(file)));
    sites.find(hash, body).or_else(|| {
        let names = test_names(record)?;
        sites.remember(hash, body, names.len, names);
        Some(names)
    })
}

/// The strict test of the names behind the header at the start of `record`, which may end in its text.
fn test_names(record: &[u8]) -> Option<SiteNames> {
    let body = record.get(HEADER_LEN..)?;
    let file_len = name_len(body, MAX_FILE)?;
    let function = &body[file_len + 1..];
    let function_len = name_len(function, MAX_FUNCTION)?;
    let good_file = matches!(&body[..file_len], [.., b'.', b'c' | b'h'])
        && body[..file_len].iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'));
    let good_function = function_len > 0
        && !function[0].is_ascii_digit()
        && function[..function_len].iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$'));
    (good_file && good_function).then_some(SiteNames::between_nuls(file_len, function_len))
}

/// Length of the NUL-terminated name at the start of `data`.
fn name_len(data: &[u8], max: usize) -> Option<usize> {
    memchr::memchr(0, &data[..data.len().min(max)])
}

/// Bytes from a header's start that the test may look at.
const LOOKAHEAD: usize = HEADER_LEN + MAX_FILE + MAX_FUNCTION;

/// One step of a [`Framer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A record stands at the position.
    Record(FramedRecord),
    /// These bytes at the position are no record.
    Skipped(usize, SkipReason),
    /// More input is needed to decide.
    NeedMore,
    /// The input is used up.
    End,
}

/// Finds record boundaries in a binary log that arrives in pieces.
#[derive(Clone, Debug)]
pub struct Framer {
    layout: HeaderLayout,
    sites: CallSites,
    /// The record at the position, if its header has been tested already: as what follows the record before it.
    next: Option<FramedRecord>,
}

impl Framer {
    /// Bytes that [`Framer::step`] may ask for: with this many it never needs more.
    pub const ENOUGH: usize = 2 * MAX_RECORD + LOOKAHEAD;

    /// A framer at the start of an input.
    #[must_use]
    pub fn new(layout: HeaderLayout) -> Self {
        Self { layout, sites: CallSites::new(), next: None }
    }

    /// Looks at `data`, which starts at the current position; `eof` says that nothing follows it.
    ///
    /// The caller moves on by the bytes of the step before it calls again. The steps do not depend on
    /// how much of the input `data` shows, but that damage may be skipped in several steps.
    pub fn step(&mut self, data: &[u8], eof: bool) -> Step {
        if data.is_empty() {
            return if eof { Step::End } else { Step::NeedMore };
        }
        let complete = eof || data.len() >= Self::ENOUGH;
        let Some(record) = self.next.take().or_else(|| self.check_next(data)) else {
            return if complete { self.resync(data, eof, SkipReason::BadHeader) } else { Step::NeedMore };
        };
        if !complete && data.len() < record.len() + LOOKAHEAD {
            self.next = Some(record);
            return Step::NeedMore;
        }
        if record.len() > data.len() {
            return self.resync(data, eof, SkipReason::TruncatedTail);
        }
        let following = &data[record.len()..];
        self.next = self.check_next(following);
        let suspicious = holds_nul(data, record) || (self.next.is_none() && !following.is_empty());
        if !suspicious {
            return Step::Record(record);
        }
        if !complete {
            self.next = Some(record);
            return Step::NeedMore;
        }
        // The damage begins behind this record, or in its body: then another record starts inside.
        if (HEADER_LEN..record.len()).any(|at| self.chained(&data[at..], eof)) {
            self.next = None;
            return self.resync(data, eof, SkipReason::Overwritten);
        }
        Step::Record(record)
    }

    /// Appends records to `framed` until they are `wanted` bytes or [`Self::step`] has to decide what comes next; returns how many
    /// bytes they are. The steps would be the same: nearly all of a log is records that pass every test.
    ///
    /// The caller moves on by these bytes.
    pub fn run(&mut self, data: &[u8], wanted: usize, framed: &mut Vec<FramedRecord>) -> usize {
        let mut rest = data;
        let Some(mut record) = self.next.take().or_else(|| self.check_next(rest)) else { return 0 };
        while data.len() - rest.len() < wanted && rest.len() >= record.len() + LOOKAHEAD {
            let following = &rest[record.len()..];
            let Some(next) = self.check_next(following).filter(|_| !holds_nul(rest, record)) else { break };
            framed.push(record);
            (record, rest) = (next, following);
        }
        self.next = Some(record);
        data.len() - rest.len()
    }

    /// The header test with the help of what was seen before.
    #[inline(always)]
    fn check_next(&mut self, data: &[u8]) -> Option<FramedRecord> {
        check(data, self.layout, |record| known_names(record, &mut self.sites))
    }

    /// Whether a record starts here and is followed by another one or by the end of the input.
    fn chained(&self, data: &[u8], eof: bool) -> bool {
        check(data, self.layout, test_names).is_some_and(|record| match data.get(record.len()..) {
            Some(b"") => eof,
            Some(next) => check(next, self.layout, test_names).is_some(),
            None => false,
        })
    }

    /// Skips to the next place where a record starts and another follows.
    fn resync(&self, data: &[u8], eof: bool, why: SkipReason) -> Step {
        // Further on, the record after might lie beyond what is in sight.
        let limit = if eof { data.len() } else { data.len() - (MAX_RECORD + LOOKAHEAD) };
        let found = (1..limit).find(|&at| self.chained(&data[at..], eof));
        Step::Skipped(found.unwrap_or(limit), why)
    }
}

/// A text holds no NUL, a header always does. `data` begins with the record.
#[inline(always)]
fn holds_nul(data: &[u8], record: FramedRecord) -> bool {
    memchr::memchr(0, &data[record.text_at()..record.len()]).is_some()
}

/// Finds the first place where two records in a row stand, and the layout they have.
#[must_use]
pub fn detect(prefix: &[u8], complete: bool) -> Option<(usize, HeaderLayout)> {
    let mut best: Option<(usize, HeaderLayout)> = None;
    for layout in HeaderLayout::ALL {
        let framer = Framer::new(layout);
        let end = best.map_or(prefix.len(), |(at, _)| at);
        if let Some(at) = (0..end).find(|&at| framer.chained(&prefix[at..], complete)) {
            best = Some((at, layout));
        }
    }
    best
}

/// Iterates over a complete binary log in memory.
#[derive(Clone, Debug)]
pub struct BinaryRecords<'a> {
    data: &'a [u8],
    pos: usize,
    framer: Framer,
    layout: HeaderLayout,
}

impl<'a> BinaryRecords<'a> {
    /// Starts at the beginning of `data`.
    #[must_use]
    pub fn new(data: &'a [u8], layout: HeaderLayout) -> Self {
        Self { data, pos: 0, framer: Framer::new(layout), layout }
    }
}

impl<'a> Iterator for BinaryRecords<'a> {
    type Item = Result<(Record<'a>, usize), Skipped>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.pos;
        let rest = &self.data[offset..];
        match self.framer.step(rest, true) {
            Step::Record(framed) => {
                self.pos += framed.len();
                framed.read(rest, self.layout).map(|record| Ok((record, offset)))
            }
            Step::Skipped(len, why) => {
                self.pos += len;
                Some(Err(Skipped { offset, len, why }))
            }
            Step::NeedMore | Step::End => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LE: HeaderLayout = HeaderLayout { big_endian: false, v1: false };

    /// A record written field by field from the layout in the module documentation.
    fn record(layout: HeaderLayout, cpu: u16, usec: u64, text: &str) -> Vec<u8> {
        let (file, function) = ("service.c", "ptlrpc_server_handle_request");
        let len = u32::try_from(HEADER_LEN + file.len() + 1 + function.len() + 1 + text.len()).unwrap();
        let mut out = Vec::new();
        let put32 = |out: &mut Vec<u8>, n: u32| {
            out.extend_from_slice(&if layout.big_endian { n.to_be_bytes() } else { n.to_le_bytes() });
        };
        for n in [len, 1, 0x100, 0x10_0000] {
            put32(&mut out, n);
        }
        if layout.v1 {
            put32(&mut out, cpu.into());
        } else {
            for n in [cpu, 1] {
                out.extend_from_slice(&if layout.big_endian { n.to_be_bytes() } else { n.to_le_bytes() });
            }
        }
        put32(&mut out, 1_700_000_000);
        out.extend_from_slice(&if layout.big_endian { usec.to_be_bytes() } else { usec.to_le_bytes() });
        for n in [7, 4321, 0, 2543] {
            put32(&mut out, n);
        }
        for name in [file, function] {
            out.extend_from_slice(name.as_bytes());
            out.push(0);
        }
        out.extend_from_slice(text.as_bytes());
        out
    }

    fn log(layout: HeaderLayout, count: u64) -> Vec<u8> {
        (0..count).flat_map(|n| record(layout, 9, n, &format!("got req x{n}\n"))).collect()
    }

    /// Offsets and lengths.
    type Spans = Vec<(usize, usize)>;

    /// Records and skipped stretches (adjacent ones joined), as offsets and lengths, feeding `piece` bytes at a time.
    fn frame(data: &[u8], piece: usize) -> (Spans, Spans) {
        let (mut records, mut skipped) = (Spans::new(), Spans::new());
        let mut framer = Framer::new(LE);
        let (mut pos, mut end) = (0, 0);
        loop {
            match framer.step(&data[pos..end], end == data.len()) {
                Step::Record(framed) => {
                    records.push((pos, framed.len()));
                    pos += framed.len();
                }
                Step::Skipped(len, _) => {
                    match skipped.last_mut() {
                        Some((at, before)) if *at + *before == pos => *before += len,
                        _ => skipped.push((pos, len)),
                    }
                    pos += len;
                }
                Step::NeedMore => end = data.len().min(end + piece),
                Step::End => return (records, skipped),
            }
        }
    }

    #[test]
    fn every_field_in_every_layout() {
        for layout in HeaderLayout::ALL {
            let data = record(layout, 9, 123_456, "Handling RPC x\n");
            let (got, len) = read_record(&data, layout).unwrap();
            assert_eq!(len, data.len());
            assert_eq!((got.subsystem, got.mask, got.first), (0x100, 0x10_0000, true));
            assert_eq!(got.cpu, 9);
            assert_eq!(got.context, (!layout.v1).then_some(Context::SoftIrq));
            assert_eq!(got.time_us, 1_700_000_000_123_456);
            assert_eq!((got.stack, got.pid, got.extern_pid, got.line), (7, 4321, 0, 2543));
            assert_eq!((got.file, got.function), (&b"service.c"[..], &b"ptlrpc_server_handle_request"[..]));
            assert_eq!(got.text, b"Handling RPC x\n");
            let two = [data.clone(), data].concat();
            assert_eq!(detect(&two, true), Some((0, layout)));
        }
    }

    #[test]
    fn header_test_refuses_each_implausible_field() {
        let good = record(LE, 9, 5, "x\n");
        assert!(read_record(&good, LE).is_some());
        for (at, bad) in
            [(0, 40u8), (4, 2), (18, 3), (19, 9), (23, 0), (26, 0x40), (40, 1), (47, 1), (48, b'/'), (58, b'9')]
        {
            let mut data = good.clone();
            data[at] = bad;
            assert!(read_record(&data, LE).is_none(), "byte {at} = {bad}");
        }
        let mut no_subsystem = good.clone();
        no_subsystem[8..12].fill(0);
        assert!(read_record(&no_subsystem, LE).is_none());
    }

    #[test]
    fn a_torn_record_is_skipped_and_nothing_else() {
        let data = log(LE, 3000);
        let len = record(LE, 9, 0, "got req x1000\n").len();
        // Overwrite the head of a record in the middle, as a ring does.
        let torn = frame(&data, usize::MAX / 2).0[1500].0;
        let mut data = data;
        data[torn..torn + 20].fill(b'#');
        for piece in [1 << 10, 1 << 16, 1 << 20] {
            let (records, skipped) = frame(&data, piece);
            assert_eq!(records.len(), 2999);
            assert_eq!(skipped, [(torn, len)]);
        }
    }

    #[test]
    fn a_partial_page_followed_by_the_page_again() {
        let data = log(LE, 2000);
        let (records, _) = frame(&data, 1 << 20);
        let cut = records[700].0 + 60;
        let again = [&data[..cut], &data[records[690].0..]].concat();
        let (framed, skipped) = frame(&again, 1 << 16);
        assert_eq!(framed.len(), 2010);
        assert_eq!(skipped, [(records[700].0, 60)]);
    }

    #[test]
    fn a_torn_record_whose_length_fits_by_chance() {
        // All records are of one length, so the torn one seems to end where a record begins.
        let data: Vec<u8> = (0..100).flat_map(|n| record(LE, 9, n, "got req x1000\n")).collect();
        let len = data.len() / 100;
        let again = [&data[..50 * len + 70], &data[48 * len..]].concat();
        let (framed, skipped) = frame(&again, 1 << 16);
        assert_eq!(framed.len(), 102);
        assert_eq!(skipped, [(50 * len, 70)]);
    }

    #[test]
    fn a_truncated_tail_is_counted() {
        let data = log(LE, 10);
        let (records, skipped) = frame(&data[..data.len() - 3], 100);
        assert_eq!(records.len(), 9);
        assert_eq!(skipped, [(records[8].0 + records[8].1, data.len() - 3 - records[8].0 - records[8].1)]);
    }

    #[test]
    fn pages_of_64_kib_are_read() {
        let big = "y".repeat(60_000) + "\n";
        let data = [record(LE, 1, 1, &big), record(LE, 1, 2, "x\n"), record(LE, 1, 3, &big)].concat();
        let (records, skipped) = frame(&data, 4096);
        assert_eq!((records.len(), skipped.len()), (3, 0));
    }

    #[test]
    fn noise_is_no_log() {
        assert_eq!(detect(&[0; 4096], true), None);
        assert_eq!(detect(b"\x89PNG\r\n\x1a\n", true), None);
        let all: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        assert_eq!(detect(&all, true), None);
    }
}
