//! What the user named, sorted by what can be done with it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use lioprof_trace::input::{self, Compression, Found, InputProblem, NodeRule, Severity};
use lustre_debuglog::frame;

use crate::counters;

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    Log,
    Counters,
}

/// An input that can be written again.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) found: Found,
    pub(crate) what: What,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) files: Vec<Source>,
    /// Folders of rows.
    pub(crate) stores: Vec<PathBuf>,
    pub(crate) problems: Vec<InputProblem>,
    /// Files that are not written, since nobody knows what is in them.
    pub(crate) left_out: Vec<PathBuf>,
    /// Standard input, which can be read only once.
    pub(crate) spooled: Option<tempfile::NamedTempFile>,
}

/// Looks for logs and counters.
pub(crate) fn find(inputs: &[PathBuf], rules: &[NodeRule], is_store: &dyn Fn(&Path) -> bool) -> io::Result<Sources> {
    let mut sources = Sources::default();
    let counters: BTreeSet<&PathBuf> = inputs.iter().filter(|path| is_counters_file(path)).collect();
    // A folder of rows that is named itself is no folder to search.
    let others: Vec<PathBuf> = inputs.iter().filter(|path| !counters.contains(path)).cloned().collect();
    let mut discovered = input::discover(&others, rules, is_store);
    sources.stores = std::mem::take(&mut discovered.stores);
    sources.problems = std::mem::take(&mut discovered.problems);
    for mut found in discovered.files {
        if found.is_stdin {
            let mut file = tempfile::NamedTempFile::new()?;
            io::copy(&mut io::stdin().lock(), file.as_file_mut())?;
            file.flush()?;
            found = Found { path: file.path().to_owned(), node: found.node, is_stdin: false, member: None };
            sources.spooled = Some(file);
        }
        sources.files.push(Source { found, what: What::Log });
    }
    for path in counters {
        sources.add_counters(path, rules);
    }
    for dir in others.iter().filter(|path| path.is_dir()) {
        sources.others_of(dir, rules, 0);
    }
    // What is written without being a log would be told of as skipped.
    let written: BTreeSet<&Path> = sources.files.iter().map(|source| source.found.path.as_path()).collect();
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
    /// What lies in a folder besides logs.
    fn others_of(&mut self, dir: &Path, rules: &[NodeRule], depth: usize) {
        if self.stores.iter().any(|store| store == dir) || depth > MAX_DEPTH {
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
                self.others_of(&path, rules, depth + 1);
            } else if !self.files.iter().any(|source| source.found.path == path) {
                if kind.is_file() && is_counters_file(&path) {
                    self.add_counters(&path, rules);
                } else if !(kind.is_file() && is_log(&path)) {
                    self.left_out.push(path);
                }
            }
        }
    }

    fn add_counters(&mut self, path: &Path, rules: &[NodeRule]) {
        // Beside a log they are of its node, whatever they are called.
        let beside = |source: &&Source| source.what == What::Log && source.found.path.parent() == path.parent();
        let node = self.files.iter().find(beside).map(|source| source.found.node.clone());
        let node = node.unwrap_or_else(|| {
            let as_log = path.with_file_name("rpc.bin");
            input::node::node_of(if rules.iter().any(|rule| rule.matches(path)) { path } else { &as_log }, rules)
        });
        let found = Found { path: path.to_owned(), node, is_stdin: false, member: None };
        self.files.push(Source { found, what: What::Counters });
    }
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
