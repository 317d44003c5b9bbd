//! Analyzes one node: merges, joins and sums up its inputs.

use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::units::seconds;
use lioprof_model::{
    ClientEvent, Counted, HalfRpc, Input, LockEvent, Mark, NodeRole, RowSink, RowSource, RpcRow, SentRpc, Symbol,
    Symbols, TraceSummary,
};
use lioprof_trace::{NodeLogs, ReadLogs, with_sink_thread};
use lustre_debuglog::{Opcode, TargetName};

use crate::aggregate::{Aggregate, Faults};
use crate::clocks::{ExchangeSample, Exchanges, Shifted, shifted};
use crate::config::{Config, Question, Selection};
use crate::counted;
use crate::interval::{Interval, Taken};
use crate::locks::{Contention, LockSums, LockTracker, Rules};
use crate::node_sums::{NodeSums, SUMS_SCHEMA};
use crate::partial::Partial;

/// The logs and stored rows of one node.
#[derive(Default)]
pub(crate) struct NodeInputs {
    pub(crate) logs: NodeLogs,
    pub(crate) stored: Vec<Box<dyn RowSource>>,
}

impl NodeInputs {
    /// When the first of them begins, microseconds since the epoch.
    pub(crate) fn begin_us(&self) -> Option<i64> {
        let stored = self.stored.iter().filter_map(|source| source.summary().first_us);
        stored.chain(self.logs.begin_us()).min()
    }

    /// How much there is to read, to compare nodes.
    pub(crate) fn bytes(&self) -> u64 {
        self.stored.iter().map(|source| source.summary().bytes).sum::<u64>() + self.logs.bytes()
    }
}

/// Result of reading stored rows.
pub(crate) struct StoredResult {
    pub(crate) source: Box<dyn RowSource>,
    pub(crate) error: Option<String>,
}

/// Result of analyzing one node, besides its sums.
pub(crate) struct NodeResult {
    pub(crate) name: String,
    pub(crate) logs: NodeLogs,
    /// What was read from each log.
    pub(crate) inputs: Vec<Input>,
    pub(crate) stored: Vec<StoredResult>,
    /// Summary of all inputs together.
    pub(crate) summary: TraceSummary,
    pub(crate) duplicates: u64,
    /// RPCs for comparing the node's clock with others.
    pub(crate) exchanges: ExchangeSample,
    /// Whether the node is a client of the file system.
    pub(crate) is_client: bool,
    /// The limits in time, with the marks that were found.
    pub(crate) interval: Interval,
    /// What is wrong with its inputs.
    pub(crate) warnings: Vec<String>,
    /// The clock that its sums are on, if they were made before; `None`: its own.
    pub(crate) clock: Option<ClockLine>,
}

/// Facts about a node besides its sums.
pub(crate) struct NodeAccount {
    pub(crate) name: String,
    pub(crate) summary: TraceSummary,
    pub(crate) duplicates: u64,
    pub(crate) is_client: bool,
    /// The limits in time, with the marks that were found.
    pub(crate) interval: Interval,
    /// What is wrong with its inputs.
    pub(crate) warnings: Vec<String>,
}

/// Sums up a node's rows within the limits, and passes them on to another sink.
pub(crate) struct NodeSink<'a> {
    config: &'a Config,
    interval: Interval,
    tally: NodeTally,
    sink: &'a mut (dyn RowSink + Send),
}

impl<'a> NodeSink<'a> {
    /// A sink with the user's limits and selection.
    pub(crate) fn new(node: Symbol, config: &'a Config, sink: &'a mut (dyn RowSink + Send)) -> Self {
        Self::within(Interval::new(config), node, config, sink)
    }

    /// The same with limits of which more is known.
    pub(crate) fn within(
        interval: Interval,
        node: Symbol,
        config: &'a Config,
        sink: &'a mut (dyn RowSink + Send),
    ) -> Self {
        let mut tally = NodeTally::new(node, config);
        tally.aggregate.begin(interval.starts_at());
        Self { config, interval, tally, sink }
    }

    /// The same sink, which also counts per second.
    pub(crate) fn with_seconds(mut self) -> Self {
        self.tally.aggregate = self.tally.aggregate.with_seconds();
        self
    }

