//! The whole analysis: plan, nodes, sums, account of what was read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lioprof_model::{
    Analysis, BadPlace, Format, Generator, Input, Loss, OtherRecords, RowSink, RowSource, RowStores, SCHEMA, Symbols,
    TraceLoss, TraceSummary, Window,
};
use rayon::ThreadPoolBuilder;

use crate::aggregate::{self, Aggregate, seconds};
use crate::align::{Alignment, align};
use crate::config::Config;
use crate::findings::find;
use crate::input::{InputProblem, Severity};
use crate::node::{self, Limit, LogResult, NoSink, NodeAccount, NodeInputs, NodeResult, StoredResult};
use crate::plan::plan;
use crate::warnings;

/// Bad places listed per input.
const MAX_BAD_PLACES: usize = 20;
/// Kinds of records listed per input that lioprof does not interpret.
const MAX_OTHER: usize = 20;

/// The result of an analysis, and what was wrong with the inputs.
#[derive(Debug)]
pub struct Outcome {
    /// The analysis of everything that could be read.
    pub analysis: Analysis,
    /// Inputs that could not be read, or not completely, and notes.
    pub problems: Vec<InputProblem>,
    /// Share of the inputs' bytes, or of the RPCs if that is more, known to be lost; 0 to 1.
    pub damage: f64,
}

impl Outcome {
    /// Whether an input that was asked for could not be used at all.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// Why there is no analysis at all.
#[derive(Debug, thiserror::Error)]
pub enum AnalyzeError {
    /// Threads could not be started.
    #[error("failed to start {threads} threads")]
    Threads {
        /// How many.
        threads: usize,
        /// Cause.
        #[source]
        err: rayon::ThreadPoolBuildError,
    },
    /// Not one input is a debug log.
    #[error("no Lustre debug log among the inputs")]
    NoInput {
        /// What is wrong with each.
        problems: Vec<InputProblem>,
    },
}

/// For those who read logs only.
pub struct NoStores;

impl RowStores for NoStores {
    fn is_store(&self, _: &Path) -> bool {
        false
    }

    fn open(&self, _: &Path) -> Result<Vec<Box<dyn RowSource>>, String> {
        Ok(Vec::new())
    }
}

/// Analyzes logs: files, directories, `-` for standard input. Rows go to `sink`, too, if there is one.
///
/// # Errors
/// If nothing could be read at all; single inputs that cannot be used are in [`Outcome::problems`].
pub fn analyze(
    inputs: &[PathBuf],
    config: &Config,
    sink: Option<&mut (dyn RowSink + Send)>,
) -> Result<Outcome, AnalyzeError> {
    analyze_with_stores(inputs, &NoStores, config, sink)
}

/// Analyzes logs and folders of rows.
///
/// # Errors
/// As [`analyze`].
pub fn analyze_with_stores(
    inputs: &[PathBuf],
    stores: &dyn RowStores,
    config: &Config,
    sink: Option<&mut (dyn RowSink + Send)>,
) -> Result<Outcome, AnalyzeError> {
    let threads = config.threads.max(1);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|n| format!("decode-{n}"))
        .build()
        .map_err(|err| AnalyzeError::Threads { threads, err })?;
    pool.install(|| match sink {
        Some(sink) => run(inputs, stores, config, sink),
        None => run(inputs, stores, config, &mut NoSink),
    })
}

