//! What to read: opened once for a look, grouped by node.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};

use lioprof_model::NodeFrom;
use lustre_debuglog::frame::{Form, binary, text};

use crate::decode::reader::{BinaryReader, TextReader};
use crate::decode::ring;
use crate::decode::source::{Chunks, Source};
use crate::envelope::prefix::Sender;
use crate::envelope::repair;
use crate::envelope::split::{self, Part};
use crate::identity::contents::Contents;
use crate::identity::decide::decide;
use crate::identity::evidence::{Decision, Decisions, Evidence, Refusal};
use crate::input::{
    self, Compression, Discovered, Door, Found, InputError, InputProblem, Member, NodeRule, Opened, OpenedKernelLog,
    PROBE_BYTES, Recoded, Severity, SharedDamage, node, words,
};
use crate::kernel_log::{self, KernelLog};
use crate::progress::Progress;

/// A binary log that cannot be read at any offset is kept in memory up to this size, then in a
/// temporary file: a wrapped ring has to be read from its middle.
const SPOOL_BYTES: usize = 64 << 20;

/// Bytes of a chunk: much smaller ones cost time, larger ones memory.
pub const DEFAULT_CHUNK_BYTES: usize = 512 << 10;

/// An input that is a debug log.
pub(crate) struct Planned {
    pub(crate) found: Found,
    /// What told the node.
    pub(crate) node_from: NodeFrom,
    pub(crate) compression: Option<Compression>,
    pub(crate) form: Form,
    /// Time of the first record, for the order of inputs.
    pub(crate) first_us: i64,
    /// Length of the file; a pipe has none.
    file_bytes: Option<u64>,
    progress: Progress,
    /// Kept open if it cannot be opened again.
    opened: Option<Box<Opened>>,
    /// What of the file is undone when it is read.
    pub(crate) recoded: Recoded,
}

/// What was found among the inputs.
#[derive(Default)]
pub struct Inputs {
    /// The logs of each node.
    pub nodes: BTreeMap<String, NodeLogs>,
    /// Kernel logs.
    pub kernel_logs: Vec<KernelLog>,
    /// Folders of rows.
    pub stores: Vec<PathBuf>,
    /// Inputs that cannot be used, and notes.
    pub problems: Vec<InputProblem>,
    /// Which node each input belongs to, and why: a sentence each.
    pub named: Vec<String>,
}

impl Inputs {
    /// Looks for logs in files and directories; `-` is standard input. Whether a directory holds rows instead, `is_store` tells.
    #[must_use]
    pub fn find(inputs: &[PathBuf], rules: &[NodeRule], is_store: &dyn Fn(&Path) -> bool, progress: &Progress) -> Self {
        let discovered = input::discover(inputs, rules, is_store);
        let mut problems = discovered.problems;
        let mut looks: Vec<(Planned, Evidence)> = Vec::new();
        let mut kernel_logs = KernelLogs::new(rules);
        // One log has nothing to be compared with.
        let mut alone = discovered.files.len() == 1;
        let mut todo: VecDeque<Found> = discovered.files.into();
        let mut kernel_files = discovered.kernel_logs;
        let mut unmatched: Vec<&NodeRule> = rules.iter().filter(|rule| rule.glob.is_some()).collect();
        while let Some(found) = todo.pop_front() {
            unmatched.retain(|rule| !found.is_matched_by(rule));
            let fixed = found.fixed_node(rules);
            match look(found.clone(), fixed, alone, rules, progress) {
                Ok(Looked::Logs(parts)) => looks.extend(parts),
                Ok(Looked::Archive(mut inside)) => {
                    alone &= inside.files.len() == 1;
                    problems.append(&mut inside.problems);
                    kernel_files.append(&mut inside.kernel_logs);
                    inside.files.into_iter().rev().for_each(|member| todo.push_front(member));
                }
                Err(InputError::KernelLog { log, .. }) => kernel_logs.add(&found, *log, false),
                Err(error) => problems.push((&error).into()),
            }
        }
        for (found, is_beside) in kernel_files {
            unmatched.retain(|rule| !found.is_matched_by(rule));
            match input::open(&found) {
                Err(InputError::KernelLog { log, .. }) => kernel_logs.add(&found, *log, is_beside),
                // Somebody has changed it since it was looked at.
                Ok(_) => {}
                Err(error) => problems.push((&error).into()),
            }
        }
        problems.extend(unmatched.into_iter().map(|NodeRule { node, glob }| {
            let glob = glob.as_deref().unwrap_or_default();
            let message = format!("`--node {node}={glob}` matches no input: the pattern is for a path as it is given, or for the file's name");
            InputProblem { path: PathBuf::from(glob), severity: Severity::Note, message }
        }));
        let (nodes, named, refused) = by_node(looks, &mut kernel_logs);
        problems.extend(refused);
        progress.expect(nodes.values().flat_map(|logs| &logs.0).map(|planned| planned.file_bytes).sum());
        Self { nodes, kernel_logs: kernel_logs.read, stores: discovered.stores, problems, named }
    }
}

