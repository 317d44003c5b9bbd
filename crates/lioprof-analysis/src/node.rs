//! One node: its inputs merged, joined and summed up.

use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::{
    Counted, Input, LockEvent, Mark, NodeRole, RowSink, RowSource, RpcRow, SentRpc, Symbol, Symbols, TraceSummary,
};
use lioprof_trace::{NodeLogs, ReadLogs};

use crate::aggregate::Aggregate;
use crate::clocks::{ExchangeSample, Exchanges, Shifted, shifted};
use crate::config::Config;
use crate::counted;
use crate::interval::{Interval, Taken};
use crate::locks::{LockTracker, Rules};

/// What there is of one node.
#[derive(Default)]
pub(crate) struct NodeInputs {
    pub(crate) logs: NodeLogs,
    pub(crate) stored: Vec<Box<dyn RowSource>>,
}

/// What became of rows that were kept.
pub(crate) struct StoredResult {
    pub(crate) source: Box<dyn RowSource>,
    pub(crate) error: Option<String>,
}

/// What became of one node.
pub(crate) struct NodeResult {
    pub(crate) name: String,
    pub(crate) logs: NodeLogs,
    /// What was read of each log.
    pub(crate) inputs: Vec<Input>,
    pub(crate) stored: Vec<StoredResult>,
    /// Of all inputs together.
    pub(crate) summary: TraceSummary,
    pub(crate) duplicates: u64,
    pub(crate) aggregate: Aggregate,
    /// RPCs by which its clock can be compared with others'.
    pub(crate) exchanges: ExchangeSample,
    /// It is a client of the file system.
    pub(crate) is_client: bool,
    /// Limits as they turned out.
    pub(crate) interval: Interval,
    /// What is to be said of marks that occur more than once.
    pub(crate) repeated_marks: Option<String>,
}

/// What is known of a node besides its sums.
pub(crate) struct NodeAccount {
    pub(crate) name: String,
    pub(crate) summary: TraceSummary,
    pub(crate) duplicates: u64,
    pub(crate) is_client: bool,
    /// Limits in time as they turned out.
    pub(crate) interval: Interval,
    /// What is to be said of marks that occur more than once.
    pub(crate) repeated_marks: Option<String>,
}

/// Sums up what a node's log says, within the limits, and hands it on to whoever else wants it.
pub(crate) struct NodeSink<'a> {
    node: Symbol,
    config: &'a Config,
    interval: Interval,
    aggregate: Aggregate,
    locks: Option<LockTracker>,
    exchanges: Exchanges,
    sink: &'a mut (dyn RowSink + Send),
}

impl<'a> NodeSink<'a> {
    /// For what the user asked for.
    pub(crate) fn new(node: Symbol, config: &'a Config, sink: &'a mut (dyn RowSink + Send)) -> Self {
        Self::within(Interval::new(config), node, config, sink)
    }

    fn within(interval: Interval, node: Symbol, config: &'a Config, sink: &'a mut (dyn RowSink + Send)) -> Self {
        let rules = config.contended.map(|rule| Rules {
            contended_conflicts: rule.conflicts,
            contended_window_us: rule.window_us,
            contended_hold_us: rule.hold_us,
            contended_source: "chosen by the user",
            ..Rules::TO_2_17
        });
        Self {
            node,
            config,
            interval,
            aggregate: Aggregate::new(config.bin_us),
            locks: config.locks.then(|| LockTracker::new(node, rules.as_ref(), &config.selection.targets)),
            exchanges: Exchanges::default(),
            sink,
        }
    }

    /// With figures per second beside the rest.
    pub(crate) fn with_seconds(self) -> Self {
        Self { aggregate: self.aggregate.with_seconds(), ..self }
    }

    /// The sums, once there is nothing more to come.
    pub(crate) fn finish(self, summary: &TraceSummary, symbols: &Symbols) -> Finished {
        let Self { node, mut aggregate, locks, exchanges, interval, .. } = self;
        aggregate.locks = locks.map(LockTracker::finish);
        aggregate.node(node, summary, symbols);
        let is_client = aggregate.role(node, symbols) == Some(NodeRole::Client);
        Finished { aggregate, exchanges: exchanges.finish(), is_client, interval }
    }

    /// Moves what happened to locks into the series.
    fn lock_happenings(&mut self) {
        let Some(locks) = &mut self.locks else { return };
        for (time_us, target, happening) in locks.happenings() {
            self.aggregate.lock(self.node, time_us, target, happening);
        }
    }
}

/// What a [`NodeSink`] has summed up.
pub(crate) struct Finished {
    pub(crate) aggregate: Aggregate,
    pub(crate) exchanges: ExchangeSample,
    /// The node is a client of the file system.
    pub(crate) is_client: bool,
    interval: Interval,
}

impl RowSink for NodeSink<'_> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.exchanges.handled(row, symbols);
        let in_time = self.interval.contains(row.end_us);
        if let Some(locks) = &mut self.locks {
            locks.row(row, in_time, symbols);
        }
        if in_time && self.config.selection.takes(row, symbols) {
            self.aggregate.row(row, symbols);
            self.sink.rpc(row, symbols);
        }
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        let in_time = self.interval.contains(event.time_us);
        if let Some(locks) = &mut self.locks {
            locks.lock_event(event, in_time, symbols);
            self.lock_happenings();
        }
        if in_time {
            self.aggregate.faults.lock_event(event);
            self.sink.lock_event(event, symbols);
        }
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.exchanges.sent(sent, symbols);
        let in_time = self.interval.contains(sent.time_us);
        if let Some(locks) = &mut self.locks {
            locks.sent_rpc(sent, in_time, symbols);
            self.lock_happenings();
        }
        if in_time {
            self.aggregate.sent_rpc(sent);
            self.sink.sent_rpc(sent, symbols);
        }
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.aggregate.mark(mark);
        self.interval.mark(mark.time_us, symbols.bytes(mark.text));
        self.sink.mark(mark, symbols);
    }
}