    /// The sums, after the last row.
    pub(crate) fn finish(self, summary: &TraceSummary, symbols: &Symbols) -> Finished {
        self.tally.finish(self.interval, summary, symbols)
    }
}

/// Sums up a node's rows.
struct NodeTally {
    node: Symbol,
    aggregate: Aggregate,
    locks: Option<NodeLocks>,
    exchanges: Exchanges,
}

impl NodeTally {
    fn new(node: Symbol, config: &Config) -> Self {
        Self {
            node,
            aggregate: Aggregate::new(config.bin_us),
            locks: config.locks.then(|| NodeLocks::new(node, config)),
            exchanges: Exchanges::default(),
        }
    }

    /// Takes a row; whether it counts, by its time and the selection.
    fn rpc(&mut self, row: &RpcRow, in_time: bool, selection: &Selection, symbols: &Symbols) -> bool {
        self.exchanges.handled(row, symbols);
        if let Some(locks) = &mut self.locks
            && locks.row(row, in_time, selection, symbols)
        {
            locks.tell(Some(&mut self.aggregate), selection, symbols, |_, _, _| {});
        }
        let counts = in_time && selection.takes(row, symbols);
        if counts {
            self.aggregate.row(row, symbols);
        }
        counts
    }

    /// Takes a line of the lock manager.
    fn lock_event(&mut self, event: &LockEvent, in_time: bool, selection: &Selection, symbols: &Symbols) {
        if let Some(locks) = &mut self.locks {
            locks.lock_event(event, in_time, symbols);
            locks.tell(Some(&mut self.aggregate), selection, symbols, |_, _, _| {});
        }
        if in_time {
            self.aggregate.faults.lock_event(event);
        }
    }

    /// Takes an RPC that the node sent.
    fn sent_rpc(&mut self, sent: &SentRpc, in_time: bool, selection: &Selection, symbols: &Symbols) {
        self.exchanges.sent(sent, symbols);
        if let Some(locks) = &mut self.locks {
            locks.sent_rpc(sent, in_time, symbols);
            locks.tell(Some(&mut self.aggregate), selection, symbols, |_, _, _| {});
        }
        if in_time {
            self.aggregate.sent_rpc(sent);
        }
    }

    /// The sums, after the last row.
    fn finish(self, interval: Interval, summary: &TraceSummary, symbols: &Symbols) -> Finished {
        let Self { node, mut aggregate, locks, exchanges } = self;
        aggregate.locks = locks.map(NodeLocks::finish);
        Finished::new(node, aggregate, exchanges.finish(symbols), interval, summary, symbols)
    }
}

/// Follows the locks of a node.
#[derive(Clone)]
pub(crate) struct NodeLocks {
    node: Symbol,
    tracker: LockTracker,
}

impl NodeLocks {
    pub(crate) fn new(node: Symbol, config: &Config) -> Self {
        let rules = config.contended.map(|rule| Rules {
            contended_conflicts: rule.conflicts,
            contended_window_us: rule.window_us,
            contended_hold_us: rule.hold_us,
            contended_source: "chosen by the user",
            ..Rules::TO_2_17
        });
        Self { node, tracker: LockTracker::new(node, rules.as_ref(), &config.selection.targets) }
    }

    /// Takes a row; whether there is something to tell.
    pub(crate) fn row(&mut self, row: &RpcRow, in_time: bool, selection: &Selection, symbols: &Symbols) -> bool {
        let ended = self.tracker.row(row, in_time, symbols);
        if row.opcode == Opcode::LDLM_ENQUEUE {
            self.tracker.enqueue(row, in_time && selection.takes_but_for_target(row, symbols));
        }
        ended
    }

    /// Takes a line of the lock manager.
    pub(crate) fn lock_event(&mut self, event: &LockEvent, in_time: bool, symbols: &Symbols) {
        self.tracker.lock_event(event, in_time, symbols);
    }

    /// Takes an RPC that the node sent.
    pub(crate) fn sent_rpc(&mut self, sent: &SentRpc, in_time: bool, symbols: &Symbols) {
        self.tracker.sent_rpc(sent, in_time, symbols);
    }