/// Decides of which node each log is: the debug logs by node, which node each log is of, and what cannot be decided.
fn by_node(
    looks: Vec<(Planned, Evidence)>,
    kernel_logs: &mut KernelLogs<'_>,
) -> (BTreeMap<String, NodeLogs>, Vec<String>, Vec<InputProblem>) {
    let (planned, mut evidence): (Vec<Planned>, Vec<Evidence>) = looks.into_iter().unzip();
    let debug_logs = evidence.len();
    evidence.append(&mut kernel_logs.evidence);
    let Decisions { nodes: mut decisions, refusals } = decide(&evidence);
    let problems = refusals.into_iter().map(|Refusal { inputs, message }| {
        let path = inputs.first().map_or_else(PathBuf::new, |&at| PathBuf::from(&evidence[at].path));
        InputProblem { path, severity: Severity::Error, message }
    });
    let problems = problems.collect();
    let of_kernel_logs = decisions.split_off(debug_logs);
    let mut nodes: BTreeMap<String, NodeLogs> = BTreeMap::new();
    let mut named = Vec::new();
    let mut name = |path: &Path, what: &str, Decision { node, from, why }: Decision| {
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        named.push(format!("`{}` is a {what} of node {node} (by {}{why})", path.display(), in_words(from)));
        (node, from)
    };
    for (mut planned, decision) in planned.into_iter().zip(decisions) {
        let Some(decision) = decision else { continue };
        let (node, from) = name(&planned.found.path, "log", decision);
        planned.node_from = from;
        planned.found.node.clone_from(&node);
        nodes.entry(node).or_default().0.push(planned);
    }
    let unnamed: Vec<usize> = (0..kernel_logs.read.len()).filter(|&at| kernel_logs.read[at].needs_node()).collect();
    for (at, decision) in unnamed.into_iter().zip(of_kernel_logs) {
        let log = &mut kernel_logs.read[at];
        let Some(decision) = decision.map(|decision| beside(log, decision, &nodes)) else { continue };
        (log.node, log.node_from) = name(&log.path, "kernel log", decision);
    }
    (nodes, named, problems)
}

/// The node of a kernel log whose name is no host's: if the debug logs in its folder are of one node, it is of that one.
fn beside(log: &KernelLog, decision: Decision, nodes: &BTreeMap<String, NodeLogs>) -> Decision {
    let folder = |path: &Path| path.parent().unwrap_or(Path::new("")).to_owned();
    let is_open = !matches!(decision.from, NodeFrom::Option | NodeFrom::Stdin | NodeFrom::Prefix);
    if !is_open || nodes.contains_key(&decision.node) || words::is_host_like(&decision.node) {
        return decision;
    }
    let here = folder(&log.path);
    let is_here = |logs: &NodeLogs| logs.0.iter().any(|planned| folder(&planned.found.path) == here);
    let mut beside = nodes.iter().filter(|(_, logs)| is_here(logs)).map(|(node, _)| node);
    match (beside.next(), beside.next()) {
        (Some(node), None) => {
            let why = Some("the debug logs in its folder are of one node".to_owned());
            Decision { node: node.clone(), from: NodeFrom::Folder, why }
        }
        _ => decision,
    }
}

fn in_words(from: NodeFrom) -> &'static str {
    match from {
        NodeFrom::Option => "--node",
        NodeFrom::Prefix => "the host that it names",
        NodeFrom::Path => "the part of the paths that tells the inputs apart",
        NodeFrom::Name => "its name",
        NodeFrom::Folder => "its folder",
        NodeFrom::Contents => "its contents",
        NodeFrom::Stdin => "where it comes from",
    }
}

/// The nodes that kernel logs at these paths are of where their lines name none, by the rules for all inputs.
#[must_use]
pub fn kernel_log_nodes(paths: &[PathBuf]) -> Vec<String> {
    let of = |path: &PathBuf| {
        let evidence = of_place(path, node::fixed(path, &[]), Contents::default(), path.display().to_string());
        Evidence { is_kernel_log: true, ..evidence }
    };
    let evidence: Vec<Evidence> = paths.iter().map(of).collect();
    let nodes = decide(&evidence).nodes.into_iter().zip(paths);
    nodes.map(|(decision, path)| decision.map_or_else(|| node::node_of(path, &[]), |decision| decision.node)).collect()
}

