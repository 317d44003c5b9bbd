//! Bytes of an input that cannot be read again: in memory, and beyond a limit in a temporary file; and parts of them, or of files.

mod packed;
mod spool;
mod store;
mod stretch;

pub(crate) use packed::{BLOCK, Packed, PackedReader, Packer};
pub(crate) use spool::{Spooled, spool, spool_packed};
pub(crate) use store::Store;
pub(crate) use stretch::{Stretch, StretchReader};
