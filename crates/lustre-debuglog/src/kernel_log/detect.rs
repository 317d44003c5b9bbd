//! Whether a text is a kernel log.

use super::line::KernelLine;
use super::stamp::Stamp;

/// Who wrote a kernel log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelLogForm {
    /// `dmesg`: the kernel's own stamps.
    Dmesg,
    /// A syslog daemon, or `journalctl` as text: host and tag in each line.
    Syslog,
    /// `journalctl -o json`, `json-pretty`, `json-sse`, `json-seq`: objects.
    Json,
    /// `journalctl -o export`, `verbose`: a field in each line.
    Fields,
}

/// Of this many lines one must fit: a syslog has lines of other programs, too; notes may quote a few lines of a kernel log.
const LINES_PER_FITTING: usize = 2;
/// Lines that are looked at.
const LINES: usize = 400;

/// Whether the beginning of a text is that of a kernel log: lines with times, most of them, and one of the kernel's or Lustre's among them.
/// A text with a header of the debug log behind any of the prefixes is none.
#[must_use]
pub fn detect(head: &[u8]) -> Option<KernelLogForm> {
    if let Some(form) = of_journal(head) {
        return Some(form);
    }
    let mut shown = Shown::default();
    for text in head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(LINES) {
        match KernelLine::parse(text) {
            Some(line) => shown.line(&line),
            None if KernelLine::is_stamped(text) => shown.other(),
            None => shown.unknown(),
        }
    }
    shown.form()
}

/// What the lines of a text show of what it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    lines: usize,
    fitting: usize,
    stamped: usize,
    hosts: usize,
    of_lustre: bool,
    of_debug_log: bool,
}

impl Shown {
    /// A line of the kernel.
    pub fn line(&mut self, line: &KernelLine<'_>) {
        self.fitting();
        self.of_debug_log |= is_debug_header(line.text);
        self.of_lustre |= line.is_of_lustre();
        self.hosts += usize::from(line.host.is_some());
        let is_stamped = line.stamp.is_some_and(|stamp| !matches!(stamp, Stamp::Unix(_)));
        self.stamped += usize::from(line.host.is_some() || is_stamped);
    }

    /// A line of another program in a syslog, or the rest of a line.
    pub fn other(&mut self) {
        self.fitting();
    }

    /// A line of something else.
    pub fn unknown(&mut self) {
        self.lines += 1;
    }

    fn fitting(&mut self) {
        self.lines += 1;
        self.fitting += 1;
    }

    /// What it is.
    #[must_use]
    pub fn form(self) -> Option<KernelLogForm> {
        let is_one = self.of_lustre || self.hosts > 0 || (self.lines > 0 && 5 * self.stamped >= 4 * self.lines);
        let form = if self.hosts > 0 { KernelLogForm::Syslog } else { KernelLogForm::Dmesg };
        (is_one && !self.of_debug_log && LINES_PER_FITTING * self.fitting > self.lines).then_some(form)
    }
}

/// Bytes that the first entry of the journal begins in: its cursor may stand before the time.
const ENTRY: usize = 4096;

/// Whether the text begins with an entry of the journal: the fields that each of them has.
fn of_journal(head: &[u8]) -> Option<KernelLogForm> {
    let begin = head.get(..ENTRY).unwrap_or(head);
    let has = |words: &[u8]| memchr::memmem::find(begin, words).is_some();
    // What stands before the first entry: the sign of `json-seq`, `data: ` of `json-sse`, an array's bracket, a host's name.
    let has_brace = begin.iter().take(256).any(|byte| *byte == b'{');
    // All entries in one line are no entry each.
    let is_one_line = begin.trim_ascii_start().starts_with(b"[{");
    if has_brace && !is_one_line && has(b"\"__REALTIME_TIMESTAMP\"") {
        return Some(KernelLogForm::Json);
    }
    let first = begin.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_export = begin.starts_with(b"__CURSOR=") && has(b"\n__REALTIME_TIMESTAMP=");
    let is_verbose = first.ends_with(b"]") && KernelLine::is_stamped(first) && has(b"\n    _");
    (is_export || is_verbose).then_some(KernelLogForm::Fields)
}

/// `SUBSYSTEM:MASK:` of a record of the debug log.
fn is_debug_header(text: &[u8]) -> bool {
    let hex = |range: std::ops::Range<usize>| text.get(range).is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit));
    hex(0..8) && text.get(8) == Some(&b':') && hex(9..17) && text.get(17) == Some(&b':')
}
