//! Whether a text is a kernel log, in whatever envelope.

use lustre_debuglog::kernel_log::{self, KernelLine, KernelLogForm, Shown};

use super::lines::{KernelLines, Logged, Taken};
use super::start::{Start, start};
use super::style::Style;
use crate::envelope::repair;

/// A text is a log if its first line of the kernel stands within so many bytes, as of debug logs.
const MAX_LEADING: usize = 8 << 10;

/// One line of so many must have a sentence of Lustre, for the text to be more than a document that quotes some.
const LINES_PER_SENTENCE: usize = 4;

/// Whether the beginning of a text is that of a kernel log, and of which form.
pub(crate) fn detect(head: &[u8]) -> Option<KernelLogForm> {
    kernel_log::detect(head).or_else(|| in_envelope(head))
}

fn in_envelope(head: &[u8]) -> Option<KernelLogForm> {
    // Bytes of programs' files are no text.
    if head.contains(&0) {
        return None;
    }
    let mut lines = KernelLines::new(Style::of(head));
    let (mut shown, mut is_any) = (Shown::default(), false);
    let whole = |shown: &mut Shown, line: &Logged<'_>| {
        shown.line(&KernelLine { stamp: line.stamp, host: line.host, text: line.text });
    };
    for line in repair::lines(head) {
        let at = line.as_ptr().addr() - head.as_ptr().addr();
        if !is_any && at > MAX_LEADING {
            return None;
        }
        let taken = lines.look(line, &mut |line| whole(&mut shown, &line));
        is_any |= taken == Taken::Kernel;
        match taken {
            Taken::Rest | Taken::Other => shown.other(),
            Taken::Nothing => shown.unknown(),
            Taken::Empty | Taken::Kernel => {}
        }
    }
    lines.finish(&mut |line| whole(&mut shown, &line));
    is_any.then(|| shown.form()).flatten()
}

/// What stands before the first sentence of Lustre in a text that has such in many of its lines.
pub(crate) fn before_sentences(head: &[u8]) -> Option<&[u8]> {
    const VOICES: [&[u8]; 4] = [b"LustreError: ", b"Lustre: ", b"LNetError: ", b"LNet: "];
    let before = |line| {
        let at = VOICES.iter().filter_map(|voice| memchr::memmem::find(line, voice)).min()?;
        line.get(..at)
    };
    let lines = || repair::lines(head).filter(|line| !line.trim_ascii().is_empty());
    let sentences = lines().filter_map(before).count();
    (sentences * LINES_PER_SENTENCE >= lines().count()).then(|| lines().find_map(before)).flatten()
}

/// Whether lines of the kernel can be read in a text that is none of its logs: they stand among others.
pub(crate) fn has_lines(head: &[u8]) -> bool {
    repair::lines(head).any(|line| matches!(start(line, 0), Start::Kernel(_)))
}
