//! A kernel log from its first line to its last.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use lioprof_model::NodeFrom;
use lustre_debuglog::kernel_log::{KernelLine, KernelLogForm};

use super::hosts::HostLog;
use super::journal::{Journal, JournalLine};
use super::lines::Lines;
use crate::envelope::kernel::{KernelLines, Logged, Style};
use crate::envelope::kinds::Repairs;
use crate::envelope::prefix::Sender;
use crate::input::{self, Found, InputError, InputProblem, OpenedKernelLog, PROBE_BYTES, Severity};

/// Nodes in one log; lines of further ones are left out.
const MAX_HOSTS: usize = 10_000;

/// A kernel log that was read, or what one of the files says whose lines `grep` has put into one.
#[derive(Debug)]
pub struct KernelLog {
    /// Path as given or found.
    pub path: PathBuf,
    /// The file that its lines name.
    pub(crate) file: Option<String>,
    /// Node that it belongs to where its lines name none.
    pub node: String,
    /// What told that. If `--node` did, what lines name does not count.
    pub node_from: NodeFrom,
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
    /// Lines repaired, by kind as `inputs[].envelope` names it.
    pub repaired: Vec<(&'static str, u64)>,
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

    /// Whether some of its lines name no host.
    pub(crate) fn needs_node(&self) -> bool {
        self.hosts.iter().any(|host| host.host.is_none())
    }
}

/// Reads a kernel log: one, or one for each file that its lines name.
pub(crate) fn read(found: &Found, opened: OpenedKernelLog) -> Vec<KernelLog> {
    let (form, compression, damage) = (opened.form, opened.compression, opened.damage.clone());
    let mut files: Vec<(Option<String>, Hosts)> = Vec::new();
    let (bytes, repairs) = lines(opened, &mut |line| {
        let (file, host) = match (line.host, line.sender) {
            (Some(host), _) => (None, Some(host)),
            (None, Some(Sender::Host(host))) => (None, Some(host.as_bytes())),
            (None, Some(Sender::File(file))) => (Some(file), None),
            (None, None) => (None, None),
        };
        let at = files.iter().position(|(known, _)| known.as_ref() == file).unwrap_or_else(|| {
            files.push((file.cloned(), Hosts::default()));
            files.len() - 1
        });
        files[at].1.line(host, &line);
    });
    if files.is_empty() {
        files.push((None, Hosts::default()));
    }
    let metadata = if found.is_stdin { None } else { found.path.metadata().ok() };
    let changed = metadata.and_then(|metadata| metadata.modified().ok());
    let changed_us = match &found.member {
        Some(member) => member.changed_us(),
        None => changed.map(lioprof_model::time::since_epoch_us),
    };
    let mut bytes = Some(bytes);
    let mut repaired: Option<Vec<(&'static str, u64)>> =
        Some(repairs.iter().map(|(repair, lines)| (repair.as_str(), lines)).collect());
    let logs = files.into_iter().map(|(file, hosts)| KernelLog {
        path: found.path.clone(),
        file,
        node: found.node.clone(),
        node_from: NodeFrom::Name,
        is_beside: false,
        form,
        compression: compression.map(|compression| compression.to_string()),
        // Of one file these are counted once.
        bytes: bytes.take().unwrap_or(0),
        changed_us,
        hosts: hosts.0,
        repaired: repaired.take().unwrap_or_default(),
        error: None,
    });
    let mut logs: Vec<KernelLog> = logs.collect();
    logs[0].error = damage.get().map(|damage| damage.to_string());
    logs
}

/// Shows each line of the kernel; how many bytes there are, and what was repaired.
fn lines(opened: OpenedKernelLog, take: &mut dyn FnMut(Logged<'_>)) -> (u64, Repairs) {
    let OpenedKernelLog { form, recoded, mut stream, .. } = opened;
    let mut repairs = Repairs::default();
    let mut count = 0;
    let mut counted = |line: Logged<'_>| {
        count += 1;
        take(line);
    };
    let bytes = if let Some(mut journal) = Journal::new(form) {
        let mut lines = Lines::new(stream);
        let mut entry = |JournalLine { stamp, host, text }: JournalLine| {
            counted(Logged { stamp, host: host.as_deref().map(str::as_bytes), sender: None, text: &text });
        };
        while let Some(line) = lines.next() {
            journal.line(line).into_iter().for_each(&mut entry);
        }
        journal.line(b"").into_iter().for_each(&mut entry);
        lines.bytes
    } else {
        let mut head = Vec::new();
        // The stream never fails: damage ends it.
        stream.by_ref().take(PROBE_BYTES as u64).read_to_end(&mut head).unwrap_or(0);
        let mut kernel = KernelLines::new(Style::of(&head));
        let mut lines = Lines::new(Cursor::new(head).chain(stream));
        while let Some(line) = lines.next() {
            kernel.line(line, &mut counted);
        }
        repairs = kernel.finish(&mut counted);
        lines.bytes
    };
    recoded.repairs().for_each(|repair| repairs.add(repair, count));
    (bytes, repairs)
}

/// Shows each line of the kernel in the log `path` to `line`; `-` is standard input. The host is the one that the line or what stands before
/// it names, up
/// to its first dot.
///
/// # Errors
/// If the file cannot be read or is no kernel log.
pub fn kernel_log_lines(path: &Path, line: &mut dyn FnMut(KernelLine<'_>)) -> Result<(), InputProblem> {
    let found = Found { path: path.to_owned(), node: String::new(), is_stdin: path == Path::new("-"), member: None };
    let opened = match input::open(&found) {
        Err(InputError::KernelLog { log, .. }) => *log,
        Err(error) => return Err((&error).into()),
        Ok(_) => {
            let message = format!("`{}` is a debug log, no kernel log; `lioprof analyze` reads it", path.display());
            return Err(InputProblem { path: path.to_owned(), severity: Severity::Error, message });
        }
    };
    let damage = opened.damage.clone();
    let _: (u64, Repairs) = lines(opened, &mut |Logged { stamp, host, sender, text }| {
        let host = host.or(match sender {
            Some(Sender::Host(host)) => Some(host.as_bytes()),
            Some(Sender::File(_)) | None => None,
        });
        line(KernelLine { stamp, host: host.map(short), text });
    });
    damage.get().map_or(Ok(()), |damage| {
        let message = format!("`{}`: {damage}", path.display());
        Err(InputProblem { path: path.to_owned(), severity: Severity::Error, message })
    })
}

/// A host's name up to its first dot, unless that is all of an address.
fn short(name: &[u8]) -> &[u8] {
    let short = name.split(|byte| *byte == b'.').next().unwrap_or(name);
    let is_address = name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    if is_address || short.is_empty() { name } else { short }
}

/// The nodes of a log, in the order in which they come up.
#[derive(Default)]
struct Hosts(Vec<HostLog>);

impl Hosts {
    fn line(&mut self, host: Option<&[u8]>, line: &Logged<'_>) {
        let name = host.map(|name| short(name).escape_ascii().to_string());
        let at = self.0.iter().position(|host| host.host == name).or_else(|| {
            (self.0.len() < MAX_HOSTS).then(|| {
                self.0.push(HostLog::new(name));
                self.0.len() - 1
            })
        });
        if let Some(host) = at.and_then(|at| self.0.get_mut(at)) {
            host.line(line.stamp, line.text);
        }
    }
}
