//! What service time is made of: before, in and after the bulk transfer.

mod against;
mod finish;
mod sums;

pub(crate) use against::{Strata, against_peers, all_together};
pub(super) use finish::finish;
pub(super) use sums::PartSums;
