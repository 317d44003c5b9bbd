//! The whole command: two passes over all inputs.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use lioprof_trace::NodeLogs;
use lioprof_trace::input::{Compression, Found, InputProblem, NodeRule, Opened, Severity};
use lustre_debuglog::frame::Form;

use crate::error::AnonymiseError;
use crate::find::{self, Counters, Sources};
use crate::key::Key;
use crate::names::{Names, Pseudonyms};
use crate::piece::Pieces;
use crate::recognise;
use crate::rewrite::{self, Dropped};
use crate::{counters, log, output};

/// What to do.
pub struct Options<'a> {
    /// Logs, counters, and folders of them; `-` is standard input.
    pub inputs: &'a [PathBuf],
    /// Names of nodes, as for `analyze`.
    pub rules: &'a [NodeRule],
    /// Makes the pseudonyms.
    pub key: &'a Key,
    /// A new or empty folder.
    pub output: &'a Path,
    /// Where the table of names and pseudonyms goes, if anywhere.
    pub mapping: Option<&'a Path>,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// What it was made of.
    pub from: PathBuf,
    /// The file.
    pub to: PathBuf,
    /// Records of a log, lines of counters.
    pub records: u64,
}

/// What was done.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Files that were written: rows, logs by node, counters.
    pub written: Vec<Written>,
    /// Names that were replaced, by kind.
    pub names: BTreeMap<&'static str, usize>,
    /// What could not be replaced for certain.
    pub dropped: Dropped,
    /// Files in folders that are neither logs nor counters, and were not written.
    pub left_out: Vec<PathBuf>,
    /// What is wrong with inputs.
    pub problems: Vec<InputProblem>,
}

/// Writes all inputs with pseudonyms.
///
/// # Errors
/// If the folder is not empty, or something cannot be written. What is wrong with inputs is in [`Outcome::problems`].
pub fn anonymise(options: &Options<'_>) -> Result<Outcome, AnonymiseError> {
    if fs::read_dir(options.output).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(AnonymiseError::NotEmpty(options.output.to_owned()));
    }
    let sources = find::find(options.inputs, options.rules, &is_store).map_err(AnonymiseError::io("keep", "-"))?;
    let mut work = Work { options, outcome: Outcome::default() };
    let (sources, names) = work.collect(sources);
    let pseudonyms = names.into_pseudonyms(options.key);
    for (kind, name, pseudonym) in pseudonyms.table() {
        *work.outcome.names.entry(kind.as_str()).or_default() += usize::from(name != pseudonym);
    }
    if let Some(path) = options.mapping {
        write_mapping(&pseudonyms, path).map_err(AnonymiseError::io("write", path))?;
    }
    fs::create_dir_all(options.output).map_err(AnonymiseError::io("create", options.output))?;
    work.write(&sources, &pseudonyms)?;
    Ok(work.outcome)
}

fn is_store(path: &Path) -> bool {
    // The folder of manifests says what a dataset is (`lioprof-store`, `layout.rs`).
    path.join("manifests").read_dir().is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|it| it.file_name().as_encoded_bytes().starts_with(b"fs=")))
    })
}

struct Work<'a> {
    options: &'a Options<'a>,
    outcome: Outcome,
}

