//! Undoes the wrap of a daemon file.
//!
//! When the debug daemon's file reaches its size limit, the kernel goes on at offset 0 without a mark
//! (`cfs_tracefile`, Lustre 2.5 to master): the newest records are at the beginning, the oldest follow,
//! and, if the file was once longer, leftovers of an even older lap come last.

use std::io;
use std::ops::Range;

use lustre_debuglog::frame::HeaderLayout;
use lustre_debuglog::frame::binary::{self, Framer, Step};
use rustc_hash::FxHashMap;

use super::reader::append_at;
use crate::kept::Spooled;

/// The kernel accepts no smaller limit (`tracefile.c`: 10 to 20480 MiB).
const SMALLEST_RING: u64 = 10 << 20;

/// A file whose last record is this much younger than its first is not looked at more closely: a ring's
/// first and last records are neighbours in time, apart by about one flush of the kernel's buffers (1 s).
const NEIGHBOURS_US: i64 = 60_000_000;

/// How far the records just before a wrap may reach into the time of those just after it.
const PASS_US: i64 = 5_000_000;

/// The stretches of the daemon's segment in the order in which they were written. Only one that reached its size limit
/// `may_wrap`, and only that is looked at.
pub(crate) fn in_order_of_writing(
    source: &Spooled,
    layout: HeaderLayout,
    may_wrap: bool,
) -> io::Result<Vec<Range<u64>>> {
    if may_wrap { laps_in_order(source, layout) } else { Ok(std::iter::once(0..source.len()).collect()) }
}

/// The segments of a binary log in the order in which they were written; one, unless it has wrapped.
pub(crate) fn laps_in_order(source: &Spooled, layout: HeaderLayout) -> io::Result<Vec<Range<u64>>> {
    let whole = 0..source.len();
    if whole.end < SMALLEST_RING || !may_have_wrapped(source, layout)? {
        return Ok(vec![whole]);
    }
    let laps = scan(source, layout)?;
    let Some((newest, older)) = laps.split_first() else { return Ok(vec![whole]) };
    // A clock that was set back looks similar, but what follows it does not end where the file begins.
    if older.is_empty() || older.iter().any(|lap| lap.last_us > newest.first_us + PASS_US) {
        return Ok(vec![whole]);
    }
    Ok(laps.into_iter().rev().map(|lap| lap.bytes).collect())
}

/// Whether the last record is not clearly younger than the first.
fn may_have_wrapped(source: &Spooled, layout: HeaderLayout) -> io::Result<bool> {
    const TAIL: usize = 4 * binary::MAX_RECORD;
    let mut head = Vec::new();
    append_at(source, 0, &mut head, TAIL)?;
    let mut tail = Vec::new();
    append_at(source, source.len().saturating_sub(TAIL as u64), &mut tail, TAIL)?;
    let mut records = binary::BinaryRecords::new(&head, layout).flatten();
    let first = records.next().map(|(record, _)| record.time_us);
    let last = binary::BinaryRecords::new(&tail, layout).flatten().map(|(record, _)| record.time_us).max();
    Ok(first.zip(last).is_some_and(|(first, last)| last < first.saturating_add(NEIGHBOURS_US)))
}

/// A stretch of the file in which no stream goes back in time.
#[derive(Debug)]
struct Lap {
    bytes: Range<u64>,
    first_us: i64,
    last_us: i64,
}

fn scan(source: &Spooled, layout: HeaderLayout) -> io::Result<Vec<Lap>> {
    let mut laps: Vec<Lap> = Vec::new();
    let mut latest: FxHashMap<u32, i64> = FxHashMap::default();
    let mut framer = Framer::new(layout);
    let mut buffer = Vec::new();
    let (mut position, mut used) = (0u64, 0usize);
    // Where damage that touches the next record began: it belongs to the older lap.
    let mut damage: Option<u64> = None;
    loop {
        let at = position + used as u64;
        match framer.step(&buffer[used..], position + buffer.len() as u64 == source.len()) {
            Step::Record(framed) => {
                let len = framed.len();
                if let Some(record) = framed.read(&buffer[used..], layout) {
                    let time = record.time_us;
                    let back = latest.get(&record.stream()).is_some_and(|&t| time < t);
                    match laps.last_mut() {
                        Some(lap) if !back => {
                            lap.bytes.end = at + len as u64;
                            lap.last_us = lap.last_us.max(time);
                        }
                        _ => {
                            latest.clear();
                            let start = if laps.is_empty() { 0 } else { damage.unwrap_or(at) };
                            if let Some(lap) = laps.last_mut() {
                                lap.bytes.end = start;
                            }
                            laps.push(Lap { bytes: start..at + len as u64, first_us: time, last_us: time });
                        }
                    }
                    latest.insert(record.stream(), time);
                }
                damage = None;
                used += len;
            }
            Step::Skipped(len, _) => {
                damage.get_or_insert(at);
                used += len;
            }
            Step::NeedMore => {
                buffer.drain(..used);
                position += used as u64;
                used = 0;
                if append_at(source, position + buffer.len() as u64, &mut buffer, 4 << 20)? == 0 {
                    break;
                }
            }
            Step::End => break,
        }
    }
    if let Some(lap) = laps.last_mut() {
        lap.bytes.end = source.len();
    }
    Ok(laps)
}
