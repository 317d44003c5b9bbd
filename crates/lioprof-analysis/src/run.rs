//! Runs an analysis: finds the inputs, analyzes each node, adds up the sums and accounts for what was read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use lioprof_model::traffic::is_on_mdt;
use lioprof_model::units::{seconds, share};
use lioprof_model::{
    Analysis, Format, Generator, Input, MAX_UNDER_WAY, OpenRpc, OpenStores, RowSink, RowSource, RowStores, SCHEMA,
    Symbols, TraceSummary, UnderWay, Window,
};
use lioprof_trace::input::{InputProblem, Severity};
use lioprof_trace::{Inputs, KernelLog};
use lustre_debuglog::{TargetKind, TargetName};
use rayon::ThreadPoolBuilder;

use crate::aggregate::{self, Aggregate};
use crate::align::{Alignment, NodeClocks, align};
use crate::config::Config;
use crate::days::{Days, IntervalError};
use crate::events;
use crate::in_order::in_order;
use crate::interval::Limit;
use crate::loss::loss;
use crate::node::{self, NodeAccount, NodeInputs, NodeResult, StoredResult};
use crate::node_sums::NodeSums;
use crate::partial::{Partial, Partials};
use crate::warnings;
use crate::what_if::{Replay, Run};

/// The result of an analysis, and what was wrong with the inputs.
#[derive(Debug)]
pub struct Outcome {
    /// The analysis of everything that could be read.
    pub analysis: Analysis,
    /// Inputs that could not be read, or not completely, and notes.
    pub problems: Vec<InputProblem>,
    /// Which node each log belongs to, and why: a sentence each.
    pub named: Vec<String>,
    /// Share of the inputs' bytes skipped or of the RPCs lost, whichever is larger; 0 to 1.
    pub damage: f64,
    /// The requests, to predict how long they would have taken with something changed.
    pub replay: Replay,
}

impl Outcome {
    /// Whether a given input could not be used at all.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// Why there is no analysis at all.
#[derive(Debug, thiserror::Error)]
pub enum AnalyzeError {
    /// Threads could not be started.
    #[error("failed to start {threads} worker threads")]
    Threads {
        /// Number of threads that were to be started.
        threads: usize,
        /// Why the thread pool could not be built.
        #[source]
        err: rayon::ThreadPoolBuildError,
    },
    /// `--from` and `--to` leave no time, or the logs more than one.
    #[error(transparent)]
    Interval(#[from] IntervalError),
    /// Not one input is a debug log.
    #[error("no Lustre debug log among the inputs")]
    NoInput {
        /// Why each input could not be used.
        problems: Vec<InputProblem>,
    },
}

/// No stores: every input is a log.
pub struct NoStores;

impl RowStores for NoStores {
    fn is_store(&self, _: &Path) -> bool {
        false
    }

    fn open(&self, _: &[PathBuf]) -> OpenStores {
        OpenStores::default()
    }
}

/// Analyzes logs: files, directories, `-` for standard input. Also passes the rows to `sink`, if there is one.
///
/// # Errors
/// If no input could be read at all. Single inputs that cannot be used are in [`Outcome::problems`].
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
    analyze_with_clocks(inputs, stores, config, sink).map(|(outcome, _)| outcome)
}

/// The same, and how far the nodes' clocks are apart: `sink` gets their times as they logged them.
pub(crate) fn analyze_with_clocks(
    inputs: &[PathBuf],
    stores: &dyn RowStores,
    config: &Config,
    sink: Option<&mut (dyn RowSink + Send)>,
) -> Result<(Outcome, NodeClocks), AnalyzeError> {
    let threads = config.threads.max(1);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|n| format!("decode-{n}"))
        .build()
        .map_err(|err| AnalyzeError::Threads { threads, err })?;
    pool.install(|| run(inputs, stores, config, sink))
}

