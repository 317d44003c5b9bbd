//! Puts the nodes whose clocks are off on the reference's clock, and tells what is known of all clocks.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::Analysis;
use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::units::few;

use crate::clocks::{Clocks, NodeClock, NodeLog, clocks, is_visible, worth_aligning};
use crate::config::Config;
use crate::in_order::in_order;
use crate::node::NodeResult;
use crate::partial::{Partial, Partials};
use crate::phases::phases;

const NOT_TWICE: &str =
    "standard input, pipes and texts of several hosts are read once; give each host's log as a file";
const OLD_ROLLUP: &str =
    "its rollup was made when less was known of the clocks; run `lioprof rollup` again where the rows are";

/// What became of the clocks of the nodes, in the order of their names.
pub(crate) struct Alignment {
    names: Vec<String>,
    clocks: Clocks,
    /// Times of the node are the reference's.
    aligned: Vec<bool>,
    /// They ought to be, but are not.
    stuck: Vec<bool>,
    /// Why not, and what to do.
    why_stuck: &'static str,
}

/// Nodes' clocks as functions of each other.
#[derive(Default)]
pub(crate) struct NodeClocks(BTreeMap<String, (usize, ClockLine)>);

impl NodeClocks {
    /// The clock of `to` as a function of that of `from`; `None` if they could not be compared.
    pub(crate) fn between(&self, from: &str, to: &str) -> Option<impl Fn(i64) -> i64 + use<>> {
        let line = if from == to {
            ClockLine::default()
        } else {
            let ((reference, from), (other, to)) = (self.0.get(from)?, self.0.get(to)?);
            (reference == other).then(|| from.then(&to.back()))?
        };
        Some(move |us| line.there_us(us))
    }
}

impl NodeClocks {
    /// What a node's time needs to be put on the clock of its reference; 0 if that is not known.
    pub(crate) fn axis_us(&self, node: &str, time_us: i64) -> i64 {
        self.0.get(node).map_or(0, |(_, line)| line.there_us(time_us) - time_us)
    }
}

/// Compares all clocks; sums up nodes once more whose times were wrong enough to matter, or all if their sums are not apart.
pub(crate) fn align(
    mut results: Vec<NodeResult>,
    sums: Partials,
    config: &Config,
) -> (Vec<NodeResult>, Partials, Alignment) {
    let log = |result: &mut NodeResult| NodeLog {
        exchanges: std::mem::take(&mut result.exchanges),
        is_client: result.is_client,
        span_us: result.summary.first_us.zip(result.summary.last_us),
        readings: config.clocks.get(&result.name).map_or(&[], Vec::as_slice),
    };
    let clocks = clocks(results.iter_mut().map(log).collect());
    let bin_us = sums.bin_us();
    let wanted = wanted(&clocks, bin_us);
    // Sums that were made before may be on another clock than the node's own: on the one that is wanted, or not.
    let is_there: Vec<bool> = results
        .iter()
        .zip(&wanted)
        .map(|(result, wanted)| {
            is_on_clock(result.clock, [result.summary.first_us, result.summary.last_us], *wanted, bin_us)
        })
        .collect();
    let is_read: Vec<bool> =
        results.iter().zip(&is_there).map(|(result, is_there)| !is_there && result.can_be_read_again()).collect();
    let stuck: Vec<bool> = is_there.iter().zip(&is_read).map(|(is_there, is_read)| !is_there && !is_read).collect();
    let why_stuck = if results.iter().all(|result| result.logs.can_be_read_again()) { OLD_ROLLUP } else { NOT_TWICE };
    let names = results.iter().map(|result| result.name.clone()).collect();
    let aligned: Vec<bool> = wanted.iter().zip(&stuck).map(|(wanted, stuck)| wanted.is_some() && !stuck).collect();
    let (old, mut sums) = match sums {
        Partials::Together(..) if !is_read.contains(&true) => (Vec::new(), sums),
        // All that was added up goes first.
        Partials::Together(..) => (results.iter().map(|_| None).collect(), Partials::together()),
        Partials::Apart(nodes) => (nodes.into_iter().map(Some).collect(), Partials::apart()),
    };
    if old.is_empty() {
        results = results.into_iter().map(NodeResult::on_clock_of_sums).collect();
    } else {
        type Node = (NodeResult, Option<Partial>, ClockLine);
        let nodes: Vec<Node> = results
            .into_iter()
            .zip(old)
            .enumerate()
            .map(|(at, (it, old))| (it, old.filter(|_| !is_read[at]), wanted[at].unwrap_or_default()))
            .collect();
        nodes.iter().filter(|(_, old, _)| old.is_none()).for_each(|(result, ..)| result.logs.expect_again());
        let weighed = nodes.into_iter().map(|node| (if node.1.is_none() { node.0.bytes() } else { 0 }, node)).collect();
        let again = |(result, old, line): Node, threads: usize| match old {
            Some(sum) => (result.on_clock_of_sums(), sum),
            None => result.on_clock(line, &config.with_threads(threads)),
        };
        results = Vec::new();
        in_order(weighed, config.threads, again, |(result, sum)| {
            results.push(result);
            sums.add(sum);
        });
    }
    (results, sums, Alignment { names, clocks, aligned, stuck, why_stuck })
}

