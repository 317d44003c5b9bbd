//! The nouns of the Lustre RPC world, each with `Display`, `FromStr` and (feature `serde`) serde as
//! the string that Lustre itself prints.
//!
//! Every type also has `parse_bytes`: the same syntax as `FromStr`, from bytes and without an error
//! value, for the inside of loops.

pub(crate) mod byte_search;
pub(crate) mod digits;
mod errno;
mod error;
mod escape;
mod event_kind;
mod extent;
mod fid;
mod from_str;
mod intent;
mod job;
mod kernel_job;
mod lock;
mod nid;
mod opcode;
mod operation;
mod target;
#[cfg(feature = "serde")]
mod text;
mod words;
mod xid;

pub use errno::Errno;
pub use error::ParseError;
pub use escape::escape;
pub use event_kind::EventKind;
pub use extent::Extent;
pub use fid::{Fid, ResourceId};
pub use intent::Intent;
pub use job::JobId;
pub use kernel_job::KernelJob;
pub use lock::{LockCookie, LockMode, LockType};
pub(crate) use nid::strip_process_id;
pub use nid::{Lnd, Net, Nid, NidAddr};
pub use opcode::Opcode;
pub use operation::OperationKind;
pub use target::{TargetKind, TargetName};
pub use xid::Xid;
