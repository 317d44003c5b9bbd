//! Rows of which everything is known but when their data moved: other transfers have to go on first.

use std::collections::VecDeque;

use lioprof_model::{BulkSpan, RpcRow, Symbol};
use rustc_hash::FxHashMap;

use super::bulk::TransferId;

/// A row does not wait longer than this.
const AT_MOST_US: i64 = 10_000_000;

/// No more rows than this wait.
const AT_MOST_ROWS: usize = 4096;

struct Waiting {
    row: RpcRow,
    /// When its request was first seen.
    seen_us: i64,
}

/// Rows that wait, in the order in which they began to.
#[derive(Default)]
pub(super) struct Undecided {
    rows: FxHashMap<TransferId, Waiting>,
    /// Those of which it is known are still in here.
    order: VecDeque<(i64, TransferId)>,
}

impl Undecided {
    pub(super) fn wait(&mut self, id: TransferId, row: RpcRow, seen_us: i64) {
        self.order.push_back((row.end_us.saturating_add(AT_MOST_US), id));
        self.rows.insert(id, Waiting { row, seen_us });
    }

    /// The row that waits for this, if it has not waited too long.
    pub(super) fn decided(&mut self, id: TransferId, bulk: Option<BulkSpan>) -> Option<RpcRow> {
        let waiting = self.rows.remove(&id)?;
        let bulk = bulk.filter(|bulk| bulk.is_within(waiting.row.service_us));
        Some(RpcRow { bulk, ..waiting.row })
    }

    /// The next row that has waited long enough.
    pub(super) fn too_long(&mut self, now_us: i64) -> Option<RpcRow> {
        while let Some(&(until_us, id)) = self.order.front()
            && (until_us < now_us || self.rows.len() > AT_MOST_ROWS || !self.rows.contains_key(&id))
        {
            self.order.pop_front();
            if let Some(waiting) = self.rows.remove(&id) {
                return Some(waiting.row);
            }
        }
        None
    }

    /// Requests whose rows wait.
    pub(super) fn requests(&self) -> impl Iterator<Item = (Symbol, u64)> {
        self.rows.values().map(|waiting| (waiting.row.nid, waiting.row.xid.0))
    }

    /// When the oldest of them was first seen.
    pub(super) fn oldest_us(&self) -> Option<i64> {
        self.rows.values().map(|waiting| waiting.seen_us).min()
    }

    /// Shows the symbols of everything that waits to `visit`, which may replace them.
    pub(super) fn symbols(&mut self, visit: &mut impl FnMut(&mut Symbol)) {
        for Waiting { row, .. } in self.rows.values_mut() {
            for symbol in [&mut row.node, &mut row.nid, &mut row.client_uuid, &mut row.thread] {
                visit(symbol);
            }
            row.job.iter_mut().for_each(&mut *visit);
        }
    }
}
