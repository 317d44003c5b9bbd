//! Figures per second, for dashboards: whatever the length of the log, and without what only an analysis shows.

use lioprof_model::parts::sums::Second;
use lioprof_model::parts::sums::{LockCell, SeriesCell};
use lioprof_model::{Direction, Merge, RpcRow, Symbol, Symbols};
use lustre_debuglog::TargetName;
use rustc_hash::FxHashMap;

use super::entries::TargetKey;
use super::series::{Placed, add_contention, add_row, clipped};
use crate::cells::{BinClock, Bins, used};
use crate::locks::Contention;

const SECOND_US: i64 = 1_000_000;

/// Targets and their locks, second by second.
#[derive(Clone, Debug)]
pub(crate) struct SecondBins {
    clock: BinClock,
    targets: FxHashMap<TargetKey, Bins<SeriesCell>>,
    locks: FxHashMap<(Symbol, TargetName), Bins<LockCell>>,
}

impl Default for SecondBins {
    fn default() -> Self {
        Self { clock: BinClock::new(Some(SECOND_US)), targets: FxHashMap::default(), locks: FxHashMap::default() }
    }
}

impl SecondBins {
    /// Adds a read or write.
    pub(super) fn add(&mut self, row: &RpcRow, key: TargetKey, direction: Direction) {
        self.cover(clipped(row.arrival_us().unwrap_or(row.end_us), row.end_us));
        self.cover(row.end_us);
        let placed = Placed::new(&self.clock, row);
        add_row(&self.clock, self.targets.entry(key).or_default(), row, &placed, Some(direction));
    }

    /// Adds what happened to a target's locks.
    pub(super) fn lock(&mut self, node: Symbol, time_us: i64, target: TargetName, contention: Contention) {
        self.cover(contention.start_us(time_us));
        self.cover(time_us);
        add_contention(&self.clock, self.locks.entry((node, target)).or_default(), time_us, contention);
    }

    /// Gives what was collected for one target to another.
    pub(super) fn rename(&mut self, from: TargetKey, to: TargetKey) {
        if let Some(bins) = self.targets.remove(&from) {
            self.targets.entry(to).or_default().merge(&bins);
        }
    }

    fn cover(&mut self, time_us: i64) {
        let Some(factor) = self.clock.cover(time_us) else { return };
        self.targets.values_mut().for_each(|bins| bins.join(factor));
        self.locks.values_mut().for_each(|bins| bins.join(factor));
    }

    /// One row per target and second in which something happened.
    pub(crate) fn rows(&self, symbols: &Symbols) -> Vec<Second> {
        let seconds = self.clock.width_us() / SECOND_US;
        let mut rows: FxHashMap<(TargetKey, i64), Second> = FxHashMap::default();
        let mut row = |key: TargetKey, bin: i64, add: &dyn Fn(&mut Second)| {
            add(rows.entry((key, bin)).or_insert_with(|| Second {
                node: symbols.text(key.node),
                mdt: key.mdt(),
                target: key.target(),
                second: bin * seconds,
                seconds,
                ..Second::default()
            }));
        };
        for (&key, bins) in &self.targets {
            for (bin, cell) in used(bins) {
                row(key, bin, &|row| {
                    row.read_bytes += cell.read_bytes;
                    row.write_bytes += cell.write_bytes;
                    row.read_rpcs += cell.read_rpcs;
                    row.write_rpcs += cell.write_rpcs;
                    row.queued_us += cell.queued_us;
                    row.process_us += cell.process_us;
                    row.total_us += cell.total_us;
                });
            }
        }
        for (&(node, name), bins) in &self.locks {
            for (bin, cell) in used(bins) {
                row(TargetKey { node, kind: name.kind(), name: Some(name) }, bin, &|row| {
                    row.lock_conflicts += cell.conflicts;
                    row.lock_waiting_us += cell.waiting_us;
                });
            }
        }
        let mut rows: Vec<Second> = rows.into_values().collect();
        rows.sort_by(|a, b| (a.second, &a.target, a.mdt).cmp(&(b.second, &b.target, b.mdt)));
        rows
    }
}
