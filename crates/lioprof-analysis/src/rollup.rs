//! An analysis in two halves: nodes to tables, and tables to the analysis.
//!
//! ```text
//! rows of a node, in order ─ roll_up ─> Rollup ─┐
//! rows of all nodes, in SQL ──────────> OfRows ─┴─ assemble ─> Analysis
//! ```
//!
//! Between the halves tables can be kept, and rows of the same key added up by whatever engine there is.

use std::path::Path;

use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::parts::of_rows::OfRows;
use lioprof_model::parts::rollup::{NodeFacts, Rollup};
use lioprof_model::{RowSource, Service, Symbol, Symbols, TraceSummary};

use crate::aggregate::Aggregate;
use crate::align::{Alignment, wanted};
use crate::cells::BinClock;
use crate::clocks::{Clocks, ExchangeSample, NodeLog, Shifted, clocks, is_visible, shifted};
use crate::config::Config;
use crate::counted;
use crate::events;
use crate::interval::Interval;
use crate::locks::LockSums;
use crate::node::{Finished, NoSink, NodeAccount, NodeSink, with_counted};
use crate::partial::Partial;
use crate::parts::BadPart;
use crate::run::{Outcome, conclude, stored_input};

/// Sums up a node's rows, with its times on another clock if one is given.
///
/// # Errors
/// What is wrong with which file of the source.
pub fn roll_up(source: &mut dyn RowSource, clock: Option<ClockLine>, config: &Config) -> Result<Rollup, String> {
    let mut symbols = Symbols::default();
    let name = source.node().to_owned();
    let node = symbols.intern(name.as_bytes());
    let mut no_sink = NoSink;
    let mut sink = NodeSink::new(node, config, &mut no_sink).with_seconds();
    let (read, counted) = match clock {
        None => counted::read(source, &mut symbols, &mut sink),
        Some(to) => counted::read(source, &mut symbols, &mut Shifted { to, sink: &mut sink }),
    };
    read?;
    let own_summary = with_counted(source.summary(), counted);
    let summary = clock.map_or_else(|| own_summary.clone(), |to| shifted(&own_summary, &to));
    let Finished { aggregate, exchanges, is_client, .. } = sink.finish(&summary, &symbols);
    let mut rollup = Rollup::default();
    let mut facts = facts(&name, node, is_client, &aggregate, own_summary, clock, &symbols);
    // Whatever clock the rest is on, clocks are compared by what they show themselves.
    if clock.is_none() {
        rollup.exchanges = exchanges.export(&name);
    }
    rollup.marks = aggregate.export_marks(&symbols);
    if !facts.client {
        aggregate.export(&name, &symbols, &mut rollup);
        if let Some(locks) = &aggregate.locks {
            locks.export(&mut facts, &symbols, &mut rollup);
        }
    }
    rollup.nodes.push(facts);
    Ok(rollup)
}

fn facts(
    name: &str,
    node: Symbol,
    client: bool,
    aggregate: &Aggregate,
    summary: TraceSummary,
    clock: Option<ClockLine>,
    symbols: &Symbols,
) -> NodeFacts {
    let (bin_us, bins) = aggregate.bins();
    NodeFacts {
        node: name.to_owned(),
        client,
        sums: aggregate.sums_of(node),
        summary,
        services: if client { Vec::new() } else { services(node, aggregate, symbols) },
        clock,
        bin_us,
        bins: bins.filter(|_| !client),
        sample_one_in: aggregate.sampled_one_in(),
        replay: aggregate.replay_facts(),
        ..NodeFacts::default()
    }
}

fn services(node: Symbol, aggregate: &Aggregate, symbols: &Symbols) -> Vec<Service> {
    let mut services = aggregate.services_by_node(symbols, |of| of == node);
    services.sort_by(|a, b| a.service.cmp(&b.service));
    services
}

/// The width that the time bins of all nodes together have.
#[must_use]
pub fn common_bin_us(nodes: &[NodeFacts]) -> i64 {
    let mut clock = BinClock::new(None);
    nodes.iter().for_each(|facts| clock.take_on(facts.bin_us, facts.bins));
    clock.width_us()
}

/// The nodes of a rollup whose times should be on another clock than they are, by name, with that clock.
///
/// # Errors
/// If a value in the tables cannot be.
pub fn stale_clocks(rollup: &Rollup) -> Result<Vec<(String, Option<ClockLine>)>, BadPart> {
    let nodes = by_name(&rollup.nodes);
    let clocks = compare(&nodes, rollup)?;
    let bin_us = nodes.iter().map(|facts| facts.bin_us).max().unwrap_or(1);
    let wanted = wanted(&clocks, bin_us);
    let stale = nodes.iter().zip(wanted).filter(|(facts, wanted)| !is_on_clock(facts, *wanted, bin_us));
    Ok(stale.map(|(facts, wanted)| (facts.node.clone(), wanted)).collect())
}

