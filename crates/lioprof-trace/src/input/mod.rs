//! What the user named, turned into byte streams: files, directories, archives, standard input; compressed or not.
//!
//! Three steps, each usable alone:
//!
//! 1. [`discover()`]: paths to a list of [`Found`] files and members of archives, each with the node (server) it belongs to.
//! 2. [`open()`]: one file to a decompressed stream, its compression and form told by its first `PROBE_BYTES`.
//! 3. `Opened::into_read_at`: a stream to a random-access `Spooled` source, in memory or in a temporary file.
//!
//! Input files are only ever read.
//!
//! # Which files are read
//!
//! * A file named on the command line is always read, whatever its name; `-` is standard input.
//! * A directory is searched recursively, in byte order of the names; names that begin with a dot are left
//!   out. Symbolic links are followed; a file or directory reached twice counts once.
//! * Of what a directory holds, only files whose *content* is a Lustre debug log are taken. The others
//!   (`README`, `truth.txt`, pictures, pipes, devices) are skipped with a note. But a file that claims by
//!   its name to be a log (`rpc*`, `lustre-log*`, `*.rpc.bin`) and is none is an error.
//! * Often one capture lies there twice: `rpc.bin` and `rpc.txt`, or `rpc.bin` and `rpc.bin.zst`. Two files
//!   of one directory with the same name but for compression and format endings are taken for the
//!   same capture if one is binary and the other text, or if the names differ only by compression. The binary one
//!   is read (then: the uncompressed one), the other is skipped with a note, so nothing is counted twice.
//!
//! * An archive (tar, zip) is searched as a directory is, see `archive`.
//!
//! Which node a file belongs to: see [`node`].

pub mod node;

mod ahead;
mod archive;
mod compression;
mod content;
mod damage;
mod discover;
mod endings;
mod error;
mod kernel_log;
mod magic;
mod mail;
mod open;
mod recoded;
mod utf16;
pub(crate) mod words;

pub use archive::member::Member;
pub use discover::discover;
pub(crate) use error::InputError;
pub use error::{InputProblem, Severity};
pub use node::NodeRule;
pub use open::{Found, Opened, open};

pub use compression::Compression;
pub(crate) use content::PROBE_BYTES;
pub(crate) use damage::SharedDamage;
pub(crate) use discover::{Discovered, look_into};
pub(crate) use kernel_log::OpenedKernelLog;
pub(crate) use open::{Door, open_door};
pub(crate) use recoded::Recoded;
