//! Lines that were broken: put together again.
//!
//! Mail clients break at blanks (and drop them), terminals and editors after so many columns, in mid-word. What fits the grammar of a
//! message counts. Of what can be longer in several ways, because it ends in a free text (a job, a mark), the shortest fits: remarks
//! stand between the lines of a log, too.

use lustre_debuglog::Message;

use super::characters;
use super::kinds::Repair;

/// Longest text put together: `lctl` prints no longer ones (`debug.c`, a buffer of 4097 bytes).
const MAX_TEXT: usize = 8192;

/// Most lines that a text is put together of: the longest text in columns of 64.
const MAX_BREAKS: usize = 64;

/// A text that fits the grammar, made of the first `lines`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) text: Vec<u8>,
    /// Lines behind the first one that it is made of.
    pub(crate) breaks: usize,
    /// What else was done to it.
    pub(crate) repair: Option<Repair>,
}

/// What stood where the line was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Break {
    /// A line break: the message has one.
    Line,
    /// Nothing.
    Nothing,
    /// A blank.
    Blank,
    /// A blank, but nothing where the line is as long as the longest.
    ByWidth,
}

/// Puts the text of a record together. `lines` are its pieces, the first one behind the header; `widths` the lengths of the lines as they
/// arrived. `None`: nothing that fits the grammar can be made of them.
pub(crate) fn whole(lines: &[&[u8]], widths: &[usize]) -> Option<Whole> {
    let lines = lines.get(..=MAX_BREAKS).unwrap_or(lines);
    let widths = widths.get(..=MAX_BREAKS).unwrap_or(widths);
    if let Some((text, breaks)) = put_together(lines, widths) {
        return Some(Whole { text, breaks, repair: None });
    }
    if !lines.iter().any(|line| characters::is_suspicious(line)) {
        return None;
    }
    let plain: Vec<Vec<u8>> = lines.iter().map(|line| characters::plain(line)).collect();
    let mut plain: Vec<&[u8]> = plain.iter().map(|line| unquoted(line)).collect();
    // The blank at the end of the header may have been one of the characters.
    plain[0] = plain[0].trim_ascii_start();
    if let Some((text, breaks)) = put_together(&plain, widths) {
        return Some(Whole { text, breaks, repair: Some(Repair::Characters) });
    }
    // The words that stand for the sign may be broken, too: ` at` at the end of a line.
    let padded: Vec<Vec<u8>> = plain.iter().map(|line| at_ends(line)).collect();
    let signs: Vec<Vec<u8>> =
        padded.iter().map(|line| characters::with_at_signs(line).unwrap_or_else(|| line.clone())).collect();
    let signs: Vec<&[u8]> = signs.iter().map(Vec::as_slice).collect();
    let (text, breaks) = put_together(&signs, widths)?;
    Some(Whole { text, breaks, repair: Some(Repair::AtSign) })
}

/// Quoted-printable ends a line that goes on with `=`.
fn unquoted(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"=").unwrap_or(line)
}

/// A line that a break left with ` at` at its end or `at ` at its beginning, with the blank that belongs to it.
fn at_ends(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len() + 2);
    if line.starts_with(b"at ") {
        out.push(b' ');
    }
    out.extend_from_slice(line);
    if line.ends_with(b" at") {
        out.push(b' ');
    }
    out
}

/// A text whose end can be any words: more of them fit, too.
fn ends_freely(text: &[u8]) -> bool {
    [&b"Handling RPC "[..], b"Sending RPC ", b"Completed RPC ", b"DEBUG MARKER: "]
        .iter()
        .any(|words| text.starts_with(words))
}

/// Whether it is a whole message of a known kind.
pub(crate) fn fits(text: &[u8]) -> bool {
    !matches!(Message::parse_text(text), Message::Malformed(_) | Message::Other)
}

fn put_together(lines: &[&[u8]], widths: &[usize]) -> Option<(Vec<u8>, usize)> {
    let (first, last) = (lines.first()?, lines.len() - 1);
    if last == 0 {
        return fits(first).then(|| (first.to_vec(), 0));
    }
    let alone = fits(first);
    let widest = widths.iter().copied().max().unwrap_or(0);
    // At least two lines of full width: then it is the width.
    let full = |i: usize| widths.get(i).is_some_and(|width| *width == widest);
    let is_by_width = full(0) && full(1) && last > 1;
    if alone && ends_freely(first) && !is_by_width {
        return Some((first.to_vec(), 0));
    }
    let natural_end = (0..=last).find(|&i| !full(i)).unwrap_or(last);
    let line = Joined::of(lines, widths, Break::Line);
    // `DEBUG_REQ` of Lustre to 2.12: the description stands on a line of its own, behind a blank.
    if lines[1].starts_with(b" ")
        && let Some(found) = line.fitting(1..=last.min(3))
    {
        return Some(found);
    }
    let nothing = Joined::of(lines, widths, Break::Nothing);
    if natural_end > 0
        && let Some(found) = nothing.fitting(natural_end..=natural_end)
    {
        return Some(found);
    }
    let blank = Joined::of(lines, widths, Break::Blank);
    for joined in [&blank, &nothing, &Joined::of(lines, widths, Break::ByWidth), &line] {
        if let Some(found) = joined.fitting(1..=last) {
            return Some(found);
        }
    }
    alone.then(|| (first.to_vec(), 0))
}

/// Lines put together in one way, and where each ends in it.
struct Joined {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Joined {
    fn of(lines: &[&[u8]], widths: &[usize], way: Break) -> Self {
        let widest = widths.iter().copied().max().unwrap_or(0);
        let mut joined = Self { text: Vec::new(), ends: Vec::new() };
        for (i, line) in lines.iter().enumerate() {
            if joined.text.len() + line.len() > MAX_TEXT {
                break;
            }
            if i > 0 {
                match way {
                    Break::Line => joined.text.push(b'\n'),
                    Break::ByWidth if widths.get(i - 1) == Some(&widest) => {}
                    Break::Blank | Break::ByWidth => joined.blank(line),
                    Break::Nothing => {}
                }
            }
            joined.text.extend_from_slice(line);
            joined.ends.push(joined.text.len());
        }
        joined
    }

    /// A blank, unless there is one. Not at the beginning: headers end in one.
    fn blank(&mut self, next: &[u8]) {
        let is_there = self.text.last().is_none_or(|byte| *byte == b' ') || next.starts_with(b" ");
        if !is_there {
            self.text.push(b' ');
        }
    }

    /// The longest text that fits, of those with so many breaks; of one with a free end the shortest.
    fn fitting(&self, breaks: std::ops::RangeInclusive<usize>) -> Option<(Vec<u8>, usize)> {
        let mut candidates = breaks.filter_map(|breaks| Some((self.text.get(..*self.ends.get(breaks)?)?, breaks)));
        let found = if ends_freely(&self.text) {
            candidates.find(|(text, _)| fits(text))
        } else {
            let mut all: Vec<_> = candidates.collect();
            all.reverse();
            all.into_iter().find(|(text, _)| fits(text))
        };
        found.map(|(text, breaks)| (text.to_vec(), breaks))
    }
}
