//! What archives begin with.

use tar::Header;

/// Headers and data come in blocks of this size.
pub(super) const BLOCK: usize = 512;
/// Where the mark `ustar` is in a header (POSIX.1-1988 and GNU).
pub(super) const USTAR_AT: usize = 257;

/// Whether what begins so is a tar archive: by the sum of the first header, which the oldest ones have, too, or by its mark.
pub(crate) fn is_tar(head: &[u8]) -> bool {
    let Some(block) = head.get(..BLOCK) else { return false };
    sum_is_right(Header::from_byte_slice(block)) || block[USTAR_AT..].starts_with(b"ustar")
}

/// Whether the bytes of a header add up to what it says.
pub(super) fn sum_is_right(header: &Header) -> bool {
    let bytes = header.as_bytes().iter().enumerate();
    // The field itself counts as blanks.
    let sum: u32 = bytes.map(|(at, &byte)| if (148..156).contains(&at) { 32 } else { u32::from(byte) }).sum();
    header.cksum().is_ok_and(|said| said == sum)
}

/// Whether what begins so is a zip archive: a member, the end of an empty one, or a mark that old programs put in front.
pub(crate) fn is_zip(head: &[u8]) -> bool {
    matches!(head, [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] | [b'P', b'K', 7, 8, b'P', b'K', 3, 4, ..])
}
