//! Estimates how far the nodes' clocks are apart.
//!
//! Servers send RPCs to each other. The sender logs when it sends an RPC and when the reply arrives, the receiver when the
//! request arrives and is handled: two clocks time the same RPC, and no message arrives before it was sent.
//!
//! ```text
//! rows ─ sample ─> RPCs sent and handled, per node ─ pairs ─> bounds, per pair of nodes ─ estimate ─> lines ─ network ─>
//! one clock per node ─ shift ─> rows on the reference's clock
//! ```
//!
//! `docs/nodes.md` explains this in detail.

mod estimate;
mod network;
mod pairs;
mod readings;
mod sample;
mod shift;

pub(crate) use network::{Clocks, NodeClock, clocks};
pub(crate) use pairs::{NodeLog, Pair};
pub(crate) use sample::{ExchangeSample, Exchanges};
pub(crate) use shift::{Shifted, shifted};

/// Fewest RPCs that must agree before a node's times are changed: a single wrong match must not suffice.
const MIN_PAIRS: u64 = 4;

/// Times are changed only by at least this part of a time bin. Less cannot be seen in any series, and to change times a log
/// must be read again.
const MIN_PART_OF_BIN: f64 = 0.01;

/// Whether a difference of times can be seen in bins of this width.
pub(crate) fn is_visible(difference_us: f64, bin_us: i64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "bins are shorter than days")]
    let visible_us = bin_us as f64 * MIN_PART_OF_BIN;
    difference_us.abs() >= visible_us
}

/// Whether to convert a node's times to the reference's clock: there is enough evidence that the clocks differ, and by so much
/// that it matters in bins of this width.
pub(crate) fn worth_aligning(clock: &NodeClock, bin_us: i64) -> bool {
    let offset_us = clock.largest_offset_us();
    (clock.pairs >= MIN_PAIRS || clock.was_read) && offset_us > clock.error_us && is_visible(offset_us, bin_us)
}
