//! The logs of nodes: found, read as rows, accounted for.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lioprof_model::units::seconds;
use lioprof_model::{BadPlace, Input, OtherRecords, RowSink, Symbol, Symbols, TraceLoss, TraceSummary};

use crate::decode::chunk::{Head, merge_heads};
use crate::decode::merge::{Merge, Waiting};
use crate::decode::source::Seen;
use crate::input::{InputProblem, NodeRule};
use crate::join::{Join, Output};
use crate::plan::{Late, Planned, Reading, plan};
use crate::progress::Progress;
use crate::relay::relay;

/// Bad places listed per input.
const MAX_BAD_PLACES: usize = 20;
/// Kinds of records listed per input that lioprof does not interpret.
const MAX_OTHER: usize = 20;

/// What was found among the inputs.
#[derive(Default)]
pub struct Inputs {
    /// The logs of each node.
    pub nodes: BTreeMap<String, NodeLogs>,
    /// Folders of rows.
    pub stores: Vec<PathBuf>,
    /// Inputs that cannot be used, and notes.
    pub problems: Vec<InputProblem>,
}

impl Inputs {
    /// Looks for logs in files and directories; `-` is standard input. Whether a directory holds rows instead, `is_store` tells.
    #[must_use]
    pub fn find(inputs: &[PathBuf], rules: &[NodeRule], is_store: &dyn Fn(&Path) -> bool, progress: &Progress) -> Self {
        let plan = plan(inputs, rules, is_store, progress);
        let nodes = plan.nodes.into_iter().map(|(node, logs)| (node, NodeLogs(logs))).collect();
        Self { nodes, stores: plan.stores, problems: plan.problems }
    }
}

/// The logs of one node.
#[derive(Default)]
pub struct NodeLogs(Vec<Planned>);

/// What reading a node's logs has shown.
pub struct ReadLogs {
    /// The same logs, to be read again.
    pub logs: NodeLogs,
    /// The account of each log.
    pub inputs: Vec<Input>,
    /// What the rows do not say, of all logs together.
    pub summary: TraceSummary,
    /// Records that several of the logs hold, which count once.
    pub duplicates: u64,
}

impl NodeLogs {
    /// Whether the logs are still there for a second look: standard input is not.
    #[must_use]
    pub fn can_be_read_again(&self) -> bool {
        self.0.iter().all(Planned::can_be_read_again)
    }

    /// Tells the progress that all logs will be read once more.
    pub fn expect_again(&self) {
        self.0.iter().for_each(Planned::expect_again);
    }

    /// Makes rows of all logs. Must run on a thread of the pool that decodes; if that has more than one, `sink` gets the rows on another
    /// thread than they are made on.
    ///
    /// What is wrong with a log is in its account ([`Input::error`]); what came before it has been handed on.
    pub fn read(
        self,
        node: Symbol,
        reading: Reading,
        symbols: &mut Symbols,
        sink: &mut (dyn RowSink + Send),
    ) -> ReadLogs {
        relay(symbols, sink, |symbols, sink| read(node, self.0, reading, symbols, sink))
    }
}

/// What became of one log.
struct LogResult {
    planned: Planned,
    seen: Seen,
    late: Late,
}

fn read(
    node: Symbol,
    planned: Vec<Planned>,
    reading: Reading,
    symbols: &mut Symbols,
    sink: &mut dyn RowSink,
) -> ReadLogs {
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
    while let Some(event) = merge.next(symbols) {
        join.event(event, &mut Output { symbols, sink });
    }
    join.finish(&mut Output { symbols, sink });

    let duplicates = merge.duplicates;
    let mut seen: Vec<Option<Seen>> = inputs.iter().map(|_| None).collect();
    for (index, source) in merge.done {
        seen[index] = Some(source.finish());
    }
    let logs: Vec<LogResult> = inputs
        .into_iter()
        .zip(seen)
        .map(|(input, seen)| {
            let Ok(cell) = Rc::try_unwrap(input) else { unreachable!("the merge has opened or dropped every input") };
            let (planned, late) = cell.into_inner();
            LogResult { planned, seen: seen.unwrap_or_default(), late }
        })
        .collect();
    let mut summary = TraceSummary::default();
    for log in &logs {
        summary.merge(&of_input(&log.seen, log.late.seams));
    }
    summary.merge(&join.summary());
    summary.loss.streams_without_head = streams_without_head(&logs);
    let inputs = logs.iter().map(|log| account(symbols.text(node), log)).collect();
    ReadLogs { logs: NodeLogs(logs.into_iter().map(|log| log.planned).collect()), inputs, summary, duplicates }
}

/// What was read of a log.
fn account(node: String, log: &LogResult) -> Input {
    let (planned, seen, late) = (&log.planned, &log.seen, &log.late);
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let mut other: Vec<OtherRecords> = seen
        .counts
        .other
        .iter()
        .flat_map(|(file, functions)| {
            functions.iter().map(|(function, &records)| OtherRecords {
                file: text(file),
                function: text(function),
                records,
            })
        })
        .collect();
    other.sort_by(|a, b| b.records.cmp(&a.records).then_with(|| (&a.file, &a.function).cmp(&(&b.file, &b.function))));
    other.truncate(MAX_OTHER);
    let error = late.error.clone().or_else(|| late.damage.get().map(|damage| damage.to_string()));
    let error = error.or_else(|| seen.error.as_ref().map(ToString::to_string));
    Input {
        path: planned.path.display().to_string(),
        node,
        format: planned.format,
        compression: planned.compression.map(|compression| compression.name().to_owned()),
        bytes: seen.bytes,
        records: seen.counts.records,
        messages: seen.counts.messages,
        bad_records: seen.gaps.len() as u64,
        skipped_bytes: seen.gaps.iter().map(|gap| gap.len).sum(),
        bad_places: seen
            .gaps
            .iter()
            .take(MAX_BAD_PLACES)
            .map(|gap| BadPlace { offset: gap.offset, bytes: gap.len, why: gap.why.as_str().to_owned() })
            .collect(),
        malformed: seen.counts.malformed.iter().map(|(kind, n)| ((*kind).to_owned(), *n)).collect(),
        other,
        first: seen.counts.first_us.map(seconds),
        last: seen.counts.last_us.map(seconds),
        error,
    }
}

/// What reading one log has shown.
pub(crate) fn of_input(seen: &Seen, torn_seams: u64) -> TraceSummary {
    TraceSummary {
        bytes: seen.bytes,
        records: seen.counts.records,
        messages: seen.counts.messages,
        rpctrace_records: seen.counts.rpctrace,
        first_us: seen.counts.first_us,
        last_us: seen.counts.last_us,
        targets: seen.targets.iter().copied().collect(),
        pinging_targets: seen.pinging.iter().copied().collect(),
        loss: TraceLoss {
            torn_seams,
            discarded_heads: seen.discarded_heads,
            bad_records: seen.gaps.len() as u64,
            skipped_bytes: seen.gaps.iter().map(|gap| gap.len).sum(),
            clock_steps: seen.clock_steps + seen.out_of_order,
            ..TraceLoss::default()
        },
        ..TraceSummary::default()
    }
}

/// Streams of a node whose first record does not carry the `F` flag.
fn streams_without_head(logs: &[LogResult]) -> u64 {
    let mut logs: Vec<_> = logs.iter().collect();
    logs.sort_by_key(|log| log.seen.counts.first_us);
    let mut heads: Vec<Head> = Vec::new();
    for log in logs {
        merge_heads(&mut heads, &log.seen.counts.stream_heads);
    }
    heads.iter().filter(|head| **head == Head::Missing).count() as u64
}
