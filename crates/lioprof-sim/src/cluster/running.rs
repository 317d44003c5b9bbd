//! Operations of clients that have begun and not ended.

use super::TrueOperation;
use crate::wording::Fid;

/// A file as lines show it.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) fid: Fid,
    pub(crate) inode: u32,
}

/// An operation that is running.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) file: File,
    /// Position behind it, and bytes.
    pub(crate) moved: (u64, u64),
    pub(crate) truth: TrueOperation,
}
