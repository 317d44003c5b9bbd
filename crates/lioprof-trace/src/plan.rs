//! What to read: opened once for a look, grouped by node.

use std::collections::{BTreeMap, VecDeque};
use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};

use lustre_debuglog::frame::{Form, binary, text};

use crate::decode::reader::{BinaryReader, TextReader};
use crate::decode::ring;
use crate::decode::source::{Chunks, Source};
use crate::envelope::kinds::Repairs;
use crate::envelope::prefix::Sender;
use crate::envelope::repair;
use crate::envelope::split::{self, Part};
use crate::input::{
    self, Compression, Discovered, Door, Found, InputError, InputProblem, NodeRule, Opened, PROBE_BYTES, SharedDamage,
};
use crate::progress::Progress;

/// A binary log that cannot be read at any offset is kept in memory up to this size, then in a
/// temporary file: a wrapped ring has to be read from its middle.
const SPOOL_BYTES: usize = 64 << 20;

/// Bytes of a chunk: much smaller ones cost time, larger ones memory.
pub const DEFAULT_CHUNK_BYTES: usize = 512 << 10;

/// An input that is a debug log.
pub(crate) struct Planned {
    pub(crate) found: Found,
    pub(crate) compression: Option<Compression>,
    pub(crate) form: Form,
    /// Time of the first record, for the order of inputs.
    pub(crate) first_us: i64,
    /// Length of the file; a pipe has none.
    file_bytes: Option<u64>,
    progress: Progress,
    /// Kept open if it cannot be opened again.
    opened: Option<Box<Opened>>,
    /// The file is UTF-16.
    pub(crate) is_utf16: bool,
    /// Lines that were repaired before it is read.
    pub(crate) repairs: Repairs,
}

/// What was found among the inputs.
#[derive(Default)]
pub struct Inputs {
    /// The logs of each node.
    pub nodes: BTreeMap<String, NodeLogs>,
    /// Folders of rows.
    pub stores: Vec<PathBuf>,
    /// Inputs that cannot be used, and notes.
    pub problems: Vec<InputProblem>,
}

impl Inputs {
    /// Looks for logs in files and directories; `-` is standard input. Whether a directory holds rows instead, `is_store` tells.
    #[must_use]
    pub fn find(inputs: &[PathBuf], rules: &[NodeRule], is_store: &dyn Fn(&Path) -> bool, progress: &Progress) -> Self {
        let discovered = input::discover(inputs, rules, is_store);
        let mut nodes: BTreeMap<String, NodeLogs> = BTreeMap::new();
        let mut problems = discovered.problems;
        let mut todo: VecDeque<Found> = discovered.files.into();
        while let Some(found) = todo.pop_front() {
            match look(found, rules, progress) {
                Ok(Looked::Logs(parts)) => {
                    for planned in parts {
                        nodes.entry(planned.found.node.clone()).or_default().0.push(planned);
                    }
                }
                Ok(Looked::Archive(mut inside)) => {
                    problems.append(&mut inside.problems);
                    inside.files.into_iter().rev().for_each(|member| todo.push_front(member));
                }
                Err(problem) => problems.push(problem),
            }
        }
        progress.expect(nodes.values().flat_map(|logs| &logs.0).map(|planned| planned.file_bytes).sum());
        Self { nodes, stores: discovered.stores, problems }
    }
}

/// The logs of one node.
#[derive(Default)]
pub struct NodeLogs(pub(crate) Vec<Planned>);

impl NodeLogs {
    /// Whether the logs are still there for a second look: standard input is not.
    #[must_use]
    pub fn can_be_read_again(&self) -> bool {
        self.0.iter().all(|log| log.file_bytes.is_some())
    }

    /// Tells the progress that all logs will be read once more.
    pub fn expect_again(&self) {
        for log in &self.0 {
            let member = log.found.member.as_ref().map(input::Member::expect_again);
            log.progress.expect_again(member.or(log.file_bytes).unwrap_or(0));
        }
    }
}

