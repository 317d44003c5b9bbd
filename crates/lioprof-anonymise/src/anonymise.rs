//! The whole command: two passes over all inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use lioprof_trace::input::{self, Compression, InputProblem, NodeRule, Opened, Severity};
use lustre_debuglog::frame::Form;

use crate::error::AnonymiseError;
use crate::find::{self, Source, Sources, What};
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
    /// Files that were written, in the order of the inputs.
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
    work.write(sources, &pseudonyms)?;
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

    /// The first pass. What cannot be read is told of and left out.
    fn collect(&mut self, sources: Sources) -> (Sources, Names) {
        let Sources { files, stores, problems, left_out, spooled } = sources;
        self.outcome.problems = problems;
        self.outcome.left_out = left_out;
        let mut names = Names::default();
        let mut readable = Vec::new();
        for source in files {
            match self.collect_file(&source, &mut names) {
                Ok(()) => {
                    add_host(&source.found.node, &mut names);
                    readable.push(source);
                }
                Err(message) => self.problem(&source.found.path, message),
            }
        }
        let stores = self.collect_stores(stores, &mut names);
        let sources = Sources { files: readable, stores, spooled, ..Sources::default() };
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

    fn collect_file(&mut self, source: &Source, names: &mut Names) -> Result<(), String> {
        let path = &source.found.path;
        let failed = |err: std::io::Error| format!("failed to read `{}`: {err}", path.display());
        match source.what {
            What::Log => {
                let mut opened = input::open(&source.found).map_err(|err| InputProblem::from(&err).message)?;
                log::collect(&mut opened, names).map_err(failed)?;
                if let Some(damage) = opened.damage.get() {
                    self.problem(path, format!("`{}`: {damage}; what comes before is written", path.display()));
                }
            }
            What::Counters => counters::collect(&fs::read(path).map_err(failed)?, names),
        }
        Ok(())
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
    fn write(&mut self, sources: Sources, pseudonyms: &Pseudonyms) -> Result<(), AnonymiseError> {
        self.write_stores(&sources.stores, pseudonyms)?;
        let mut places = Places::of(&sources.files, pseudonyms);
        for source in &sources.files {
            let from = source.found.path.clone();
            let reading = |err: std::io::Error| AnonymiseError::Io { action: "read", path: from.clone(), source: err };
            match source.what {
                What::Log => {
                    let mut opened = match input::open(&source.found) {
                        Ok(opened) => opened,
                        Err(err) => {
                            // It was there a moment ago.
                            self.outcome.problems.push(InputProblem::from(&err));
                            continue;
                        }
                    };
                    let to = self.options.output.join(places.log(source, &opened));
                    let writing = |err| AnonymiseError::Io { action: "write", path: to.clone(), source: err };
                    let file = output::create(&to, 0o666).map_err(writing)?;
                    let mut file = output::Packed::new(file, opened.compression).map_err(writing)?;
                    let dropped = &mut self.outcome.dropped;
                    let records = log::rewrite(&mut opened, pseudonyms, dropped, &mut file).map_err(writing)?;
                    file.finish().map_err(writing)?;
                    self.outcome.written.push(Written { from, to, records });
                }
                What::Counters => {
                    let text = fs::read(&source.found.path).map_err(reading)?;
                    let to = self.options.output.join(places.counters(source));
                    let writing = |err| AnonymiseError::Io { action: "write", path: to.clone(), source: err };
                    let mut file =
                        output::create(&to, 0o666).and_then(|file| output::Packed::new(file, None)).map_err(writing)?;
                    let dropped = &mut self.outcome.dropped;
                    let records = counters::rewrite(&text, pseudonyms, dropped, &mut file).map_err(writing)?;
                    file.finish().map_err(writing)?;
                    self.outcome.written.push(Written { from, to, records });
                }
            }
        }
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

/// Where files are written: `HOST/rpc.bin`. Names of files and folders are those of lioprof, never those of the inputs.
struct Places<'a> {
    pseudonyms: &'a Pseudonyms,
    /// Folders of the inputs, by node: logs of one folder stay together, those of several stay apart.
    folders: BTreeMap<String, BTreeSet<PathBuf>>,
    /// Logs of each node's folder.
    logs: BTreeMap<(String, PathBuf), usize>,
    /// Files so far.
    written: BTreeMap<(String, PathBuf, What), usize>,
}

impl<'a> Places<'a> {
    fn of(files: &[Source], pseudonyms: &'a Pseudonyms) -> Self {
        let mut places = Self { pseudonyms, folders: BTreeMap::new(), logs: BTreeMap::new(), written: BTreeMap::new() };
        for source in files {
            let (node, folder) = key(source);
            places.folders.entry(node.clone()).or_default().insert(folder.clone());
            if source.what == What::Log {
                *places.logs.entry((node, folder)).or_default() += 1;
            }
        }
        places
    }

    fn log(&mut self, source: &Source, opened: &Opened) -> PathBuf {
        let form = match opened.form {
            Form::Text => "txt",
            Form::Binary(_) => "bin",
        };
        let logs = self.logs.get(&key(source)).copied().unwrap_or(1);
        let number = self.next(source);
        let compression: Option<Compression> = opened.compression;
        let ending = find::ending(compression);
        let name = if logs > 1 { format!("rpc-{number:04}.{form}{ending}") } else { format!("rpc.{form}{ending}") };
        self.folder(source).join(name)
    }

    fn counters(&mut self, source: &Source) -> PathBuf {
        // This name says nothing, and those who look for counters know it.
        let number = self.next(source);
        let is_truth = source.found.path.file_name().is_some_and(|name| name == "truth.txt");
        let name = if is_truth { "truth.txt".to_owned() } else { format!("counters-{number}.txt") };
        self.folder(source).join(name)
    }

    fn next(&mut self, source: &Source) -> usize {
        let (node, folder) = key(source);
        let number = self.written.entry((node, folder, source.what)).or_default();
        *number += 1;
        *number
    }

    fn folder(&self, source: &Source) -> PathBuf {
        let (node, folder) = key(source);
        let host = host(&node, self.pseudonyms);
        let folders = self.folders.get(&node);
        let at = folders.and_then(|folders| folders.iter().position(|known| *known == folder)).unwrap_or(0);
        if folders.is_some_and(|folders| folders.len() > 1) {
            [(at + 1).to_string(), host].iter().collect()
        } else {
            host.into()
        }
    }
}

/// The node and the folder of an input.
fn key(source: &Source) -> (String, PathBuf) {
    (source.found.node.clone(), source.found.path.parent().unwrap_or(Path::new("")).to_owned())
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