fn run(
    inputs: &[PathBuf],
    stores: &dyn RowStores,
    config: &Config,
    sink: Option<&mut (dyn RowSink + Send)>,
) -> Result<(Outcome, NodeClocks), AnalyzeError> {
    let found = Inputs::find(inputs, &config.node_rules, &|dir| stores.is_store(dir), &config.progress);
    let mut problems = found.problems;
    let mut nodes: BTreeMap<String, NodeInputs> = BTreeMap::new();
    for (node, logs) in found.nodes {
        nodes.entry(node).or_default().logs = logs;
    }
    let opened = stores.open(&found.stores);
    let told = |severity| move |(path, message)| InputProblem { path, severity, message };
    problems.extend(opened.unreadable.into_iter().map(told(Severity::Error)));
    problems.extend(opened.left_out.into_iter().map(told(Severity::Note)));
    for source in opened.sources {
        nodes.entry(source.node().to_owned()).or_default().stored.push(source);
    }
    if nodes.is_empty() && found.kernel_logs.is_empty() {
        return Err(AnalyzeError::NoInput { problems });
    }
    let days = Days::new(config, nodes.values().filter_map(NodeInputs::begin_us).min())?;
    let config = &days.config;
    let again = nodes.values().all(|inputs| inputs.logs.can_be_read_again());
    let mut sums = if again && nodes.len() > config.nodes_apart { Partials::together() } else { Partials::apart() };
    let mut results: Vec<NodeResult> = Vec::new();
    // A sink gets one node after the other, and knows the texts of all of them by the same symbols.
    let at_once = if sink.is_some() { 1 } else { config.threads };
    let sink = sink.map(|sink| Mutex::new((sink, Symbols::default())));
    let analyze = |(name, inputs): (String, NodeInputs), threads: usize| {
        let config = config.with_threads(threads);
        let Some(sink) = &sink else { return node::analyze(&name, inputs, &config, Symbols::default(), None) };
        let (sink, symbols) = &mut *sink.lock().unwrap_or_else(PoisonError::into_inner);
        let made = node::analyze(&name, inputs, &config, std::mem::take(symbols), Some(&mut **sink));
        *symbols = made.1.symbols.clone();
        made
    };
    let nodes = nodes.into_iter().map(|(name, inputs)| (inputs.bytes(), (name, inputs))).collect();
    in_order(nodes, at_once, analyze, |(result, sum)| {
        sums.add(sum);
        results.push(result);
    });
    let (mut results, sums, alignment) = align(results, sums, config);
    let inputs = inputs_of(&mut results);
    days.check(inputs.iter().filter_map(|input| input.last))?;
    let mut outcome = of_nodes(results, sums, &alignment, (inputs, problems), &found.kernel_logs, config);
    outcome.named = found.named;
    Ok((outcome, alignment.node_clocks()))
}

/// Analyzes nodes of which there are only sums.
#[must_use]
pub fn analyze_sums(mut nodes: Vec<NodeSums>, dataset: &Path, config: &Config) -> Outcome {
    nodes.sort_by(|a, b| a.node().cmp(b.node()));
    let mut sums = Partials::together();
    let mut results = Vec::with_capacity(nodes.len());
    for node in nodes {
        let name = node.node().to_owned();
        let source = SumsOnly { node: name.clone(), path: dataset.to_owned(), summary: node.summary.clone() };
        let inputs = NodeInputs { stored: vec![Box::new(source)], ..NodeInputs::default() };
        let (result, sum) = node::of_sums(&name, inputs, node);
        results.push(result);
        sums.add(sum);
    }
    let (mut results, sums, alignment) = align(results, sums, config);
    let inputs = inputs_of(&mut results);
    of_nodes(results, sums, &alignment, (inputs, Vec::new()), &[], config)
}

/// A node's rows that are elsewhere.
struct SumsOnly {
    node: String,
    path: PathBuf,
    summary: TraceSummary,
}

impl RowSource for SumsOnly {
    fn node(&self) -> &str {
        &self.node
    }

    fn read(&mut self, _: &mut Symbols, _: &mut dyn RowSink) -> Result<(), String> {
        Err(format!("the rows of {} in `{}` are not here, only their sums", self.node, self.path.display()))
    }

    fn summary(&self) -> TraceSummary {
        self.summary.clone()
    }