    /// Moves what contention was seen into the series of the sums, and waits of the selected clients into the account of the time; tells
    /// `contended` of it, too.
    pub(crate) fn tell(
        &mut self,
        mut aggregate: Option<&mut Aggregate>,
        selection: &Selection,
        symbols: &Symbols,
        mut contended: impl FnMut(i64, TargetName, Contention),
    ) {
        for (time_us, target, contention) in self.tracker.contention() {
            contended(time_us, target, contention);
            let Some(aggregate) = &mut aggregate else { continue };
            aggregate.lock(self.node, time_us, target, contention);
            if let Contention::Wait { wait_us, client, job } = contention
                && selection.takes_lock_wait(client, job, symbols)
            {
                aggregate.lock_wait(self.node, target, (client, job), [time_us - wait_us, time_us], symbols);
            }
        }
    }

    /// Forgets what contention was seen: somebody else tells it.
    pub(crate) fn tell_nobody(&mut self) {
        drop(self.tracker.contention());
    }

    pub(crate) fn finish(self) -> LockSums {
        self.tracker.finish()
    }
}

/// Sums of a node.
pub(crate) struct Finished {
    pub(crate) aggregate: Aggregate,
    pub(crate) exchanges: ExchangeSample,
    /// Whether the node is a client of the file system.
    pub(crate) is_client: bool,
    pub(crate) interval: Interval,
}

impl Finished {
    pub(crate) fn new(
        node: Symbol,
        mut aggregate: Aggregate,
        exchanges: ExchangeSample,
        interval: Interval,
        summary: &TraceSummary,
        symbols: &Symbols,
    ) -> Self {
        aggregate.node(node, summary, symbols);
        let is_client = aggregate.role(node, symbols) == Some(NodeRole::Client);
        Self { aggregate, exchanges, is_client, interval }
    }

    /// For a client node, keeps only per-node figures: the servers' logs count what it sent.
    pub(crate) fn by_role(mut self, node: Symbol) -> Self {
        if self.is_client {
            self.aggregate = self.aggregate.of_client(node);
        }
        self
    }
}

impl RowSink for NodeSink<'_> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        let in_time = self.interval.contains(row.end_us);
        if !in_time && row.start_us().is_some_and(|start_us| self.interval.ends_between(start_us, row.end_us)) {
            self.tally.aggregate.under_way(row, &self.config.selection, symbols);
        }
        if self.tally.rpc(row, in_time, &self.config.selection, symbols) {
            self.sink.rpc(row, symbols);
        }
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        let in_time = self.interval.contains(event.time_us);
        self.tally.lock_event(event, in_time, &self.config.selection, symbols);
        if in_time {
            self.sink.lock_event(event, symbols);
        }
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        let in_time = self.interval.contains(sent.time_us);
        self.tally.sent_rpc(sent, in_time, &self.config.selection, symbols);
        if in_time {
            self.sink.sent_rpc(sent, symbols);
        }
    }

    fn client_event(&mut self, event: &ClientEvent, symbols: &Symbols) {
        if self.interval.contains(event.time_us) {
            self.sink.client_event(event, symbols);
        }
    }

    fn half_rpc(&mut self, half: &HalfRpc, symbols: &Symbols) {
        if self.interval.contains(half.from_us) {
            self.sink.half_rpc(half, symbols);
        }
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.tally.aggregate.mark(mark);
        self.interval.mark(mark.time_us, symbols.bytes(mark.text));
        self.tally.aggregate.begin(self.interval.starts_at());
        if self.interval.contains(mark.time_us) {
            self.sink.mark(mark, symbols);
        }
    }
}

