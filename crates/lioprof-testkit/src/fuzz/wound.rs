//! Wounds of a log: records lost, doubled, swapped, torn, changed, and noise between them.

use super::rng::Rng;

/// A record, or what is left of one.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its bytes, with whatever was done to them.
    pub bytes: Vec<u8>,
    /// Still as it was written, wherever it stands now.
    pub intact: bool,
}

/// Changes a record's header: the part that differs between text and binary.
pub type ChangeHeader = fn(&mut Rng, Vec<u8>) -> Vec<u8>;

/// Wounds some of the records.
#[must_use]
pub fn wound(rng: &mut Rng, records: &[&[u8]], change_header: ChangeHeader) -> Vec<Piece> {
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
#[must_use]
pub fn join(pieces: &[Piece]) -> (Vec<u8>, Vec<usize>) {
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
