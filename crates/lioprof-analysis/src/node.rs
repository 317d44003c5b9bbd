//! One node: its inputs merged, joined and summed up.

use std::cell::RefCell;
use std::rc::Rc;

use lioprof_model::{RowSink, RpcRow, Symbol, Symbols};

use crate::aggregate::Aggregate;
use crate::config::{Bound, Config};
use crate::decode::event::Event;
use crate::decode::merge::{Merge, Waiting};
use crate::decode::source::Seen;
use crate::join::{Join, JoinCounts, JoinSink, Sent, SequenceGaps};
use crate::locks::{LockTracker, Rules};
use crate::plan::{Late, Planned, Reading};

/// What became of one input.
pub(crate) struct InputResult {
    pub(crate) planned: Planned,
    pub(crate) seen: Seen,
    pub(crate) late: Late,
}

/// What became of one node.
pub(crate) struct NodeResult {
    pub(crate) name: String,
    pub(crate) inputs: Vec<InputResult>,
    pub(crate) counts: JoinCounts,
    pub(crate) gaps: SequenceGaps,
    pub(crate) duplicates: u64,
    pub(crate) aggregate: Aggregate,
    /// Limits as they turned out; `None` where a marker was not found.
    pub(crate) from: Option<Limit>,
    pub(crate) to: Option<Limit>,
}

/// A limit in time that may still have to be found in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    At(i64),
    Marker(String),
}

impl Limit {
    fn new(bound: &Bound) -> Self {
        match bound {
            Bound::Time(us) => Self::At(*us),
            Bound::Marker(text) => Self::Marker(text.clone()),
        }
    }

    fn marker(&mut self, time_us: i64, text: &[u8]) {
        if let Self::Marker(wanted) = self
            && text.starts_with(wanted.as_bytes())
        {
            *self = Self::At(time_us);
        }
    }
}

/// Hands selected rows to the aggregate and to whoever else wants them.
struct Selected<'a> {
    node: Symbol,
    config: &'a Config,
    from: &'a mut Option<Limit>,
    to: &'a mut Option<Limit>,
    symbols: &'a mut Symbols,
    aggregate: &'a mut Aggregate,
    locks: Option<&'a mut LockTracker>,
    sink: &'a mut dyn RowSink,
}

impl Selected<'_> {
    /// Whether something that happened at this time is within the limits. Events come in time order: a
    /// marker that has not come up yet lies ahead.
    fn in_time(&self, time_us: i64) -> bool {
        let after = match &*self.from {
            None => true,
            Some(Limit::At(us)) => time_us >= *us,
            Some(Limit::Marker(_)) => false,
        };
        let before = match &*self.to {
            None | Some(Limit::Marker(_)) => true,
            Some(Limit::At(us)) => time_us <= *us,
        };
        after && before
    }
}

impl Selected<'_> {
    /// Shows an event to the lock tracker, before the join: it needs the window that the event falls into.
    fn locks(&mut self, event: &Event, join: &Join) {
        let in_time = self.in_time(event.time_us);
        if let Some(locks) = &mut self.locks {
            locks.event(event, || join.window(event.pid), in_time, self.symbols);
            for (time_us, target, happening) in locks.happenings() {
                self.aggregate.lock(self.node, time_us, target, happening);
            }
        }
    }
}