fn run(
    inputs: &[PathBuf],
    stores: &dyn RowStores,
    config: &Config,
    sink: &mut (dyn RowSink + Send),
) -> Result<Outcome, AnalyzeError> {
    let mut plan = plan(inputs, &config.node_rules, &|dir| stores.is_store(dir), &config.progress);
    let mut nodes: BTreeMap<String, NodeInputs> = BTreeMap::new();
    for (node, planned) in plan.nodes {
        nodes.entry(node).or_default().logs = planned;
    }
    for path in plan.stores {
        match stores.open(&path) {
            Ok(sources) => {
                for source in sources {
                    nodes.entry(source.node().to_owned()).or_default().stored.push(source);
                }
            }
            Err(message) => plan.problems.push(InputProblem { path, severity: Severity::Error, message }),
        }
    }
    if nodes.is_empty() {
        return Err(AnalyzeError::NoInput { problems: plan.problems });
    }
    let mut symbols = Symbols::default();
    let mut results: Vec<NodeResult> = Vec::new();
    for (name, inputs) in nodes {
        results.push(node::analyze(&name, inputs, config, &mut symbols, sink));
    }
    let (results, alignment) = align(results, config, &mut symbols);

    let inputs = results.iter().flat_map(|result| {
        let logs = result.logs.iter().map(|log| account(&result.name, log));
        let stored = result.stored.iter().map(|stored| account_stored(&result.name, stored));
        logs.chain(stored).collect::<Vec<Input>>()
    });
    let inputs = inputs.collect();
    let (accounts, sums): (Vec<_>, Vec<_>) = results.into_iter().map(NodeResult::settle).unzip();
    // Into the first one, not into an empty one: a single node's may be large.
    let sum = sums.into_iter().reduce(|mut sum, other| {
        sum.merge(other, &symbols);
        sum
    });
    let sum = sum.unwrap_or_else(|| Aggregate::new(config.bin_us));
    Ok(conclude(&accounts, &alignment, sum, inputs, plan.problems, &symbols, config))
}