/// What was found behind a path.
enum Looked {
    /// A log, or one for each host that it names.
    Logs(Vec<Planned>),
    /// Members of an archive that came out of a pipe.
    Archive(Discovered),
}

/// Looks at an input. A text that says which hosts its lines come from becomes an input for each, unless the user has said whose it is.
fn look(mut found: Found, rules: &[NodeRule], progress: &Progress) -> Result<Looked, InputProblem> {
    let problem = |err| InputProblem::from(&err);
    let metadata = if found.is_stdin { None } else { found.path.metadata().ok().filter(Metadata::is_file) };
    let can_be_opened_again = metadata.is_some() || found.member.is_some();
    let mut head = Vec::new();
    let (compression, form, is_utf16, opened) = if let Some(member) = &mut found.member {
        head.extend_from_slice(member.head());
        member.forget_head();
        (member.compression(), member.form(), member.is_utf16(), None)
    } else {
        let mut opened = if can_be_opened_again {
            input::open(&found).map_err(problem)?
        } else {
            match input::open_door(&found).map_err(problem)? {
                Door::Log(opened) => *opened,
                Door::Archive(archive) => return Ok(Looked::Archive(input::look_into(&found, archive, rules))),
            }
        };
        // The stream never fails: damage ends it, and is told when it is read to the end.
        opened.stream.by_ref().take(PROBE_BYTES as u64).read_to_end(&mut head).unwrap_or(0);
        (opened.compression, opened.form, opened.is_utf16, Some(opened))
    };
    // Who a file belongs to, the user may have said: then it is one.
    let is_named = || rules.iter().any(|rule| rule.matches(&found.path) || rule.matches(found.place()));
    let is_split = form == Form::Text && split::names_senders(&head) && !is_named();
    let first_us = first_time(&head, form);
    let whole = |mut opened: Opened| {
        opened.stream = Box::new(std::io::Cursor::new(head).chain(opened.stream));
        opened
    };
    if is_split {
        let opened = match opened {
            Some(opened) => whole(opened),
            None => input::open(&found).map_err(problem)?,
        };
        return parts(found, opened, progress).map(Looked::Logs);
    }
    let opened = opened.filter(|_| !can_be_opened_again).map(|opened| Box::new(whole(opened)));
    let file_bytes = match &found.member {
        Some(member) => Some(member.file_bytes()),
        None => metadata.map(|metadata| metadata.len()),
    };
    let (progress, repairs) = (progress.clone(), Repairs::default());
    let planned = Planned { compression, found, form, first_us, file_bytes, progress, opened, is_utf16, repairs };
    Ok(Looked::Logs(vec![planned]))
}

/// The inputs that a text of several hosts is. What damages it is told with the first of them.
fn parts(found: Found, opened: Opened, progress: &Progress) -> Result<Vec<Planned>, InputProblem> {
    let (compression, is_utf16, mut damage) = (opened.compression, opened.is_utf16, Some(opened.damage));
    let parts = split::split(opened.stream, SPOOL_BYTES).map_err(|source| {
        InputProblem::from(&InputError::Io { action: "split by hosts", path: found.path.clone(), source })
    })?;
    let planned = parts.into_iter().map(|Part { sender, mut text, repairs }| {
        let mut head = Vec::new();
        text.by_ref().take(PROBE_BYTES as u64).read_to_end(&mut head).unwrap_or(0);
        let node = match sender {
            Some(Sender::Host(host)) => host,
            Some(Sender::File(path)) => input::node::node_of(Path::new(&path), &[]),
            None => found.node.clone(),
        };
        Planned {
            compression,
            first_us: first_time(&head, Form::Text),
            found: Found { node, ..found.clone() },
            form: Form::Text,
            file_bytes: None,
            progress: progress.clone(),
            opened: Some(Box::new(Opened::text(
                Box::new(std::io::Cursor::new(head).chain(text)),
                compression,
                damage.take().unwrap_or_default(),
            ))),
            is_utf16,
            repairs,
        }
    });
    Ok(planned.collect())
}

