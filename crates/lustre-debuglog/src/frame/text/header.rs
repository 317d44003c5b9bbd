//! The header of a record in text form, read strictly.
//!
//! Hot: tried at the start of every line.

use super::super::call_sites::{CallSites, Hash, SiteNames};
use crate::Record;
use crate::record::Context;
use crate::vocab::digits;

/// Parts of headers that were parsed before, and mostly stand in the next header again.
#[derive(Clone, Debug)]
pub(super) struct HeaderMemory {
    kind: Kind,
    second: Second,
    sites: CallSites,
}

impl HeaderMemory {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self { kind: Kind::default(), second: Second::EPOCH, sites: CallSites::new() }
    }
}

/// `SEC.`, of ten digits.
#[derive(Clone, Copy, Debug)]
struct Second {
    text: [u8; 11],
    time_us: i64,
}

/// `SUBSYS:MASK:`.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    text: [u8; 18],
    subsystem: u32,
    mask: u32,
}

/// How every header ends.
pub(super) const HEADER_END: &[u8] = b"()) ";

/// A header and where its text starts, relative to the header's first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header<'a> {
    pub(super) record: Record<'a>,
    pub(super) text_at: usize,
}

impl Header<'_> {
    /// No header.
    pub(super) const NONE: Self = Self {
        record: Record {
            subsystem: 0,
            mask: 0,
            cpu: 0,
            context: None,
            first: false,
            time_us: 0,
            stack: 0,
            pid: 0,
            extern_pid: 0,
            file: b"",
            line: 0,
            function: b"",
            text: b"",
        },
        text_at: 0,
    };

    pub(super) fn is_some(&self) -> bool {
        self.text_at > 0
    }
}

/// The header at `at`, if one is there.
pub(super) fn header_at(data: &[u8], at: usize) -> Option<Header<'_>> {
    let line = data.get(at..)?;
    if looks_like_header(line) { parse_header(line) } else { None }
}

/// The same, with the help of what was seen before, into `header`, which stays as it is if there is none.
#[inline(always)]
pub(super) fn next_header<'a>(
    data: &'a [u8],
    at: usize,
    seen: &mut HeaderMemory,
    header: &mut Header<'a>,
) -> Option<()> {
    let line = data.get(at..)?;
    if !looks_like_header(line) {
        return None;
    }
    if line.first_chunk() != Some(&seen.kind.text) {
        seen.kind = Kind::parse(line)?;
    }
    let numbers = Numbers::parse_usual(line, &mut seen.second).or_else(|| Numbers::parse(line))?;
    let names = known_names(line.get(numbers.len..)?, &mut seen.sites)?;
    numbers.write(line, seen.kind, names, header)
}

/// The header of a line that ends with it, without the blank: whoever breaks lines at blanks breaks behind most headers. `ended`: the call sites
/// of such lines, which say nothing of the byte behind them. Apart from [`next_header`], which is paid for every record of a clean log.
pub(super) fn header_at_end<'a>(
    line: &'a [u8],
    seen: &mut HeaderMemory,
    ended: &mut CallSites,
    header: &mut Header<'a>,
) -> Option<()> {
    if !looks_like_header(line) {
        return None;
    }
    let kind = Kind::parse(line)?;
    let numbers = Numbers::parse_usual(line, &mut seen.second).or_else(|| Numbers::parse(line))?;
    let site = line.get(numbers.len..)?;
    let key = site.chunks_exact(8).fold(0_u64, |key, bytes| {
        key.rotate_left(21) ^ bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    });
    let hash = Hash::new(key);
    // It may hold a header's end and go on.
    let names = match ended.find(hash, site).filter(|names| names.len == site.len()) {
        Some(names) => names,
        None => {
            let names = parse_names(site)?;
            if names.len == site.len() {
                ended.remember(hash, site, names.len, names);
            }
            names
        }
    };
    numbers.write(line, kind, names, header)
}

/// The cheap part of the header test: two groups of eight and a colon after each.
#[inline(always)]
pub(super) fn looks_like_header(line: &[u8]) -> bool {
    line.len() > 20 && line[8] == b':' && line[17] == b':' && line[18].is_ascii_digit()
}

