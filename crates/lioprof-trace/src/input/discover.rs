//! Paths to files.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use lustre_debuglog::frame::Form;

use super::compression::Compression;
use super::error::{InputError, InputProblem, Severity};
use super::node::{self, NodeRule};
use super::open::{Found, open_file};

/// What [`discover`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovered {
    /// What to read: in the order of the inputs, directories in byte order of the paths.
    pub files: Vec<Found>,
    /// Kernel logs in directories, and whether debug logs lie in the same directory or below or above it.
    pub kernel_logs: Vec<(Found, bool)>,
    /// Folders of rows that were kept. What else lies in them is left alone.
    pub stores: Vec<PathBuf>,
    /// What was left out or is missing.
    pub problems: Vec<InputProblem>,
}

/// Turns what the user named into a list of files, by the rules of [the module](super).
///
/// Files of directories are opened here for a look at their first bytes; named files are not (they may be
/// pipes) and may still turn out to be unreadable.
#[must_use]
pub fn discover(inputs: &[PathBuf], rules: &[NodeRule], is_store: &dyn Fn(&Path) -> bool) -> Discovered {
    let mut search = Search::new(rules, is_store);
    // Named files first, whatever the order: they win over the same file in a directory.
    let named: Vec<Option<NamedInput>> = inputs.iter().map(|input| search.named(input)).collect();
    for (at, (input, named)) in inputs.iter().zip(named).enumerate() {
        match named {
            Some(NamedInput::File) => search.add(input, false),
            Some(NamedInput::Stdin) => search.add(input, true),
            Some(NamedInput::Directory) => search.directory(input, at),
            None => {}
        }
    }
    search.out
}

enum NamedInput {
    File,
    Stdin,
    Directory,
}

/// A file of a directory whose content is a log.
struct Candidate {
    path: PathBuf,
    is_text: bool,
    compression: Option<Compression>,
}

impl Candidate {
    fn look_at(path: &Path) -> Result<Self, InputError> {
        let opened = open_file(path)?;
        Ok(Self { path: path.to_owned(), is_text: opened.form == Form::Text, compression: opened.compression })
    }
}

/// What [`Search::list`] found new in a directory, in byte order.
#[derive(Default)]
struct Listing {
    files: Vec<PathBuf>,
    subdirs: Vec<PathBuf>,
    /// Some of it (or all) was met below another input already.
    repeated: bool,
}

struct Search<'a> {
    rules: &'a [NodeRule],
    is_store: &'a dyn Fn(&Path) -> bool,
    /// Device and inode of all files and directories met, and below which input (`NAMED`: named itself).
    seen: HashMap<(u64, u64), usize>,
    /// Named files; no pipes or devices, which a look would empty.
    named: Vec<PathBuf>,
    out: Discovered,
}

const NAMED: usize = usize::MAX;

impl<'a> Search<'a> {
    fn new(rules: &'a [NodeRule], is_store: &'a dyn Fn(&Path) -> bool) -> Self {
        Self { rules, is_store, seen: HashMap::new(), named: Vec::new(), out: Discovered::default() }
    }

    fn named(&mut self, input: &Path) -> Option<NamedInput> {
        if input == Path::new("-") {
            // No file has this inode on device 0.
            return self.first_time((0, 0), input).then_some(NamedInput::Stdin);
        }
        let metadata = match fs::metadata(input) {
            Ok(metadata) => metadata,
            Err(source) => {
                self.error(&InputError::Io { action: "open", path: input.to_owned(), source });
                return None;
            }
        };
        if metadata.is_dir() {
            return Some(NamedInput::Directory);
        }
        let first = self.first_time(identity(&metadata), input);
        if first && metadata.is_file() {
            self.named.push(input.to_owned());
        }
        first.then_some(NamedInput::File)
    }

    fn add(&mut self, path: &Path, is_stdin: bool) {
        let node = node::node_of(path, self.rules);
        self.out.files.push(Found { path: path.to_owned(), node, is_stdin });
    }

