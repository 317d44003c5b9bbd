//! A text log for whoever writes it again: pieces of whole records, as they were logged.

use std::io::{self, Read};

use crate::decode::reader::TextReader;
use crate::envelope::repair;
use crate::plan::DEFAULT_CHUNK_BYTES;

/// Calls `piece` with each piece of a text log, as `lctl` printed it, and with what was left out of the piece because it is no record.
///
/// # Errors
/// Those of reading, and those of `piece`.
pub fn logged_text(
    stream: Box<dyn Read + Send>,
    mut piece: impl FnMut(&[u8], &[&[u8]]) -> io::Result<()>,
) -> io::Result<()> {
    let mut reader = TextReader::new(stream, DEFAULT_CHUNK_BYTES);
    while let Some(chunk) = reader.next_chunk()? {
        let (text, left_out) = repair::as_logged(&chunk.bytes);
        let left_out: Vec<&[u8]> =
            left_out.iter().map(|skipped| &chunk.bytes[skipped.offset..skipped.offset + skipped.len]).collect();
        piece(&text, &left_out)?;
    }
    Ok(())
}
