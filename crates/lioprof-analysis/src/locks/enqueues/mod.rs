//! What the time of lock requests is made of: queue, service, and waiting for locks.

mod finish;
#[cfg(test)]
mod removed_tests;
mod request;
mod sums;
#[cfg(test)]
mod tests;
mod tracker;

pub(crate) use finish::finish;
pub(super) use request::WaitFor;
pub(super) use sums::EnqueueSums;
pub(super) use tracker::EnqueueTracker;
