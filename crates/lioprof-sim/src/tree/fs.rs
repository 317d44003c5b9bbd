//! The tree as a file system: answers to the kernel's FUSE requests.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use fuser::{
    FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner, OpenAccMode, OpenFlags,
    RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite,
    Request, TimeOrNow, WriteFlags,
};
use rustix::io::Errno;

use super::content::Server;
use super::kmsg::{Place, SHOWN_BYTES};
use super::layout;
use super::node::{Content, Flavour, Node, Nodes};

/// Nothing is cached: files come and go, and their contents change.
const TTL: Duration = Duration::ZERO;
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
    content: Content,
    mode: u16,
    flavour: Flavour,
    /// What the first read got.
    snapshot: Mutex<Vec<u8>>,
    place: Mutex<Place>,
}

/// All nodes, and what they were made from.
struct Current {
    loaded: bool,
    generation: u64,
    nodes: Arc<Nodes>,
}

pub(super) struct TreeFs {
    server: Server,
    current: RwLock<Current>,
    inodes: Mutex<Inodes>,
    handles: Mutex<HashMap<u64, Arc<Handle>>>,
    next_handle: AtomicU64,
    mounted: SystemTime,
}

impl TreeFs {
    pub(super) fn new(server: Server) -> Self {
        let current = Current {
            loaded: server.kernel.is_loaded(),
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
    fn nodes(&self) -> Arc<Nodes> {
        let (loaded, generation) = (self.server.kernel.is_loaded(), self.server.stats.generation());
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

    fn path(&self, number: INodeNo) -> Result<Arc<str>, Errno> {
        lock(&self.inodes).path(number).ok_or(Errno::NOENT)
    }

    fn attributes(&self, path: &str, node: &Node, owner: (u32, u32)) -> FileAttr {
        let (kind, size) = match node {
            Node::Directory => (FileType::Directory, 0),
            Node::Link(target) => (FileType::Symlink, target.len() as u64),
            Node::File { content: Content::Text(text), flavour: Flavour::Procfs, .. } => {
                (FileType::RegularFile, text.len() as u64)
            }
            Node::File { content: Content::Kmsg, .. } => (FileType::RegularFile, SHOWN_BYTES),
            Node::File { flavour: Flavour::Sysfs, .. } => (FileType::RegularFile, 4096),
            Node::File { .. } => (FileType::RegularFile, 0),
        };
        FileAttr {
            ino: INodeNo(lock(&self.inodes).number(path)),
            size,
            blocks: 0,
            atime: self.mounted,
            mtime: self.mounted,
            ctime: self.mounted,
            crtime: self.mounted,
            kind,
            perm: node.mode(),
            nlink: if kind == FileType::Directory { 2 } else { 1 },
            uid: owner.0,
            gid: owner.1,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }

    fn find(&self, path: &str, owner: (u32, u32)) -> Result<FileAttr, Errno> {
        let nodes = self.nodes();
        nodes.get(path).map(|node| self.attributes(path, node, owner)).ok_or(Errno::NOENT)
    }

    fn child(&self, parent: INodeNo, name: &OsStr) -> Result<String, Errno> {
        let parent = self.path(parent)?;
        let name = name.to_str().ok_or(Errno::NOENT)?;
        Ok(if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") })
    }

    fn open_file(&self, number: INodeNo, flags: OpenFlags) -> Result<(u64, FopenFlags), Errno> {
        let path = self.path(number)?;
        let nodes = self.nodes();
        let Some(Node::File { content, mode, flavour }) = nodes.get(&path) else { return Err(Errno::NOENT) };
        let (reads, writes) = match flags.acc_mode() {
            OpenAccMode::O_RDONLY => (true, false),
            OpenAccMode::O_WRONLY => (false, true),
            OpenAccMode::O_RDWR => (true, true),
        };
        let forbidden = reads && mode & 0o444 == 0 || writes && mode & 0o222 == 0;
        if forbidden && *flavour == Flavour::Sysfs {
            return Err(Errno::ACCESS);
        }
        let mut place = Place::default();
        if *content == Content::Kmsg {
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
        let cached = matches!(content, Content::Text(_)) && *flavour == Flavour::Procfs;
        lock(&self.handles).insert(number, Arc::new(handle));
        Ok((number, if cached { FopenFlags::empty() } else { FopenFlags::FOPEN_DIRECT_IO }))
    }

    /// An open file that is still there.
    fn handle(&self, number: FileHandle) -> Result<Arc<Handle>, Errno> {
        let handle = lock(&self.handles).get(&number.0).cloned().ok_or(Errno::BADF)?;
        if self.nodes().get(&handle.path).is_none() { Err(Errno::IO) } else { Ok(handle) }
    }

    fn read_file(&self, number: FileHandle, offset: u64, size: u32, flags: OpenFlags) -> Result<Vec<u8>, Errno> {
        let handle = self.handle(number)?;
        if handle.mode & 0o444 == 0 {
            return Err(refused(handle.flavour));
        }
        let size = size as usize;
        if handle.content == Content::Kmsg {
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

    fn write_file(&self, number: FileHandle, data: &[u8], pid: u32) -> Result<u32, Errno> {
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn code(errno: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(errno.raw_os_error())
}

fn owner(request: &Request) -> (u32, u32) {
    // Everything belongs to root, who mounted it.
    let _request = request;
    (0, 0)
}

impl Filesystem for TreeFs {
    fn lookup(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.child(parent, name).and_then(|path| self.find(&path, owner(request)));
        match found {
            Ok(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            Err(errno) => reply.error(code(errno)),
        }
    }

    fn getattr(&self, request: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.path(number).and_then(|path| self.find(&path, owner(request))) {
            Ok(attributes) => reply.attr(&TTL, &attributes),
            Err(errno) => reply.error(code(errno)),
        }
    }

    /// Truncating is allowed and means nothing, as in debugfs; nothing else can be changed.
    fn setattr(
        &self,
        request: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        _size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        if mode.is_some() || uid.is_some() || gid.is_some() {
            reply.error(code(Errno::PERM));
        } else {
            self.getattr(request, number, handle, reply);
        }
    }

    fn readlink(&self, _: &Request, number: INodeNo, reply: ReplyData) {
        let nodes = self.nodes();
        match self.path(number).map(|path| nodes.get(&path).cloned()) {
            Ok(Some(Node::Link(target))) => reply.data(target.as_bytes()),
            _ => reply.error(code(Errno::INVAL)),
        }
    }

    fn open(&self, _: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match self.open_file(number, flags) {
            Ok((handle, flags)) => reply.opened(FileHandle(handle), flags),
            Err(errno) => reply.error(code(errno)),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.read_file(handle, offset, size, flags) {
            Ok(data) => reply.data(&data),
            Err(errno) => reply.error(code(errno)),
        }
    }

    fn write(
        &self,
        request: &Request,
        _: INodeNo,
        handle: FileHandle,
        _offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.write_file(handle, data, request.pid()) {
            Ok(written) => reply.written(written),
            Err(errno) => reply.error(code(errno)),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        lock(&self.handles).remove(&handle.0);
        reply.ok();
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let path = match self.path(number) {
            Ok(path) => path,
            Err(errno) => return reply.error(code(errno)),
        };
        let nodes = self.nodes();
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let mut entries = vec![
            (number, FileType::Directory, "."),
            (INodeNo(lock(&self.inodes).number(parent)), FileType::Directory, ".."),
        ];
        for (name, node) in nodes.children(&path) {
            let kind = match node {
                Node::Directory => FileType::Directory,
                Node::Link(_) => FileType::Symlink,
                Node::File { .. } => FileType::RegularFile,
            };
            let child = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            entries.push((INodeNo(lock(&self.inodes).number(&child)), kind, name));
        }
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        for (next, (number, kind, name)) in (1_u64..).zip(entries).skip(skip) {
            if reply.add(number, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn create(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: i32, reply: ReplyCreate) {
        reply.error(code(Errno::ACCESS));
    }

    fn mknod(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(code(Errno::PERM));
    }

    fn mkdir(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(code(Errno::PERM));
    }

    fn unlink(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(code(Errno::PERM));
    }

    fn rmdir(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(code(Errno::PERM));
    }

    fn rename(&self, _: &Request, _: INodeNo, _: &OsStr, _: INodeNo, _: &OsStr, _: RenameFlags, reply: ReplyEmpty) {
        reply.error(code(Errno::PERM));
    }
}
