//! The tree as a file system: answers to the kernel's FUSE requests.

use std::ffi::OsStr;
use std::time::{Duration, SystemTime};

use fuser::{
    FileHandle, FileType, Filesystem, Generation, INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::io::Errno;

use super::content::Server;
use super::files::Files;
use super::node::TreeNode;

/// Nothing is cached: files come and go, and their contents change.
const TTL: Duration = Duration::ZERO;

pub(super) struct TreeFs {
    files: Files,
}

impl TreeFs {
    pub(super) fn new(server: Server) -> Self {
        Self { files: Files::new(server) }
    }
}

fn code(errno: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(errno.raw_os_error())
}

impl Filesystem for TreeFs {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.files.child(parent, name).and_then(|path| self.files.find(&path));
        match found {
            Ok(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            Err(errno) => reply.error(code(errno)),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.files.path(number).and_then(|path| self.files.find(&path)) {
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
        let nodes = self.files.nodes();
        match self.files.path(number).map(|path| nodes.get(&path).cloned()) {
            Ok(Some(TreeNode::Link(target))) => reply.data(target.as_bytes()),
            _ => reply.error(code(Errno::INVAL)),
        }
    }

    fn open(&self, _: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match self.files.open_file(number, flags) {
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
        match self.files.read_file(handle, offset, size, flags) {
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
        match self.files.write_file(handle, data, request.pid()) {
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
        self.files.close(handle);
        reply.ok();
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let path = match self.files.path(number) {
            Ok(path) => path,
            Err(errno) => return reply.error(code(errno)),
        };
        let nodes = self.files.nodes();
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let mut entries =
            vec![(number, FileType::Directory, "."), (self.files.number(parent), FileType::Directory, "..")];
        for (name, node) in nodes.children(&path) {
            let kind = match node {
                TreeNode::Directory => FileType::Directory,
                TreeNode::Link(_) => FileType::Symlink,
                TreeNode::File { .. } => FileType::RegularFile,
            };
            let child = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            entries.push((self.files.number(&child), kind, name));
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
