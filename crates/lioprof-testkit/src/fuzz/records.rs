//! Records of both forms, and their headers.

use super::rng::Rng;

/// Cuts text into its records: a line that begins with a digit begins one.
#[must_use]
pub fn text_records(log: &[u8]) -> Vec<&[u8]> {
    let mut starts: Vec<usize> =
        (0..log.len()).filter(|&at| (at == 0 || log[at - 1] == b'\n') && log[at].is_ascii_digit()).collect();
    starts.push(log.len());
    starts.windows(2).map(|pair| &log[pair[0]..pair[1]]).collect()
}

/// Cuts a binary log into its records by the lengths in their headers.
#[must_use]
pub fn binary_records(log: &[u8]) -> Vec<&[u8]> {
    let mut rest = log;
    let mut records = Vec::new();
    while let Some(len) = rest.first_chunk() {
        let (record, after) = rest.split_at(u32::from_le_bytes(*len) as usize);
        records.push(record);
        rest = after;
    }
    records
}

/// Replaces one field of a text header.
#[must_use]
pub fn change_text_header(rng: &mut Rng, mut record: Vec<u8>) -> Vec<u8> {
    let colons: Vec<usize> = memchr::memchr_iter(b':', &record).take(9).collect();
    if colons.len() < 2 {
        return record;
    }
    let at = rng.below(colons.len() - 1);
    let values: [&[u8]; 8] =
        [b"", b"0", b"F", b"ffffffff", b"18446744073709551616", b"4294967295.999999", b"1.2F", b"-1"];
    let value = rng.pick(&values);
    drop(record.splice(colons[at] + 1..colons[at + 1], value.iter().copied()));
    record
}

/// Replaces one field of a binary header.
#[must_use]
pub fn change_binary_header(rng: &mut Rng, mut record: Vec<u8>) -> Vec<u8> {
    let fields =
        [(0, 4), (4, 4), (8, 4), (12, 4), (16, 2), (18, 2), (20, 4), (24, 8), (32, 4), (36, 4), (40, 4), (44, 4)];
    let (at, len) = rng.pick(&fields);
    let little = rng.next() % 4096;
    let value = rng.pick(&[0, 1, 47, 48, 53, little, 65_536, 65_537, 1_000_000, u64::from(u32::MAX), u64::MAX]);
    if let Some(field) = record.get_mut(at..at + len) {
        field.copy_from_slice(&value.to_le_bytes()[..len]);
    }
    record
}
