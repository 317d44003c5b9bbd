//! Sums of nodes made apart from an analysis, and on one clock.

use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::{RowSource, Symbols};

use crate::align::{is_on_clock, wanted};
use crate::clocks::{ExchangeSample, NodeLog, Shifted, clocks, shifted};
use crate::config::Config;
use crate::counted;
use crate::node::{Finished, NoSink, NodeSink, with_counted};
use crate::node_sums::NodeSums;
use crate::partial::Partial;

/// Sums up a node's rows, with its times on another clock if one is given. By that clock it is compared with the others', unless somebody
/// says how it is [compared](NodeSums::compared_as).
///
/// # Errors
/// What is wrong with which file of the source.
pub fn sum_up(source: &mut dyn RowSource, clock: Option<ClockLine>) -> Result<NodeSums, String> {
    let config = Config::default();
    let mut symbols = Symbols::default();
    let node = symbols.intern(source.node().as_bytes());
    let mut no_sink = NoSink;
    let mut sink = NodeSink::new(node, &config, &mut no_sink).with_seconds();
    let (read, counted) = match clock {
        None => counted::read(source, &mut symbols, &mut sink),
        Some(to) => counted::read(source, &mut symbols, &mut Shifted { to, sink: &mut sink }),
    };
    read?;
    let summary = with_counted(source.summary(), counted);
    let there = clock.map_or_else(|| summary.clone(), |to| shifted(&summary, &to));
    let finished = sink.finish(&there, &symbols);
    let seconds = if finished.is_client { Vec::new() } else { finished.aggregate.seconds(&symbols) };
    let Finished { aggregate, exchanges, is_client, .. } = finished.by_role(node);
    Ok(NodeSums {
        node: source.node().to_owned(),
        summary,
        clock,
        is_client,
        exchanges,
        partial: Partial { symbols, aggregate },
        seconds,
    })
}

/// What of a node's sums tells of its clock.
pub struct ClockFacts {
    node: String,
    clock: Option<ClockLine>,
    is_client: bool,
    span_us: [Option<i64>; 2],
    exchanges: ExchangeSample,
    bin_us: i64,
}

impl From<&NodeSums> for ClockFacts {
    fn from(sums: &NodeSums) -> Self {
        let NodeSums { node, summary, clock, is_client, exchanges, partial, .. } = sums;
        let (span_us, bin_us) = ([summary.first_us, summary.last_us], partial.aggregate.bin_us());
        Self { node: node.clone(), clock: *clock, is_client: *is_client, span_us, exchanges: exchanges.clone(), bin_us }
    }
}

/// The nodes whose times should be on another clock than their sums are, by name, with that clock.
#[must_use]
pub fn stale_clocks(mut nodes: Vec<ClockFacts>) -> Vec<(String, Option<ClockLine>)> {
    nodes.sort_by(|a, b| a.node.cmp(&b.node));
    let bin_us = nodes.iter().map(|facts| facts.bin_us).max().unwrap_or(1);
    let log = |facts: &mut ClockFacts| NodeLog {
        exchanges: std::mem::take(&mut facts.exchanges),
        is_client: facts.is_client,
        span_us: facts.span_us[0].zip(facts.span_us[1]),
        readings: &[],
    };
    let clocks = clocks(nodes.iter_mut().map(log).collect());
    let wanted = wanted(&clocks, bin_us);
    let stale = nodes.into_iter().zip(wanted);
    let stale = stale.filter(|(facts, wanted)| !is_on_clock(facts.clock, facts.span_us, *wanted, bin_us));
    stale.map(|(facts, wanted)| (facts.node, wanted)).collect()
}