/// Analyzes one node, with the symbols in the table and others. Must run on a thread of the pool that decodes.
pub(crate) fn analyze(
    name: &str,
    inputs: NodeInputs,
    config: &Config,
    mut symbols: Symbols,
    mut sink: Option<&mut (dyn RowSink + Send)>,
) -> (NodeResult, Partial) {
    if sink.is_none()
        && let Some(sums) = summed_up(&inputs, config)
    {
        return of_sums(name, inputs, sums);
    }
    let asked = Interval::new(config);
    let twice = asked.has_marks() && inputs.logs.can_be_read_again();
    let mut no_sink = NoSink;
    // Rows that were passed on cannot be taken back: if marks may still change the limits, they are passed on in the second pass.
    let first: &mut (dyn RowSink + Send) = match sink.as_deref_mut() {
        Some(sink) if !twice => sink,
        _ => &mut no_sink,
    };
    let (mut result, mut aggregate) = read_first(name, inputs, config, &mut symbols, first);
    let chosen = result.interval.chosen();
    let taken = if twice { Taken::Last } else { Taken::First };
    result.warnings.extend(result.interval.repeated(name, taken));
    if twice && (sink.is_some() || !chosen.is_same(&result.interval)) {
        let sink = sink.as_deref_mut().unwrap_or(&mut no_sink);
        (result, aggregate) = result.read_again(ClockLine::default(), chosen, config, &mut symbols, sink);
    }
    if let Some(sink) = sink {
        sink.node_end(name, &within(&result.summary, &result.interval, &aggregate.faults), &symbols);
    }
    (result, Partial { symbols, aggregate })
}

/// The sums that were made of a node's rows before, if they are what is asked for.
fn summed_up(inputs: &NodeInputs, config: &Config) -> Option<NodeSums> {
    let [source] = &*inputs.stored else { return None };
    let question = config.question();
    // Those that are kept beside rows are of all of them.
    if inputs.logs.paths().next().is_some() || question != Question::default() {
        return None;
    }
    // What cannot be read was made by another program, or is damaged: the rows say the same.
    NodeSums::from_bytes(&source.sums(SUMS_SCHEMA)?).ok().filter(|sums| sums.answers(source.node(), &question))
}

/// A node's result from its sums, without its rows.
pub(crate) fn of_sums(name: &str, inputs: NodeInputs, sums: NodeSums) -> (NodeResult, Partial) {
    let NodeInputs { logs, stored } = inputs;
    let result = NodeResult {
        name: name.to_owned(),
        logs,
        inputs: Vec::new(),
        stored: stored.into_iter().map(|source| StoredResult { error: None, source }).collect(),
        clock: sums.clock,
        summary: sums.summary,
        duplicates: 0,
        exchanges: sums.exchanges,
        is_client: sums.is_client,
        interval: sums.interval,
        warnings: sums.warnings,
    };
    (result, sums.partial)
}

fn read_first(
    name: &str,
    inputs: NodeInputs,
    config: &Config,
    symbols: &mut Symbols,
    sink: &mut (dyn RowSink + Send),
) -> (NodeResult, Aggregate) {
    let node = symbols.intern(name.as_bytes());
    let mut node_sink = NodeSink::new(node, config, sink);
    let NodeInputs { logs, stored: sources } = inputs;
    let ReadLogs { logs, inputs, mut summary, duplicates } = logs.read(node, config.reading(), symbols, &mut node_sink);
    let mut stored: Vec<StoredResult> = Vec::new();
    for mut source in sources {
        let (read, counted) = with_sink_thread(config.threads, symbols, &mut node_sink, |symbols, sink| {
            counted::read(&mut *source, symbols, sink)
        });
        summary.merge(&with_counted(source.summary(), counted));
        stored.push(StoredResult { error: read.err(), source });
    }
    let Finished { aggregate, exchanges, is_client, interval } = node_sink.finish(&summary, symbols).by_role(node);
    let name = name.to_owned();
    let warnings = counted_twice(&name, &inputs, &stored).into_iter().collect();
    let result = NodeResult {
        name,
        logs,
        inputs,
        stored,
        summary,
        duplicates,
        exchanges,
        is_client,
        interval,
        warnings,
        clock: None,
    };
    (result, aggregate)
}

/// The warning that a node's log and its rows are of the same time.
fn counted_twice(name: &str, logs: &[Input], stored: &[StoredResult]) -> Option<String> {
    if logs.is_empty() {
        return None;
    }
    let summaries = stored.iter().map(|stored| (stored, stored.source.summary()));
    let rows = summaries.filter_map(|(stored, it)| Some((stored, seconds(it.first_us?), seconds(it.last_us?))));
    let mut both = rows.flat_map(|(stored, first, last)| {
        let overlaps = move |log: &&Input| log.first.zip(log.last).is_some_and(|(from, to)| from < last && first < to);
        logs.iter().filter(overlaps).map(move |log| (log, stored))
    });
    both.next().map(|(log, stored)| {
        format!(
            "{name}: the log `{}` and the rows in `{}` are of the same time, and what is in both counts twice: give one of them",
            log.path,
            stored.source.path().display()
        )
    })
}

