//! The trace against the counters, row by row.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::{Direction, Io, ReadWrite};
use serde::{Deserialize, Serialize};

use super::ledger::{Counted, Doubt, Ledger};
use super::totals::Count;
use super::trace_sums::{Edges, TraceSums};

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The node.
    Node,
    /// An OST.
    Target,
    /// A NID.
    Client,
    /// A job.
    Job,
}

/// How the two sides compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// RPCs and bytes are the same, and exact on both sides.
    Equal,
    /// The counters are inside what the trace allows.
    WithinBounds,
    /// They contradict each other.
    Differs {
        /// RPCs that the counters have and the trace cannot have; negative: the trace has more.
        rpcs: i64,
        /// Bytes, likewise.
        bytes: i64,
    },
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// What it is about.
    pub scope: Scope,
    /// Name of the OST, NID or job; empty for the node.
    pub name: String,
    /// Reads or writes.
    pub direction: Direction,
    /// The servers' counters.
    pub counted: Count,
    /// Why the counters may be too low.
    pub doubt: Option<Doubt>,
    /// lioprof's sums.
    pub traced: Io,
    /// Result.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// The trace of one node against its counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// First and last sample, microseconds since the epoch.
    pub interval_us: Option<(i64, i64)>,
    /// Rows in which at least one side is not zero.
    pub rows: Vec<Row>,
    /// What was not compared, and why.
    pub not_compared: Vec<String>,
}

impl Comparison {
    /// Compares what was counted in an interval with what the trace of the same interval holds.
    #[must_use]
    pub fn new(ledger: &Ledger, trace: &TraceSums) -> Self {
        let mut rows = Rows { rows: Vec::new(), edges: trace.edges };
        let mut not_compared = Vec::new();
        let targets = ledger.targets();

        let mut node = Counted::default();
        for target in targets.values() {
            node.rw.add(target.rw);
            node.doubt = node.doubt.max(target.doubt);
        }
        let nothing = ReadWrite::default();
        rows.push(Scope::Node, "", &node, &trace.total, &nothing);
        rows.keys(Scope::Target, &targets, &trace.targets, &trace.unattributed);
        match ledger.clients() {
            Some(clients) => rows.keys(Scope::Client, &clients, &trace.clients, &nothing),
            None => not_compared.push("clients: the counters of not all of them were read".to_owned()),
        }
        match (ledger.jobs(), &trace.jobs) {
            (Some(jobs), Some(traced)) => rows.keys(Scope::Job, &jobs, traced, &nothing),
            (None, _) => not_compared.push("jobs: the counters of not all of them were read".to_owned()),
            (_, None) => not_compared.push("jobs: this Lustre version does not log them".to_owned()),
        }
        Self { interval_us: ledger.interval_us(), rows: rows.rows, not_compared }
    }

    /// Rows that contradict.
    pub fn differing(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| matches!(row.verdict, Verdict::Differs { .. }))
    }
}

struct Rows {
    rows: Vec<Row>,
    edges: Edges,
}

impl Rows {
    /// `unknown` is traffic that may belong to any of the keys.
    fn keys(
        &mut self,
        scope: Scope,
        counted: &BTreeMap<String, Counted>,
        traced: &BTreeMap<String, ReadWrite>,
        unknown: &ReadWrite,
    ) {
        let names: BTreeSet<&String> = counted.keys().chain(traced.keys()).collect();
        let nothing = ReadWrite::default();
        for name in names {
            let counted = counted.get(name).copied().unwrap_or_default();
            self.push(scope, name, &counted, traced.get(name).unwrap_or(&nothing), unknown);
        }
    }

    fn push(&mut self, scope: Scope, name: &str, counted: &Counted, traced: &ReadWrite, unknown: &ReadWrite) {
        let sides = [
            (Direction::Read, counted.rw.read, &traced.read, &unknown.read),
            (Direction::Write, counted.rw.write, &traced.write, &unknown.write),
        ];
        for (direction, count, traced, unknown) in sides {
            if count == Count::default() && traced.rpcs == 0 {
                continue;
            }
            let verdict = verdict(count, counted.doubt, traced, unknown, self.edges);
            let (name, doubt) = (name.to_owned(), counted.doubt);
            self.rows.push(Row { scope, name, direction, counted: count, doubt, traced: traced.clone(), verdict });
        }
    }
}

/// RPCs that moved bytes: the counters know no others.
fn moved(io: &Io) -> u64 {
    io.rpcs.saturating_sub(io.errors)
}

fn verdict(counted: Count, doubt: Option<Doubt>, traced: &Io, unknown: &Io, edges: Edges) -> Verdict {
    let certain = doubt.is_none() && unknown.rpcs == 0 && traced.is_exact();
    if certain && counted.rpcs == moved(traced) && counted.bytes == traced.bytes {
        return Verdict::Equal;
    }
    let most_rpcs = moved(traced).saturating_add(moved(unknown)).saturating_add(edges.rpcs);
    // An RPC of unknown size may have moved any number of bytes.
    let sized = traced.unsized_rpcs + unknown.unsized_rpcs == 0;
    let most_bytes = traced.bytes_max.saturating_add(unknown.bytes_max).saturating_add(edges.bytes);
    let rpcs =
        outside(counted.rpcs, doubt.is_none().then_some(moved(traced).saturating_sub(edges.rpcs)), Some(most_rpcs));
    let bytes = outside(
        counted.bytes,
        doubt.is_none().then_some(traced.bytes_min.saturating_sub(edges.bytes)),
        sized.then_some(most_bytes),
    );
    if rpcs == 0 && bytes == 0 { Verdict::WithinBounds } else { Verdict::Differs { rpcs, bytes } }
}

/// How far `value` is above `most` (positive) or below `least` (negative); 0 inside.
fn outside(value: u64, least: Option<u64>, most: Option<u64>) -> i64 {
    let value = i128::from(value);
    let below = least.map_or(0, |least| (value - i128::from(least)).min(0));
    let above = most.map_or(0, |most| (value - i128::from(most)).max(0));
    let outside = if below < 0 { below } else { above };
    i64::try_from(outside).unwrap_or(if outside < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
