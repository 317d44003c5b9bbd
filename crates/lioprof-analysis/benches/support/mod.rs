//! Large logs from small ones, for benchmarks and `scripts/bench`.

use std::io::Write;

use lustre_debuglog::Record;
use lustre_debuglog::frame::text::{TextItem, TextRecords};

/// Distance of the xids of one client (Lustre 2.17).
const XID_STEP: u64 = 128;
/// The kernel empties its buffers about this often.
const PASS_US: i64 = 1_000_000;

/// Writes a text log `copies` times, one after the other in time. Each copy holds requests of its own:
/// what joins in the original joins in each copy, and nothing joins across copies.
pub(crate) fn replicate(log: &[u8], copies: u64, out: &mut impl Write) -> std::io::Result<()> {
    let records = records(log);
    let times = || records.iter().map(|record| record.time_us);
    let span = times().max().unwrap_or(0) - times().min().unwrap_or(0) + 1_000;
    let xids = || records.iter().flat_map(|record| xids(record.text).map(|(_, xid)| xid));
    let (low, high) = (xids().min().unwrap_or(0), xids().max().unwrap_or(0));
    let stride = (high - low).next_multiple_of(XID_STEP) + XID_STEP;
    let mut text = Vec::new();
    for copy in 0..copies {
        let later = span * i64::try_from(copy).expect("fewer than 2^63 copies");
        for record in &records {
            text.clear();
            let mut from = 0;
            for (at, xid) in self::xids(record.text) {
                text.extend_from_slice(&record.text[from..at]);
                write!(text, "{}", xid + copy * stride)?;
                from = at + XID_DIGITS;
            }
            text.extend_from_slice(&record.text[from..]);
            let first = record.first && copy == 0;
            Record { time_us: record.time_us + later, first, text: &text, ..*record }.write_text(out)?;
        }
    }
    Ok(())
}

/// The records of a text log.
pub(crate) fn records(log: &[u8]) -> Vec<Record<'_>> {
    let record = |item| if let TextItem::Record(record, _) = item { Some(record) } else { None };
    TextRecords::new(log).filter_map(record).collect()
}

/// An xid is the time when the client started, in 2^-20 s, and a little more: 16 digits until 2255.
const XID_DIGITS: usize = 16;

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

/// The binary form of a text log, in the order in which a kernel writes it: passes of a second, in each
/// the CPUs from the highest to the lowest.
pub(crate) fn to_binary(log: &[u8]) -> Vec<u8> {
    let records = records(log);
    let mut out = Vec::with_capacity(log.len());
    let mut rest = &records[..];
    while let Some(first) = rest.first() {
        let len = rest.iter().position(|record| record.time_us >= first.time_us + PASS_US);
        let (pass, later) = rest.split_at(len.unwrap_or(rest.len()));
        let mut pass = pass.to_vec();
        pass.sort_by_key(|record| (std::cmp::Reverse(record.stream()), record.time_us));
        let mut stream = None;
        for record in pass {
            let first = stream.replace(record.stream()) != Some(record.stream());
            write_binary(&Record { first, ..record }, &mut out);
        }
        rest = later;
    }
    out
}

/// One record as `struct ptldebug_header`, file, function and text.
fn write_binary(record: &Record<'_>, out: &mut Vec<u8>) {
    let narrow = |number: i64| u32::try_from(number).expect("fits a record");
    let len = 48 + record.file.len() + 1 + record.function.len() + 1 + record.text.len();
    let context = record.context.map_or(0, |context| context as u8);
    let micros = u64::from(narrow(record.time_us % 1_000_000));
    for field in [u32::try_from(len).expect("fits a record"), u32::from(record.first), record.subsystem, record.mask] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    out.extend_from_slice(&u16::try_from(record.cpu).expect("fits a record").to_le_bytes());
    out.extend_from_slice(&u16::from(context).to_le_bytes());
    out.extend_from_slice(&narrow(record.time_us / 1_000_000).to_le_bytes());
    out.extend_from_slice(&micros.to_le_bytes());
    for field in [record.stack, record.pid, record.extern_pid, record.line] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    for name in [record.file, record.function] {
        out.extend_from_slice(name);
        out.push(0);
    }
    out.extend_from_slice(record.text);
}