/// Parses a header at the start of `line`; the record's text is left empty.
pub(super) fn parse_header(line: &[u8]) -> Option<Header<'_>> {
    let kind = Kind::parse(line)?;
    let numbers = Numbers::parse(line)?;
    let names = parse_names(line.get(numbers.len..)?)?;
    let mut header = Header::NONE;
    numbers.write(line, kind, names, &mut header)?;
    Some(header)
}

impl Kind {
    /// Reads `SUBSYS:MASK:`; the colons have been looked at.
    fn parse(line: &[u8]) -> Option<Self> {
        let text: &[u8; 18] = line.first_chunk()?;
        let subsystem = digits::hex_lower_8(*text.first_chunk()?)?;
        let mask = digits::hex_lower_8(*text[9..].first_chunk()?)?;
        Some(Self { text: *text, subsystem, mask })
    }
}

/// The numbers behind it, `CPU.TYPE[F]:SEC.USEC:STACK:PID:EXTPID:(`.
struct Numbers {
    cpu: u32,
    context: Option<Context>,
    first: bool,
    time_us: i64,
    stack: u32,
    pid: u32,
    extern_pid: u32,
    /// Where the names begin in the line.
    len: usize,
}

impl Numbers {
    /// Reads numbers that are written as nearly all are, with a time that is mostly in the same second:
    /// everything but CPU and pid stands at a fixed distance. `None` says nothing; the others read all forms.
    #[inline(always)]
    fn parse_usual(line: &[u8], second: &mut Second) -> Option<Self> {
        let digit = |at: usize| line.get(at).map(|byte| u32::from(byte.wrapping_sub(b'0'))).filter(|value| *value < 10);
        let (cpu, dot) = match line.get(19..22)? {
            [b'.', ..] => (digit(18)?, 19),
            [_, b'.', _] => (digit(18)? * 10 + digit(19)?, 20),
            [_, _, b'.'] => (digit(18)? * 100 + digit(19)? * 10 + digit(20)?, 21),
            _ => return None,
        };
        let tail: &[u8; 40] = line.get(dot..)?.first_chunk()?;
        let context = match tail[..3] {
            [b'.', b'0', b':'] => Context::Process,
            [b'.', b'1', b':'] => Context::SoftIrq,
            [b'.', b'2', b':'] => Context::HardIrq,
            _ => return None,
        };
        if tail[3..14] != second.text {
            *second = Second::parse(tail[3..].first_chunk()?)?;
        }
        // The last digit of the second and the dot become zeros in front of the microseconds.
        let [_, _, micros @ ..] = *tail[12..].first_chunk::<8>()?;
        let [u0, u1, u2, u3, u4, u5] = micros;
        let micros = digits::eight_digits([b'0', b'0', u0, u1, u2, u3, u4, u5])?;
        let (pid, pid_len) = digits::up_to_seven(*tail[23..].first_chunk()?)?;
        let behind_pid = 23 + pid_len;
        if tail[20..23] != *b":0:" || tail.get(behind_pid..behind_pid + 4)? != b":0:(" {
            return None;
        }
        Some(Self {
            cpu,
            context: Some(context),
            first: false,
            time_us: second.time_us + i64::try_from(micros).ok()?,
            stack: 0,
            pid: u32::try_from(pid).ok()?,
            extern_pid: 0,
            len: dot + behind_pid + 4,
        })
    }

    /// Reads the numbers in all forms that there are.
    fn parse(line: &[u8]) -> Option<Self> {
        let mut cursor = Cursor { line, at: 18 };
        let cpu = cursor.number(u32::MAX)?;
        let context = if cursor.eat(b'.') {
            Some(match cursor.digit(2)? {
                0 => Context::Process,
                1 => Context::SoftIrq,
                _ => Context::HardIrq,
            })
        } else {
            None
        };
        let first = cursor.eat(b'F');
        cursor.expect(b':')?;
        let time_us = cursor.time_us()?;
        cursor.expect(b':')?;
        let stack = cursor.digit(u32::MAX)?;
        cursor.expect(b':')?;
        let pid = cursor.number(u32::MAX)?;
        cursor.expect(b':')?;
        let extern_pid = cursor.digit(u32::MAX)?;
        cursor.expect(b':')?;
        cursor.expect(b'(')?;
        Some(Self { cpu, context, first, time_us, stack, pid, extern_pid, len: cursor.at })
    }

