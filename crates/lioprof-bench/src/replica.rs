//! Copies of a capture, one after the other in time, with requests of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use lustre_debuglog::frame::text::{TextItem, TextRecords};
use lustre_debuglog::message::{NrsAction, NrsMessage};
use lustre_debuglog::{Message, Record};

use crate::log_writer::LogWriter;

/// Distance of the xids of one client (Lustre 2.17).
const XID_STEP: u64 = 128;
/// Time between two copies.
const PAUSE_US: i64 = 1_000;
/// An xid is the time when the client started, in 2^-20 s, and a little more: 16 digits until 2255.
const XID_DIGITS: usize = 16;

/// A capture, ready to be written many times.
///
/// What joins in the capture joins in each copy, and nothing joins across copies: each has later times, other xids,
/// and goes on with the request schedulers' numbers where the copy before ended. The kernel uses pointers, lock
/// cookies and transaction numbers of its own choice; those stay: a copy begins with the locks that were left by the one
/// before, and a cookie that comes up again is a new lock.
#[derive(Clone, Debug)]
pub struct Replica<'a> {
    lines: Vec<CapturedLine<'a>>,
    /// From one copy to the next.
    span_us: i64,
}

/// A record and the numbers in its text that differ between copies.
#[derive(Clone, Debug)]
struct CapturedLine<'a> {
    record: Record<'a>,
    numbers: Vec<GrowingNumber>,
}

/// A number in a text, and by how much it grows from copy to copy.
#[derive(Clone, Copy, Debug)]
struct GrowingNumber {
    at: usize,
    digits: usize,
    value: u64,
    stride: u64,
}

impl<'a> Replica<'a> {
    /// Takes the records of a text log apart.
    #[must_use]
    pub fn of_text(log: &'a [u8]) -> Self {
        let records = records(log);
        let times = || records.iter().map(|record| record.time_us);
        let all_xids = || records.iter().flat_map(|record| xids(record.text).map(|(_, xid)| xid));
        let (low, high) = (all_xids().min().unwrap_or(0), all_xids().max().unwrap_or(0));
        let xid_stride = (high - low).next_multiple_of(XID_STEP) + XID_STEP;
        let scheduled = scheduler_numbers(&records);
        let lines = records.iter().zip(scheduled).map(|(record, scheduled)| {
            let xid = |(at, value)| GrowingNumber { at, digits: XID_DIGITS, value, stride: xid_stride };
            let mut numbers: Vec<GrowingNumber> = xids(record.text).map(xid).collect();
            numbers.extend(scheduled);
            CapturedLine { record: *record, numbers }
        });
        Self { lines: lines.collect(), span_us: times().max().unwrap_or(0) - times().min().unwrap_or(0) + PAUSE_US }
    }

    /// Records of one copy.
    #[must_use]
    pub fn records(&self) -> usize {
        self.lines.len()
    }

    /// Writes whole copies until the binary form has so many bytes; returns how many copies.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write<W: Write>(&self, bytes: u64, out: &mut LogWriter<W>) -> io::Result<u64> {
        let mut copies = 0;
        while out.bytes() < bytes && !self.lines.is_empty() {
            self.write_copy(copies, out)?;
            copies += 1;
        }
        Ok(copies)
    }

    /// Writes one copy; copies are numbered from 0 in the order of their times.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_copy<W: Write>(&self, copy: u64, out: &mut LogWriter<W>) -> io::Result<()> {
        let later_us = i64::try_from(copy).ok().and_then(|copy| self.span_us.checked_mul(copy));
        let later_us = later_us.ok_or_else(|| io::Error::other("more copies than there is time for"))?;
        let mut text = Vec::new();
        for CapturedLine { record, numbers } in &self.lines {
            text.clear();
            let mut from = 0;
            for number in numbers {
                text.extend_from_slice(&record.text[from..number.at]);
                write!(text, "{}", number.value + copy * number.stride)?;
                from = number.at + number.digits;
            }
            text.extend_from_slice(&record.text[from..]);
            out.add(&Record { time_us: record.time_us + later_us, text: &text, ..*record })?;
        }
        Ok(())
    }
}

/// The records of a text log.
#[must_use]
pub fn records(log: &[u8]) -> Vec<Record<'_>> {
    let record = |item| if let TextItem::Record(record, _) = item { Some(record) } else { None };
    TextRecords::new(log).filter_map(record).collect()
}