fn first_time(head: &[u8], form: Form) -> i64 {
    let first = match form {
        Form::Text => {
            let time_of = |text: &[u8]| {
                text::TextRecords::new(text).find_map(|item| match item {
                    text::TextItem::Record(record, _) => Some(record.time_us),
                    _ => None,
                })
            };
            time_of(head).or_else(|| time_of(&repair::repaired(head).text))
        }
        Form::Binary(layout) => {
            binary::BinaryRecords::new(head, layout).flatten().map(|(record, _)| record.time_us).next()
        }
    };
    first.unwrap_or(i64::MIN)
}

/// How a log is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub(crate) chunk_bytes: usize,
    /// How many chunks are read ahead of the one that is needed next.
    pub(crate) chunks_in_flight: usize,
    /// Names of files are kept.
    pub(crate) names: bool,
}

impl Reading {
    /// In chunks of `chunk_bytes` that a pool of `threads` decodes.
    #[must_use]
    pub fn new(chunk_bytes: usize, threads: usize) -> Self {
        // None is read ahead if its only reader decodes it, too: then it is still in the processor's cache.
        Self { chunk_bytes, chunks_in_flight: if threads == 1 { 1 } else { 2 * threads + 1 }, names: false }
    }

    /// The same; with `names`, rows have the names of files that clients' logs have.
    #[must_use]
    pub fn with_names(self, names: bool) -> Self {
        Self { names, ..self }
    }
}

/// What only shows up when an input is really opened.
#[derive(Default)]
pub(crate) struct OpeningNotes {
    pub(crate) damage: SharedDamage,
    pub(crate) error: Option<String>,
    /// Seams of a wrapped ring.
    pub(crate) seams: u64,
}

impl Planned {
    /// Tells the archive that it is in that it will be read.
    pub(crate) fn announce(&self) {
        // One that was told apart by hosts has been read.
        if let (Some(member), None) = (&self.found.member, &self.opened) {
            member.announce();
        }
    }

    /// Opens the input for reading; what goes wrong or turns up goes to `notes`.
    pub(crate) fn open(&mut self, reading: Reading, notes: &mut OpeningNotes) -> Option<Source> {
        match self.chunks(reading, notes) {
            Ok(chunks) => Some(Source::new(chunks, reading.chunks_in_flight, reading.names)),
            Err(problem) => {
                notes.error = Some(problem);
                None
            }
        }
    }

    /// Opens the input as chunks of records.
    pub(crate) fn chunks(&mut self, reading: Reading, notes: &mut OpeningNotes) -> Result<Chunks, String> {
        let opened = match self.opened.take() {
            Some(opened) => *opened,
            None => input::open(&self.found).map_err(|err| InputProblem::from(&err).message)?,
        };
        notes.damage = opened.damage.clone();
        if let Some((read, of)) = &opened.pass {
            self.progress.watch(read.clone(), *of, *of);
        }
        let file_bytes = self.file_bytes.unwrap_or(0);
        let failed = |err: std::io::Error| format!("failed to read `{}`: {err}", self.found.path.display());
        Ok(match self.form {
            Form::Text => {
                self.progress.watch(opened.consumed.clone(), file_bytes, file_bytes);
                Chunks::Text(TextReader::new(opened.stream, reading.chunk_bytes))
            }
            Form::Binary(layout) => {
                // To keep it takes about as long as to read what is kept.
                let keeping_bytes = if opened.is_plain() { 0 } else { file_bytes.div_ceil(2) };
                if !opened.is_plain() {
                    self.progress.watch(opened.consumed.clone(), file_bytes, keeping_bytes);
                }
                let mut source = opened.into_read_at(SPOOL_BYTES).map_err(failed)?;
                let stretches = ring::laps_in_order(&source, layout).map_err(failed)?;
                notes.seams = stretches.len() as u64 - 1;
                if file_bytes > 0 {
                    self.progress.watch(source.count(), source.len(), file_bytes - keeping_bytes);
                }
                Chunks::Binary(BinaryReader::new(source, layout, &stretches, reading.chunk_bytes))
            }
        })
    }
}
