//! The trace against the counters, row by row.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::{Direction, Io, ReadWrite};
use serde::{Deserialize, Serialize};

use super::ledger::{Counted, Doubt, Ledger};
use super::totals::Count;
use super::trace_sums::{Edges, TraceSums};
use crate::status::Missing;

/// No RPC moves more (`PTLRPC_MAX_BRW_SIZE`, Lustre 2.17: 64 MiB).
const MAX_RPC_BYTES: u64 = 64 << 20;

/// Subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Scope {
    /// The node.
    Node,
    /// An OST.
    #[strum(to_string = "OST")]
    Target,
    /// A NID.
    Client,
    /// A job.
    Job,
}

/// How the two sides compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub(crate) enum Verdict {
    /// RPCs and bytes are the same, and exact on both sides.
    Equal,
    /// The counters are inside what the trace allows.
    WithinBounds,
    /// They contradict each other.
    Differs {
        /// RPCs that the counters have and the trace cannot have; negative: the trace has more.
        rpcs: i64,
        /// Bytes, likewise: if RPCs differ, by the best estimate of sizes that are not exact; if not, beyond their bounds.
        bytes: i64,
        /// RPCs on the trace's side whose size is unknown. If RPCs differ, what these moved is in `bytes` as if it were
        /// missing.
        #[serde(default)]
        unsized_rpcs: u64,
    },
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Subject of the row.
    pub(crate) scope: Scope,
    /// Name of the OST, NID or job; empty for the node.
    pub(crate) name: String,
    /// Reads or writes.
    pub(crate) direction: Direction,
    /// The servers' counters.
    pub(crate) counted: Count,
    /// Why the counters may be too low.
    pub(crate) doubt: Option<Doubt>,
    /// lioprof's sums, from the rows of the trace.
    pub(crate) traced: Io,
    /// How both sides compare.
    #[serde(flatten)]
    pub(crate) verdict: Verdict,
}

/// The trace of one node against its counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// First and last sample, microseconds since the epoch.
    pub(crate) interval_us: Option<(i64, i64)>,
    /// Rows in which at least one side is not zero.
    pub(crate) rows: Vec<Row>,
    /// What was not compared, and why.
    pub(crate) not_compared: Vec<String>,
}

impl Comparison {
    /// Compares what was counted in an interval with what the trace of the same interval holds.
    pub(crate) fn new(ledger: &Ledger, trace: &TraceSums) -> Self {
        let mut rows = Rows { rows: Vec::new(), edges: trace.edges };
        let mut not_compared = Vec::new();
        let targets = ledger.targets();

        let mut node = Counted::default();
        for target in targets.values() {
            node.rw.merge(&target.rw);
            node.doubt = node.doubt.max(target.doubt);
        }
        let nothing = ReadWrite::default();
        rows.push(Scope::Node, "", &node, &trace.total, &nothing);
        rows.keys(Scope::Target, &targets, &trace.targets, &trace.unattributed, None);
        // Those of clients and jobs are read less often, and go with their target: some may never have been seen.
        let has_vanished = |target: &Counted| target.doubt == Some(Doubt::Vanished);
        let unseen = targets.values().any(has_vanished).then_some(Doubt::Vanished);
        match ledger.clients() {
            Some(clients) => rows.keys(Scope::Client, &clients, &trace.clients, &nothing, unseen),
            None => not_compared.push("clients: the counters of not all of them were read".to_owned()),
        }
        match (ledger.jobs(), &trace.jobs) {
            (Some(jobs), Some(traced)) => rows.keys(Scope::Job, &jobs, traced, &nothing, unseen),
            (None, _) => not_compared.push("jobs: the counters of not all of them were read".to_owned()),
            (_, None) if trace.total.read.rpcs + trace.total.write.rpcs == 0 => {
                not_compared.push("jobs: no read or write was traced, so none names its job".to_owned());
            }
            (_, None) => not_compared.push("jobs: this Lustre version does not log them".to_owned()),
        }
        Self { interval_us: ledger.interval_us(), rows: rows.rows, not_compared }
    }

    /// What the trace lacks of the node's reads and writes, of both together; `None` without an interval.
    pub(crate) fn missing(&self) -> Option<Missing> {
        let (_, time_us) = self.interval_us?;
        let mut missing = Missing { time_us, ..Missing::default() };
        for row in self.rows.iter().filter(|row| row.scope == Scope::Node) {
            missing.counted_rpcs += row.counted.rpcs;
            if let Verdict::Differs { rpcs, bytes, .. } = row.verdict {
                missing.rpcs += u64::try_from(rpcs).unwrap_or(0);
                missing.bytes += u64::try_from(bytes).unwrap_or(0);
            }
        }
        Some(missing)
    }

    /// Rows that contradict.
    pub(crate) fn differing(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| matches!(row.verdict, Verdict::Differs { .. }))
    }
}

struct Rows {
    rows: Vec<Row>,
    edges: Edges,
}

impl Rows {
    /// `unknown` is traffic that may belong to any of the keys; `unseen` is why counters of a key may be missing.
    fn keys(
        &mut self,
        scope: Scope,
        counted: &BTreeMap<String, Counted>,
        traced: &BTreeMap<String, ReadWrite>,
        unknown: &ReadWrite,
        unseen: Option<Doubt>,
    ) {
        let names: BTreeSet<&String> = counted.keys().chain(traced.keys()).collect();
        let nothing = ReadWrite::default();
        for name in names {
            let counted = counted.get(name).copied().unwrap_or(Counted { doubt: unseen, ..Counted::default() });
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
    let least = |figure: u64, edge: u64| doubt.is_none().then_some(figure.saturating_sub(edge));
    let most = |figure: u64, unknown: u64, edge: u64| figure.saturating_add(unknown).saturating_add(edge);
    let rpcs = outside(counted.rpcs, least(moved(traced), edges.rpcs), most(moved(traced), moved(unknown), edges.rpcs));
    let unsized_rpcs = traced.unsized_rpcs + unknown.unsized_rpcs + edges.unsized_rpcs;
    let bytes_possible = outside(
        counted.bytes,
        least(traced.bytes_min, edges.bytes),
        most(traced.bytes_max, unknown.bytes_max, edges.bytes)
            .saturating_add(unsized_rpcs.saturating_mul(MAX_RPC_BYTES)),
    );
    if rpcs == 0 && bytes_possible == 0 {
        return Verdict::WithinBounds;
    }
    if rpcs == 0 {
        return Verdict::Differs { rpcs, bytes: bytes_possible, unsized_rpcs };
    }
    // One RPC of unknown size may have moved up to 64 MiB. That decides whether both sides can be right; where RPCs are
    // missing they are not, and it must not hide the bytes of thousands.
    let bytes =
        outside(counted.bytes, least(traced.bytes, edges.bytes), most(traced.bytes, unknown.bytes, edges.bytes));
    Verdict::Differs { rpcs, bytes, unsized_rpcs }
}

/// How far `value` is above `most` (positive) or below `least` (negative); 0 inside.
fn outside(value: u64, least: Option<u64>, most: u64) -> i64 {
    let value = i128::from(value);
    let below = least.map_or(0, |least| (value - i128::from(least)).min(0));
    let above = (value - i128::from(most)).max(0);
    let outside = if below < 0 { below } else { above };
    i64::try_from(outside).unwrap_or(if outside < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
