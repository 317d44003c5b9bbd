//! Lustre's parameters as files, wherever the version keeps them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustc_hash::FxHashMap;
use serde::Serialize;

/// Most bytes that are read of a file that is not read line by line; `stats` files have a few kilobytes.
const MAX_BYTES: usize = 1 << 20;

/// The cost of reading parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Number of files opened.
    pub files: u64,
    /// Paths tried that do not exist.
    pub misses: u64,
    /// Number of directories listed.
    pub dirs: u64,
    /// Number of `read` calls.
    pub reads: u64,
    /// Bytes read from the files.
    pub bytes: u64,
    /// Duration of the sample.
    pub elapsed: Duration,
}

/// The three trees of parameters, and what reading them has cost.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    /// `/proc/fs/lustre`, `/sys/fs/lustre`, `/sys/kernel/debug/lustre`.
    trees: [PathBuf; 3],
    /// In which tree a kind of file was last found, so that it is looked for there first.
    known: FxHashMap<&'static str, usize>,
    buffer: Vec<u8>,
    /// What reading has cost so far.
    pub cost: Cost,
}

impl Tree {
    /// The trees below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        let trees = ["proc/fs/lustre", "sys/fs/lustre", "sys/kernel/debug/lustre"].map(|tree| root.join(tree));
        Self { root: root.to_owned(), trees, known: FxHashMap::default(), buffer: Vec::new(), cost: Cost::default() }
    }

    /// A path of the node, `/proc/stat`.
    #[must_use]
    pub fn node_path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Names in a directory of parameters, over all trees, sorted.
    pub fn list(&mut self, dir: &str) -> BTreeSet<String> {
        let paths = self.trees.clone().map(|tree| tree.join(dir));
        paths.iter().flat_map(|path| self.list_path(path)).collect()
    }

    /// Names in a directory, in no order. One that cannot be listed is empty: a target may go at any time.
    pub fn list_path(&mut self, path: &Path) -> Vec<String> {
        let Ok(entries) = fs::read_dir(path) else {
            self.cost.misses += 1;
            return Vec::new();
        };
        self.cost.dirs += 1;
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
    }

    /// The text of a parameter. `kind` stands for all parameters of its sort.
    pub fn read(&mut self, kind: &'static str, parameter: &str) -> Option<String> {
        let mut file = self.open(kind, parameter)?;
        self.slurp(&mut file).ok()
    }

    /// A parameter that is one number.
    pub fn number(&mut self, kind: &'static str, parameter: &str) -> Option<u64> {
        self.read(kind, parameter)?.trim().parse().ok()
    }

    /// A parameter to be read line by line.
    pub fn lines(&mut self, kind: &'static str, parameter: &str) -> Option<BufReader<File>> {
        Some(BufReader::with_capacity(64 * 1024, self.open(kind, parameter)?))
    }

    /// The text of a file of the node.
    pub fn read_path(&mut self, path: &Path) -> Option<String> {
        let mut file = self.open_path(path)?;
        self.slurp(&mut file).ok()
    }

    fn open(&mut self, kind: &'static str, parameter: &str) -> Option<File> {
        let known = self.known.get(kind).copied();
        if let Some(at) = known
            && let Some(file) = self.open_path(&self.trees[at].join(parameter))
        {
            return Some(file);
        }
        let others = (0..self.trees.len()).filter(|&at| Some(at) != known);
        for at in others {
            if let Some(file) = self.open_path(&self.trees[at].join(parameter)) {
                self.known.insert(kind, at);
                return Some(file);
            }
        }
        None
    }

    fn open_path(&mut self, path: &Path) -> Option<File> {
        let file = File::open(path).ok();
        let count = if file.is_some() { &mut self.cost.files } else { &mut self.cost.misses };
        *count += 1;
        file
    }

    /// Reads all, with as few calls as the kernel allows: no `fstat`, whose size is 0 for these files anyway. A file
    /// of the kernel may return less than asked for before its end.
    fn slurp(&mut self, file: &mut File) -> io::Result<String> {
        let mut length = 0;
        loop {
            if self.buffer.len() < length + 8192 {
                self.buffer.resize(length + 16_384, 0);
            }
            let read = match file.read(&mut self.buffer[length..]) {
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            self.cost.reads += 1;
            length += read;
            if read == 0 || length >= MAX_BYTES {
                break;
            }
        }
        self.cost.bytes += u64::try_from(length).unwrap_or(u64::MAX);
        let text = String::from_utf8_lossy(&self.buffer[..length]).into_owned();
        self.buffer.truncate(64 * 1024);
        Ok(text)
    }
}

/// The last part of a path, `sda` of `/dev/sda`.
#[must_use]
pub fn base_name(path: &Path) -> Option<&str> {
    path.file_name().and_then(OsStr::to_str)
}
