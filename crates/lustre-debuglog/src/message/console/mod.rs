//! Sentences of the kernel log: what Lustre, LNet and the file systems below tell people there.
//!
//! Lustre writes them with `CERROR`, `CWARN`, `LCONSOLE*`, `LDLM_ERROR` and `DEBUG_REQ`: the text stands in the debug log, whatever its
//! mask (`D_CANTMASK`), and in the kernel log, unless the same line has repeated too often there (`libcfs/tracefile.c`,
//! `libcfs_debug_msg`). `docs/kernel-logs.md` lists the wordings of 1.8 to 2.17 with their source files; each parser in the files of
//! this module names its own.
//!
//! Only what is true of all versions is looked for: the words that name the event, and what stands where in them.

mod client;
mod device;
mod event;
mod eviction;
mod parse;
mod reason;
mod server;
#[cfg(test)]
mod tests;
mod words;

pub use event::{ConsoleEvent, Voice};
pub use reason::Reason;
