//! Where the time went: for all clients together, for each client and each job, what it waited for at every instant.
//!
//! Requests that are under way at the same time share the time. Exactly who shares an instant with whom is known to nobody who
//! sums up one node after the other, so time is cut into bins (see [`raster`]): a bin's time is divided by how long each kind of
//! request was under way in it. What nothing covers is in no server's log.

mod finish;
mod raster;
mod sums;
mod under_way;

pub(crate) use finish::finish;
pub(crate) use sums::AccountSums;
