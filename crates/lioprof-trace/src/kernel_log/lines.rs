//! Lines of a stream, none of them longer than a message of the kernel can be.

use std::io::{BufRead, BufReader, Read};

/// Longest part of a line that is kept: the journal's JSON repeats a message's fields, and a message has 8 KiB at most.
const LONGEST: usize = 64 << 10;

/// Reads a stream line by line, in bounded memory.
pub(super) struct Lines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    /// Bytes read.
    pub(super) bytes: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from: BufReader::new(from), line: Vec::new(), bytes: 0 }
    }

    /// The next line without its line break, cut if it is too long.
    pub(super) fn next(&mut self) -> Option<&[u8]> {
        self.line.clear();
        let mut any = false;
        // A stream that fails has told its damage elsewhere.
        while let Ok(chunk) = self.from.fill_buf() {
            if chunk.is_empty() {
                break;
            }
            any = true;
            let end = memchr::memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let room = LONGEST.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let used = part.len() + usize::from(end.is_some());
            self.bytes += used as u64;
            self.from.consume(used);
            if end.is_some() {
                break;
            }
        }
        any.then_some(&*self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_and_all_bytes_count() {
        let text = [&b"a\n\n"[..], &vec![b'x'; 300_000], b"\nb"].concat();
        let mut lines = Lines::new(&text[..]);
        assert_eq!(lines.next(), Some(&b"a"[..]));
        assert_eq!(lines.next(), Some(&b""[..]));
        assert_eq!(lines.next().map(<[u8]>::len), Some(LONGEST));
        assert_eq!(lines.next(), Some(&b"b"[..]));
        assert_eq!(lines.next(), None);
        assert_eq!(lines.bytes, text.len() as u64);
    }
}
