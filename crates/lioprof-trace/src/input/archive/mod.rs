//! Archives: tar, plain or compressed, and zip. Their members are inputs, as files of a folder are.
//!
//! 1. [`list`](list::list) looks at every member once: which are logs, by the first bytes of each.
//! 2. [`Member::open`](member::Member::open) reads one. What lies in a file as it is (members of a tar that is not compressed, of a
//!    zip) is opened there, by itself. Members of a compressed tar share one way through it ([`sequence`]).
//!
//! So an archive is read twice, however many members it has, and a third time if nodes have to be read again. Nothing is unpacked to disk.

pub(super) mod list;
pub(super) mod member;
pub(super) mod tar;
pub(super) mod zip;

mod holdings;
mod name;
mod origin;
mod pass;
mod sequence;
mod walk;