/// The lines that nodes' times should be put on, for nodes whose times are wrong enough to matter in bins of this width.
pub(crate) fn wanted(clocks: &Clocks, bin_us: i64) -> Vec<Option<ClockLine>> {
    let off = |clock: &Option<NodeClock>| clock.filter(|clock| worth_aligning(clock, bin_us)).map(|it| it.to_reference);
    clocks.nodes.iter().map(off).collect()
}

/// Whether times are where they should be, as far as can be seen in bins of this width.
pub(crate) fn is_on_clock(
    is: Option<ClockLine>,
    span_us: [Option<i64>; 2],
    wanted: Option<ClockLine>,
    bin_us: i64,
) -> bool {
    match (is, wanted) {
        (None, None) => true,
        (Some(is), Some(wanted)) => {
            span_us.into_iter().flatten().all(|us| !is_visible(is.offset_us(us) - wanted.offset_us(us), bin_us))
        }
        _ => false,
    }
}

impl Alignment {
    /// Of a node alone.
    pub(crate) fn alone(name: &str, clocks: Clocks) -> Self {
        Self { names: vec![name.to_owned()], clocks, aligned: vec![false], stuck: vec![false], why_stuck: NOT_TWICE }
    }

    /// The nodes' clocks, as the logs show them.
    pub(crate) fn node_clocks(&self) -> NodeClocks {
        let named = self.names.iter().zip(&self.clocks.nodes);
        let line = |(name, clock): (&String, &Option<NodeClock>)| {
            clock.as_ref().map(|clock| (name.clone(), (clock.reference, clock.to_reference)))
        };
        NodeClocks(named.filter_map(line).collect())
    }

    /// The other names of a node's server.
    fn same_server_as(&self, node: usize) -> Vec<String> {
        let mut all = BTreeSet::from([node]);
        // Pairs are of neighbours in the list of those that are the same.
        while let Some(&(a, b)) = self.clocks.same.iter().find(|(a, b)| all.contains(a) != all.contains(b)) {
            all.extend([a, b]);
        }
        all.into_iter().filter(|other| *other != node).map(|other| self.names[other].clone()).collect()
    }

    /// Fills in what the nodes' clocks show.
    pub(crate) fn tell(&self, analysis: &mut Analysis) {
        analysis.rpc_phases = phases(&self.clocks, &self.names);
        for node in &mut analysis.nodes {
            let Ok(at) = self.names.binary_search(&node.name) else { continue };
            node.pairs = self.clocks.pairs[at];
            node.clock_aligned = self.aligned[at];
            node.same_server_as = self.same_server_as(at);
            let Some(clock) = &self.clocks.nodes[at] else { continue };
            node.clock_reference = Some(self.names[clock.reference].clone());
            node.clock_offset_us = Some(clock.rounded_offset_us());
            node.clock_error_us = Some(clock.rounded_error_us());
            node.clock_drift_ppm = Some(clock.rounded_drift_ppm());
            node.clock_drift_error_ppm = Some(clock.rounded_drift_error_ppm());
        }
    }

    /// What to know about the times of several nodes, of which some are one server.
    pub(crate) fn warnings(&self, of_one_server: &[Vec<&str>]) -> Vec<String> {
        if self.names.len() < 2 {
            return Vec::new();
        }
        let mut warnings = Vec::new();
        for names in of_one_server {
            warnings.push(format!(
                "{} are one server: their logs hold the same RPCs, at the same microseconds. What they share is counted once for each name; \
                 give all of its logs one name with --node NAME=PATTERN, and it is counted once",
                names.join(", ")
            ));
        }
        for &(a, b) in &self.clocks.contradictory {
            warnings.push(format!(
                "what {} and {} say about the RPCs between them fits no steady difference of their clocks: one was set, or \
                 runs unevenly",
                self.names[a], self.names[b]
            ));
        }
        for (name, _) in self.names.iter().zip(&self.stuck).filter(|(_, stuck)| **stuck) {
            warnings
                .push(format!("the clock of {name} is off, and its times are as it logged them: {}", self.why_stuck));
        }
        let clocks = self.names.iter().map(String::as_str).zip(&self.clocks.nodes);
        let unknown = clocks.filter(|(_, clock)| clock.is_none()).map(|(name, _)| name);
        // One server's logs have one clock.
        let unknown: Vec<&str> = unknown.filter(|name| !of_one_server.iter().flatten().any(|it| it == name)).collect();
        if !unknown.is_empty() {
            warnings.push(format!(
                "the clocks of {} are taken as they are: no RPCs by which they could be compared with the other nodes' are in \
                 the logs (servers talk to the MDS and MGS: add its log)",
                few(&unknown)
            ));
        }
        warnings
    }
}