/// What is known of an input that lies here.
fn of_place(place: &Path, fixed: Option<(String, NodeFrom)>, contents: Contents, path: String) -> Evidence {
    Evidence {
        fixed,
        components: node::components(place),
        here: node::here(place),
        contents,
        is_kernel_log: false,
        path,
    }
}

/// Kernel logs among the inputs.
struct KernelLogs<'a> {
    rules: &'a [NodeRule],
    read: Vec<KernelLog>,
    /// What is known of the servers of those whose lines do not name them, in the same order.
    evidence: Vec<Evidence>,
}

impl<'a> KernelLogs<'a> {
    fn new(rules: &'a [NodeRule]) -> Self {
        Self { rules, read: Vec::new(), evidence: Vec::new() }
    }

    fn add(&mut self, found: &Found, opened: OpenedKernelLog, is_beside: bool) {
        let fixed = found.fixed_node(self.rules);
        for log in kernel_log::read(found, opened) {
            let mut log = KernelLog { is_beside, ..log };
            if let Some((node, NodeFrom::Option)) = &fixed {
                (log.node, log.node_from) = (node.clone(), NodeFrom::Option);
            }
            if log.needs_node() {
                let fixed = fixed.clone().filter(|(_, from)| log.file.is_none() || *from == NodeFrom::Option);
                let shown = found.path.display().to_string();
                let mut evidence = of_place(found.place(), fixed, Contents::default(), shown);
                evidence.is_kernel_log = true;
                evidence.components.extend(log.file.iter().flat_map(|file| node::components(Path::new(file))));
                self.evidence.push(evidence);
            }
            self.read.push(log);
        }
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

    /// Bytes of their files, as they are on disk; a pipe has none.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.iter().filter_map(|log| log.file_bytes).sum()
    }

    /// Their paths.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.0.iter().map(|log| log.found.path.clone())
    }

    /// The logs, each open from its beginning: for whoever reads bytes, not rows.
    pub fn open(self) -> impl Iterator<Item = (Found, Result<Opened, InputError>)> {
        self.0.into_iter().map(|mut log| {
            let opened = log.opened.take().map_or_else(|| input::open(&log.found), |opened| Ok(*opened));
            (log.found, opened)
        })
    }

    /// When the first log begins, microseconds since the epoch; `None` if none has a record at its beginning.
    #[must_use]
    pub fn begin_us(&self) -> Option<i64> {
        self.0.iter().map(|log| log.first_us).filter(|us| *us != i64::MIN).min()
    }

    /// Tells the progress that all logs will be read once more.
    pub fn expect_again(&self) {
        for log in &self.0 {
            let member = log.found.member.as_ref().map(Member::expect_again);
            log.progress.expect_again(member.or(log.file_bytes).unwrap_or(0));
        }
    }
}

/// What was found behind a path.
enum Looked {
    /// A log, or one for each host that it names; and what is known of the server that wrote it.
    Logs(Vec<(Planned, Evidence)>),
    /// Members of an archive that came out of a pipe.
    Archive(Discovered),
}

/// Looks at an input: what it is, and what is known of the server that wrote it. If it is `alone`, its contents do not matter for that. A text
/// that says which hosts its lines come from becomes an input for each.
fn look(
    mut found: Found,
    fixed: Option<(String, NodeFrom)>,
    alone: bool,
    rules: &[NodeRule],
    progress: &Progress,
) -> Result<Looked, InputError> {
    let metadata = if found.is_stdin { None } else { found.path.metadata().ok().filter(Metadata::is_file) };
    let mut head = Vec::new();
    // What is known of a member does not have to be read again.
    let opened = if let Some(member) = &mut found.member {
        head.extend_from_slice(member.head());
        member.forget_head();
        None
    } else {
        let mut opened = if metadata.is_some() {
            input::open(&found)?
        } else {
            match input::open_door(&found)? {
                Door::Log(opened) => *opened,
                Door::Archive(archive) => return Ok(Looked::Archive(input::look_into(&found, archive, rules))),
            }
        };
        // The stream never fails: damage ends it, and is told when it is read to the end.
        opened.stream.by_ref().take(PROBE_BYTES as u64).read_to_end(&mut head).unwrap_or(0);
        Some(opened)
    };
    let (form, compression, recoded) = match (&opened, &found.member) {
        (Some(opened), _) => (opened.form, opened.compression, opened.recoded.clone()),
        (None, Some(member)) => (member.form().unwrap_or(Form::Text), member.compression(), member.recoded().clone()),
        (None, None) => (Form::Text, None, Recoded::default()),
    };
    // Who a file belongs to, the user may have said: then it is one.
    let may_be_split = form == Form::Text && matches!(fixed, None | Some((_, NodeFrom::Stdin)));
    let is_split = may_be_split && split::names_senders(&head);
    let first_us = first_time(&head, form);
    let mut contents = Contents::default();
    if !alone && fixed.is_none() && !is_split {
        contents.add(&as_logged(&head, form), form);
        if head.len() == PROBE_BYTES {
            let tail = match (&opened, &found.member) {
                (Some(opened), _) => opened.tail(PROBE_BYTES),
                (None, Some(member)) => member.tail(PROBE_BYTES),
                (None, None) => Vec::new(),
            };
            contents.add(&as_logged(&tail, form), form);
        }
    }
    let whole = |mut opened: Opened| {
        opened.stream = Box::new(std::io::Cursor::new(head).chain(opened.stream));
        opened
    };
    if is_split {
        let opened = match opened {
            Some(opened) => whole(opened),
            None => input::open(&found)?,
        };
        return parts(&found, fixed.as_ref(), opened, progress).map(Looked::Logs);
    }
    let evidence = of_place(found.place(), fixed, contents, found.path.display().to_string());
    let opened = opened.filter(|_| metadata.is_none()).map(|opened| Box::new(whole(opened)));
    let file_bytes = match &found.member {
        Some(member) => Some(member.file_bytes()),
        None => metadata.map(|metadata| metadata.len()),
    };
    let planned = Planned {
        compression,
        found,
        node_from: NodeFrom::Name,
        form,
        first_us,
        file_bytes,
        progress: progress.clone(),
        opened,
        recoded,
    };
    Ok(Looked::Logs(vec![(planned, evidence)]))
}

