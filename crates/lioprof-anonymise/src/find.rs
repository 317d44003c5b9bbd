//! What the user named, sorted by what can be done with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use lioprof_trace::input::{self, Compression, Found, InputProblem, NodeRule, Severity};
use lioprof_trace::{Inputs, KernelLog, NodeLogs, Progress};
use lustre_debuglog::frame;

use crate::counters;

/// A file with counters.
#[derive(Debug)]
pub(crate) struct Counters {
    pub(crate) path: PathBuf,
    pub(crate) node: String,
}

/// What was found.
#[derive(Default)]
pub(crate) struct Sources {
    /// Logs by node, for the first pass.
    pub(crate) nodes: BTreeMap<String, NodeLogs>,
    /// Where they were found. For the second pass they are looked for anew: of a file with lines of several hosts each host's are a log of their
    /// own, and cannot be opened twice.
    pub(crate) searched: Vec<PathBuf>,
    pub(crate) counters: Vec<Counters>,
    /// Folders of rows.
    pub(crate) stores: Vec<PathBuf>,
    pub(crate) problems: Vec<InputProblem>,
    /// Files that are not written, since nobody knows what is in them.
    pub(crate) left_out: Vec<PathBuf>,
    /// Standard input, which can be read only once: in this folder.
    spooled: Option<tempfile::TempDir>,
}

/// The logs of each node.
pub(crate) fn logs(paths: &[PathBuf], rules: &[NodeRule], is_store: &dyn Fn(&Path) -> bool) -> Inputs {
    Inputs::find(paths, rules, is_store, &Progress::default())
}

/// The node and the path of each log.
pub(crate) fn paths(nodes: &BTreeMap<String, NodeLogs>) -> impl Iterator<Item = (&str, PathBuf)> {
    nodes.iter().flat_map(|(node, logs)| logs.paths().map(move |path| (node.as_str(), path)))
}

/// Looks for logs and counters.
pub(crate) fn find(inputs: &[PathBuf], rules: &[NodeRule], is_store: &dyn Fn(&Path) -> bool) -> io::Result<Sources> {
    let mut sources = Sources::default();
    let (counters, others): (Vec<_>, Vec<_>) = inputs.iter().cloned().partition(|path| is_counters_file(path));
    for path in &others {
        let path = if path.as_os_str() == "-" { sources.spool()? } else { path.clone() };
        sources.searched.push(path);
    }
    // A folder of rows that is named itself is no folder to search.
    let found = logs(&sources.searched, rules, is_store);
    sources.stores = found.stores;
    sources.problems = found.problems;
    sources.problems.extend(found.kernel_logs.iter().map(KernelLog::no_records));
    sources.nodes = found.nodes;
    let logs: Vec<(PathBuf, String)> = paths(&sources.nodes).map(|(node, path)| (path, node.to_owned())).collect();
    let mut search = Search { sources: &mut sources, logs: &logs, rules };
    for path in &counters {
        search.add_counters(path);
    }
    for dir in others.iter().filter(|path| path.is_dir()) {
        search.others_of(dir, 0);
    }
    // What is written without being a log would be told of as skipped.
    let written: BTreeSet<&Path> = sources.counters.iter().map(|it| it.path.as_path()).collect();
    let left_out: BTreeSet<&Path> = sources.left_out.iter().map(PathBuf::as_path).collect();
    let is_new = |problem: &InputProblem| {
        let path = problem.path.as_path();
        problem.severity == Severity::Error && !only_counters(&written, path)
            || problem.severity == Severity::Note && !written.contains(path) && !left_out.contains(path)
    };
    sources.problems.retain(is_new);
    Ok(sources)
}

/// Whether something below this folder is written, so that a folder without logs is no error.
fn only_counters(written: &BTreeSet<&Path>, dir: &Path) -> bool {
    dir.is_dir() && written.iter().any(|path| path.starts_with(dir))
}

/// Folders within folders that are looked at.
const MAX_DEPTH: usize = 64;

impl Sources {
    /// Keeps standard input in a file, which gives its node the name that it has without.
    fn spool(&mut self) -> io::Result<PathBuf> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("stdin");
        io::copy(&mut io::stdin().lock(), &mut File::create(&path)?)?;
        self.spooled = Some(dir);
        Ok(path)
    }

    /// A path for people: what came from standard input, or is in it, is `-`.
    pub(crate) fn shown(&self, path: &Path) -> PathBuf {
        let spooled = self.spooled.as_ref().map(|dir| dir.path().join("stdin"));
        let inside = spooled.and_then(|spooled| {
            path.as_os_str().as_encoded_bytes().strip_prefix(spooled.as_os_str().as_encoded_bytes())
        });
        inside.map_or_else(|| path.to_owned(), |inside| format!("-{}", String::from_utf8_lossy(inside)).into())
    }
}

struct Search<'a> {
    sources: &'a mut Sources,
    /// Logs and their nodes.
    logs: &'a [(PathBuf, String)],
    rules: &'a [NodeRule],
}

impl Search<'_> {
    /// What lies in a folder besides logs.
    fn others_of(&mut self, dir: &Path, depth: usize) {
        if self.sources.stores.iter().any(|store| store == dir) || depth > MAX_DEPTH {
            return;
        }
        let Ok(entries) = fs::read_dir(dir) else { return };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")));
        paths.sort();
        for path in paths {
            // Links lead to what is not below the folder, or to what was met already.
            let Ok(kind) = path.symlink_metadata().map(|metadata| metadata.file_type()) else { continue };
            if kind.is_dir() {
                self.others_of(&path, depth + 1);
            } else if !self.logs.iter().any(|(log, _)| is_in(log, &path)) {
                if kind.is_file() && is_counters_file(&path) {
                    self.add_counters(&path);
                } else if !(kind.is_file() && is_log(&path)) {
                    self.sources.left_out.push(path);
                }
            }
        }
    }

    fn add_counters(&mut self, path: &Path) {
        // Beside a log they are of its node, whatever they are called.
        let beside = self.logs.iter().find(|(log, _)| log.parent() == path.parent());
        let node = beside.map(|(_, node)| node.clone()).unwrap_or_else(|| {
            let as_log = path.with_file_name("rpc.bin");
            let is_named = self.rules.iter().any(|rule| rule.matches(path));
            input::node::node_of(if is_named { path } else { &as_log }, self.rules)
        });
        self.sources.counters.push(Counters { path: path.to_owned(), node });
    }
}

/// Whether a log is this file, or a member of this archive.
fn is_in(log: &Path, path: &Path) -> bool {
    let rest = log.as_os_str().as_encoded_bytes().strip_prefix(path.as_os_str().as_encoded_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"!"))
}

/// Whether a file is a log, which is then another form of one that is read.
fn is_log(path: &Path) -> bool {
    let found = Found { path: path.to_owned(), node: String::new(), is_stdin: false, member: None };
    input::open(&found).is_ok()
}

fn is_counters_file(path: &Path) -> bool {
    path.is_file()
        && head(path, counters::PROBE_BYTES).is_ok_and(|head| counters::is_counters(&head) && !is_framed(&head))
}

fn is_framed(head: &[u8]) -> bool {
    frame::detect(head, head.len() < counters::PROBE_BYTES).is_some()
}

fn head(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(limit as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// The ending that says how a file is packed.
pub(crate) fn ending(compression: Option<Compression>) -> String {
    compression.map(|it| format!(".{it}")).unwrap_or_default()
}
