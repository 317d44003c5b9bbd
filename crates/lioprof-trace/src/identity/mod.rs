//! Which inputs are logs of the same server.
//!
//! # Order of evidence
//!
//! 1. `--node`.
//! 2. A host that the log itself names: before each line, or in the heading of a block.
//! 3. A folder `node=NAME`, as the capture daemon makes them.
//! 4. The file's name, else the folders above it ([`crate::input::node`]): what is left of a name without the words of logs, dates, case
//!    numbers and random words.
//! 5. Where several inputs get the same name so, or none, the part of their paths in which they differ.
//! 6. What the logs hold.
//!
//! Kernel logs whose lines name no host are decided together with debug logs. Nothing of what they hold is looked at, so they take part in 4 and
//! 5 only, and neither contradict others nor are proven to be pieces. Where several would get one name that is no host's, their folders name them.
//!
//! # What the logs hold
//!
//! Of each input the first 64 KiB are looked at, and of plain files the last 64 KiB, too. They show which pid each service thread has, when
//! it handled which request, and of which targets.
//!
//! Inputs are **certainly of different servers** if
//!
//! * one service thread has two pids at overlapping times. A name is given once on a server (`ptlrpc/service.c`, `ptlrpc_start_thread`:
//!   `%s%02d_%03d` or `%s_%04d`, 2.4 to 2.17), and a thread that is started anew gets its pid after the old one is gone. Names that the kernel
//!   cut at 15 bytes (`ll_ost_create00`, `ll_ost_seq00_00`) are those of several threads and tell nothing;
//! * one thread handles two requests at once: their times overlap by more than 100 us. (Equal pids do not help against this: it is what
//!   two servers made of one image look like.)
//!
//! That is never overlooked: the differing part of the paths tells the servers apart, or the inputs are refused, with the `--node` to give.
//! Different targets say nothing by themselves (`grep` by target), and neither do pids that differ at different times (a restart).
//!
//! Inputs are **pieces of one server's log** if their names differ only by what pieces are called by (the suffixes of `split`, numbers,
//! operations, targets, `before`), none of the evidence above speaks against it, no thread has different pids, and
//!
//! * two service threads have the same pids, or the names share a host (`oss01-read`, `oss01-write`), or a request is in both.
//!
//! Any other names in one folder that do not look like hosts need three threads with equal pids and a target that both logs have at the same
//! time, or a request that is in both. Names of hosts (`oss01`, `10.10.0.1`) are never merged.
//!
//! Why so few are enough: in 2,389 pairs of captures of different servers (two servers and two clients, 2.15 and 2.17, ten boots), 21,827 service
//! threads had the same name in both, and *none* the same pid. So two equal pids are no accident, but for servers that are copies of each
//! other down to the pids; for these there are the rules about times and targets.

pub(crate) mod contents;
pub(crate) mod decide;
pub(crate) mod evidence;
pub(crate) mod groups;
#[cfg(test)]
mod naming_tests;
#[cfg(test)]
mod tests;
