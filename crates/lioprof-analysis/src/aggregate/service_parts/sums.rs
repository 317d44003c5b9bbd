//! Parts of service times, summed up.

use lioprof_model::merge::{earliest, latest};
use lioprof_model::{Direction, RpcRow, Symbol};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::super::entries::TargetKey;
use crate::cells::Times;
use crate::renumber::renumber_fields;

/// RPCs whose parts can be compared: all but the time is alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct PartKey {
    pub(crate) nid: Symbol,
    pub(crate) target: TargetKey,
    pub(crate) direction: Direction,
    /// The smallest power of two not below the bytes, as its exponent.
    pub(crate) log2_bytes: u32,
}

renumber_fields!(PartKey { nid, target } without { direction, log2_bytes });

/// Their sums.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PartSum {
    pub(crate) bytes: u64,
    /// When the first and the last of them ended.
    pub(crate) first_us: Option<i64>,
    pub(crate) last_us: Option<i64>,
    pub(crate) before: Times,
    pub(crate) transfer: Times,
    pub(crate) after: Times,
}

lioprof_model::merge_fields!(PartSum { bytes, before, transfer, after } by { first_us: earliest, last_us: latest });

/// Parts of all RPCs of which they are known.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PartSums {
    pub(crate) sums: FxHashMap<PartKey, PartSum>,
}

lioprof_model::merge_fields!(PartSums { sums });
renumber_fields!(PartSums {} keys { sums });

impl PartSums {
    /// Adds a read or write, if its parts are known.
    pub(crate) fn add(&mut self, row: &RpcRow, target: TargetKey, direction: Direction) {
        let (Some(bulk), Some(after_us)) = (row.bulk, row.after_bulk_us()) else { return };
        let Some(bytes) = row.size.best_bytes() else { return };
        let log2_bytes = bytes.checked_next_power_of_two().map_or(63, u64::ilog2);
        let sum = self.sums.entry(PartKey { nid: row.nid, target, direction, log2_bytes }).or_default();
        sum.bytes += bytes;
        earliest(&mut sum.first_us, &Some(row.end_us));
        latest(&mut sum.last_us, &Some(row.end_us));
        sum.before.add(bulk.before_us);
        sum.transfer.add(bulk.transfer_us);
        sum.after.add(after_us);
    }

    /// What was counted for one target is another's.
    pub(crate) fn rename(&mut self, from: TargetKey, to: TargetKey) {
        let keys: Vec<PartKey> = self.sums.keys().copied().filter(|key| key.target == from).collect();
        for key in keys {
            if let Some(sum) = self.sums.remove(&key) {
                self.sums.entry(PartKey { target: to, ..key }).or_default().merge(&sum);
            }
        }
    }
}