    fn has_rows(&self) -> bool {
        false
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// What was read.
fn inputs_of(results: &mut [NodeResult]) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    for result in results {
        inputs.append(&mut result.inputs);
        inputs.extend(result.stored.iter().map(|stored| account_stored(&result.name, stored)));
    }
    inputs
}

/// Makes the analysis of nodes on one clock.
fn of_nodes(
    results: Vec<NodeResult>,
    sums: Partials,
    alignment: &Alignment,
    (inputs, problems): (Vec<Input>, Vec<InputProblem>),
    kernel_logs: &[KernelLog],
    config: &Config,
) -> Outcome {
    let accounts: Vec<NodeAccount> = results.into_iter().map(NodeResult::settle).collect();
    let nothing = || Partial { symbols: Symbols::default(), aggregate: Aggregate::new(config.bin_us) };
    let sum = sums.merged().unwrap_or_else(nothing);
    let mut outcome = conclude(&accounts, alignment, sum, inputs, problems, config);
    let told = events::tell(&accounts, kernel_logs, config, &mut outcome.analysis);
    outcome.problems.extend(told);
    outcome
}

/// Makes the analysis from the sums over all nodes.
fn conclude(
    nodes: &[NodeAccount],
    alignment: &Alignment,
    sum: Partial,
    inputs: Vec<Input>,
    mut problems: Vec<InputProblem>,
    config: &Config,
) -> Outcome {
    for input in &inputs {
        if let Some(error) = &input.error {
            let message = format!("`{}`: {error}", input.path);
            problems.push(InputProblem { path: PathBuf::from(&input.path), severity: Severity::Error, message });
        }
    }
    problems.extend(missing_markers(nodes));
    let (mut analysis, requests) =
        conclude_without_predictions(nodes, alignment, sum.aggregate, inputs, &sum.symbols, config);
    let replay = Replay::new(requests);
    analysis.what_if = replay.what_if();
    let damage = damage(&analysis);
    Outcome { analysis, problems, named: Vec::new(), damage, replay }
}

/// The analysis but for what changes would bring, which takes longer than all the rest; and the requests, to predict that.
pub(crate) fn conclude_without_predictions(
    nodes: &[NodeAccount],
    alignment: &Alignment,
    sum: Aggregate,
    inputs: Vec<Input>,
    symbols: &Symbols,
    config: &Config,
) -> (Analysis, Run) {
    let mut analysis = Analysis {
        schema: SCHEMA.to_owned(),
        generator: Generator { name: "lioprof".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        window: window(nodes),
        selected: config.selection.selected(),
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
    if nodes.iter().any(|node| node.interval.is_limited()) {
        // Those are of whole logs. Of requests that servers sent, only callbacks tell when they timed out.
        analysis.totals.dropped_rpcs = sum.faults.dropped_rpcs;
        analysis.totals.sent_timed_out = sum.faults.callbacks_timed_out;
        analysis.totals.evictions = sum.faults.evictions;
    }
    if nodes.iter().any(|node| node.interval.ends_at().is_some()) {
        analysis.window.under_way_rpcs = Some(sum.under_way);
    }
    analysis.totals.rpcs = sum.rpcs();
    if analysis.filtered().is_some() {
        analysis.loss.forget_estimate("lines were picked out of the log, so what is missing was not lost");
    }
    analysis.under_way = under_way(nodes, config);
    analysis.inputs.sort_by(|a, b| (&a.node, &a.path).cmp(&(&b.node, &b.path)));
    analysis.warnings = warnings::early(nodes, &analysis, config.noted_loss);
    let requests = aggregate::finish(sum, symbols, &mut analysis);
    let longest_queue_us = analysis.longest_queue_us();
    for node in &mut analysis.nodes {
        let account = nodes.iter().find(|account| account.name == node.name && !account.is_client);
        node.left_rpcs = account.map_or(0, |account| left_rpcs(account, longest_queue_us, config));
    }
    alignment.tell(&mut analysis);
    let mut of_clocks = alignment.warnings(&analysis.servers_with_several_names());
    analysis.warnings.append(&mut of_clocks);
    // Kernel logs alone have no requests to miss.
    if !nodes.is_empty() {
        let mut warnings = warnings::late(&analysis);
        analysis.warnings.append(&mut warnings);
    }
    (analysis, requests)
}

/// A request that no thread begins with for so long is left lying, not waiting its turn ..
const LEFT_US: i64 = 5_000_000;
/// .. if those that were begun with waited no longer than this.
const MAX_QUEUE_US: u64 = 1_000_000;

/// Requests that no thread began with, at least, if nothing of the log is missing that could be the rest of them.
fn left_rpcs(node: &NodeAccount, longest_queue_us: u64, config: &Config) -> u64 {
    let TraceSummary { arrivals, begun, dropped_rpcs, last_us, traced_us, loss, .. } = &node.summary;
    let missing = loss.nrs_sequence_gaps
        + loss.lost_starts
        + loss.lost_ends
        + loss.torn_seams
        + loss.discarded_heads
        + loss.streams_without_head
        + loss.bad_records
        + loss.of_several_servers
        + loss.logs_without_arrivals
        + loss.dropped_segments
        + loss.kernel_overflows;
    let is_all = missing + node.duplicates == 0
        && traced_us.is_empty()
        && !node.interval.is_limited()
        && config.selection.selected().is_everything();
    if !is_all || longest_queue_us > MAX_QUEUE_US {
        return 0;
    }
    // Whatever had come by then, and was begun with at all, was begun with soon.
    let then_us = last_us.unwrap_or(i64::MIN).saturating_sub(LEFT_US);
    let soon_us = then_us.saturating_add_unsigned(longest_queue_us);
    arrivals.before(then_us).0.saturating_sub(begun.before(soon_us).1 + dropped_rpcs)
}

/// Requests of the selection that had begun in time and had not ended at the end of their log, oldest first.
fn under_way(nodes: &[NodeAccount], config: &Config) -> Vec<UnderWay> {
    let servers = nodes.iter().filter(|node| !node.is_client);
    let rpcs = servers.flat_map(|node| node.summary.under_way.iter().map(move |rpc| (node, rpc)));
    let taken = rpcs.filter(|(node, rpc)| node.interval.contains(rpc.start_us) && config.selection.takes_open(rpc));
    let named = |(node, rpc): (&NodeAccount, &OpenRpc)| {
        let only = || only_target(&node.summary, rpc.thread.as_bytes()).map(|target| target.to_string());
        let named = UnderWay::of(&node.name, rpc);
        UnderWay { target: named.target.or_else(only), ..named }
    };
    let mut under_way: Vec<UnderWay> = taken.map(named).collect();
    // Those of one node are in order.
    under_way.sort_by(|a, b| b.age_s.total_cmp(&a.age_s));
    under_way.truncate(MAX_UNDER_WAY);
    under_way
}

/// The target of a thread's request, if its node has no other one of that kind: see `infer_only_target` of the sums.
fn only_target(summary: &TraceSummary, thread: &[u8]) -> Option<TargetName> {
    let kind = if is_on_mdt(None, thread) { TargetKind::Mdt } else { TargetKind::Ost };
    let is_of_kind = kind == TargetKind::Mdt || thread.starts_with(b"ll_ost");
    let mut of_kind = summary.targets.iter().filter(|target| is_of_kind && target.kind() == kind);
    let (Some(&only), None) = (of_kind.next(), of_kind.next()) else { return None };
    summary.pinging_targets.contains(&only).then_some(only)
}

/// First to last record within `--from` and `--to`. Clients' logs count only if there are no servers' logs: they say nothing of
/// what servers did before and after.
fn window(results: &[NodeAccount]) -> Window {
    let span = |result: &NodeAccount| {
        let (first, last) = result.summary.first_us.zip(result.summary.last_us)?;
        let start = result.interval.starts_at().map_or(first, |from| from.clamp(first, last));
        let end = result.interval.ends_at().map_or(last, |to| to.clamp(first, last));
        Some((start, end))
    };
    let of = |clients: bool| -> Vec<(i64, i64)> {
        results.iter().filter(|result| clients || !result.is_client).filter_map(span).collect()
    };
    let servers = of(false);
    let spans = if servers.is_empty() { of(true) } else { servers.clone() };
    let start = spans.iter().map(|s| s.0).min().unwrap_or(0);
    let end = spans.iter().map(|s| s.1).max().unwrap_or(0);
    let span_us = (end - start).max(0);
    let traced_us = traced_us(results.iter().filter(|result| servers.is_empty() || !result.is_client), start, end);
    Window {
        start: seconds(start),
        end: seconds(end),
        duration_s: seconds(span_us),
        traced_s: traced_us.filter(|us| *us < span_us).map(seconds),
        under_way_rpcs: None,
        limited: results.iter().any(|result| result.interval.is_limited()),
    }
}

/// Microseconds of the window in which at least one node was traced; `None` if no node was traced only part of the time.
fn traced_us<'a>(nodes: impl Iterator<Item = &'a NodeAccount>, start: i64, end: i64) -> Option<i64> {
    let mut spans: Vec<[i64; 2]> = Vec::new();
    let mut is_sampled = false;
    for node in nodes {
        let summary = &node.summary;
        is_sampled |= !summary.traced_us.is_empty();
        if summary.traced_us.is_empty() {
            spans.extend(summary.first_us.zip(summary.last_us).map(|(first, last)| [first, last]));
        }
        spans.extend(&summary.traced_us);
    }
    spans.sort_unstable();
    let (mut traced_us, mut done) = (0, start);
    for [from, to] in spans {
        let (from, to) = (from.max(done), to.min(end));
        if from < to {
            traced_us += to - from;
            done = to;
        }
    }
    is_sampled.then_some(traced_us)
}

/// `--from`/`--to` marks that no log contains.
fn missing_markers(results: &[NodeAccount]) -> impl Iterator<Item = InputProblem> {
    let limits = [
        results.iter().map(|result| &result.interval.from).collect::<Vec<_>>(),
        results.iter().map(|result| &result.interval.to).collect(),
    ];
    let wrong_order = results.iter().find_map(|result| result.interval.only_before());
    limits.into_iter().filter_map(move |limits| {
        let missing = limits.iter().find_map(|limit| match limit {
            Some(Limit::Marker(text)) => Some(text.clone()),
            _ => None,
        })?;
        let found = limits.iter().any(|limit| matches!(limit, Some(Limit::At(_))));
        let message = match wrong_order {
            Some((from, to)) if *to == missing => format!(
                "no `lctl mark` line with the text `{to}` comes after the mark `{from}`, only before it: swap \
                 --from and --to, or give times; `lioprof analyze --format json` lists the marks under `markers`"
            ),
            _ => format!(
                "no input has an `lctl mark` line with the text `{missing}`, and it is not a time such as \
                 2026-11-21T08:51:22Z; `lioprof analyze --format json` lists the marks under `markers`"
            ),
        };
        (!found).then(|| InputProblem { path: PathBuf::new(), severity: Severity::Error, message })
    })
}

/// The entry for a folder of rows in the list of inputs.
fn account_stored(node: &str, stored: &StoredResult) -> Input {
    stored_input(node, stored.source.path(), &stored.source.summary(), stored.error.clone())
}

/// The entry for one node's rows in the list of inputs.
pub(crate) fn stored_input(node: &str, path: &Path, summary: &TraceSummary, error: Option<String>) -> Input {
    Input {
        path: path.display().to_string(),
        node: node.to_owned(),
        node_from: None,
        several_servers: None,
        format: Format::Parquet,
        compression: None,
        bytes: summary.bytes,
        records: summary.records,
        messages: summary.messages,
        bad_records: summary.loss.bad_records,
        envelope: Default::default(),
        unread: None,
        skipped_bytes: summary.loss.skipped_bytes,
        bad_places: Vec::new(),
        malformed: BTreeMap::new(),
        other: Vec::new(),
        first: summary.first_us.map(seconds),
        last: summary.last_us.map(seconds),
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
