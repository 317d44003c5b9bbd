//! The kernel's side: the debug buffer, `ktracefiled`, the masks and commands.
//!
//! After libcfs `tracefile.c` and `debug.c` of Lustre 2.10 to 2.17. Records go in through [`Kernel::log`], control
//! commands through the methods of `control`; out come the debug daemon's file and the kernel log. What
//! became of each record is in [`Kernel::account`].

mod account;
mod control;
mod daemon;
mod file;
mod history;
mod kmsg;
mod ktracefiled;
pub mod masks;
mod module_parameters;
mod modules;
mod node;
mod numbers;
mod page;
mod stream;
mod version;

pub use account::{Account, Cause, FileAccount, LossEvent, LossEvents, Lost, StreamAccount, Tally};
pub use kmsg::{KernelLog, KmsgLine, KmsgRead, Level};
pub use ktracefiled::Flush;
pub use masks::Mask;
pub use module_parameters::Parameter;
pub use node::{Kernel, KernelConfig, Outcome};
pub use page::PAGE_BYTES;
pub use version::{LustreVersion, UnknownVersion};

pub(in crate::kernel) use file::Writer;
pub(in crate::kernel) use ktracefiled::DEFAULT_SIZE;
pub(in crate::kernel) use module_parameters::Parameters;
pub(in crate::kernel) use node::{CONTEXTS, PAGES_PER_MIB};
pub(in crate::kernel) use page::Page;
