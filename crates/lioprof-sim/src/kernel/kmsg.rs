//! The kernel log, as `/dev/kmsg` shows it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use lioprof_model::lock;

/// Lines kept; the kernel's ring holds a few thousand of this length.
const KEEP_LINES: usize = 8192;

/// Severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Level {
    /// `pr_emerg`.
    Emergency = 0,
    /// `pr_err`.
    Error = 3,
    /// `pr_warn`.
    Warning = 4,
    /// `pr_info`.
    Info = 6,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KmsgLine {
    /// Number since boot, without gaps.
    pub sequence: u64,
    /// Severity, as `/dev/kmsg` prints it.
    pub level: Level,
    /// Microseconds since boot.
    pub uptime_us: u64,
    /// Text without line break.
    pub text: String,
}

impl KmsgLine {
    /// The record that a read of `/dev/kmsg` returns: `PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT`.
    #[must_use]
    pub fn to_record(&self) -> String {
        format!("{},{},{},-;{}\n", self.level as u8, self.sequence, self.uptime_us, self.text)
    }
}

/// What a reader finds at its place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KmsgRead {
    /// The line there.
    Line(KmsgLine),
    /// Lines were overwritten before they were read (`EPIPE`); the oldest one left.
    Overwritten(u64),
    /// Nothing yet.
    End,
}

/// The log. Shared by reference; all methods may be called from any thread.
#[derive(Debug, Default)]
pub struct KernelLog {
    lines: Mutex<VecDeque<KmsgLine>>,
    more: Condvar,
}

impl KernelLog {
    pub(super) fn print(&self, level: Level, uptime_us: u64, text: impl Into<String>) {
        let mut lines = lock(&self.lines);
        let sequence = lines.back().map_or(0, |line| line.sequence + 1);
        if lines.len() == KEEP_LINES {
            lines.pop_front();
        }
        lines.push_back(KmsgLine { sequence, level, uptime_us, text: text.into() });
        self.more.notify_all();
    }

    /// Sequence number of the oldest line.
    #[must_use]
    pub fn first(&self) -> u64 {
        lock(&self.lines).front().map_or(0, |line| line.sequence)
    }

    /// Sequence number that the next line will get.
    #[must_use]
    pub fn end(&self) -> u64 {
        lock(&self.lines).back().map_or(0, |line| line.sequence + 1)
    }

    /// The line with this number, or why there is none.
    #[must_use]
    pub fn at(&self, sequence: u64) -> KmsgRead {
        let lines = lock(&self.lines);
        let Some(first) = lines.front().map(|line| line.sequence) else { return KmsgRead::End };
        match sequence.checked_sub(first) {
            None => KmsgRead::Overwritten(first),
            Some(index) => usize::try_from(index)
                .ok()
                .and_then(|index| lines.get(index))
                .map_or(KmsgRead::End, |line| KmsgRead::Line(line.clone())),
        }
    }

    /// Waits until there is a line with this number, at most for `timeout`.
    pub fn wait_for(&self, sequence: u64, timeout: Duration) {
        let lines = lock(&self.lines);
        let missing = |lines: &mut VecDeque<KmsgLine>| lines.back().is_none_or(|line| line.sequence < sequence);
        drop(self.more.wait_timeout_while(lines, timeout, missing));
    }

    /// The texts of all lines kept.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        lock(&self.lines).iter().map(|line| line.text.clone()).collect()
    }
}
