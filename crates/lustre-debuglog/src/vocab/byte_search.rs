//! Finds a byte that is probably not far away: eight at a time, without a call.
//!
//! Hot: most parts of a message are shorter than a vector register, and for them `memchr` costs more
//! than it saves.

use super::digits::ONES;

/// The place of the first byte that is one of `wanted`.
#[inline(always)]
pub(crate) fn find<const N: usize>(bytes: &[u8], wanted: [u8; N]) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let hits = wanted.iter().fold(0, |hits, byte| hits | first_zero(word ^ (u64::from(*byte) * ONES)));
        if hits != 0 {
            return Some(8 * at + hits.trailing_zeros() as usize / 8);
        }
    }
    let at = tail.iter().position(|byte| wanted.contains(byte))?;
    Some(8 * words.len() + at)
}

/// The place of the last byte that is `wanted`.
#[inline(always)]
pub(crate) fn rfind(bytes: &[u8], wanted: u8) -> Option<usize> {
    let (head, words) = bytes.as_rchunks::<8>();
    for (at, word) in words.iter().enumerate().rev() {
        let hits = zeros(u64::from_le_bytes(*word) ^ (u64::from(wanted) * ONES));
        if hits != 0 {
            return Some(head.len() + 8 * at + 7 - hits.leading_zeros() as usize / 8);
        }
    }
    head.iter().rposition(|byte| *byte == wanted)
}

/// Marks the lowest byte that is zero; of the bytes above it, any may be marked, too.
#[inline(always)]
fn first_zero(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (0x80 * ONES)
}

/// Marks all bytes that are zero, and no others.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    !(((word & (0x7f * ONES)).wrapping_add(0x7f * ONES)) | word) & (0x80 * ONES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts in which each place in turn holds a byte that is wanted, or nearly.
    fn texts() -> impl Iterator<Item = Vec<u8>> {
        (0..40_usize).flat_map(|len| {
            (0..len.max(1)).flat_map(move |at| {
                [b'@', b' ', b'A', b'?', 0xc0, 0, 0x80, 0xff].map(|byte| {
                    let mut text = vec![b'x'; len];
                    text.iter_mut().skip(at).step_by(5).for_each(|to| *to = byte);
                    text
                })
            })
        })
    }

    #[test]
    fn find_agrees_with_position() {
        for text in texts() {
            let want = text.iter().position(|byte| *byte == b'@');
            assert_eq!(find(&text, [b'@']), want, "{}", text.escape_ascii());
            let want = text.iter().position(|byte| [b'A', b'@', b' '].contains(byte));
            assert_eq!(find(&text, [b'A', b'@', b' ']), want, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn rfind_agrees_with_rposition() {
        for text in texts() {
            for wanted in [b'@', b'A', 0, 0x80, 0xff] {
                let want = text.iter().rposition(|byte| *byte == wanted);
                assert_eq!(rfind(&text, wanted), want, "{wanted} in {}", text.escape_ascii());
            }
        }
    }
}
