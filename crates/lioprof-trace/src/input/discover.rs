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

use super::archive::list::{Listed, MAX_MEMBERS, list};
use super::archive::member::Member;
use super::compression::Compression;
use super::error::{InputError, InputProblem, Severity};
use super::node::{self, NodeRule};
use super::open::{Found, is_archive_file, open_file};
use crate::kept::Stretch;

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
/// Files of directories are opened here for a look at their first bytes, and archives for a look at their members; pipes are not, and
/// named files may still turn out to be unreadable.
#[must_use]
pub fn discover(inputs: &[PathBuf], rules: &[NodeRule], is_store: &dyn Fn(&Path) -> bool) -> Discovered {
    let mut search = Search::new(rules, is_store);
    // Named files first, whatever the order: they win over the same file in a directory.
    let named: Vec<Option<NamedInput>> = inputs.iter().map(|input| search.named(input)).collect();
    for (at, (input, named)) in inputs.iter().zip(named).enumerate() {
        match named {
            Some(NamedInput::File) => search.named_file(input),
            Some(NamedInput::Pipe) => search.add(input, false),
            Some(NamedInput::Stdin) => search.add(input, true),
            Some(NamedInput::Directory) => search.directory(input, at),
            None => {}
        }
    }
    search.out
}

/// The members of an archive that came out of `found`, a pipe, as inputs.
pub(crate) fn look_into(found: &Found, archive: Stretch, rules: &[NodeRule]) -> Discovered {
    let mut search = Search::new(rules, &|_| false);
    search.archive(&found.path, archive, false);
    search.out
}

enum NamedInput {
    File,
    /// A pipe or a device.
    Pipe,
    Stdin,
    Directory,
}

/// A file of a directory, or a member of an archive, whose content is a log.
struct Candidate {
    /// Where it lies, or would lie if the archive were a directory.
    path: PathBuf,
    is_text: bool,
    compression: Option<Compression>,
    /// Of an archive: how it is called, and how to read it.
    member: Option<(PathBuf, Member)>,
}

impl Candidate {
    fn look_at(path: &Path) -> Result<Self, InputError> {
        let opened = open_file(path)?;
        let (is_text, compression) = (opened.form == Form::Text, opened.compression);
        Ok(Self { path: path.to_owned(), is_text, compression, member: None })
    }

    fn member(archive: &Path, member: Member) -> Self {
        Self {
            path: member.place.clone(),
            is_text: member.form() == Some(Form::Text),
            compression: member.compression,
            member: Some((member.shown(archive), member)),
        }
    }

    /// How people know it.
    fn shown(&self) -> &Path {
        self.member.as_ref().map_or(&self.path, |(shown, _)| shown)
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
        first.then_some(if metadata.is_file() { NamedInput::File } else { NamedInput::Pipe })
    }

    fn named_file(&mut self, path: &Path) {
        if is_archive_file(path) {
            self.archive_file(path, false);
        } else {
            self.add(path, false);
        }
    }

    fn add(&mut self, path: &Path, is_stdin: bool) {
        let node = node::node_of(path, self.rules);
        self.out.files.push(Found { path: path.to_owned(), node, is_stdin, member: None });
    }

    fn archive_file(&mut self, path: &Path, is_by_the_way: bool) {
        match Stretch::of_file(path) {
            Ok(whole) => self.archive(path, whole, is_by_the_way),
            Err(source) => self.error(&InputError::Io { action: "open", path: path.to_owned(), source }),
        }
    }

