//! A captured log in memory, in time order, ready to be played.
//!
//! Only the framing is read; texts go through untouched.

use std::io::Read;
use std::path::{Path, PathBuf};

use lioprof_trace::input::{self, Found, InputProblem, Severity};
use lustre_debuglog::Record;
use lustre_debuglog::frame::binary::BinaryRecords;
use lustre_debuglog::frame::text::{TextItem, TextRecords};
use lustre_debuglog::frame::{self, Form, Skipped};
use rustc_hash::FxHashMap;

use super::error::ReplayError;
use crate::{SimRecord, Workload};

/// Time between the end of a log and its beginning when it is played again.
const LOOP_GAP_US: i64 = 1_000;

/// One record; its texts are in [`RecordedLog`].
#[derive(Clone, Copy, Debug)]
struct LogEntry {
    time_us: i64,
    text_at: usize,
    text_len: u32,
    subsystem: u32,
    mask: u32,
    pid: u32,
    line: u32,
    file: u32,
    function: u32,
    cpu: u16,
    context: u16,
}

/// A log that is played as it was recorded, once or several times.
#[derive(Debug, Default)]
pub struct RecordedLog {
    entries: Vec<LogEntry>,
    texts: Vec<u8>,
    names: Vec<Vec<u8>>,
    numbers: FxHashMap<Vec<u8>, u32>,
    /// Bytes of the inputs that are in no record.
    pub skipped_bytes: u64,
    /// What there is to say about the inputs.
    pub notes: Vec<String>,
    /// The files read.
    pub files: Vec<PathBuf>,
    next: usize,
    shift_us: i64,
    rounds_left: u32,
}

impl RecordedLog {
    /// Reads the logs of one server: files or directories; text or binary; compressed or not.
    ///
    /// # Errors
    /// If an input cannot be read or is no log, if there are no records, or logs of several servers.
    pub fn read(inputs: &[PathBuf]) -> Result<Self, ReplayError> {
        let found = input::discover(inputs, &[], &|_| false);
        let mut log = Self { rounds_left: 1, ..Self::default() };
        for problem in found.problems {
            if problem.severity == Severity::Error {
                return Err(ReplayError::Input(problem.message));
            }
            log.notes.push(problem.message);
        }
        if let Some(other) = found.files.iter().find(|file| file.node != found.files[0].node) {
            return Err(ReplayError::SeveralNodes(found.files[0].node.clone(), other.node.clone()));
        }
        for file in found.files {
            log.add(&file)?;
        }
        if log.entries.is_empty() {
            return Err(ReplayError::NoRecords);
        }
        // Stable: records of one stream keep their order.
        log.entries.sort_by_key(|entry| entry.time_us);
        log.numbers = FxHashMap::default();
        Ok(log)
    }

    /// Replays the log this many times; times keep rising.
    pub fn set_rounds(&mut self, rounds: u32) {
        self.rounds_left = rounds.max(1);
    }

    /// Number of records, played once.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// CPUs that the server must have.
    #[must_use]
    pub fn cpus(&self) -> u16 {
        self.entries.iter().map(|entry| entry.cpu).max().map_or(1, |cpu| cpu.saturating_add(1))
    }

    fn add(&mut self, found: &Found) -> Result<(), ReplayError> {
        let mut opened =
            input::open(found).map_err(|err| ReplayError::Open(InputProblem::from(&err).message.into()))?;
        let mut bytes = Vec::new();
        let read = opened.stream.read_to_end(&mut bytes);
        read.map_err(ReplayError::file("read", &found.path))?;
        if let Some(damage) = opened.damage.get() {
            self.notes.push(format!("`{}`: {damage}", found.path.display()));
        }
        self.files.push(found.path.clone());
        match frame::detect(&bytes, true) {
            Some(Form::Text) => {
                for item in TextRecords::new(&bytes) {
                    match item {
                        TextItem::Record(record, _) => self.push(&record, &found.path)?,
                        TextItem::Skipped(skipped) => self.skip(skipped),
                        TextItem::Summary(..) => {}
                    }
                }
            }
            Some(Form::Binary(layout)) => {
                for item in BinaryRecords::new(&bytes, layout) {
                    match item {
                        Ok((record, _)) => self.push(&record, &found.path)?,
                        Err(skipped) => self.skip(skipped),
                    }
                }
            }
            None => return Err(ReplayError::NoRecords),
        }
        Ok(())
    }

    fn skip(&mut self, skipped: Skipped) {
        self.skipped_bytes += skipped.len as u64;
    }

    fn push(&mut self, record: &Record<'_>, path: &Path) -> Result<(), ReplayError> {
        let bad_cpu = |_| ReplayError::BadCpu(path.to_owned(), record.cpu);
        let cpu = u16::try_from(record.cpu).map_err(bad_cpu)?;
        let entry = LogEntry {
            time_us: record.time_us,
            text_at: self.texts.len(),
            text_len: u32::try_from(record.text.len()).unwrap_or(u32::MAX),
            subsystem: record.subsystem,
            mask: record.mask,
            pid: record.pid,
            line: record.line,
            file: self.number(record.file),
            function: self.number(record.function),
            cpu,
            context: record.context.map_or(0, |context| context as u16),
        };
        self.texts.extend_from_slice(record.text);
        self.entries.push(entry);
        Ok(())
    }

    fn number(&mut self, name: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.to_vec());
        self.numbers.insert(name.to_vec(), number);
        number
    }
}

impl Workload for RecordedLog {
    fn next(&mut self, record: &mut SimRecord) -> bool {
        if self.next == self.entries.len() {
            let (Some(first), Some(last)) = (self.entries.first(), self.entries.last()) else { return false };
            if self.rounds_left <= 1 {
                return false;
            }
            self.rounds_left -= 1;
            self.shift_us += last.time_us - first.time_us + LOOP_GAP_US;
            self.next = 0;
        }
        let entry = &self.entries[self.next];
        self.next += 1;
        let text = &self.texts[entry.text_at..entry.text_at + entry.text_len as usize];
        record.time_us = entry.time_us + self.shift_us;
        (record.cpu, record.context) = (entry.cpu, entry.context);
        (record.subsystem, record.mask) = (entry.subsystem, entry.mask);
        (record.pid, record.line) = (entry.pid, entry.line);
        self.names[entry.file as usize].clone_into(&mut record.file);
        self.names[entry.function as usize].clone_into(&mut record.function);
        text.clone_into(&mut record.text);
        true
    }
}
