//! Lock contention, in two tiers of evidence.
//!
//! * [`dlm`]: the lock manager's own lines (mask dlmtrace): a state machine per lock.
//! * [`rpc`]: only the RPCs (mask rpctrace): callbacks inside the windows of requests.
//!
//! Both run, and both fill [`sums::LockSums`]; a node's figures are taken from the better tier it has. [`enqueues`] follows requests for
//! locks beside them: what their time was made of.

mod dlm;
mod enqueues;
mod finish;
mod heaviest;
#[cfg(test)]
mod merge_tests;
mod object;
mod parties;
mod rpc;
mod rules;
mod sums;
#[cfg(test)]
mod tests;
mod tracker;
mod waits;

pub(crate) use enqueues::finish as finish_enqueues;
pub(crate) use finish::{fid_of, finish};
#[cfg(test)]
pub(crate) use merge_tests::some_lock_sums;
pub(crate) use parties::Overlap;
pub(crate) use rules::Rules;
pub(crate) use sums::{Contention, LockSums};
pub(crate) use tracker::LockTracker;
