//! Paths and their numbers, open files: what the requests of `fs` are about.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use fuser::{FileAttr, FileHandle, FileType, FopenFlags, INodeNo, OpenAccMode, OpenFlags};
use lioprof_model::lock;
use rustix::io::Errno;

use super::content::Server;
use super::kmsg::{KmsgPlace, SHOWN_BYTES};
use super::layout;
use super::node::{FileContent, Flavour, TreeNode, TreeNodes};
use crate::kernel::Kernel;

/// Open flag of `/dev/kmsg`.
const O_NONBLOCK: i32 = 0o4000;

/// Numbers of paths. A path keeps its number.
#[derive(Debug)]
struct Inodes {
    numbers: HashMap<Arc<str>, u64>,
    paths: Vec<Arc<str>>,
}

impl Default for Inodes {
    fn default() -> Self {
        let root: Arc<str> = Arc::from("");
        // Number 1 is the root, there is no number 0.
        Self { numbers: HashMap::from([(Arc::clone(&root), 1)]), paths: vec![Arc::clone(&root), root] }
    }
}

impl Inodes {
    fn number(&mut self, path: &str) -> u64 {
        if let Some(&number) = self.numbers.get(path) {
            return number;
        }
        let (path, number): (Arc<str>, _) = (Arc::from(path), self.paths.len() as u64);
        self.paths.push(Arc::clone(&path));
        self.numbers.insert(path, number);
        number
    }

    fn path(&self, number: INodeNo) -> Option<Arc<str>> {
        self.paths.get(usize::try_from(number.0).ok()?).cloned()
    }
}

/// An open file.
#[derive(Debug)]
struct Handle {
    path: Arc<str>,
    content: FileContent,
    mode: u16,
    flavour: Flavour,
    /// What the first read got.
    snapshot: Mutex<Vec<u8>>,
    place: Mutex<KmsgPlace>,
}

/// All nodes, and what they were made from.
struct Current {
    /// The debug log's modules, and Lustre's own.
    loaded: (bool, bool),
    generation: u64,
    nodes: Arc<TreeNodes>,
}

pub(super) struct Files {
    server: Server,
    current: RwLock<Current>,
    inodes: Mutex<Inodes>,
    handles: Mutex<HashMap<u64, Arc<Handle>>>,
    next_handle: AtomicU64,
    mounted: SystemTime,
}

fn loaded(kernel: &Kernel) -> (bool, bool) {
    (kernel.is_loaded(), kernel.has_lustre())
}

impl Files {
    pub(super) fn new(server: Server) -> Self {
        let current = Current {
            loaded: loaded(&server.kernel),
            generation: server.stats.generation(),
            nodes: Arc::new(layout::nodes(&server.kernel, &*server.stats)),
        };
        Self {
            server,
            current: RwLock::new(current),
            inodes: Mutex::default(),
            handles: Mutex::default(),
            next_handle: AtomicU64::new(1),
            mounted: SystemTime::now(),
        }
    }

    /// The nodes as they are now: made again when modules or clients have come or gone.
    pub(super) fn nodes(&self) -> Arc<TreeNodes> {
        let (loaded, generation) = (loaded(&self.server.kernel), self.server.stats.generation());
        {
            let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
            if current.loaded == loaded && current.generation == generation {
                return Arc::clone(&current.nodes);
            }
        }
        let nodes = Arc::new(layout::nodes(&self.server.kernel, &*self.server.stats));
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Current { loaded, generation, nodes: Arc::clone(&nodes) };
        nodes
    }

    /// The number of a path.
    pub(super) fn number(&self, path: &str) -> INodeNo {
        INodeNo(lock(&self.inodes).number(path))
    }

    pub(super) fn path(&self, number: INodeNo) -> Result<Arc<str>, Errno> {
        lock(&self.inodes).path(number).ok_or(Errno::NOENT)
    }

