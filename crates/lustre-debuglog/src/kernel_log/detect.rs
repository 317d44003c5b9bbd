//! Whether a text is a kernel log.

use super::line::{KernelLine, is_of_lustre};
use super::stamp::Stamp;

/// Who wrote a kernel log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelLogForm {
    /// `dmesg`: the kernel's own stamps.
    Dmesg,
    /// A syslog daemon, or `journalctl` as text: host and tag in each line.
    Syslog,
    /// `journalctl -o json`: an object in each line.
    Json,
}

/// Lines that are looked at.
const LINES: usize = 400;

/// Whether the beginning of a text is that of a kernel log: lines with times, most of them, and one of the kernel's or Lustre's among them.
/// A text with a header of the debug log behind any of the prefixes is none.
#[must_use]
pub fn detect(head: &[u8]) -> Option<KernelLogForm> {
    if is_json(head) {
        return Some(KernelLogForm::Json);
    }
    let (mut lines, mut fitting, mut stamped, mut hosts, mut of_lustre) = (0_usize, 0_usize, 0_usize, 0_usize, false);
    for text in head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(LINES) {
        lines += 1;
        let Some(line) = KernelLine::parse(text) else {
            fitting += usize::from(KernelLine::is_stamped(text));
            continue;
        };
        fitting += 1;
        if is_debug_header(line.text) {
            return None;
        }
        of_lustre |= is_of_lustre(line.text);
        hosts += usize::from(line.host.is_some());
        stamped += usize::from(line.host.is_some() || matches!(line.stamp, Some(Stamp::Boot(_) | Stamp::Local { .. })));
    }
    // A syslog has lines of other programs, too; notes may quote a few lines of a kernel log.
    let is_one = of_lustre || hosts > 0 || (lines > 0 && 5 * stamped >= 4 * lines);
    (is_one && 2 * fitting > lines).then_some(if hosts > 0 { KernelLogForm::Syslog } else { KernelLogForm::Dmesg })
}

/// Whether the first line is an object with the fields that each entry of the journal has.
fn is_json(head: &[u8]) -> bool {
    let first = head.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let has = |words: &[u8]| memchr::memmem::find(first, words).is_some();
    first.starts_with(b"{") && has(b"\"__REALTIME_TIMESTAMP\"")
}

/// `SUBSYSTEM:MASK:` of a record of the debug log.
fn is_debug_header(text: &[u8]) -> bool {
    let hex = |range: std::ops::Range<usize>| text.get(range).is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit));
    hex(0..8) && text.get(8) == Some(&b':') && hex(9..17) && text.get(17) == Some(&b':')
}
