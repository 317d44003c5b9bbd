//! One pass over the lines of a kernel log, one line of the kernel after the other.

use std::borrow::Cow;

use lustre_debuglog::kernel_log::{KernelLine, Stamp};

use memchr::memmem;

use super::group::Group;
use super::start::{Start, start};
use super::style::Style;
use crate::envelope::characters;
use crate::envelope::heading::{Headings, is_rule};
use crate::envelope::kinds::Repairs;
use crate::envelope::prefix::{self, Sender};

/// Senders whose last line may go on at the same time; of further ones lines are whole.
const MAX_OPEN: usize = 1024;

/// A line of the kernel as it was logged.
#[derive(Debug)]
pub(crate) struct Logged<'a> {
    /// When; `None` if it has no stamp.
    pub(crate) stamp: Option<Stamp>,
    /// The host that it names itself.
    pub(crate) host: Option<&'a [u8]>,
    /// The host or file that stands before it, or in the heading above.
    pub(crate) sender: Option<&'a Sender>,
    /// What the kernel said.
    pub(crate) text: &'a [u8],
}

/// What a line was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// A line of the kernel began.
    Kernel,
    /// One goes on.
    Rest,
    /// A line of another program.
    Other,
    /// An empty line.
    Empty,
    /// Nothing that matters.
    Nothing,
}

/// Follows the lines of a kernel log.
#[derive(Debug, Default)]
pub(crate) struct KernelLines {
    style: Style,
    headings: Headings,
    /// Who the lines below the last heading come from.
    block: Option<Sender>,
    usual: usize,
    /// The last line of each sender, which may go on; the very last one is at the end.
    open: Vec<Group>,
    /// Something stood between the last line and this one.
    is_apart: bool,
    pub(crate) repairs: Repairs,
}

impl KernelLines {
    pub(crate) fn new(style: Style) -> Self {
        Self { style, ..Self::default() }
    }

    /// Takes a line, without its line break; lines of the kernel that are whole by now go to `take`.
    pub(crate) fn line(&mut self, line: &[u8], take: &mut dyn FnMut(Logged<'_>)) {
        self.look(line, take);
    }

    /// The same, and what the line was taken for.
    pub(super) fn look(&mut self, line: &[u8], take: &mut dyn FnMut(Logged<'_>)) -> Taken {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (mut line, mut is_changed, mut found) = (Cow::Borrowed(line), false, start(line, self.usual));
        // Of a line of the kernel what stands where its stamp is may have been changed.
        if !matches!(found, Start::Kernel(_)) && characters::is_changed(&line) {
            let plain = characters::plain(&line);
            if let Start::Kernel(at) = start(&plain, self.usual) {
                (line, is_changed, found) = (Cow::Owned(plain), true, Start::Kernel(at));
            }
        }
        match found {
            Start::Kernel(at) => {
                self.begin(&line, at, is_changed, take);
                Taken::Kernel
            }
            Start::Other => {
                self.is_apart = true;
                Taken::Other
            }
            Start::None if line.trim_ascii().is_empty() => self.empty(),
            Start::None => self.without_start(&line),
        }
    }

    fn begin(&mut self, line: &[u8], at: usize, is_changed: bool, take: &mut dyn FnMut(Logged<'_>)) {
        self.headings.record();
        self.usual = at;
        let sender = if at > 0 { prefix::sender(&line[..at]) } else { None };
        let sender = sender.map(|sender| sender.owned()).or_else(|| self.block.clone());
        let place = self.open.iter().position(|group| group.sender == sender);
        if let Some(place) = place {
            let mut group = self.open.remove(place);
            // Whoever writes to consoles and syslogs gives it a stamp of its own.
            let may_be_one = memmem::find(line, b"req@").is_some();
            if may_be_one
                && KernelLine::parse(&line[at..])
                    .is_some_and(|it| group.takes_description(it.text, self.style.width(line, it.text), true))
            {
                self.open.push(group);
                return;
            }
            self.end(group, take);
        } else if self.open.len() == MAX_OPEN {
            let group = self.open.remove(0);
            self.end(group, take);
        }
        self.open.push(Group::begin(sender, line, at, is_changed, self.style));
        self.is_apart = false;
    }

    fn empty(&mut self) -> Taken {
        self.is_apart |= !self.style.is_doubled;
        Taken::Empty
    }

    /// A line that holds no beginning: of whoever goes on there, or a heading.
    fn without_start(&mut self, line: &[u8]) -> Taken {
        // With several senders what stands before it tells whose it is.
        let prefixed = self.open.iter().rposition(|group| group.is_prefixed(line));
        let at = prefixed.or(self.open.len().checked_sub(1));
        let rest = at.and_then(|at| self.open.get(at)).map_or(line, |group| group.without_prefix(line)).to_vec();
        if rest.trim_ascii().is_empty() {
            return self.empty();
        }
        let is_below_rule = self.headings.is_below_rule();
        let heading = self.headings.line(line);
        let is_word = !rest.trim_ascii().contains(&b' ');
        let is_line = std::str::from_utf8(line).is_ok_and(|line| is_rule(line.trim()));
        let may_go_on = !is_below_rule && !is_line && (heading.is_none() || is_word);
        let is_last = at.is_some_and(|at| at + 1 == self.open.len());
        if may_go_on
            && !(is_last && self.is_apart)
            && let Some(group) = at.and_then(|at| self.open.get_mut(at))
            && goes_on(group, &rest, self.style.width(line, &rest), heading.is_some(), self.style)
        {
            return Taken::Rest;
        }
        self.is_apart = true;
        if let Some(sender) = heading {
            self.block = Some(sender.owned());
            self.usual = 0;
        }
        Taken::Nothing
    }

    fn end(&mut self, group: Group, take: &mut dyn FnMut(Logged<'_>)) {
        let sender = group.sender.clone();
        let whole = group.end(self.style, &mut self.repairs);
        let Some(line) = KernelLine::parse(&whole) else { return };
        take(Logged { stamp: line.stamp, host: line.host, sender: sender.as_ref(), text: line.text });
    }

    /// The text is at its end.
    pub(crate) fn finish(mut self, take: &mut dyn FnMut(Logged<'_>)) -> Repairs {
        for group in std::mem::take(&mut self.open) {
            self.end(group, take);
        }
        self.repairs
    }
}

/// Whether a group takes a line of this width, of which `rest` is what stands behind its prefix.
fn goes_on(group: &mut Group, rest: &[u8], width: usize, may_be_heading: bool, style: Style) -> bool {
    let is_broken = group.is_broken_before(rest, style.widest);
    // A break at the last column may stand before its blanks.
    let is_own = !is_broken || rest.starts_with(b" ") && !group.is_full(style.widest);
    // What has no stamps has lines of the kernel itself without any sign that they are such.
    group.takes_description(rest, width, is_own)
        || (is_broken || !may_be_heading && group.is_stamped()) && group.go_on(rest, width)
}