impl Work<'_> {
    fn problem(&mut self, path: &Path, message: String) {
        self.outcome.problems.push(InputProblem { path: path.to_owned(), severity: Severity::Error, message });
    }

    /// The first pass. What cannot be read is told of, and left out of the second pass.
    fn collect(&mut self, mut sources: Sources) -> (Sources, Names) {
        self.outcome.problems = std::mem::take(&mut sources.problems);
        self.outcome.left_out = std::mem::take(&mut sources.left_out);
        let mut names = Names::default();
        for (node, logs) in std::mem::take(&mut sources.nodes) {
            add_host(&node, &mut names);
            for (Found { path, .. }, opened) in logs.open() {
                let result = opened.map_err(|err| InputProblem::from(&err).message).and_then(|opened| {
                    let damage = opened.damage.clone();
                    log::collect(opened, &mut names)
                        .map_err(|err| format!("failed to read `{}`: {err}", path.display()))?;
                    damage.get().map_or(Ok(()), |damage| {
                        Err(format!("`{}`: {damage}; what comes before is written", path.display()))
                    })
                });
                if let Err(message) = result {
                    self.problem(&path, message);
                }
            }
        }
        sources.counters.retain(|Counters { path, node }| match fs::read(path) {
            Ok(text) => {
                add_host(node, &mut names);
                counters::collect(&text, &mut names);
                true
            }
            Err(err) => {
                self.problem(path, format!("failed to read `{}`: {err}", path.display()));
                false
            }
        });
        sources.stores = self.collect_stores(std::mem::take(&mut sources.stores), &mut names);
        (sources, names)
    }

    /// Rows that can be read.
    #[cfg(feature = "rows")]
    fn collect_stores(&mut self, stores: Vec<PathBuf>, names: &mut Names) -> Vec<PathBuf> {
        for store in &stores {
            for problem in crate::rows::collect(store, names) {
                self.problem(store, problem);
            }
        }
        stores
    }

    /// Rows cannot be read: this program was built without Parquet.
    #[cfg(not(feature = "rows"))]
    fn collect_stores(&mut self, stores: Vec<PathBuf>, _: &mut Names) -> Vec<PathBuf> {
        for store in &stores {
            let path = store.display();
            self.problem(
                store,
                format!("`{path}` holds rows, which this lioprof was built without: use one with Parquet"),
            );
        }
        Vec::new()
    }

    #[cfg(feature = "rows")]
    fn write_stores(&mut self, stores: &[PathBuf], pseudonyms: &Pseudonyms) -> Result<(), AnonymiseError> {
        for (at, from) in stores.iter().enumerate() {
            let name = if stores.len() > 1 { format!("rows-{}", at + 1) } else { "rows".to_owned() };
            let to = self.options.output.join(name);
            match crate::rows::rewrite(from, &to, pseudonyms, &mut self.outcome.dropped) {
                Ok(records) => self.outcome.written.push(Written { from: from.clone(), to, records }),
                Err(message) => return Err(AnonymiseError::Rows(message)),
            }
        }
        Ok(())
    }

    #[cfg(not(feature = "rows"))]
    fn write_stores(&mut self, _: &[PathBuf], _: &Pseudonyms) -> Result<(), AnonymiseError> {
        Ok(())
    }

    /// The second pass.
    fn write(&mut self, sources: &Sources, pseudonyms: &Pseudonyms) -> Result<(), AnonymiseError> {
        self.write_stores(&sources.stores, pseudonyms)?;
        let nodes = find::logs(&sources.searched, self.options.rules, &is_store).nodes;
        let mut names = FileNames::of(&nodes, &sources.counters, pseudonyms);
        for (node, logs) in nodes {
            for (Found { path, .. }, opened) in logs.open() {
                let opened = match opened {
                    Ok(opened) => opened,
                    Err(err) => {
                        // The first pass has told it, unless it was there a moment ago.
                        let problem = InputProblem::from(&err);
                        if !self.outcome.problems.contains(&problem) {
                            self.outcome.problems.push(problem);
                        }
                        continue;
                    }
                };
                let name = names.log(&Place::of(&node, &path), &opened);
                self.write_file(sources.shown(&path), name, opened.compression, |dropped, file| {
                    log::rewrite(opened, pseudonyms, dropped, file)
                })?;
            }
        }
        for Counters { path, node } in &sources.counters {
            let text = fs::read(path).map_err(AnonymiseError::io("read", path))?;
            let name = names.counters(&Place::of(node, path), path);
            self.write_file(path.clone(), name, None, |dropped, file| {
                counters::rewrite(&text, pseudonyms, dropped, file)
            })?;
        }
        Ok(())
    }

    fn write_file(
        &mut self,
        from: PathBuf,
        name: PathBuf,
        compression: Option<Compression>,
        rewrite: impl FnOnce(&mut Dropped, &mut output::Packed) -> std::io::Result<u64>,
    ) -> Result<(), AnonymiseError> {
        let to = self.options.output.join(name);
        let dropped = &mut self.outcome.dropped;
        let records = output::create(&to, 0o666)
            .and_then(|file| output::Packed::new(file, compression))
            .and_then(|mut file| {
                let records = rewrite(dropped, &mut file)?;
                file.finish().map(|()| records)
            })
            .map_err(AnonymiseError::io("write", &to))?;
        self.outcome.written.push(Written { from, to, records });
        Ok(())
    }
}