/// Whether a node's times are where they should be, as far as can be seen in bins of this width.
fn is_on_clock(facts: &NodeFacts, wanted: Option<ClockLine>, bin_us: i64) -> bool {
    let span_us = [facts.summary.first_us, facts.summary.last_us];
    match (facts.clock, wanted) {
        (None, None) => true,
        (Some(is), Some(wanted)) => {
            span_us.into_iter().flatten().all(|us| !is_visible(is.offset_us(us) - wanted.offset_us(us), bin_us))
        }
        _ => false,
    }
}

fn by_name(nodes: &[NodeFacts]) -> Vec<&NodeFacts> {
    let mut nodes: Vec<&NodeFacts> = nodes.iter().collect();
    nodes.sort_by(|a, b| a.node.cmp(&b.node));
    nodes
}

fn compare(nodes: &[&NodeFacts], rollup: &Rollup) -> Result<Clocks, BadPart> {
    let mut exchanges = ExchangeSample::import(&rollup.exchanges)?;
    let log = |facts: &&NodeFacts| NodeLog {
        exchanges: exchanges.remove(&facts.node).unwrap_or_default(),
        is_client: facts.client,
        span_us: facts.summary.first_us.zip(facts.summary.last_us),
        readings: &[],
    };
    Ok(clocks(nodes.iter().map(log).collect()))
}

/// The analysis of a dataset: what its rows add up to, and its nodes' rollups, whether rows of the same key were added up
/// or not.
///
/// # Errors
/// If a value in the tables cannot be.
pub fn assemble(rows: &OfRows, rollup: &Rollup, dataset: &Path, config: &Config) -> Result<Outcome, BadPart> {
    let mut symbols = Symbols::default();
    let nodes = by_name(&rollup.nodes);
    let line_of = |name: &str| {
        let at = nodes.binary_search_by(|facts| facts.node.as_str().cmp(name)).ok()?;
        nodes[at].clock
    };
    let mut sum = Aggregate::new(None);
    for facts in &nodes {
        sum.cover(facts.bin_us, facts.bins);
    }
    sum.import_rows(rows, line_of, &mut symbols)?;
    sum.import(rollup, &mut symbols)?;
    sum.locks = LockSums::import(&nodes, rollup, &mut symbols)?;
    let mut accounts = Vec::with_capacity(nodes.len());
    for facts in &nodes {
        let summary = facts.clock.map_or_else(|| facts.summary.clone(), |to| shifted(&facts.summary, &to));
        sum.import_facts(facts, &summary, &mut symbols)?;
        let (name, is_client) = (facts.node.clone(), facts.client);
        accounts.push(NodeAccount {
            name,
            summary,
            duplicates: 0,
            is_client,
            interval: Interval::default(),
            warnings: Vec::new(),
        });
    }
    let lines: Vec<Option<ClockLine>> = nodes.iter().map(|facts| facts.clock).collect();
    let clocks = compare(&nodes, rollup)?;
    let names = nodes.iter().map(|facts| facts.node.clone()).collect();
    let stale = wanted(&clocks, sum.bin_us());
    let stale = nodes.iter().zip(stale).map(|(facts, wanted)| !is_on_clock(facts, wanted, sum.bin_us())).collect();
    let alignment = Alignment::of(names, clocks, &lines, stale);
    let inputs = nodes.iter().map(|facts| stored_input(&facts.node, dataset, &facts.summary, None)).collect();
    let sum = Partial { symbols, aggregate: sum };
    let mut outcome = conclude(&accounts, &alignment, sum, inputs, Vec::new(), config);
    let told = events::tell(&accounts, &[], config, &mut outcome.analysis);
    outcome.problems.extend(told);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::Rules;

    #[test]
    fn the_order_of_nodes_does_not_matter() {
        let node = |name: &str, rules: &Rules| NodeFacts {
            node: name.to_owned(),
            lock_rules: Some(rules.model()),
            ..NodeFacts::default()
        };
        let nodes = [node("mds1", &Rules::MASTER), node("oss1", &Rules::TO_2_17)];
        let analysis = |nodes: Vec<NodeFacts>| {
            let rollup = Rollup { nodes, ..Rollup::default() };
            assemble(&OfRows::default(), &rollup, Path::new("rows"), &Config::default()).unwrap().analysis
        };
        let [there, back] = [nodes.to_vec(), nodes.iter().rev().cloned().collect()].map(analysis);
        assert_eq!(there, back);
        assert_eq!(there.locks.unwrap().rules, Rules::TO_2_17.model());
    }
}
