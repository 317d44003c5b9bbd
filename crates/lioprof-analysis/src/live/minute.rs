//! Windows that are analyzed when they are full. Two overlap by half, so that what lies on the edge of one is inside of the other.

use std::collections::VecDeque;

use lioprof_model::{Analysis, LockEvent, Mark, RpcRow, SentRpc, Symbol, Symbols, TraceSummary};
use lustre_debuglog::TargetName;

use crate::align::Alignment;
use crate::clocks::{NodeLog, clocks};
use crate::config::Config;
use crate::interval::Interval;
use crate::locks::Contention;
use crate::node::{Finished, NodeAccount, NodeTally};
use crate::run::conclude_without_predictions;

/// A window that fills.
struct Window {
    from_us: i64,
    tally: NodeTally,
}

pub(super) struct Minutes {
    config: Config,
    length_us: i64,
    /// The node, once a row has named it.
    node: Option<Symbol>,
    /// Oldest first; it alone tells of contention.
    windows: VecDeque<Window>,
}

impl Minutes {
    pub(super) fn new(length_us: i64) -> Self {
        Self { config: Config::default(), length_us, node: None, windows: VecDeque::new() }
    }

    pub(super) fn forget(&mut self) {
        self.node = None;
        self.windows.clear();
    }

    pub(super) fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.begin(row.node, row.end_us);
        for window in &mut self.windows {
            window.tally.rpc(row, true, &self.config.selection, symbols);
        }
    }

    pub(super) fn lock_event(
        &mut self,
        event: &LockEvent,
        symbols: &Symbols,
        mut contended: impl FnMut(i64, TargetName, Contention),
    ) {
        self.begin(event.node, event.time_us);
        for (at, window) in self.windows.iter_mut().enumerate() {
            window.tally.lock_event(event, true, &self.config.selection, symbols, |time_us, target, contention| {
                if at == 0 {
                    contended(time_us, target, contention);
                }
            });
        }
    }

    pub(super) fn sent_rpc(
        &mut self,
        sent: &SentRpc,
        symbols: &Symbols,
        mut contended: impl FnMut(i64, TargetName, Contention),
    ) {
        self.begin(sent.node, sent.time_us);
        for (at, window) in self.windows.iter_mut().enumerate() {
            window.tally.sent_rpc(sent, true, &self.config.selection, symbols, |time_us, target, contention| {
                if at == 0 {
                    contended(time_us, target, contention);
                }
            });
        }
    }

    pub(super) fn mark(&mut self, mark: &Mark) {
        self.windows.iter_mut().for_each(|window| window.tally.mark(mark));
    }

    /// Begins a window if there is none, or if the last one is half full.
    fn begin(&mut self, node: Symbol, time_us: i64) {
        self.node = Some(node);
        if self.windows.back().is_none_or(|last| time_us >= last.from_us.saturating_add(self.length_us / 2)) {
            self.windows.push_back(Window { from_us: time_us, tally: NodeTally::new(node, &self.config) });
        }
    }

    /// The analysis of the last window that is full at this time.
    pub(super) fn full_at(&mut self, through_us: i64, name: &str, symbols: &Symbols) -> Option<Analysis> {
        let mut last = None;
        while let Some(full) =
            self.windows.pop_front_if(|first| through_us >= first.from_us.saturating_add(self.length_us))
        {
            last = Some(full);
        }
        let node = self.node?;
        let analysis = last.map(|full| self.analysis(full, through_us, name, node, symbols));
        // Where nothing happens, that is to be told, too.
        self.begin(node, through_us);
        analysis
    }

    fn analysis(&self, full: Window, through_us: i64, name: &str, node: Symbol, symbols: &Symbols) -> Analysis {
        let summary =
            TraceSummary { first_us: Some(full.from_us), last_us: Some(through_us), ..TraceSummary::default() };
        let Finished { aggregate, exchanges, is_client, .. } =
            full.tally.finish(Interval::default(), &summary, symbols).by_role(node);
        let log =
            NodeLog { exchanges: &exchanges, is_client, span_us: Some((full.from_us, through_us)), readings: &[] };
        let alignment = Alignment::of(vec![name.to_owned()], clocks(&[log]), &[None], vec![false]);
        let account = NodeAccount {
            name: name.to_owned(),
            summary,
            duplicates: 0,
            is_client,
            interval: Interval::default(),
            repeated_marks: None,
        };
        let (analysis, _) =
            conclude_without_predictions(&[account], &alignment, aggregate, Vec::new(), symbols, &self.config);
        analysis
    }
}