fn add_host(node: &str, names: &mut Names) {
    let mut pieces = Pieces::new();
    recognise::host(node.as_bytes(), &mut pieces);
    pieces.iter().for_each(|piece| names.add_piece(*piece));
}

/// The pseudonym of a node.
fn host(node: &str, pseudonyms: &Pseudonyms) -> String {
    let mut pieces = Pieces::new();
    recognise::host(node.as_bytes(), &mut pieces);
    let mut text = Vec::new();
    rewrite::write(&pieces, pseudonyms, false, &mut 0, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The node and the folder of an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    node: String,
    folder: PathBuf,
}

impl Place {
    fn of(node: &str, path: &Path) -> Self {
        Self { node: node.to_owned(), folder: path.parent().unwrap_or(Path::new("")).to_owned() }
    }
}

/// Where files are written: `HOST/rpc.bin`. Names of files and folders are those of lioprof, never those of the inputs.
struct FileNames<'a> {
    pseudonyms: &'a Pseudonyms,
    /// Logs of each place: those of one folder stay together, those of several stay apart.
    places: BTreeMap<Place, usize>,
    /// Logs and counters written so far.
    logs: BTreeMap<Place, usize>,
    counters: BTreeMap<Place, usize>,
}

impl<'a> FileNames<'a> {
    fn of(nodes: &BTreeMap<String, NodeLogs>, counters: &[Counters], pseudonyms: &'a Pseudonyms) -> Self {
        let mut places: BTreeMap<Place, usize> =
            counters.iter().map(|Counters { path, node }| (Place::of(node, path), 0)).collect();
        for (node, path) in find::paths(nodes) {
            *places.entry(Place::of(node, &path)).or_default() += 1;
        }
        Self { pseudonyms, places, logs: BTreeMap::new(), counters: BTreeMap::new() }
    }

    fn log(&mut self, place: &Place, opened: &Opened) -> PathBuf {
        let form = match opened.form {
            Form::Text => "txt",
            Form::Binary(_) => "bin",
        };
        let number = next(&mut self.logs, place);
        let ending = find::ending(opened.compression);
        let is_only = self.places.get(place) == Some(&1);
        let name = if is_only { format!("rpc.{form}{ending}") } else { format!("rpc-{number:04}.{form}{ending}") };
        self.folder(place).join(name)
    }

    fn counters(&mut self, place: &Place, path: &Path) -> PathBuf {
        // This name says nothing, and those who look for counters know it.
        let number = next(&mut self.counters, place);
        let is_truth = path.file_name().is_some_and(|name| name == "truth.txt");
        let name = if is_truth { "truth.txt".to_owned() } else { format!("counters-{number}.txt") };
        self.folder(place).join(name)
    }

    fn folder(&self, place: &Place) -> PathBuf {
        let host = host(&place.node, self.pseudonyms);
        let folders: Vec<&Place> = self.places.keys().filter(|known| known.node == place.node).collect();
        match folders.iter().position(|known| *known == place) {
            Some(at) if folders.len() > 1 => [(at + 1).to_string(), host].iter().collect(),
            _ => host.into(),
        }
    }
}

/// The number of the next file of a place, from 1.
fn next(written: &mut BTreeMap<Place, usize>, place: &Place) -> usize {
    let number = written.entry(place.clone()).or_default();
    *number += 1;
    *number
}

/// The table of names: kind, name, pseudonym; readable for its owner only.
fn write_mapping(pseudonyms: &Pseudonyms, path: &Path) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(output::create(path, 0o600)?);
    writeln!(out, "kind\tname\tpseudonym")?;
    for (kind, name, pseudonym) in pseudonyms.table() {
        writeln!(out, "{}\t{}\t{}", kind.as_str(), name.escape_ascii(), pseudonym.escape_ascii())?;
    }
    out.flush()
}
