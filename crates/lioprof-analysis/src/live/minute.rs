//! Windows that are analyzed when they are full. Two overlap by half, so that what lies on the edge of one is inside of the other.
//!
//! Rows are summed up once, by halves of windows: a window is two halves that follow on each other. Only locks are followed by each window
//! from its own beginning. A half that has had [`MOST_RPCS`] takes no more and ends its window: the busier the server, the smaller the
//! share of its RPCs that is summed up, and so many show what it does.

use std::collections::VecDeque;

use lioprof_model::{Analysis, LockEvent, Mark, RpcRow, SentRpc, Symbol, Symbols, TraceSummary};
use lustre_debuglog::TargetName;

use crate::aggregate::Aggregate;
use crate::align::Alignment;
use crate::clocks::{ExchangeSample, NodeLog, clocks};
use crate::config::Config;
use crate::interval::Interval;
use crate::locks::{Contention, LockSums};
use crate::node::{Finished, NodeAccount, NodeLocks};
use crate::run::conclude_without_predictions;

/// RPCs of a half: those of ten seconds of a server that handles 25,000 a second.
const MOST_RPCS: u64 = 250_000;

/// Half a window, with which another window begins.
struct Half {
    from_us: i64,
    /// Sums of the half.
    sums: Aggregate,
    rpcs: u64,
    /// When it had had as many as it takes.
    until_us: Option<i64>,
    /// The locks since its beginning, whatever half it is now ..
    locks: NodeLocks,
    /// .. and those of its window, if that has ended.
    locks_of_window: Option<LockSums>,
}

impl Half {
    /// The sums, while they take more.
    fn open(&mut self) -> Option<&mut Aggregate> {
        self.until_us.is_none().then_some(&mut self.sums)
    }

    /// Whether its window is over: nothing is added to a half that is full.
    fn is_over(&self, now_us: i64, length_us: i64) -> bool {
        let length_us = if self.until_us.is_some() { length_us / 2 } else { length_us };
        now_us >= self.from_us.saturating_add(length_us)
    }
}

pub(super) struct Minutes {
    config: Config,
    length_us: i64,
    most_rpcs: u64,
    /// The node, once a row has named it.
    node: Option<Symbol>,
    /// Oldest first. The newest takes the rows; the locks of the oldest, which knows most, tell of contention.
    halves: VecDeque<Half>,
}

impl Minutes {
    pub(super) fn new(length_us: i64) -> Self {
        Self { config: Config::default(), length_us, most_rpcs: MOST_RPCS, node: None, halves: VecDeque::new() }
    }

    pub(super) fn forget(&mut self) {
        self.node = None;
        self.halves.clear();
    }