/// From sums over all nodes to the analysis.
pub(crate) fn conclude(
    nodes: &[NodeAccount],
    alignment: &Alignment,
    sum: Aggregate,
    inputs: Vec<Input>,
    mut problems: Vec<InputProblem>,
    symbols: &Symbols,
    config: &Config,
) -> Outcome {
    let mut analysis = Analysis {
        schema: SCHEMA.to_owned(),
        generator: Generator { name: "lioprof".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        window: window(nodes),
        loss: loss(nodes),
        baseline: config.baseline.clone(),
        inputs,
        ..Analysis::default()
    };
    for NodeAccount { summary, .. } in nodes.iter().filter(|node| !node.is_client) {
        analysis.totals.dropped_rpcs += summary.dropped_rpcs;
        analysis.totals.sent_timed_out += summary.sent_timed_out;
        analysis.totals.evictions += summary.evictions;
    }
    for input in &analysis.inputs {
        if let Some(error) = &input.error {
            let message = format!("`{}`: {error}", input.path);
            problems.push(InputProblem { path: PathBuf::from(&input.path), severity: Severity::Error, message });
        }
    }
    problems.extend(missing_markers(nodes));
    analysis.inputs.sort_by(|a, b| (&a.node, &a.path).cmp(&(&b.node, &b.path)));
    analysis.warnings = warnings::early(nodes, &analysis);
    analysis.warnings.extend(alignment.warnings());
    aggregate::finish(sum, symbols, &mut analysis);
    alignment.tell(symbols, &mut analysis);
    let mut warnings = warnings::late(&analysis);
    analysis.warnings.append(&mut warnings);
    find(&mut analysis, &config.limits);

    let damage = damage(&analysis);
    Outcome { analysis, problems, damage }
}

/// First to last record, cut to the limits that were asked for. Logs of clients say nothing of what servers did before
/// and after.
fn window(results: &[NodeAccount]) -> Window {
    let span = |result: &NodeAccount| {
        let (first, last) = result.summary.first_us.zip(result.summary.last_us)?;
        let at = |limit: &Option<Limit>| match limit {
            Some(Limit::At(us)) => Some(*us),
            _ => None,
        };
        let start = at(&result.from).map_or(first, |from| from.clamp(first, last));
        let end = at(&result.to).map_or(last, |to| to.clamp(first, last));
        Some((start, end))
    };
    let of = |clients: bool| -> Vec<(i64, i64)> {
        results.iter().filter(|result| clients || !result.is_client).filter_map(span).collect()
    };
    let servers = of(false);
    let spans = if servers.is_empty() { of(true) } else { servers };
    let start = spans.iter().map(|s| s.0).min().unwrap_or(0);
    let end = spans.iter().map(|s| s.1).max().unwrap_or(0);
    Window { start: seconds(start), end: seconds(end), duration_s: seconds((end - start).max(0)) }
}

fn loss(results: &[NodeAccount]) -> Loss {
    let mut sum = TraceLoss::default();
    for result in results {
        sum.merge(&result.summary.loss);
    }
    let mut loss = Loss {
        nrs_sequence_gaps: sum.nrs_sequence_gaps,
        nrs_sequence_seen: sum.nrs_sequence_seen,
        missing_handled: sum.missing_handled,
        missing_handling: sum.missing_handling,
        never_handled: sum.never_handled,
        torn_seams: sum.torn_seams,
        dropped_segments: sum.dropped_segments,
        dropped_segment_bytes: sum.dropped_segment_bytes,
        kernel_overflows: sum.kernel_overflows,
        discarded_heads: sum.discarded_heads,
        dropped_segment_rpcs: sum.dropped_segment_rpcs,
        streams_without_head: sum.streams_without_head,
        bad_records: sum.bad_records,
        clock_steps: sum.clock_steps,
        ..Loss::default()
    };
    // A filter, or whoever cut the text, may have taken the flagged records away. Halves of RPCs beside it say
    // that the log really begins in the middle.
    let halves = loss.missing_handling + loss.missing_handled > 0;
    loss.head_overwritten = loss.torn_seams > 0 || (loss.streams_without_head > 0 && halves);
    if loss.head_overwritten {
        loss.estimate = "what came before the first records was overwritten, how much is unknown".to_owned();
    } else if loss.nrs_sequence_seen == 0 {
        loss.estimate = "no request scheduler numbers in the log".to_owned();
    } else {
        // The numbers only tell what two queues cannot explain: a single hole says nothing.
        let dropped = loss.dropped_segment_rpcs > loss.nrs_sequence_gaps;
        let missing = loss.nrs_sequence_gaps.max(loss.dropped_segment_rpcs);
        loss.estimated_lost_fraction = Some(share(missing, missing + loss.nrs_sequence_seen));
        loss.estimate = if dropped {
            "share of the RPCs that are in segments that the capture daemon gave up".to_owned()
        } else {
            "share of the request schedulers' sequence numbers that are missing".to_owned()
        };
    }
    loss
}

/// Limits that no node's log holds: whoever gave them got something else than asked for.
fn missing_markers(results: &[NodeAccount]) -> impl Iterator<Item = InputProblem> {
    let limits = [
        results.iter().map(|result| &result.from).collect::<Vec<_>>(),
        results.iter().map(|result| &result.to).collect(),
    ];
    limits.into_iter().filter_map(|limits| {
        let missing = limits.iter().find_map(|limit| match limit {
            Some(Limit::Marker(text)) => Some(text.clone()),
            _ => None,
        })?;
        let found = limits.iter().any(|limit| matches!(limit, Some(Limit::At(_))));
        (!found).then(|| InputProblem {
            path: PathBuf::new(),
            severity: Severity::Error,
            message: format!(
                "no `lctl mark` line with the text `{missing}` in any input, and it is no time such as \
                 2026-11-21T08:51:22Z; `--format json` lists the marks under `markers`"
            ),
        })
    })
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no more than 52 bits")]
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// What was read of kept rows.
fn account_stored(node: &str, stored: &StoredResult) -> Input {
    stored_input(node, stored.source.path(), &stored.source.summary(), stored.error.clone())
}

/// What there is of a node in a folder of rows.
pub(crate) fn stored_input(node: &str, path: &Path, summary: &TraceSummary, error: Option<String>) -> Input {
    Input {
        path: path.display().to_string(),
        node: node.to_owned(),
        format: Format::Parquet,
        compression: None,
        bytes: summary.bytes,
        records: summary.records,
        messages: summary.messages,
        bad_records: summary.loss.bad_records,
        skipped_bytes: summary.loss.skipped_bytes,
        bad_places: Vec::new(),
        malformed: BTreeMap::new(),
        other: Vec::new(),
        first: summary.first_us.map(seconds),
        last: summary.last_us.map(seconds),
        error,
    }
}

/// What was read of a log.
fn account(node: &str, log: &LogResult) -> Input {
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
        node: node.to_owned(),
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

/// The larger of the shares of bytes skipped and of RPCs lost.
fn damage(analysis: &Analysis) -> f64 {
    let dropped = analysis.loss.dropped_segment_bytes;
    let skipped = analysis.inputs.iter().map(|input| input.skipped_bytes).sum::<u64>() + dropped;
    let bytes = analysis.inputs.iter().map(|input| input.bytes).sum::<u64>() + dropped;
    share(skipped, bytes).max(analysis.loss.estimated_lost_fraction.unwrap_or(0.0))
}