    /// Writes the header that has these numbers, and more.
    #[inline(always)]
    fn write<'a>(&self, line: &'a [u8], kind: Kind, names: SiteNames, header: &mut Header<'a>) -> Option<()> {
        let site = line.get(self.len..)?;
        let file = site.get(..names.file_len)?;
        let function = site.get(names.function_at..names.function_at + names.function_len)?;
        let record = &mut header.record;
        record.subsystem = kind.subsystem;
        record.mask = kind.mask;
        record.cpu = self.cpu;
        record.context = self.context;
        record.first = self.first;
        record.time_us = self.time_us;
        record.stack = self.stack;
        record.pid = self.pid;
        record.extern_pid = self.extern_pid;
        record.file = file;
        record.line = names.line;
        record.function = function;
        header.text_at = self.len + names.len;
        Some(())
    }
}

/// The names at the start of `site`: `FILE:LINE:FUNC()) `.
#[inline(always)]
fn known_names(site: &[u8], sites: &mut CallSites) -> Option<SiteNames> {
    // The file's name, the line, and mostly the first letters of the function's name.
    let Some(head) = site.first_chunk::<24>() else { return parse_names(site) };
    let key = head.as_chunks::<8>().0.iter().fold(0_u64, |key, bytes| key.rotate_left(21) ^ u64::from_le_bytes(*bytes));
    let hash = Hash::new(key);
    sites.find(hash, site).or_else(|| {
        let names = parse_names(site)?;
        // Without the blank at its end the text might go on in another way: then the byte in its place must be the same, too.
        let has_end = site.get(..names.len).is_some_and(|text| text.ends_with(HEADER_END));
        let known_len = names.len + usize::from(!has_end);
        if known_len <= site.len() {
            sites.remember(hash, site, known_len, names);
        }
        Some(names)
    })
}

fn parse_names(site: &[u8]) -> Option<SiteNames> {
    let mut cursor = Cursor { line: site, at: 0 };
    let file_len = cursor.until(b':', 64)?.len();
    let line = cursor.number(u32::MAX)?;
    cursor.expect(b':')?;
    let function_at = cursor.at;
    let function_len = cursor.until(b'(', 128)?.len();
    cursor.expect(b')')?;
    cursor.expect(b')')?;
    // `lctl` prints one space; an empty text at the end of the input may have lost it.
    cursor.eat(b' ');
    Some(SiteNames { file_len, function_at, function_len, len: cursor.at, line })
}

/// Length of `1700000000.123456`.
const USUAL_TIME_LEN: usize = 17;

/// A time of ten digits (since 2001), a dot, six digits and a colon.
#[inline(always)]
fn usual_time_us(text: &[u8; USUAL_TIME_LEN + 1]) -> Option<i64> {
    let [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, b'.', u0, u1, u2, u3, u4, u5, b':'] = *text else { return None };
    let high = digits::eight_digits([s0, s1, s2, s3, s4, s5, s6, s7])?;
    let low = digits::eight_digits([s8, s9, u0, u1, u2, u3, u4, u5])?;
    // Seconds beyond 32 bits are read elsewhere, and refused.
    if high >= 40_000_000 {
        return None;
    }
    i64::try_from(high * 100_000_000 + low).ok()
}

impl Second {
    /// What is known at the start: true as any other.
    const EPOCH: Self = Self { text: *b"0000000000.", time_us: 0 };

    /// A second, if it has the form that it has since 2001, and a time in it fits.
    #[cold]
    fn parse(text: &[u8; 11]) -> Option<Self> {
        let [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, b'.'] = *text else { return None };
        let time_us =
            usual_time_us(&[s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, b'.', b'0', b'0', b'0', b'0', b'0', b'0', b':'])?;
        Some(Self { text: *text, time_us })
    }
}