    pub(super) fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.begin(row.node, row.end_us);
        for half in &mut self.halves {
            // What waits end with it is told with the next line about locks.
            half.locks.row(row, true, &self.config.selection, symbols);
        }
        let Some(newest) = self.halves.back_mut() else { return };
        if let Some(sums) = newest.open() {
            sums.row(row, symbols);
            newest.rpcs += 1;
            if newest.rpcs >= self.most_rpcs {
                newest.until_us = Some(row.end_us);
                for half in &mut self.halves {
                    half.locks_of_window.get_or_insert_with(|| half.locks.clone().finish());
                }
            }
        }
    }

    pub(super) fn lock_event(
        &mut self,
        event: &LockEvent,
        symbols: &Symbols,
        contended: impl FnMut(i64, TargetName, Contention),
    ) {
        self.begin(event.node, event.time_us);
        self.locks(|locks| locks.lock_event(event, true, symbols), symbols, contended);
        self.sums(|sums| sums.faults.lock_event(event));
    }

    pub(super) fn sent_rpc(
        &mut self,
        sent: &SentRpc,
        symbols: &Symbols,
        contended: impl FnMut(i64, TargetName, Contention),
    ) {
        self.begin(sent.node, sent.time_us);
        self.locks(|locks| locks.sent_rpc(sent, true, symbols), symbols, contended);
        self.sums(|sums| sums.sent_rpc(sent));
    }

    pub(super) fn mark(&mut self, mark: &Mark) {
        self.sums(|sums| sums.mark(mark));
    }

    fn sums(&mut self, add: impl FnOnce(&mut Aggregate)) {
        if let Some(sums) = self.halves.back_mut().and_then(Half::open) {
            add(sums);
        }
    }

    fn locks(
        &mut self,
        add: impl Fn(&mut NodeLocks),
        symbols: &Symbols,
        contended: impl FnMut(i64, TargetName, Contention),
    ) {
        self.halves.iter_mut().for_each(|half| add(&mut half.locks));
        let Some((newest, older)) = self.halves.make_contiguous().split_last_mut() else { return };
        let Half { sums, until_us, locks, .. } = newest;
        let oldest = older.first_mut().map_or(locks, |oldest| &mut oldest.locks);
        oldest.tell(until_us.is_none().then_some(sums), &self.config.selection, symbols, contended);
        self.halves.iter_mut().for_each(|half| half.locks.tell_nobody());
    }

    /// Begins a window if there is none, or if the last one is half full.
    fn begin(&mut self, node: Symbol, time_us: i64) {
        self.node = Some(node);
        if self.halves.back().is_none_or(|last| time_us >= last.from_us.saturating_add(self.length_us / 2)) {
            self.halves.push_back(Half {
                from_us: time_us,
                sums: Aggregate::new(self.config.bin_us),
                rpcs: 0,
                until_us: None,
                locks: NodeLocks::new(node, &self.config),
                locks_of_window: None,
            });
        }
    }

    /// The analysis of the last window that is full at this time.
    pub(super) fn full_at(&mut self, through_us: i64, name: &str, symbols: &Symbols) -> Option<Analysis> {
        let mut last = None;
        while let Some(full) = self.halves.pop_front_if(|first| first.is_over(through_us, self.length_us)) {
            last = Some(full);
        }
        let node = self.node?;
        let analysis = last.map(|full| self.analysis(full, through_us, name, node, symbols));
        // Where nothing happens, that is to be told, too.
        self.begin(node, through_us);
        analysis
    }

    fn analysis(&self, full: Half, through_us: i64, name: &str, node: Symbol, symbols: &Symbols) -> Analysis {
        let Half { from_us, mut sums, until_us, locks, locks_of_window, .. } = full;
        let to_us = match (until_us, self.halves.front()) {
            (Some(until_us), _) => until_us,
            (None, Some(second)) if second.from_us < from_us.saturating_add(self.length_us) => {
                sums.go_on(second.sums.clone(), symbols);
                second.until_us.unwrap_or(through_us)
            }
            (None, _) => through_us,
        };
        let summary = TraceSummary { first_us: Some(from_us), last_us: Some(to_us), ..TraceSummary::default() };
        sums.locks = Some(locks_of_window.unwrap_or_else(|| locks.finish()));
        let Finished { aggregate, exchanges, is_client, .. } =
            Finished::new(node, sums, ExchangeSample::default(), Interval::default(), &summary, symbols).by_role(node);
        let log = NodeLog { exchanges, is_client, span_us: Some((from_us, to_us)), readings: &[] };
        let alignment = Alignment::alone(name, clocks(vec![log]));
        let account = NodeAccount {
            name: name.to_owned(),
            summary,
            duplicates: 0,
            is_client,
            interval: Interval::default(),
            warnings: Vec::new(),
        };
        let (analysis, _) =
            conclude_without_predictions(&[account], &alignment, aggregate, Vec::new(), symbols, &self.config);
        analysis
    }
}

#[cfg(test)]
mod tests {
    use lustre_debuglog::Opcode;

    use super::*;

    const SECOND_US: i64 = 1_000_000;

    #[test]
    fn a_half_that_is_full_ends_its_window() {
        let mut symbols = Symbols::default();
        let node = symbols.intern(b"oss1");
        // Halves of ten seconds that take three RPCs.
        let mut minutes = Minutes { most_rpcs: 3, ..Minutes::new(20 * SECOND_US) };
        let handle = |minutes: &mut Minutes, seconds: &[i64]| {
            for second in seconds {
                minutes.rpc(&RpcRow::made_up(node, Opcode::OST_READ, second * SECOND_US), &symbols);
            }
        };
        let judged = |minutes: &mut Minutes, second: i64| {
            let analysis = minutes.full_at(second * SECOND_US, "oss1", &symbols)?;
            Some((analysis.window.start, analysis.window.end, analysis.totals.rpcs))
        };
        handle(&mut minutes, &[0, 1, 2, 3, 9]);
        assert_eq!(judged(&mut minutes, 9), None);
        // The next one does not make its window longer, and is not full with two ..
        handle(&mut minutes, &[10, 11]);
        assert_eq!(judged(&mut minutes, 11), Some((0.0, 2.0, 3)));
        // .. so its window goes on in the third, which is full at once.
        handle(&mut minutes, &[21, 21, 22, 23, 29]);
        assert_eq!(judged(&mut minutes, 29), None);
        assert_eq!(judged(&mut minutes, 30), Some((10.0, 22.0, 5)));
        assert_eq!(judged(&mut minutes, 31), Some((21.0, 22.0, 3)));
    }
}
