//! What a segment holds, without decoding it: for segments that are given up.

use std::fs::File;
use std::io;
use std::path::Path;

use lustre_debuglog::frame::binary::BinaryRecords;
use lustre_debuglog::frame::{self, Form, HeaderLayout};
use memchr::memmem::Finder;

use crate::decode::ring;
use crate::input::PROBE_BYTES;
use crate::kept::Spooled;

/// Bytes read at a time.
const CHUNK_BYTES: usize = 1 << 20;
/// The end of a binary record's last name, then the beginning of the message that every handled RPC ends with
/// (ptlrpc `service.c`, all versions).
const HANDLED: &[u8] = b"\0Handled RPC ";

/// Opens a debug daemon's file; its first bytes, as many as [`PROBE_BYTES`] has room for, and its layout, if it is one.
pub(crate) fn open_daemon_file(path: &Path) -> io::Result<(Spooled, Vec<u8>, Option<HeaderLayout>)> {
    let file = Spooled::file(File::open(path)?)?;
    let mut bytes = vec![0; PROBE_BYTES];
    let got = file.read_full_at(0, &mut bytes)?;
    let layout = match frame::detect(&bytes[..got], got < PROBE_BYTES) {
        Some(Form::Binary(layout)) => Some(layout),
        _ => None,
    };
    Ok((file, bytes, layout))
}

/// Whether the end of a debug daemon's file is in the middle of a record, or holds none: the kernel writes whole records, so
/// somebody or something cut it.
///
/// # Errors
/// If the file cannot be read.
pub fn is_cut(path: &Path) -> io::Result<bool> {
    let (file, mut bytes, layout) = open_daemon_file(path)?;
    let len = file.len();
    let Some(layout) = layout else { return Ok(len > 0) };
    let got = file.read_full_at(len.saturating_sub(PROBE_BYTES as u64), &mut bytes)?;
    Ok(BinaryRecords::new(&bytes[..got], layout).last().is_none_or(|last| last.is_err()))
}

/// What a segment holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentScan {
    /// Time of the first record, microseconds since the epoch.
    pub first_us: Option<i64>,
    /// Time of the last record.
    pub last_us: Option<i64>,
    /// RPCs whose end is in it.
    pub rpcs: u64,
    /// Places where the kernel began to overwrite it: what was there is in no segment.
    pub torn_seams: u64,
}

impl SegmentScan {
    /// Looks through a debug daemon's file; nothing is found in anything else. `may_wrap`: it reached its size limit.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of(path: &Path, may_wrap: bool) -> io::Result<Self> {
        let (file, mut bytes, layout) = open_daemon_file(path)?;
        let Some(layout) = layout else { return Ok(Self::default()) };
        let times = |bytes: &[u8]| -> Vec<i64> {
            BinaryRecords::new(bytes, layout).flatten().map(|(record, _)| record.time_us).collect()
        };
        let stretches = ring::in_order_of_writing(&file, layout, may_wrap)?;
        let (first, last) = (&stretches[0], &stretches[stretches.len() - 1]);
        let got = file.read_full_at(first.start, &mut bytes)?;
        let first_us = times(&bytes[..got]).first().copied();
        let probe = PROBE_BYTES.min(usize::try_from(last.end - last.start).unwrap_or(PROBE_BYTES));
        let got = file.read_full_at(last.end - probe as u64, &mut bytes[..probe])?;
        let last_us = times(&bytes[..got]).into_iter().max();
        Ok(Self { first_us, last_us, rpcs: handled(&file)?, torn_seams: stretches.len() as u64 - 1 })
    }
}

fn handled(file: &Spooled) -> io::Result<u64> {
    let finder = Finder::new(HANDLED);
    let mut bytes = vec![0; CHUNK_BYTES];
    let (mut at, mut rpcs) = (0, 0);
    loop {
        let got = file.read_full_at(at, &mut bytes)?;
        rpcs += finder.find_iter(&bytes[..got]).count() as u64;
        if got < CHUNK_BYTES {
            return Ok(rpcs);
        }
        // What begins at the end of this chunk is found in the next one.
        at += (got - HANDLED.len() + 1) as u64;
    }
}