/// Numbers of 16 digits that stand alone or behind an `x`, with their offsets.
fn xids(text: &[u8]) -> impl Iterator<Item = (usize, u64)> {
    text.windows(XID_DIGITS).enumerate().filter_map(move |(at, digits)| {
        let alone = match text[..at] {
            [.., before, b'x'] => !before.is_ascii_alphanumeric(),
            [.., before] => !before.is_ascii_alphanumeric(),
            [] => true,
        };
        let ends = text.get(at + XID_DIGITS).is_none_or(|after| !after.is_ascii_alphanumeric());
        let number = || std::str::from_utf8(digits).ok()?.parse().ok();
        // Pointers begin with zeros.
        if alone && ends && digits[0] != b'0' && digits.iter().all(u8::is_ascii_digit) {
            Some((at, number()?))
        } else {
            None
        }
    })
}

/// Threads hand out numbers of one counter at the same time: lines may be this far out of order.
const NEIGHBOURS: u64 = 8;

/// A counter of a request scheduler.
#[derive(Clone, Debug)]
struct SchedulerCounter<'a> {
    /// Part of a service, `ll_ost_io00`. Each has two counters, regular and high priority.
    part: &'a [u8],
    numbers: BTreeSet<u64>,
    last: u64,
}

impl SchedulerCounter<'_> {
    /// Whether a number goes on with this counter: adjacent or, with lost or late lines, near.
    fn takes(&self, number: u64) -> bool {
        number.abs_diff(self.last) <= NEIGHBOURS && !self.numbers.contains(&number)
    }

    /// How many numbers it has used up.
    fn span(&self) -> u64 {
        self.numbers.last().zip(self.numbers.first()).map_or(0, |(last, first)| last - first + 1)
    }
}

/// The request scheduler's number in each record that has one. The lines name neither the part of the service nor the
/// counter: the thread's name tells the part, and numbers that hang together are one counter's.
fn scheduler_numbers(records: &[Record<'_>]) -> Vec<Option<GrowingNumber>> {
    let parts = service_parts(records);
    let mut counters: Vec<SchedulerCounter<'_>> = Vec::new();
    // Of each thread: what it is at, and whose number that is.
    let mut at_work: BTreeMap<u32, (u64, usize)> = BTreeMap::new();
    let found: Vec<Option<(u64, usize)>> = records
        .iter()
        .map(|record| {
            let Message::Nrs(NrsMessage { sequence: Some(number), action, .. }) = Message::parse(record) else {
                return None;
            };
            if action == NrsAction::Start {
                let counter = counter_of(&mut counters, parts.get(&record.pid)?, number);
                at_work.insert(record.pid, (number, counter));
            }
            at_work.get(&record.pid).copied().filter(|(started, _)| *started == number)
        })
        .collect();
    let number = |(record, found): (&Record<'_>, Option<(u64, usize)>)| {
        let ((value, counter), text) = (found?, record.message());
        let at = text.iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
        Some(GrowingNumber { at, digits: text.len() - at, value, stride: counters[counter].span() })
    };
    records.iter().zip(found).map(number).collect()
}

/// Service part of each thread.
fn service_parts<'a>(records: &[Record<'a>]) -> BTreeMap<u32, &'a [u8]> {
    let part = |record: &Record<'a>| {
        let Message::Handling(handling) = Message::parse(record) else { return None };
        let thread = handling.thread;
        let end = thread.iter().rposition(|&byte| byte == b'_').unwrap_or(thread.len());
        Some((record.pid, &thread[..end]))
    };
    records.iter().filter_map(part).collect()
}

/// The counter that a number is the next of, a new one if need be.
fn counter_of<'a>(counters: &mut Vec<SchedulerCounter<'a>>, part: &'a [u8], number: u64) -> usize {
    let own = |counter: &SchedulerCounter<'_>| counter.part == part;
    let next = counters.iter().position(|it| own(it) && it.last + 1 == number && !it.numbers.contains(&number));
    let near = || counters.iter().position(|it| own(it) && it.takes(number));
    let counter = next.or_else(near).unwrap_or_else(|| {
        counters.push(SchedulerCounter { part, numbers: BTreeSet::new(), last: number });
        counters.len() - 1
    });
    counters[counter].numbers.insert(number);
    counters[counter].last = number;
    counter
}