impl JoinSink for Selected<'_> {
    fn symbols(&self) -> &Symbols {
        self.symbols
    }

    fn row(&mut self, row: &RpcRow) {
        let in_time = self.in_time(row.end_us);
        if let Some(locks) = &mut self.locks {
            locks.row(row, in_time, self.symbols);
        }
        if in_time && self.config.selection.takes(row, self.symbols) {
            self.aggregate.row(row, self.symbols);
            self.sink.rpc(row, self.symbols);
        }
    }

    fn sent(&mut self, sent: &Sent) {
        if self.in_time(sent.time_us) {
            self.aggregate.sent(self.node, sent);
        }
    }

    fn completed(&mut self, sent: &Sent, round_trip_us: u64) {
        if self.in_time(sent.time_us) {
            self.aggregate.completed(self.node, sent, round_trip_us);
            if let Some(locks) = &mut self.locks {
                locks.completed(sent, round_trip_us, self.symbols);
            }
        }
    }

    fn marker(&mut self, time_us: i64, text: Symbol) {
        self.aggregate.marker(self.node, time_us, text);
        for limit in [&mut *self.from, &mut *self.to].into_iter().flatten() {
            limit.marker(time_us, self.symbols.bytes(text));
        }
    }
}

/// Analyzes one node. Must run on a thread of the pool that decodes.
pub(crate) fn analyze(
    name: &str,
    planned: Vec<Planned>,
    config: &Config,
    symbols: &mut Symbols,
    sink: &mut dyn RowSink,
) -> NodeResult {
    let reading = Reading { chunk_bytes: config.chunk_bytes, depth: 2 * config.threads + 1 };
    let node = symbols.intern(name.as_bytes());
    // Inputs are opened when their time comes, by the merge; what they turn out to be is kept here.
    let inputs: Vec<Rc<RefCell<(Planned, Late)>>> =
        planned.into_iter().map(|input| Rc::new(RefCell::new((input, Late::default())))).collect();
    let waiting = inputs.iter().enumerate().map(|(index, input)| {
        let opening = Rc::clone(input);
        Waiting {
            first_us: input.borrow().0.first_us,
            input: index,
            open: Box::new(move || {
                let (planned, late) = &mut *opening.borrow_mut();
                planned.open(reading, late)
            }),
        }
    });
    let mut merge = Merge::new(waiting.collect());

    let mut join = Join::new(node);
    let mut aggregate = Aggregate::new(config.bin_us);
    let rules = config.contended.map(|rule| Rules {
        contended_conflicts: rule.conflicts,
        contended_window_us: rule.window_us,
        contended_hold_us: rule.hold_us,
        contended_source: "chosen by the user",
        ..Rules::TO_2_17
    });
    let mut locks = config.locks.then(|| LockTracker::new(node, rules.as_ref(), &config.selection.targets));
    let (mut from, mut to) = (config.from.as_ref().map(Limit::new), config.to.as_ref().map(Limit::new));
    let mut selected = Selected {
        node,
        config,
        from: &mut from,
        to: &mut to,
        symbols,
        aggregate: &mut aggregate,
        locks: locks.as_mut(),
        sink,
    };
    while let Some(event) = merge.next(selected.symbols) {
        selected.locks(&event, &join);
        join.event(&event, &mut selected);
    }
    let (counts, gaps) = join.finish(&mut selected);
    aggregate.locks = locks.map(LockTracker::finish);

    let duplicates = merge.duplicates;
    let mut seen: Vec<Option<Seen>> = inputs.iter().map(|_| None).collect();
    for (index, source) in merge.done {
        seen[index] = Some(source.finish());
    }
    let inputs: Vec<InputResult> = inputs
        .into_iter()
        .zip(seen)
        .map(|(input, seen)| {
            let Ok(cell) = Rc::try_unwrap(input) else { unreachable!("the merge has opened or dropped every input") };
            let (planned, late) = cell.into_inner();
            InputResult { planned, seen: seen.unwrap_or_default(), late }
        })
        .collect();
    let span = inputs.iter().filter_map(|input| input.seen.counts.first_us.zip(input.seen.counts.last_us));
    let span = span.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let targets: Vec<_> = inputs.iter().flat_map(|input| input.seen.targets.iter().copied()).collect();
    let pinging: Vec<_> = inputs.iter().flat_map(|input| input.seen.pinging.iter().copied()).collect();
    aggregate.node(node, span, targets, &pinging);
    NodeResult { name: name.to_owned(), inputs, counts, gaps, duplicates, aggregate, from, to }
}
