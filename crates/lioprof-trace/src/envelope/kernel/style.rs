//! How the lines of a text are broken, as far as its beginning shows it.

use super::start::{Start, start};
use crate::envelope::{characters, prefix, repair};

/// Takes a line, what it is without its prefix, and whether it goes on with the one before.
type Look<'l> = dyn FnMut(&[u8], &[u8], bool) + 'l;

/// How the lines of a text are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// How long they are at most.
    pub(super) widest: usize,
    /// Lines that go on in the next one and are as long as the longest.
    full: usize,
    /// .. and those that are not.
    short: usize,
    /// There is an empty line behind each line.
    pub(super) is_doubled: bool,
    /// They were broken first, and something was put before each of them then.
    is_prefixed_later: bool,
}

impl Style {
    /// By the beginning of a text.
    pub(crate) fn of(head: &[u8]) -> Self {
        let mut style = Self { is_doubled: is_doubled(head), ..Self::default() };
        let (mut prefixed, mut bare) = (0, 0);
        style.each_line(head, &mut |line, rest, is_rest| {
            if is_rest {
                *if rest.len() < line.len() { &mut prefixed } else { &mut bare } += 1;
            }
        });
        style.is_prefixed_later = prefixed > bare;
        let mut widest = 0;
        style.each_line(head, &mut |line, rest, _| widest = widest.max(style.width(line, rest)));
        style.widest = widest;
        let (mut before, mut full, mut short) = (0, 0, 0);
        style.each_line(head, &mut |line, rest, is_rest| {
            if is_rest {
                *if before == widest { &mut full } else { &mut short } += 1;
            }
            before = style.width(line, rest);
        });
        Self { full, short, ..style }
    }

    /// Shows each line that a line of the kernel begins or goes on in.
    fn each_line(&self, head: &[u8], look: &mut Look<'_>) {
        let (mut before, mut usual, mut nth): (Option<Vec<u8>>, _, _) = (None, 0, 0);
        for line in repair::lines(head) {
            let plain = if characters::is_changed(line) { characters::plain(line) } else { Vec::new() };
            let line = if plain.is_empty() { line } else { &plain };
            match start(line, usual) {
                Start::Kernel(at) => {
                    (before, usual, nth) = (Some(line[..at].to_vec()), at, 0);
                    look(line, &line[at..], false);
                }
                Start::Other => before = None,
                Start::None if line.trim_ascii().is_empty() && self.is_doubled => {}
                Start::None => {
                    nth += 1;
                    let rest = before.as_ref().map(|prefix| prefix::without(line, prefix, nth));
                    match rest.filter(|rest| !rest.trim_ascii().is_empty()) {
                        Some(rest) => look(line, rest, true),
                        None => before = None,
                    }
                }
            }
        }
    }

    /// How many columns a line took when it was broken; `rest` is what stands behind its prefix.
    pub(super) fn width(&self, line: &[u8], rest: &[u8]) -> usize {
        width(if self.is_prefixed_later { rest } else { line })
    }

    /// Whether lines were cut after so many columns, not broken at blanks; `None`: there are too few to tell it. Remarks may stand behind
    /// short lines, and lines that are broken at blanks are full by accident.
    pub(super) fn is_cut(&self) -> Option<bool> {
        (self.full + self.short > 1).then_some(self.full > 4 * self.short)
    }
}

/// Empty lines from which on they may be no paragraphs.
const MANY: usize = 8;

/// Whether nearly each line has an empty one behind it.
fn is_doubled(head: &[u8]) -> bool {
    let (mut empty, mut pairs, mut is_behind_text) = (0, 0, false);
    for line in repair::lines(head) {
        let is_text = !line.trim_ascii().is_empty();
        empty += usize::from(!is_text);
        pairs += usize::from(is_text && is_behind_text);
        is_behind_text = is_text;
    }
    empty >= MANY && MANY * pairs <= empty
}

/// How many columns a line takes: characters that stand for others take as many as these, colours none.
fn width(line: &[u8]) -> usize {
    let columns = |line: &[u8]| line.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    if characters::is_changed(line) { columns(&characters::plain(line)) } else { line.len() }
}