    fn attributes(&self, path: &str, node: &TreeNode) -> FileAttr {
        let (kind, size) = match node {
            TreeNode::Directory => (FileType::Directory, 0),
            TreeNode::Link(target) => (FileType::Symlink, target.len() as u64),
            TreeNode::File { content: FileContent::Text(text), flavour: Flavour::Procfs, .. } => {
                (FileType::RegularFile, text.len() as u64)
            }
            TreeNode::File { content: FileContent::Kmsg, .. } => (FileType::RegularFile, SHOWN_BYTES),
            TreeNode::File { flavour: Flavour::Sysfs, .. } => (FileType::RegularFile, 4096),
            TreeNode::File { .. } => (FileType::RegularFile, 0),
        };
        FileAttr {
            ino: self.number(path),
            size,
            blocks: 0,
            atime: self.mounted,
            mtime: self.mounted,
            ctime: self.mounted,
            crtime: self.mounted,
            kind,
            perm: node.mode(),
            nlink: if kind == FileType::Directory { 2 } else { 1 },
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }

    pub(super) fn find(&self, path: &str) -> Result<FileAttr, Errno> {
        let nodes = self.nodes();
        nodes.get(path).map(|node| self.attributes(path, node)).ok_or(Errno::NOENT)
    }

    pub(super) fn child(&self, parent: INodeNo, name: &OsStr) -> Result<String, Errno> {
        let parent = self.path(parent)?;
        let name = name.to_str().ok_or(Errno::NOENT)?;
        Ok(if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") })
    }

    /// Forgets an open file.
    pub(super) fn close(&self, number: FileHandle) {
        lock(&self.handles).remove(&number.0);
    }

    pub(super) fn open_file(&self, number: INodeNo, flags: OpenFlags) -> Result<(u64, FopenFlags), Errno> {
        let path = self.path(number)?;
        let nodes = self.nodes();
        let Some(TreeNode::File { content, mode, flavour }) = nodes.get(&path) else { return Err(Errno::NOENT) };
        let (reads, writes) = match flags.acc_mode() {
            OpenAccMode::O_RDONLY => (true, false),
            OpenAccMode::O_WRONLY => (false, true),
            OpenAccMode::O_RDWR => (true, true),
        };
        let forbidden = reads && mode & 0o444 == 0 || writes && mode & 0o222 == 0;
        if forbidden && *flavour == Flavour::Sysfs {
            return Err(Errno::ACCESS);
        }
        let mut place = KmsgPlace::default();
        if *content == FileContent::Kmsg {
            place.start(self.server.kernel.kernel_log());
        }
        let handle = Handle {
            path,
            content: content.clone(),
            mode: *mode,
            flavour: *flavour,
            snapshot: Mutex::default(),
            place: Mutex::new(place),
        };
        let number = self.next_handle.fetch_add(1, Relaxed);
        // A text has its true size and may be cached, so that the script can be executed.
        let cached = matches!(content, FileContent::Text(_)) && *flavour == Flavour::Procfs;
        lock(&self.handles).insert(number, Arc::new(handle));
        Ok((number, if cached { FopenFlags::empty() } else { FopenFlags::FOPEN_DIRECT_IO }))
    }

    /// An open file that is still there.
    fn handle(&self, number: FileHandle) -> Result<Arc<Handle>, Errno> {
        let handle = lock(&self.handles).get(&number.0).cloned().ok_or(Errno::BADF)?;
        if self.nodes().get(&handle.path).is_none() { Err(Errno::IO) } else { Ok(handle) }
    }

    pub(super) fn read_file(
        &self,
        number: FileHandle,
        offset: u64,
        size: u32,
        flags: OpenFlags,
    ) -> Result<Vec<u8>, Errno> {
        let handle = self.handle(number)?;
        if handle.mode & 0o444 == 0 {
            return Err(refused(handle.flavour));
        }
        let size = size as usize;
        if handle.content == FileContent::Kmsg {
            let blocking = flags.0 & O_NONBLOCK == 0;
            let log = self.server.kernel.kernel_log();
            return lock(&handle.place).read(log, offset, size, blocking);
        }
        let mut snapshot = lock(&handle.snapshot);
        if offset == 0 {
            *snapshot = self.server.read(&handle.content)?;
        }
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(snapshot.len());
        let end = start.saturating_add(size).min(snapshot.len());
        Ok(snapshot[start..end].to_vec())
    }

    pub(super) fn write_file(&self, number: FileHandle, data: &[u8], pid: u32) -> Result<u32, Errno> {
        let handle = self.handle(number)?;
        if handle.mode & 0o222 == 0 {
            return Err(refused(handle.flavour));
        }
        self.server.write(&handle.content, data, pid)?;
        u32::try_from(data.len()).map_err(|_| Errno::INVAL)
    }
}

/// The error of reading or writing a file that cannot be read or written.
fn refused(flavour: Flavour) -> Errno {
    match flavour {
        Flavour::Debugfs => Errno::INVAL,
        Flavour::Sysfs => Errno::ACCESS,
        Flavour::Procfs => Errno::IO,
    }
}
