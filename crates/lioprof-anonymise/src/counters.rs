//! What `lctl get_param` prints: `NAME=VALUE`, or `NAME=` and lines of counters.
//!
//! Each line is taken apart by itself. A line that holds anything unknown is dropped and counted under the parameter's last name.

use std::io::{self, Write};

use crate::names::{Names, Pseudonyms};
use crate::piece::{Piece, Pieces};
use crate::recognise;
use crate::rewrite::{self, Dropped, REMOVED};
use crate::vocabulary;

/// How much of a file tells what it is.
pub(crate) const PROBE_BYTES: usize = 64 << 10;

/// Whether a text is what `lctl get_param` prints: its first line of more than blanks begins with the name of a parameter.
pub(crate) fn is_counters(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    lines.next().is_some_and(|line| parameter(line).is_some())
}

/// `a.b.c` of `a.b.c=..`.
fn parameter(line: &[u8]) -> Option<&[u8]> {
    let name = &line[..memchr::memchr(b'=', line)?];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'@' | b'*');
    let first = name.split(|byte| *byte == b'.').next()?;
    let is_name = name.iter().all(is_part) && first.iter().any(u8::is_ascii_lowercase);
    let is_known = vocabulary::is_of_counters(first) || matches!(first, b"debug" | b"version" | b"memused" | b"at_max");
    (is_name && is_known).then_some(name)
}

/// Collects the names in counters.
pub(crate) fn collect(text: &[u8], names: &mut Names) {
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let pieces = split(line);
        if !is_unknown(&pieces) {
            pieces.iter().for_each(|piece| names.add_piece(*piece));
        }
    }
}

/// Writes counters with pseudonyms.
pub(crate) fn rewrite(
    text: &[u8],
    pseudonyms: &Pseudonyms,
    dropped: &mut Dropped,
    out: &mut dyn Write,
) -> io::Result<u64> {
    let (mut counter, mut lines, mut written) = ("other".to_owned(), 0, Vec::new());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let pieces = split(line);
        if let Some(name) = parameter(line) {
            // The last part names the counter, unless it is itself a name.
            let last = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
            let known = vocabulary::is_of_counters(last) || vocabulary::is_known(last);
            counter = if known { String::from_utf8_lossy(last).into_owned() } else { "other".to_owned() };
        }
        written.clear();
        if is_unknown(&pieces) {
            *dropped.lines.entry(counter.clone()).or_default() += 1;
            written.extend_from_slice(REMOVED);
            written.extend_from_slice(if line.ends_with(b"\n") { b"\n" } else { b"" });
        } else {
            rewrite::write(&pieces, pseudonyms, false, &mut 0, &mut written);
        }
        out.write_all(&written)?;
        lines += 1;
    }
    Ok(lines)
}

fn is_unknown(pieces: &Pieces<'_>) -> bool {
    pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_)))
}

fn split(line: &[u8]) -> Pieces<'_> {
    let mut pieces = Pieces::new();
    // `- job_id:          python3.1000`, in quotes if it holds odd bytes.
    let trimmed = line.trim_ascii_start();
    let job = trimmed.strip_prefix(b"- ").unwrap_or(trimmed).strip_prefix(b"job_id:");
    if let Some(job) = job.map(<[u8]>::trim_ascii) {
        let job = job.strip_prefix(b"\"").and_then(|job| job.strip_suffix(b"\"")).unwrap_or(job);
        let start = (job.as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len());
        pieces.push(Piece::Plain(&line[..start]));
        recognise::job(job, &mut pieces);
        pieces.push(Piece::Plain(&line[start + job.len()..]));
        return pieces;
    }
    recognise::split(line, &mut pieces);
    // Parameters are joined by dots: their parts are words of this list, too.
    let mut known = Pieces::new();
    for piece in pieces {
        match piece {
            Piece::Unknown(text) => parts(text, &mut known),
            other => known.push(other),
        }
    }
    known
}

/// An unknown stretch, cut at dots: known words stay, all else is as unknown as before.
fn parts<'a>(text: &'a [u8], out: &mut Pieces<'a>) {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let is_joint = |byte: &u8| matches!(byte, b'.' | b':');
        let joint = is_joint(&rest[0]);
        let len = rest.iter().position(|byte| is_joint(byte) != joint).unwrap_or(rest.len());
        let part = &rest[..len];
        let known = joint || vocabulary::is_of_counters(part) || vocabulary::is_known(part);
        out.push(if known { Piece::Plain(part) } else { Piece::Unknown(part) });
        at += len;
    }
}
