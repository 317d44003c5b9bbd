//! The last seconds.

use std::collections::BTreeMap;

use lioprof_model::units::seconds;
use lioprof_model::{Live, RpcRow, Symbols};
use lustre_debuglog::TargetName;

use super::rates::Rates;
use super::slice::Slice;
use crate::locks::Contention;

const SECOND_US: i64 = 1_000_000;
/// Seconds that rates are of: short enough to follow what happens, long enough for percentiles.
const WINDOW_S: i64 = 10;
/// Seconds kept besides, for what is passed on late or early.
const SPARE_S: i64 = 30;
/// Slices kept at most.
const MAX_SLICES: usize = 90;

/// Sums of the last seconds, by the second in which RPCs ended.
#[derive(Default)]
pub(super) struct Recent {
    slices: BTreeMap<i64, Slice>,
}

impl Recent {
    pub(super) fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.slice(row.end_us).rpc(row, symbols);
    }

    pub(super) fn contention(&mut self, time_us: i64, target: TargetName, contention: Contention) {
        self.slice(time_us).contention(target, contention);
    }

    fn slice(&mut self, time_us: i64) -> &mut Slice {
        let second = time_us.div_euclid(SECOND_US);
        if self.slices.len() > MAX_SLICES && !self.slices.contains_key(&second) {
            // Nobody said for long how far the log is.
            self.slices.pop_first();
        }
        self.slices.entry(second).or_default()
    }

    pub(super) fn forget_before(&mut self, through_us: i64) {
        let first = through_us.div_euclid(SECOND_US) - WINDOW_S - SPARE_S;
        self.slices = self.slices.split_off(&first);
    }

    /// The rates of the last whole seconds up to `through_us`.
    pub(super) fn live(
        &self,
        node: &str,
        through_us: Option<i64>,
        traced_us: &dyn Fn(i64, i64) -> i64,
        symbols: &Symbols,
    ) -> Live {
        let to = through_us.map_or(0, |through_us| through_us.div_euclid(SECOND_US));
        let from = to - WINDOW_S;
        let mut sum = Slice::default();
        for slice in self.slices.range(from..to).map(|(_, slice)| slice) {
            sum.merge(slice);
        }
        let (from_us, to_us) = (from * SECOND_US, to * SECOND_US);
        let traced_s = seconds(traced_us(from_us, to_us));
        Rates { sum: &sum, traced_s, server: node, symbols }.live(seconds(from_us), seconds(to_us))
    }
}
