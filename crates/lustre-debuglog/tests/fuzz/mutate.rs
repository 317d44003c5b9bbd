//! Damage to logs, reproducible by a seed: what the fuzz tests of this crate and of `lioprof-analysis` share.
//!
//! `LIOPROF_FUZZ_ITERATIONS` sets how many inputs a test makes (slow ones make a share of them), and
//! `LIOPROF_FUZZ_SEED` the seed of the first one. A failure prints the seed of its input:
//! `LIOPROF_FUZZ_SEED=<seed> LIOPROF_FUZZ_ITERATIONS=1` repeats it.

use std::ops::Range;

/// Iterations if the environment names no other number.
const ITERATIONS: u64 = 300;

/// Runs `test` once per iteration, or for one in `share`, each with random numbers of its own.
pub(crate) fn for_each_seed(share: u64, test: impl Fn(&mut Rng)) {
    let number = |name: &str| {
        std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap_or_else(|_| panic!("{name}={text}: no number")))
    };
    let first = number("LIOPROF_FUZZ_SEED").unwrap_or(1);
    let count = number("LIOPROF_FUZZ_ITERATIONS").unwrap_or(ITERATIONS).div_ceil(share);
    for seed in first..first + count {
        let told = SeedOnPanic(seed);
        test(&mut Rng(seed));
        drop(told);
    }
}

struct SeedOnPanic(u64);

impl Drop for SeedOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with LIOPROF_FUZZ_SEED={}", self.0);
        }
    }
}

/// Random numbers (SplitMix64): small, and the same for ever.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Less than `limit`, which must not be 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A stretch inside `len` bytes, at least one byte long.
    fn stretch(&mut self, len: usize) -> Range<usize> {
        let (a, b) = (self.below(len), self.below(len));
        a.min(b)..a.max(b) + 1
    }
}

/// A record, or what is left of one.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    /// Still as it was written, wherever it stands now.
    pub(crate) intact: bool,
}

/// Changes a record's header: the part that differs between text and binary.
pub(crate) type ChangeHeader = fn(&mut Rng, Vec<u8>) -> Vec<u8>;

/// Wounds some of the records.
pub(crate) fn wound(rng: &mut Rng, records: &[&[u8]], change_header: ChangeHeader) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = records.iter().map(|record| Piece { bytes: record.to_vec(), intact: true }).collect();
    for _ in 0..=rng.below(6) {
        if pieces.is_empty() {
            break;
        }
        let at = rng.below(pieces.len());
        match rng.below(10) {
            0 => drop(pieces.remove(at)),
            1 => {
                let again = pieces[at].clone();
                let to = rng.below(pieces.len() + 1);
                pieces.insert(to, again);
            }
            2 => {
                let other = rng.below(pieces.len());
                pieces.swap(at, other);
            }
            3 => {
                let noise = noise(rng);
                pieces.insert(at, Piece { bytes: noise, intact: false });
            }
            _ => {
                let other = pieces[rng.below(pieces.len())].bytes.clone();
                let piece = &mut pieces[at];
                change(rng, &mut piece.bytes, &other, change_header);
                piece.intact = false;
            }
        }
    }
    pieces
}

/// Changes one record.
fn change(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8], change_header: ChangeHeader) {
    if bytes.is_empty() {
        return;
    }
    let stretch = rng.stretch(bytes.len());
    match rng.below(8) {
        0 => {
            for _ in 0..=rng.below(4) {
                let at = rng.below(bytes.len());
                bytes[at] ^= 1 << rng.below(8);
            }
        }
        1 => drop(bytes.drain(stretch)),
        2 => bytes.truncate(stretch.start),
        3 => bytes[stretch].fill(0),
        4 => {
            let noise = noise(rng);
            drop(bytes.splice(stretch.start..stretch.start, noise));
        }
        5 => {
            // The head of one and the tail of another, as after a ring has wrapped.
            bytes.truncate(stretch.start);
            bytes.extend_from_slice(&other[rng.below(other.len() + 1)..]);
        }
        _ => *bytes = change_header(rng, std::mem::take(bytes)),
    }
}

/// Bytes that are no record.
fn noise(rng: &mut Rng) -> Vec<u8> {
    let len = 1 + rng.below(120);
    match rng.below(4) {
        0 => vec![0; len],
        1 => vec![b'\n'; 1 + len % 3],
        2 => (0..len).map(|_| rng.byte()).collect(),
        _ => (0..len).map(|_| rng.pick(b"0123456789abcdef:.()F \n")).collect(),
    }
}

/// The pieces one after the other, and where each begins.
pub(crate) fn join(pieces: &[Piece]) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::new();
    let offsets = pieces
        .iter()
        .map(|piece| {
            let at = bytes.len();
            bytes.extend_from_slice(&piece.bytes);
            at
        })
        .collect();
    (bytes, offsets)
}

/// Cuts text into its records: a line that begins with a digit begins one.
pub(crate) fn text_records(log: &[u8]) -> Vec<&[u8]> {
    let mut starts: Vec<usize> =
        (0..log.len()).filter(|&at| (at == 0 || log[at - 1] == b'\n') && log[at].is_ascii_digit()).collect();
    starts.push(log.len());
    starts.windows(2).map(|pair| &log[pair[0]..pair[1]]).collect()
}

/// Cuts a binary log into its records by the lengths in their headers.
pub(crate) fn binary_records(log: &[u8]) -> Vec<&[u8]> {
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
pub(crate) fn change_text_header(rng: &mut Rng, mut record: Vec<u8>) -> Vec<u8> {
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
pub(crate) fn change_binary_header(rng: &mut Rng, mut record: Vec<u8>) -> Vec<u8> {
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
