//! A reader of the kernel's binary log of its own: fixed offsets of `struct ptldebug_header`, little-endian, no resync.

/// One record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Raw {
    /// Seconds and microseconds as one number.
    pub(crate) time_us: u64,
    pub(crate) cpu: u16,
    pub(crate) context: u16,
    pub(crate) first: bool,
    pub(crate) subsystem: u32,
    pub(crate) mask: u32,
    pub(crate) pid: u32,
    pub(crate) line: u32,
    pub(crate) file: String,
    pub(crate) function: String,
    pub(crate) text: String,
    pub(crate) len: usize,
}

fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    (0..width).rev().fold(0, |sum, index| sum << 8 | u64::from(bytes[at + index]))
}

/// Reads one record at the start of `bytes`; panics if there is none.
pub(crate) fn record(bytes: &[u8]) -> Raw {
    let field = |at, width| number(bytes, at, width);
    let len = field(0, 4) as usize;
    assert!((52..=4096).contains(&len) && len <= bytes.len(), "bad length {len} with {} bytes left", bytes.len());
    assert!(field(4, 4) <= 1 && field(32, 4) == 0 && field(40, 4) == 0, "bad header");
    assert!(field(24, 8) < 1_000_000, "bad microseconds");
    let mut rest = bytes[48..len].splitn(3, |&byte| byte == 0);
    let mut part = || String::from_utf8_lossy(rest.next().expect("three parts")).into_owned();
    Raw {
        time_us: field(20, 4) * 1_000_000 + field(24, 8),
        cpu: field(16, 2) as u16,
        context: field(18, 2) as u16,
        first: field(4, 4) == 1,
        subsystem: field(8, 4) as u32,
        mask: field(12, 4) as u32,
        pid: field(36, 4) as u32,
        line: field(44, 4) as u32,
        file: part(),
        function: part(),
        text: part(),
        len,
    }
}

/// Reads all records; panics if one does not begin where the one before ends.
pub(crate) fn records(bytes: &[u8]) -> Vec<Raw> {
    let mut records = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let record = record(&bytes[at..]);
        at += record.len;
        records.push(record);
    }
    records
}
