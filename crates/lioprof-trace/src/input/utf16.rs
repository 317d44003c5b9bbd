//! Text of two bytes per character, as Windows writes it.

use std::io::Read;

use encoding_rs::Encoding;
use encoding_rs_io::DecodeReaderBytesBuilder;

/// The encoding of a text of two bytes per character: by its mark, or by the NULs beside its digits.
pub(super) fn encoding_of(head: &[u8]) -> Option<&'static Encoding> {
    let low_first = |pair: &[u8]| pair[0].is_ascii_graphic() && pair[1] == 0;
    let high_first = |pair: &[u8]| pair[0] == 0 && pair[1].is_ascii_graphic();
    let start = head.get(..16);
    match head {
        [0xff, 0xfe, ..] => Some(encoding_rs::UTF_16LE),
        [0xfe, 0xff, ..] => Some(encoding_rs::UTF_16BE),
        _ if start.is_some_and(|start| start.chunks_exact(2).all(low_first)) => Some(encoding_rs::UTF_16LE),
        _ if start.is_some_and(|start| start.chunks_exact(2).all(high_first)) => Some(encoding_rs::UTF_16BE),
        _ => None,
    }
}

/// The same text as UTF-8.
pub(super) fn utf8(stream: Box<dyn Read + Send>, encoding: &'static Encoding) -> Box<dyn Read + Send> {
    Box::new(DecodeReaderBytesBuilder::new().encoding(Some(encoding)).build(stream))
}
