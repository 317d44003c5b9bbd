//! What the kernel had logged before a capture began. It does not belong to the capture.

use std::io;
use std::path::Path;

use lustre_debuglog::frame::binary::BinaryRecords;
use lustre_debuglog::frame::{self, Form};
use serde::{Deserialize, Serialize};

/// Records that were in the kernel's buffer before a capture began, and were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LeftOut {
    /// Number of records; 0 if there were none, or the file could not be read as a log.
    pub(crate) records: u64,
    /// Size of the file that they filled, bytes.
    pub(crate) bytes: u64,
    /// Time of the oldest, microseconds since the epoch.
    pub(crate) first_us: Option<i64>,
    /// There were more records than counted: the file could not hold them all.
    pub(crate) at_least: bool,
}

impl LeftOut {
    /// Counts the records of a file that the kernel's thread has written.
    /// Fails if it cannot be read; that there is none is no error.
    pub(crate) fn of(path: &Path, limit_bytes: u64) -> io::Result<Self> {
        let bytes = match std::fs::read(path) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read?,
        };
        let mut found =
            Self { bytes: bytes.len() as u64, at_least: bytes.len() as u64 >= limit_bytes, ..Self::default() };
        if let Some(Form::Binary(layout)) = frame::detect(&bytes, true) {
            for (record, _) in BinaryRecords::new(&bytes, layout).flatten() {
                found.records += 1;
                found.first_us = found.first_us.into_iter().chain([record.time_us]).min();
            }
        }
        Ok(found)
    }

    /// Adds those of a later capture.
    pub(crate) fn add(&mut self, other: Self) {
        self.records += other.records;
        self.bytes += other.bytes;
        self.first_us = self.first_us.into_iter().chain(other.first_us).min();
        self.at_least |= other.at_least;
    }
}
