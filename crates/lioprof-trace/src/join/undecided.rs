//! Rows on their way out. A row of which everything is known but when its data moved waits, because what other transfers do next will
//! tell. The rows behind it wait with it: who follows a client's reads through a file needs them in order.

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
    is_undecided: bool,
}

/// Rows that wait, in the order in which they go out.
#[derive(Default)]
pub(super) struct Undecided {
    rows: VecDeque<Waiting>,
    /// Rows that have gone out.
    gone: u64,
    /// The undecided ones: how many rows came before them.
    places: FxHashMap<TransferId, u64>,
}

impl Undecided {
    /// Whether a row that waits for nothing can go out at once.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The next row, which waits for its transfer or for the rows before it.
    pub(super) fn wait(&mut self, transfer: Option<TransferId>, row: RpcRow, seen_us: i64) {
        if let Some(id) = transfer {
            self.places.insert(id, self.gone + self.rows.len() as u64);
        }
        self.rows.push_back(Waiting { row, seen_us, is_undecided: transfer.is_some() });
    }

    /// A transfer has become known. `false`: no row waits for it.
    pub(super) fn decided(&mut self, id: TransferId, bulk: Option<BulkSpan>) -> bool {
        let Some(place) = self.places.remove(&id) else { return false };
        let at = place.checked_sub(self.gone).and_then(|at| usize::try_from(at).ok());
        if let Some(waiting) = at.and_then(|at| self.rows.get_mut(at)) {
            waiting.is_undecided = false;
            waiting.row.bulk = bulk.filter(|bulk| bulk.is_within(waiting.row.service_us));
        }
        true
    }

    /// The next row that goes out.
    pub(super) fn next(&mut self, now_us: i64) -> Option<RpcRow> {
        let Waiting { row, is_undecided, .. } = self.rows.front()?;
        if *is_undecided && row.end_us.saturating_add(AT_MOST_US) >= now_us && self.rows.len() <= AT_MOST_ROWS {
            return None;
        }
        self.gone += 1;
        Some(self.rows.pop_front()?.row)
    }

    /// Requests whose rows wait.
    pub(super) fn requests(&self) -> impl Iterator<Item = (Symbol, u64)> {
        self.rows.iter().map(|waiting| (waiting.row.nid, waiting.row.xid.0))
    }

    /// When the oldest of them was first seen.
    pub(super) fn oldest_us(&self) -> Option<i64> {
        self.rows.iter().map(|waiting| waiting.seen_us).min()
    }

    /// Shows the symbols of everything that waits to `visit`, which may replace them.
    pub(super) fn symbols(&mut self, visit: &mut impl FnMut(&mut Symbol)) {
        for Waiting { row, .. } in &mut self.rows {
            for symbol in [&mut row.node, &mut row.nid, &mut row.client_uuid, &mut row.thread] {
                visit(symbol);
            }
            row.job.iter_mut().for_each(&mut *visit);
        }
    }
}
