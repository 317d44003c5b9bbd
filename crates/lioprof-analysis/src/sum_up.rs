//! Sums of nodes made apart from an analysis, and on one clock.

use std::collections::BTreeMap;

use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::{ClockReading, RowSource, Symbols, TraceSummary};

use crate::align::{is_on_clock, wanted};
use crate::clocks::{ExchangeSample, NodeLog, Shifted, clocks, shifted};
use crate::config::{Config, Question};
use crate::counted;
use crate::interval::{Interval, Taken};
use crate::node::{Finished, NoSink, NodeSink, with_counted};
use crate::node_sums::NodeSums;
use crate::partial::Partial;

/// Sums up a node's rows for a question, with its times on another clock if one is given. By that clock it is compared with the others',
/// unless somebody says how it is [compared](NodeSums::compared_as).
///
/// # Errors
/// What is wrong with which file of the source.
pub fn sum_up(source: &mut dyn RowSource, question: &Question, clock: Option<ClockLine>) -> Result<NodeSums, String> {
    let config = Config::asking(question);
    let mut symbols = Symbols::default();
    let node = symbols.intern(source.node().as_bytes());
    let mut no_sink = NoSink;
    let mut read = |interval: Interval, symbols: &mut Symbols| -> Result<(Finished, TraceSummary), String> {
        let mut sink = NodeSink::within(interval, node, &config, &mut no_sink).with_seconds();
        let (read, counted) = match clock {
            None => counted::read(source, symbols, &mut sink),
            Some(to) => counted::read(source, symbols, &mut Shifted { to, sink: &mut sink }),
        };
        read?;
        let summary = with_counted(source.summary(), counted);
        let there = clock.map_or_else(|| summary.clone(), |to| shifted(&summary, &to));
        Ok((sink.finish(&there, symbols), summary))
    };
    let asked = clock.map_or_else(|| Interval::new(&config), |to| Interval::on_its_clock(&config, &to));
    let (mut finished, summary) = read(asked, &mut symbols)?;
    let first = finished.interval.clone();
    if !first.chosen().is_same(&first) {
        // Which of several marks counts is known at the end of the rows.
        finished = read(first.chosen(), &mut symbols)?.0;
    }
    let name = source.node().to_owned();
    let seconds = if finished.is_client { Vec::new() } else { finished.aggregate.seconds(&symbols) };
    let Finished { aggregate, exchanges, is_client, interval } = finished.by_role(node);
    Ok(NodeSums {
        warnings: first.repeated(&name, Taken::Last).into_iter().collect(),
        node: name,
        question: question.clone(),
        summary,
        clock,
        is_client,
        interval,
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

/// The nodes whose times should be on another clock than their sums are, by name, with that clock. `readings`: clocks of nodes, by name, as
/// somebody read them while the logs were written.
#[must_use]
pub fn stale_clocks(
    mut nodes: Vec<ClockFacts>,
    readings: &BTreeMap<String, Vec<ClockReading>>,
) -> Vec<(String, Option<ClockLine>)> {
    nodes.sort_by(|a, b| a.node.cmp(&b.node));
    let bin_us = nodes.iter().map(|facts| facts.bin_us).max().unwrap_or(1);
    let log = |facts: &mut ClockFacts| NodeLog {
        exchanges: std::mem::take(&mut facts.exchanges),
        is_client: facts.is_client,
        span_us: facts.span_us[0].zip(facts.span_us[1]),
        readings: readings.get(&facts.node).map_or(&[], Vec::as_slice),
    };
    let clocks = clocks(nodes.iter_mut().map(log).collect());
    let wanted = wanted(&clocks, bin_us);
    let stale = nodes.into_iter().zip(wanted);
    let stale = stale.filter(|(facts, wanted)| !is_on_clock(facts.clock, facts.span_us, *wanted, bin_us));
    stale.map(|(facts, wanted)| (facts.node, wanted)).collect()
}
