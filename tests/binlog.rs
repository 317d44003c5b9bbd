//! Binary logs taken apart and put together again, to split them at record boundaries and to wound them.
//! It shares nothing with the product.

use std::ops::Range;

const HEADER: usize = 48;

/// An undamaged binary log, record by record.
#[derive(Clone)]
pub(crate) struct BinaryLog {
    bytes: Vec<u8>,
    records: Vec<Range<usize>>,
}

impl BinaryLog {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        let mut records = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let length = u32_at(&bytes, at) as usize;
            assert!(length > HEADER && at + length <= bytes.len(), "no record at byte {at}");
            records.push(at..at + length);
            at += length;
        }
        Self { bytes, records }
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn record(&self, index: usize) -> &[u8] {
        &self.bytes[self.records[index].clone()]
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of some records.
    pub(crate) fn slice(&self, records: Range<usize>) -> &[u8] {
        &self.bytes[self.offset(records.start)..self.offset(records.end)]
    }

    /// Where a record begins; the end for the number of records.
    pub(crate) fn offset(&self, index: usize) -> usize {
        self.records.get(index).map_or(self.bytes.len(), |range| range.start)
    }

    /// Seconds and microseconds.
    pub(crate) fn time_us(&self, index: usize) -> u64 {
        let record = self.record(index);
        u64::from(u32_at(record, 20)) * 1_000_000 + u64_at(record, 24)
    }

    /// Bits of the debug mask.
    pub(crate) fn mask(&self, index: usize) -> u32 {
        u32_at(self.record(index), 12)
    }

    /// CPU and context: the kernel's buffer it went through.
    pub(crate) fn stream(&self, index: usize) -> (u16, u16) {
        let record = self.record(index);
        (u16_at(record, 16), u16_at(record, 18))
    }

    /// First record after its buffer was empty.
    pub(crate) fn is_first(&self, index: usize) -> bool {
        u32_at(self.record(index), 4) & 1 == 1
    }

    pub(crate) fn contains(&self, index: usize, text: &str) -> bool {
        self.record(index).windows(text.len()).any(|window| window == text.as_bytes())
    }

    /// All records, each changed by `change`.
    pub(crate) fn map(&self, mut change: impl FnMut(usize, &mut [u8])) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for (index, range) in self.records.iter().enumerate() {
            change(index, &mut bytes[range.clone()]);
        }
        bytes
    }
}

/// Moves a record's time.
pub(crate) fn shift_seconds(record: &mut [u8], seconds: i32) {
    let moved = u32_at(record, 20).checked_add_signed(seconds).unwrap();
    record[20..24].copy_from_slice(&moved.to_le_bytes());
}

/// The header as a machine of the other byte order writes it.
pub(crate) fn swap_byte_order(record: &mut [u8]) {
    let fields = [0..4, 4..8, 8..12, 12..16, 16..18, 18..20, 20..24, 24..32, 32..36, 36..40, 40..44, 44..48];
    for field in fields {
        record[field].reverse();
    }
}

/// The header as Lustre 1.8 writes it: no flags, and one 32-bit CPU instead of CPU and context.
pub(crate) fn as_version_1(record: &mut [u8]) {
    record[4..8].fill(0);
    record[18..20].fill(0);
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().unwrap()
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}