/// The inputs that a text of several hosts is, each with the host or file that its lines name. What damages the text is told with the first
/// of them.
fn parts(
    found: &Found,
    fixed: Option<&(String, NodeFrom)>,
    opened: Opened,
    progress: &Progress,
) -> Result<Vec<(Planned, Evidence)>, InputError> {
    let (compression, recoded, mut damage) = (opened.compression, opened.recoded.clone(), Some(opened.damage));
    let parts = split::split(opened.stream, SPOOL_BYTES).map_err(|source| InputError::Io {
        action: "split by hosts",
        path: found.path.clone(),
        source,
    })?;
    let planned = parts.into_iter().map(|Part { sender, mut text }| {
        let mut head = Vec::new();
        text.by_ref().take(PROBE_BYTES as u64).read_to_end(&mut head).unwrap_or(0);
        let mut contents = Contents::default();
        contents.add(&as_logged(&head, Form::Text), Form::Text);
        let mut evidence = of_place(found.place(), fixed.cloned(), contents, found.path.display().to_string());
        match sender {
            Some(Sender::Host(host)) => evidence.fixed = Some((host, NodeFrom::Prefix)),
            // As if the file that the lines name lay in a folder of this one's name.
            Some(Sender::File(file)) => {
                evidence.components.extend(node::components(Path::new(&file)));
                evidence.path = format!("{}: {file}", evidence.path);
                evidence.fixed = None;
            }
            None => {}
        }
        let planned = Planned {
            compression,
            first_us: first_time(&head, Form::Text),
            found: found.clone(),
            node_from: NodeFrom::Name,
            form: Form::Text,
            file_bytes: None,
            progress: progress.clone(),
            opened: Some(Box::new(Opened::text(
                Box::new(std::io::Cursor::new(head).chain(text)),
                compression,
                damage.take().unwrap_or_default(),
            ))),
            recoded: recoded.clone(),
        };
        (planned, evidence)
    });
    Ok(planned.collect())
}

/// The beginning or the end of a log as it was logged, whatever it arrived in.
fn as_logged(bytes: &[u8], form: Form) -> Cow<'_, [u8]> {
    match form {
        Form::Text => repair::as_logged(bytes).0,
        Form::Binary(_) => Cow::Borrowed(bytes),
    }
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
            time_of(head).or_else(|| time_of(&as_logged(head, form)))
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
    /// Threads of the pool that it may keep busy.
    pub(crate) threads: usize,
    /// Names of files are kept.
    pub(crate) names: bool,
}

impl Reading {
    /// In chunks of `chunk_bytes` that so many threads of the pool decode.
    #[must_use]
    pub fn new(chunk_bytes: usize, threads: usize) -> Self {
        Self { chunk_bytes, threads, names: false }
    }

    /// How many chunks are read ahead of the one that is needed next.
    pub(crate) fn chunks_in_flight(self) -> usize {
        // None is read ahead if its only reader decodes it, too: then it is still in the processor's cache.
        if self.threads == 1 { 1 } else { 2 * self.threads + 1 }
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
            Ok(chunks) => Some(Source::new(chunks, reading.chunks_in_flight(), reading.names)),
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
