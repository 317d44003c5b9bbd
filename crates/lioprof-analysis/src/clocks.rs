//! How far the nodes' clocks are apart.
//!
//! Servers talk to each other. The sender logs when it sends an RPC and when it has the answer, the receiver when the
//! request arrives and how it is handled: two clocks tell of the same RPC, and no message arrives before it was sent.
//!
//! ```text
//! rows ─ sample ─> RPCs sent and handled, per node ─ pairs ─> bounds, per pair of nodes ─ estimate ─> lines ─ network ─>
//! one clock per node ─ shift ─> rows on the reference's clock
//! ```
//!
//! `docs/nodes.md` is the long version.

mod estimate;
mod network;
mod pairs;
mod parts;
mod sample;
mod shift;

pub(crate) use network::{Clocks, NodeClock, clocks};
pub(crate) use pairs::{NodeLog, Pair};
pub(crate) use sample::{ExchangeSample, Exchanges};
pub(crate) use shift::{Shifted, shifted};

/// RPCs that must tell the same before a node's times are changed: one that was matched wrongly must not do it.
const MIN_PAIRS: u64 = 4;

/// Times are changed if the change is at least this part of a time bin. Less than that cannot be seen in any series,
/// and to change times a log is read again.
const MIN_PART_OF_BIN: f64 = 0.01;

/// Whether a difference of times can be seen in bins of this width.
pub(crate) fn is_visible(difference_us: f64, bin_us: i64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "bins are shorter than days")]
    let visible_us = bin_us as f64 * MIN_PART_OF_BIN;
    difference_us.abs() >= visible_us
}

/// Whether to put a node's times on the reference's clock: there is evidence, it says that the clocks differ, and
/// that matters in bins of this width.
pub(crate) fn worth_aligning(clock: &NodeClock, bin_us: i64) -> bool {
    let offset_us = clock.largest_offset_us();
    clock.pairs >= MIN_PAIRS && offset_us > clock.error_us && is_visible(offset_us, bin_us)
}