impl NodeResult {
    /// Whether its logs and rows can be read once more.
    pub(crate) fn can_be_read_again(&self) -> bool {
        self.logs.can_be_read_again() && self.stored.iter().all(|stored| stored.source.has_rows())
    }

    /// The same, of sums that are on the clock that they should be on: what else there is follows.
    pub(crate) fn on_clock_of_sums(self) -> Self {
        match &self.clock {
            Some(to) => Self { summary: shifted(&self.summary, to), ..self },
            None => self,
        }
    }

    /// The facts about the node.
    pub(crate) fn settle(self) -> NodeAccount {
        let Self { name, summary, duplicates, is_client, interval, warnings, .. } = self;
        NodeAccount { name, summary, duplicates, is_client, interval, warnings }
    }

    /// How much there is to read, to compare nodes.
    pub(crate) fn bytes(&self) -> u64 {
        self.stored.iter().map(|stored| stored.source.summary().bytes).sum::<u64>() + self.logs.bytes()
    }

    /// Sums up the node again with its times on another clock. The account of inputs and losses stays.
    ///
    /// Bins cannot be shifted by less than their width, so the rows are rebuilt.
    pub(crate) fn on_clock(self, to: ClockLine, config: &Config) -> (Self, Partial) {
        let interval = self.interval.on_clock(&to);
        let mut symbols = Symbols::default();
        let (result, aggregate) = self.read_again(to, interval, config, &mut symbols, &mut NoSink);
        (result, Partial { symbols, aggregate })
    }

    /// Rebuilds the rows with their times on another clock, and sums up those within `interval`.
    fn read_again(
        self,
        to: ClockLine,
        interval: Interval,
        config: &Config,
        symbols: &mut Symbols,
        sink: &mut (dyn RowSink + Send),
    ) -> (Self, Aggregate) {
        let node = symbols.intern(self.name.as_bytes());
        let mut node_sink = NodeSink::within(interval, node, config, sink);
        let mut shifted_sink = Shifted { to, sink: &mut node_sink };
        // The account of the first pass stays.
        let ReadLogs { logs, .. } = self.logs.read(node, config.reading(), symbols, &mut shifted_sink);
        let mut stored = self.stored;
        for stored in &mut stored {
            // The first pass has reported its errors.
            with_sink_thread(config.threads, symbols, &mut shifted_sink, |symbols, sink| {
                stored.source.read(symbols, sink)
            })
            .unwrap_or_default();
        }
        let summary = shifted(&self.summary, &to);
        let Finished { aggregate, is_client, interval, .. } = node_sink.finish(&summary, symbols).by_role(node);
        let result = Self { logs, stored, summary, is_client, interval, clock: None, ..self };
        (result, aggregate)
    }
}

/// Adds the counters to the summary of stored rows, unless it already has them.
pub(crate) fn with_counted(mut summary: TraceSummary, counted: Counted) -> TraceSummary {
    if !counted.is_empty() {
        summary.counted = counted;
    }
    summary
}

/// A sink that ignores everything.
pub(crate) struct NoSink;

impl RowSink for NoSink {
    fn rpc(&mut self, _: &RpcRow, _: &Symbols) {}
}

/// The summary, with its time span and what went wrong cut to the limits.
fn within(summary: &TraceSummary, interval: &Interval, faults: &Faults) -> TraceSummary {
    let mut summary = summary.clone();
    if interval.is_limited() {
        let Faults { dropped_rpcs, callbacks_timed_out: sent_timed_out, evictions, .. } = *faults;
        let events = summary.events.within(|us| interval.contains(us));
        summary = TraceSummary { dropped_rpcs, sent_timed_out, evictions, events, ..summary };
    }
    if let Some(from_us) = interval.starts_at() {
        summary.first_us = summary.first_us.map(|first| first.max(from_us));
    }
    if let Some(to_us) = interval.ends_at() {
        summary.last_us = summary.last_us.map(|last| last.min(to_us));
    }
    summary
}