    fn directory(&mut self, top: &Path, at: usize) {
        let (files_before, problems_before) = (self.out.files.len(), self.out.problems.len());
        let stores_before = self.out.stores.len();
        let kernel_logs_before = self.out.kernel_logs.len();
        let (mut looked_at, mut rows, mut met_elsewhere) = (0, 0, false);
        let mut todo = vec![top.to_owned()];
        while let Some(dir) = todo.pop() {
            if (self.is_store)(&dir) {
                self.out.stores.push(dir);
                continue;
            }
            let Listing { files, subdirs, repeated } = self.list(&dir, at);
            looked_at += files.len();
            rows += files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "parquet")).count();
            met_elsewhere |= repeated;
            self.files_of_one_directory(&files);
            todo.extend(subdirs.into_iter().rev());
        }
        self.out.files[files_before..].sort_by(|a, b| a.path.cmp(&b.path));
        let failed = self.out.problems[problems_before..].iter().any(|p| p.severity == Severity::Error);
        let found = self.out.files.len() > files_before || self.out.stores.len() > stores_before;
        let kernel_logs = &mut self.out.kernel_logs[kernel_logs_before..];
        kernel_logs.iter_mut().for_each(|(_, beside)| *beside = found);
        if !found && kernel_logs.is_empty() && !failed && !met_elsewhere {
            let path = top.to_owned();
            self.error(&match rows {
                0 => InputError::NothingFound { path, files: looked_at },
                files => InputError::NoManifests { path, files },
            });
        }
    }

    /// What is new in `dir`.
    fn list(&mut self, dir: &Path, at: usize) -> Listing {
        let mut listing = Listing::default();
        let paths = fs::metadata(dir)
            .and_then(|metadata| if self.is_new(&metadata, at, &mut listing) { entries(dir) } else { Ok(Vec::new()) });
        let paths = match paths {
            Ok(paths) => paths,
            Err(source) => {
                self.error(&InputError::Io { action: "read directory", path: dir.to_owned(), source });
                return listing;
            }
        };
        for path in paths {
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => listing.subdirs.push(path),
                Ok(metadata) if metadata.is_file() => {
                    if self.is_new(&metadata, at, &mut listing) {
                        listing.files.push(path);
                    }
                }
                Ok(_) => self.skipped(&path, "it is no regular file"),
                Err(_) if path.is_symlink() => self.skipped(&path, "it is a symbolic link that leads nowhere"),
                Err(source) => self.error(&InputError::Io { action: "open", path, source }),
            }
        }
        listing
    }

    fn is_new(&mut self, metadata: &Metadata, at: usize, listing: &mut Listing) -> bool {
        match self.seen.entry(identity(metadata)) {
            Entry::Vacant(entry) => {
                entry.insert(at);
                true
            }
            Entry::Occupied(entry) => {
                listing.repeated |= *entry.get() != at;
                false
            }
        }
    }

    fn files_of_one_directory(&mut self, paths: &[PathBuf]) {
        let mut captures: BTreeMap<String, Vec<Candidate>> = BTreeMap::new();
        for path in paths {
            match Candidate::look_at(path) {
                Ok(candidate) => {
                    let name = node::capture_name(&file_name(path)).to_owned();
                    captures.entry(name).or_default().push(candidate);
                }
                Err(InputError::KernelLog { .. }) => {
                    let node = node::node_of(path, self.rules);
                    self.out.kernel_logs.push((Found { path: path.clone(), node, is_stdin: false }, false));
                }
                Err(err) if err.is_foreign() && !node::claims_to_be_a_log(&file_name(path)) => {
                    self.skipped(path, "it is no Lustre debug log");
                }
                Err(err) => self.error(&err),
            }
        }
        for mut group in captures.into_values() {
            group.sort_by(|a, b| rank(a).cmp(&rank(b)));
            let mut taken: Vec<Candidate> = Vec::new();
            for candidate in group {
                let other = taken.iter().find(|other| same_capture(other, &candidate)).map(|it| it.path.clone());
                match other.or_else(|| self.named_twin(&candidate)) {
                    Some(other) => self.skipped(&candidate.path, &format!("same capture as `{}`", other.display())),
                    None => {
                        self.add(&candidate.path, false);
                        taken.push(candidate);
                    }
                }
            }
        }
    }

    /// A named file that holds the same capture.
    fn named_twin(&self, candidate: &Candidate) -> Option<PathBuf> {
        let parent = real_parent(&candidate.path)?;
        let name = file_name(&candidate.path);
        let twin = self.named.iter().find(|path| {
            node::capture_name(&file_name(path)) == node::capture_name(&name)
                && real_parent(path).as_ref() == Some(&parent)
                && Candidate::look_at(path).is_ok_and(|named| same_capture(&named, candidate))
        });
        twin.cloned()
    }

    fn first_time(&mut self, identity: (u64, u64), input: &Path) -> bool {
        let first = self.seen.insert(identity, NAMED).is_none();
        if !first {
            self.skipped(input, "it is given twice");
        }
        first
    }

    fn skipped(&mut self, path: &Path, why: &str) {
        self.out.problems.push(InputProblem::note(path, format!("`{}` skipped: {why}", path.display())));
    }

    fn error(&mut self, error: &InputError) {
        self.out.problems.push(error.into());
    }
}

/// Which of several copies of a capture to read: the lowest.
fn rank(candidate: &Candidate) -> (bool, bool, &Path) {
    (candidate.is_text, candidate.compression.is_some(), &candidate.path)
}

/// Whether two logs whose names differ only by endings are one capture.
fn same_capture(a: &Candidate, b: &Candidate) -> bool {
    let (name_a, name_b) = (file_name(&a.path), file_name(&b.path));
    a.is_text != b.is_text || node::without_compression(&name_a) == node::without_compression(&name_b)
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Names in `dir` that do not begin with a dot, in byte order.
fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| !file_name(path).starts_with('.'));
    paths.sort();
    Ok(paths)
}

fn real_parent(path: &Path) -> Option<PathBuf> {
    let parent = path.parent()?;
    fs::canonicalize(if parent.as_os_str().is_empty() { Path::new(".") } else { parent }).ok()
}

/// The file name; one that is not UTF-8 with escapes, so that different names stay different.
fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(OsStr::new(""));
    name.to_str().map_or_else(|| name.as_bytes().escape_ascii().to_string(), str::to_owned)
}

#[cfg(test)]
#[path = "discover_tests.rs"]
mod tests;