/// Analyzes one node. Must run on a thread of the pool that decodes.
pub(crate) fn analyze(
    name: &str,
    inputs: NodeInputs,
    config: &Config,
    symbols: &mut Symbols,
    mut sink: Option<&mut (dyn RowSink + Send)>,
) -> NodeResult {
    let asked = Interval::new(config);
    let twice = asked.has_marks() && inputs.logs.can_be_read_again();
    let mut no_sink = NoSink;
    // Rows that have been handed on cannot be taken back: where marks may turn out otherwise, they wait for the second time.
    let first: &mut (dyn RowSink + Send) = match sink.as_deref_mut() {
        Some(sink) if !twice => sink,
        _ => &mut no_sink,
    };
    let mut result = read_first(name, inputs, config, symbols, first);
    let chosen = result.interval.chosen();
    let taken = if twice { Taken::Last } else { Taken::First };
    let repeated_marks = result.interval.repeated(name, taken);
    if twice && (sink.is_some() || !chosen.is_same(&result.interval)) {
        let sink = sink.as_deref_mut().unwrap_or(&mut no_sink);
        result = result.read_again(ClockLine::default(), chosen, config, symbols, sink);
    }
    if let Some(sink) = sink {
        sink.node_end(name, &within(&result.summary, &result.interval), symbols);
    }
    NodeResult { repeated_marks, ..result }
}

fn read_first(
    name: &str,
    inputs: NodeInputs,
    config: &Config,
    symbols: &mut Symbols,
    sink: &mut (dyn RowSink + Send),
) -> NodeResult {
    let node = symbols.intern(name.as_bytes());
    let mut node_sink = NodeSink::new(node, config, sink);
    let ReadLogs { logs, inputs: accounts, mut summary, duplicates } =
        inputs.logs.read(node, config.reading(), symbols, &mut node_sink);
    let mut stored: Vec<StoredResult> = Vec::new();
    for mut source in inputs.stored {
        let (read, counted) = counted::read(&mut *source, symbols, &mut node_sink);
        summary.merge(&with_counted(source.summary(), counted));
        stored.push(StoredResult { error: read.err(), source });
    }
    let Finished { aggregate, exchanges, is_client, interval } = node_sink.finish(&summary, symbols);
    let aggregate = if is_client { aggregate.of_client(node) } else { aggregate };
    let name = name.to_owned();
    let repeated_marks = None;
    NodeResult {
        name,
        logs,
        inputs: accounts,
        stored,
        summary,
        duplicates,
        aggregate,
        exchanges,
        is_client,
        interval,
        repeated_marks,
    }
}

impl NodeResult {
    /// Its account, and its sums.
    pub(crate) fn settle(self) -> (NodeAccount, Aggregate) {
        let Self { name, summary, duplicates, is_client, interval, repeated_marks, aggregate, .. } = self;
        (NodeAccount { name, summary, duplicates, is_client, interval, repeated_marks }, aggregate)
    }

    /// Sums up the node once more, with its times on another clock. What was read, and what of it was lost, is known.
    ///
    /// Bins cannot be shifted by less than their width, so the rows are made again.
    pub(crate) fn on_clock(self, to: ClockLine, config: &Config, symbols: &mut Symbols) -> Self {
        let interval = self.interval.on_clock(&to);
        self.read_again(to, interval, config, symbols, &mut NoSink)
    }

    /// Makes the rows once more, with their times on another clock, and sums up those within `interval`.
    fn read_again(
        self,
        to: ClockLine,
        interval: Interval,
        config: &Config,
        symbols: &mut Symbols,
        sink: &mut (dyn RowSink + Send),
    ) -> Self {
        let node = symbols.intern(self.name.as_bytes());
        let mut node_sink = NodeSink::within(interval, node, config, sink);
        let mut shifted_sink = Shifted { to, sink: &mut node_sink };
        let Self { name, logs, inputs, mut stored, summary, duplicates, exchanges, repeated_marks, .. } = self;
        // Their account is that of the first time.
        let ReadLogs { logs, .. } = logs.read(node, config.reading(), symbols, &mut shifted_sink);
        for stored in &mut stored {
            // What is wrong with it was found out the first time.
            stored.source.read(symbols, &mut shifted_sink).unwrap_or_default();
        }
        let summary = shifted(&summary, &to);
        let Finished { aggregate, is_client, interval, .. } = node_sink.finish(&summary, symbols);
        let aggregate = if is_client { aggregate.of_client(node) } else { aggregate };
        Self {
            name,
            logs,
            inputs,
            stored,
            summary,
            duplicates,
            aggregate,
            exchanges,
            is_client,
            interval,
            repeated_marks,
        }
    }
}

/// The summary of kept rows with what their counters say, unless it says so already.
pub(crate) fn with_counted(mut summary: TraceSummary, counted: Counted) -> TraceSummary {
    if !counted.is_empty() {
        summary.counted = counted;
    }
    summary
}

/// A sink for those who want none.
pub(crate) struct NoSink;

impl RowSink for NoSink {
    fn rpc(&mut self, _: &RpcRow, _: &Symbols) {}
}

/// The summary of what was handed on: it spans no more than the limits.
fn within(summary: &TraceSummary, interval: &Interval) -> TraceSummary {
    let mut summary = summary.clone();
    if let Some(from_us) = interval.starts_at() {
        summary.first_us = summary.first_us.map(|first| first.max(from_us));
    }
    if let Some(to_us) = interval.ends_at() {
        summary.last_us = summary.last_us.map(|last| last.min(to_us));
    }
    summary
}