    /// Adds the logs of an archive. One that lies in a directory by the way need not have any.
    fn archive(&mut self, path: &Path, whole: Stretch, is_by_the_way: bool) {
        let Listed { members, mut problems } = match list(path, whole, MAX_MEMBERS) {
            Ok(listed) => listed,
            Err(InputError::NothingInArchive { .. }) if is_by_the_way => {
                return self.skipped(path, "the archive holds no Lustre debug log");
            }
            Err(err) => return self.error(&err),
        };
        self.out.problems.append(&mut problems);
        let kernel_logs_before = self.out.kernel_logs.len();
        let mut folders: BTreeMap<Option<PathBuf>, Vec<Candidate>> = BTreeMap::new();
        let has_logs = members.iter().any(|member| member.form().is_some());
        for member in members {
            if member.form().is_none() {
                let found = self.found(member.shown(path), member);
                self.out.kernel_logs.push((found, has_logs));
                continue;
            }
            let folder = member.place.parent().map(Path::to_owned);
            folders.entry(folder).or_default().push(Candidate::member(path, member));
        }
        let before = self.out.files.len();
        folders.into_values().for_each(|candidates| self.candidates(candidates));
        self.out.files[before..].sort_by(|a, b| a.place().cmp(b.place()));
        let wanted =
            self.out.files[before..].iter().chain(self.out.kernel_logs[kernel_logs_before..].iter().map(|it| &it.0));
        wanted.filter_map(|found| found.member.as_ref()).for_each(Member::want);
    }

    /// Adds a log, unless a folder or archive has it twice.
    fn add_candidate(&mut self, candidate: &Candidate) {
        let Some((shown, member)) = &candidate.member else { return self.add(&candidate.path, false) };
        let found = self.found(shown.clone(), member.clone());
        self.out.files.push(found);
    }

    /// A member as an input.
    fn found(&self, shown: PathBuf, member: Member) -> Found {
        let mut found = Found { path: shown, node: String::new(), is_stdin: false, member: Some(member) };
        found.node = found.fixed_node(self.rules).map_or_else(|| node::node_of(found.place(), &[]), |(node, _)| node);
        found
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
        self.out.files[files_before..].sort_by(|a, b| a.place().cmp(b.place()));
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
        let mut candidates = Vec::new();
        for path in paths {
            match Candidate::look_at(path) {
                Ok(candidate) => candidates.push(candidate),
                Err(InputError::IsAnArchive { .. }) => self.archive_file(path, true),
                Err(InputError::KernelLog { .. }) => {
                    let node = node::node_of(path, self.rules);
                    self.out
                        .kernel_logs
                        .push((Found { path: path.clone(), node, is_stdin: false, member: None }, false));
                }
                Err(err @ InputError::UnreadKernelLog { .. }) => {
                    let InputProblem { message, .. } = (&err).into();
                    self.out.problems.push(InputProblem::note(path, message));
                }
                Err(err) if err.is_foreign() && !node::claims_to_be_a_log(&file_name(path)) => {
                    self.skipped(path, "it is no Lustre debug log");
                }
                Err(err) => self.error(&err),
            }
        }
        self.candidates(candidates);
    }

    /// Adds the logs of one directory, each capture once.
    fn candidates(&mut self, candidates: Vec<Candidate>) {
        let mut captures: BTreeMap<String, Vec<Candidate>> = BTreeMap::new();
        for candidate in candidates {
            let name = node::capture_name(&file_name(&candidate.path)).to_owned();
            captures.entry(name).or_default().push(candidate);
        }
        for mut group in captures.into_values() {
            group.sort_by(|a, b| rank(a).cmp(&rank(b)));
            let mut taken: Vec<Candidate> = Vec::new();
            for candidate in group {
                let other = taken.iter().find(|other| same_capture(other, &candidate)).map(|it| it.shown().to_owned());
                match other.or_else(|| self.named_twin(&candidate)) {
                    Some(other) => {
                        self.skipped(candidate.shown(), &format!("same capture as `{}`", other.display()));
                    }
                    None => {
                        self.add_candidate(&candidate);
                        taken.push(candidate);
                    }
                }
            }
        }
    }

    /// A named file that holds the same capture.
    fn named_twin(&self, candidate: &Candidate) -> Option<PathBuf> {
        if candidate.member.is_some() {
            return None;
        }
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

#[cfg(test)]
#[path = "archive_tests.rs"]
mod archive_tests;
#[cfg(test)]
#[path = "encoders.rs"]
mod encoders;