/// Reads a header from left to right.
struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline(always)]
    fn eat(&mut self, byte: u8) -> bool {
        let hit = self.line.get(self.at) == Some(&byte);
        self.at += usize::from(hit);
        hit
    }

    #[inline(always)]
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.eat(byte).then_some(())
    }

    /// A decimal number of at least one digit, at most `max`.
    #[inline(always)]
    fn number(&mut self, max: u32) -> Option<u32> {
        let (value, rest) = digits::dec_short(self.line.get(self.at..)?)?;
        self.at = self.line.len() - rest.len();
        u32::try_from(value).ok().filter(|value| *value <= max)
    }

    /// The same, where it nearly always has one digit.
    #[inline(always)]
    fn digit(&mut self, max: u32) -> Option<u32> {
        match self.line.get(self.at..self.at + 2)? {
            [digit @ b'0'..=b'9', next] if !next.is_ascii_digit() => {
                self.at += 1;
                Some(u32::from(digit - b'0')).filter(|value| *value <= max)
            }
            _ => self.number(max),
        }
    }

    /// `SEC.USEC` in microseconds. The digits behind the dot are a number, too: not all are padded.
    #[inline(always)]
    fn time_us(&mut self) -> Option<i64> {
        if let Some(time) = self.line.get(self.at..).and_then(<[u8]>::first_chunk)
            && let Some(time_us) = usual_time_us(time)
        {
            self.at += USUAL_TIME_LEN;
            return Some(time_us);
        }
        let seconds = self.number(u32::MAX)?;
        self.expect(b'.')?;
        let micros = self.number(999_999)?;
        Some(i64::from(seconds) * 1_000_000 + i64::from(micros))
    }

    /// The bytes up to `stop`, which is consumed; at most `max`, none of them a line break.
    fn until(&mut self, stop: u8, max: usize) -> Option<&'a [u8]> {
        let rest = self.line.get(self.at..)?;
        let window = &rest[..rest.len().min(max)];
        let len = window.iter().position(|&b| b == stop || b == b'\n')?;
        if window[len] == b'\n' {
            return None;
        }
        self.at += len + 1;
        Some(&window[..len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"00000100:00100000:12.0F:1700000000.123456:0:43210:0:(service.c:2543:ptlrpc_server_handle_request()) Handling RPC x\n";

    /// The blank behind the names may have become something else, or nothing.
    #[test]
    fn call_sites_that_are_known_end_where_they_do() {
        let head = "00000100:00100000:12.0:1700000000.123456:0:43210:0:(service.c:2543:f())";
        let ends = [" x\n", "\u{a0}x\n", "x\n", " \n", "\n", "", " ", "  x\n", ") x\n"];
        for before in ends {
            let mut seen = HeaderMemory::new();
            for end in [before].into_iter().chain(ends) {
                let line = format!("{head}{end}").into_bytes();
                let mut header = Header::NONE;
                let read = next_header(&line, 0, &mut seen, &mut header).map(|()| (header.record, header.text_at));
                let alone = header_at(&line, 0).map(|header| (header.record, header.text_at));
                assert_eq!(read, alone, "{before:?} {end:?}");
                assert!(alone.is_some());
            }
        }
    }

    /// What was seen before must not change what a header means, nor whether it is one.
    #[test]
    fn a_header_behind_others_reads_as_it_does_alone() {
        let times =
            ["1700000000.123456", "1700000001.000000", "1700000001.42", "0000000000.000001", "4294967296.000000"];
        let cpus = ["1.0", "12.1", "123.2", "1234.0", "3", "12.0F", "1.3", "x.0", "1x.0", "1.0x", "\0\0.0"];
        let numbers = ["0:1:0", "0:1234567:0", "0:12345678:0", "8:1:0", "0:1:7", "0::0", "0:1", "0:x:0", "0:1:0:"];
        let nul_second = "\0\0\0\0\0\0\0\0\0\0.123456";
        let mut found = 0;
        for text in ["x\n", "a text that is longer than the first bytes of a header, which are looked at at once\n"] {
            for (time, cpu) in times.iter().chain([&nul_second]).flat_map(|time| cpus.map(|cpu| (time, cpu))) {
                for numbers in numbers {
                    let line = format!("00000100:00100000:{cpu}:{time}:{numbers}:(a.c:1:f()) {text}").into_bytes();
                    let mut seen = HeaderMemory::new();
                    for before in [None, Some(LINE)] {
                        let mut header = Header::NONE;
                        if let Some(before) = before {
                            next_header(before, 0, &mut seen, &mut header).unwrap();
                        }
                        let read =
                            next_header(&line, 0, &mut seen, &mut header).map(|()| (header.record, header.text_at));
                        let alone = header_at(&line, 0).map(|header| (header.record, header.text_at));
                        assert_eq!(read, alone, "{}", line.escape_ascii());
                        found += usize::from(alone.is_some());
                    }
                }
            }
        }
        // Both texts, twice: four of the times, six of the CPUs, five of the other numbers.
        assert_eq!(found, 2 * 2 * 4 * 6 * 5);
    }
}
