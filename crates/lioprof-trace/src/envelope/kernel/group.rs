//! The lines that one line of the kernel arrived in.

use std::borrow::Cow;

use lustre_debuglog::kernel_log::KernelLine;
use memchr::memmem;

use super::style::Style;
use super::worth::worth;
use crate::envelope::characters;
use crate::envelope::kinds::{Repair, Repairs};
use crate::envelope::prefix::{self, Sender};
use crate::envelope::wrap::{Widths, each_way};

/// Most lines that a line was broken into: the longest, which has 1 KiB, in columns of 64.
const MAX_PIECES: usize = 16;
/// Longest text: `printk` has room for 1 KiB, and characters may stand for one.
const MAX_TEXT: usize = 8 << 10;

/// A line that came behind another.
#[derive(Debug)]
struct Piece {
    text: Vec<u8>,
    /// As it arrived.
    width: usize,
    /// The break before it is the message's own.
    is_own: bool,
}

impl Piece {
    /// Whether the word that `next` begins with does not fit into the same line, if no line is longer than `widest`.
    fn has_no_room(&self, next: &[u8], widest: usize) -> bool {
        let blanks = if is_behind_two_blanks(next) { 2 } else { 1 };
        let word = next.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        self.width + blanks + word > widest
    }
}

/// Whether a text begins with a word that has two blanks before it in messages.
fn is_behind_two_blanks(text: &[u8]) -> bool {
    [&b"req@"[..], b"ns: "].iter().any(|word| text.starts_with(word))
}

/// The lines that one line of the kernel arrived in, as they came but for what stood before them.
#[derive(Debug)]
pub(super) struct Group {
    /// Who sent it.
    pub(super) sender: Option<Sender>,
    /// What stood before its first line.
    prefix: Vec<u8>,
    pieces: Vec<Piece>,
    is_changed: bool,
}

impl Group {
    /// Begins with a line that starts at `start` of `line`; its characters were `is_changed` before that was found.
    pub(super) fn begin(sender: Option<Sender>, line: &[u8], start: usize, is_changed: bool, style: Style) -> Self {
        let (prefix, text) = line.split_at(start);
        let width = style.width(line, text);
        let piece = Piece { text: text[..text.len().min(MAX_TEXT)].to_vec(), width, is_own: false };
        Self { sender, prefix: prefix.to_vec(), pieces: vec![piece], is_changed }
    }

    /// A line behind it, without what stands before its lines.
    pub(super) fn without_prefix<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        let rest = prefix::without(line, &self.prefix, self.pieces.len());
        // Behind a line that was cut, what looks like a part of it is the text's own (`[0-` and `>17]`, quoted by `> `).
        let is_partly = line.len() - rest.len() < self.prefix.len() && !rest.trim_ascii().is_empty();
        if is_partly && self.is_full(0) { line } else { rest }
    }

    /// Whether `line` stands behind the same prefix, which must be there.
    pub(super) fn is_prefixed(&self, line: &[u8]) -> bool {
        !self.prefix.is_empty() && line.starts_with(&self.prefix)
    }

    /// Whether the last line has no room for the word that `next` begins with, if no line is longer than `widest`: then it goes on there.
    pub(super) fn is_broken_before(&self, next: &[u8], widest: usize) -> bool {
        let widest = self.pieces.iter().map(|piece| piece.width).fold(widest, usize::max);
        self.pieces.last().is_some_and(|last| last.has_no_room(next, widest))
    }

    /// Whether the last line is as long as the longest.
    pub(super) fn is_full(&self, widest: usize) -> bool {
        let widest = self.pieces.iter().map(|piece| piece.width).fold(widest, usize::max);
        self.pieces.last().is_some_and(|last| last.width == widest)
    }

    /// Takes a line that may go on with it; false if there are too many.
    pub(super) fn go_on(&mut self, text: &[u8], width: usize) -> bool {
        let has_room = self.pieces.len() < MAX_PIECES;
        if has_room {
            self.pieces.push(Piece { text: text[..text.len().min(MAX_TEXT)].to_vec(), width, is_own: false });
        }
        has_room
    }

    /// Takes the description of its request, which messages of Lustre to 2.12 have a line break before, if `text` is one.
    pub(super) fn takes_description(&mut self, text: &[u8], width: usize, is_own: bool) -> bool {
        let is_one = is_own
            && text.trim_ascii_start().starts_with(b"req@")
            && self.pieces.iter().any(|piece| memmem::find(&piece.text, b"@@@ ").is_some());
        if is_one {
            self.pieces.push(Piece { text: text.to_vec(), width, is_own: true });
        }
        is_one
    }

    /// Whether a stamp begins it.
    pub(super) fn is_stamped(&self) -> bool {
        KernelLine::parse(&self.pieces[0].text).is_some_and(|line| line.stamp.is_some())
    }

    /// Ends it: the line as it was logged. `style` is how lines of the text are.
    pub(super) fn end(self, style: Style, repairs: &mut Repairs) -> Vec<u8> {
        repairs.add(Repair::Prefix, u64::from(!self.prefix.is_empty()));
        let (text, breaks) = self.whole(style);
        repairs.add(Repair::Wrapped, breaks as u64);
        let (text, repair) = with_changes(text);
        if let Some(repair) = repair.or(self.is_changed.then_some(Repair::Characters)) {
            repairs.add(repair, 1);
        }
        text
    }

    /// Puts it together: the text that tells most, and how many breaks were none of it.
    fn whole(&self, style: Style) -> (Vec<u8>, usize) {
        if let [alone] = &self.pieces[..] {
            return (alone.text.clone(), 0);
        }
        let spaced: Vec<Cow<'_, [u8]>> = self.pieces.windows(2).map(|two| spaced(&two[0].text, &two[1].text)).collect();
        let lines: Vec<&[u8]> =
            std::iter::once(&self.pieces[0].text[..]).chain(spaced.iter().map(|text| &**text)).collect();
        let widths: Vec<usize> = self.pieces.iter().map(|piece| piece.width).collect();
        let is_own = |i: usize| self.pieces[i + 1].is_own;
        // Remarks may stand behind it. They are not needed for it to be whole, and the line before had room for them.
        let goes_on = |two: &&[Piece]| two[1].is_own || two[0].has_no_room(&two[1].text, style.widest);
        let likely = self.pieces.windows(2).take_while(goes_on).count();
        let mut best: Option<(u32, bool, Vec<u8>, usize)> = None;
        each_way(&lines, Widths::of(&widths, 0).among(style.widest), style.is_cut(), &is_own, &mut |text, breaks| {
            let told = told_at_most(text);
            let is_likely = breaks == likely;
            if best.as_ref().is_none_or(|(most, likely, ..)| (told, is_likely) > (*most, *likely)) {
                best = Some((told, is_likely, text.to_vec(), breaks));
            }
        });
        let (text, breaks) =
            best.map_or_else(|| (self.pieces[0].text.clone(), 0), |(_, _, text, breaks)| (text, breaks));
        let own = (0..breaks).filter(|i| is_own(*i)).count();
        (text, breaks - own)
    }
}

