//! A kernel log from its first line to its last.

use std::path::{Path, PathBuf};

use lustre_debuglog::kernel_log::{KernelLine, KernelLogForm, Stamp};

use super::hosts::HostLog;
use super::journal;
use super::lines::Lines;
use crate::input::{self, Found, InputError, InputProblem, OpenedKernelLog, Severity};

/// Nodes in one log; lines of further ones are left out.
const MAX_HOSTS: usize = 10_000;

/// A kernel log that was read.
#[derive(Debug)]
pub struct KernelLog {
    /// Path as given or found.
    pub path: PathBuf,
    /// Node that it belongs to where its lines name none, by its place.
    pub node: String,
    /// `--node` says so: what lines name does not count.
    pub node_is_given: bool,
    /// It was found in a directory beside debug logs, not named.
    pub is_beside: bool,
    /// Who wrote it.
    pub form: KernelLogForm,
    /// How it was compressed.
    pub compression: Option<String>,
    /// Bytes read, after decompression.
    pub bytes: u64,
    /// When the file was last changed, microseconds since the epoch: near its last line.
    pub changed_us: Option<i64>,
    /// What it tells, by node.
    pub hosts: Vec<HostLog>,
    /// What went wrong.
    pub error: Option<String>,
}

impl KernelLog {
    /// What to say where records are wanted.
    #[must_use]
    pub fn no_records(&self) -> InputProblem {
        let message = format!(
            "`{}` is a kernel log, which has no records; `lioprof analyze` reads what Lustre tells in it",
            self.path.display()
        );
        let severity = if self.is_beside { Severity::Note } else { Severity::Error };
        InputProblem { path: self.path.clone(), severity, message }
    }
}

/// A line whose message may go on in the next one.
struct Pending {
    stamp: Option<Stamp>,
    host: usize,
    text: Vec<u8>,
}

/// Reads a kernel log.
pub(crate) fn read(found: &Found, opened: OpenedKernelLog) -> KernelLog {
    let OpenedKernelLog { form, compression, stream, damage } = opened;
    let mut lines = Lines::new(stream);
    let mut hosts = Hosts::default();
    let mut pending: Option<Pending> = None;
    while let Some(line) = lines.next() {
        match form {
            KernelLogForm::Json => {
                let Some(entry) = journal::parse(line) else { continue };
                let host = hosts.of(entry.host.as_deref().map(str::as_bytes));
                hosts.line(host, entry.stamp, &entry.text);
            }
            KernelLogForm::Dmesg | KernelLogForm::Syslog => {
                let Some(line) = KernelLine::parse(line).or_else(|| continuation(line)) else { continue };
                // To 2.12 many messages have a line break before the description of their request.
                if let Some(begun) = &mut pending
                    && line.text.trim_ascii_start().starts_with(b"req@")
                    && memchr::memmem::find(&begun.text, b"@@@ ").is_some()
                {
                    begun.text.push(b'\n');
                    begun.text.extend_from_slice(line.text);
                    continue;
                }
                hosts.flush(pending.take());
                let host = hosts.of(line.host);
                pending = Some(Pending { stamp: line.stamp, host, text: line.text.to_vec() });
            }
        }
    }
    hosts.flush(pending);
    let metadata = if found.is_stdin { None } else { found.path.metadata().ok() };
    let changed = metadata.and_then(|metadata| metadata.modified().ok());
    let changed_us = match &found.member {
        Some(member) => member.changed_us(),
        None => changed.map(lioprof_model::time::since_epoch_us),
    };
    KernelLog {
        path: found.path.clone(),
        node: found.node.clone(),
        node_is_given: false,
        is_beside: false,
        form,
        compression: compression.map(|compression| compression.to_string()),
        bytes: lines.bytes,
        changed_us,
        hosts: hosts.0,
        error: damage.get().map(|damage| damage.to_string()),
    }
}

/// Shows each line of the kernel in the log `path` to `line`.
///
/// # Errors
/// If the file cannot be read or is no kernel log.
pub fn kernel_log_lines(path: &Path, line: &mut dyn FnMut(KernelLine<'_>)) -> Result<(), InputProblem> {
    let found = Found { path: path.to_owned(), node: String::new(), is_stdin: false, member: None };
    let opened = match input::open(&found) {
        Err(InputError::KernelLog { log, .. }) => *log,
        Err(error) => return Err((&error).into()),
        Ok(_) => {
            let message = format!("`{}` is a debug log, no kernel log; `lioprof analyze` reads it", path.display());
            return Err(InputProblem { path: path.to_owned(), severity: Severity::Error, message });
        }
    };
    let mut lines = Lines::new(opened.stream);
    while let Some(text) = lines.next() {
        match opened.form {
            KernelLogForm::Json => {
                if let Some(entry) = journal::parse(text) {
                    line(KernelLine {
                        stamp: entry.stamp,
                        host: entry.host.as_deref().map(str::as_bytes),
                        text: &entry.text,
                    });
                }
            }
            KernelLogForm::Dmesg | KernelLogForm::Syslog => {
                if let Some(it) = KernelLine::parse(text) {
                    line(it);
                }
            }
        }
    }
    opened.damage.get().map_or(Ok(()), |damage| {
        let message = format!("`{}`: {damage}", path.display());
        Err(InputProblem { path: path.to_owned(), severity: Severity::Error, message })
    })
}

/// The second line of a message where `dmesg` prints no stamp in front of it.
fn continuation(line: &[u8]) -> Option<KernelLine<'_>> {
    let text = line.trim_ascii();
    text.starts_with(b"req@").then_some(KernelLine { stamp: None, host: None, text })
}

/// The nodes of a log, in the order in which they come up.
#[derive(Default)]
struct Hosts(Vec<HostLog>);

impl Hosts {
    /// Number of the node with this name; `usize::MAX` if there are too many.
    fn of(&mut self, name: Option<&[u8]>) -> usize {
        // Up to its first dot, unless that is all of an address.
        let name = name.map(|name| {
            let short = name.split(|byte| *byte == b'.').next().unwrap_or(name);
            let is_address = name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
            if is_address || short.is_empty() { name } else { short }.escape_ascii().to_string()
        });
        if let Some(at) = self.0.iter().position(|host| host.host == name) {
            return at;
        }
        if self.0.len() == MAX_HOSTS {
            return usize::MAX;
        }
        self.0.push(HostLog::new(name));
        self.0.len() - 1
    }

    fn line(&mut self, host: usize, stamp: Option<Stamp>, text: &[u8]) {
        if let Some(host) = self.0.get_mut(host) {
            host.line(stamp, text);
        }
    }

    fn flush(&mut self, pending: Option<Pending>) {
        if let Some(Pending { stamp, host, text }) = pending {
            self.line(host, stamp, &text);
        }
    }
}