/// A line with the two blanks that its first word has before it: whoever breaks lines there drops both.
fn spaced<'t>(before: &[u8], text: &'t [u8]) -> Cow<'t, [u8]> {
    if is_behind_two_blanks(text) && !before.ends_with(b" ") { [b"  ", text].concat().into() } else { text.into() }
}

/// How much a line tells, whatever its characters stand for.
fn told_at_most(line: &[u8]) -> u32 {
    let plain = if characters::is_changed(line) { characters::plain(line) } else { Vec::new() };
    let signs = with_at_signs(line).unwrap_or_default();
    [line, &plain, &signs].into_iter().map(told).max().unwrap_or(0)
}

/// The line with the characters that stood in place of others: no sentence of Lustre has such.
fn with_changes(line: Vec<u8>) -> (Vec<u8>, Option<Repair>) {
    let mut best = (line, None);
    if characters::is_changed(&best.0) {
        let plain = characters::plain(&best.0);
        let single = characters::with_single_blanks(&plain);
        let (as_it_is, with_plain) = (told(&best.0), told(&plain));
        if with_plain > 0 && with_plain >= as_it_is && plain != best.0 {
            best = (plain, Some(Repair::Characters));
        }
        if told(&single) > told(&best.0) {
            best = (single, Some(Repair::Characters));
        }
    }
    match with_at_signs(&best.0) {
        Some(changed) if told(&changed) > told(&best.0) || has_more_nids(&changed, &best.0) => {
            (changed, Some(Repair::AtSign))
        }
        _ => best,
    }
}

/// Whether a text names networks behind an `@`, and the other does not.
fn has_more_nids(text: &[u8], other: &[u8]) -> bool {
    const NETS: [&[u8]; 5] = [b"@tcp", b"@o2ib", b"@kfi", b"@gni", b"@lo"];
    NETS.iter().any(|net| memmem::find(text, net).is_some() && memmem::find(other, net).is_none())
}

/// How much a line tells as it is.
fn told(line: &[u8]) -> u32 {
    KernelLine::parse(line).map_or(0, |line| worth(line.text))
}

/// The line with `@` for what stands in its place behind the place in the source, whose function may have `_at_` in its name.
fn with_at_signs(line: &[u8]) -> Option<Vec<u8>> {
    let (place, text) = line.split_at(memmem::find(line, b"()) ").map_or(0, |at| at + b"())".len()));
    characters::with_at_signs(text).map(|text| [place, &text].concat())
}
