//! The trace against the counters, row by row.

use std::collections::BTreeMap;
use std::hash::Hash;

use lioprof_model::counted::account::{Accounts, Doubt};
use lioprof_model::counted::ledger::{IoAccount, lost};
use lioprof_model::counters::{Count, Reading};
use lioprof_model::{Direction, Io, Ledger, ReadWrite};

use crate::status::Missing;

/// No RPC moves more (`PTLRPC_MAX_BRW_SIZE`, Lustre 2.17: 64 MiB).
const MAX_RPC_BYTES: u64 = 64 << 20;

/// Subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::Display)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        unsized_rpcs: u64,
    },
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Subject of the row.
    pub(crate) scope: Scope,
    /// Name of the OST, NID or job; empty for the node.
    pub(crate) name: String,
    /// Reads or writes.
    pub(crate) direction: Direction,
    /// The servers' counters.
    pub(crate) counted: Count,
    /// Why not all of the time was compared.
    pub(crate) doubt: Option<Doubt>,
    /// How both sides compare.
    pub(crate) verdict: Verdict,
}

/// The trace of one node against its counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What the trace lacks of the node's reads and writes, of both together; `None` without an interval.
    pub(crate) missing: Option<Missing>,
    /// Rows in which at least one side is not zero.
    pub(crate) rows: Vec<Row>,
    /// What was not compared, and why.
    pub(crate) not_compared: Vec<String>,
}

impl Comparison {
    /// Compares what was counted with what the trace holds of the same time. The ledger's last run is to be ended.
    pub(crate) fn new(ledger: &Ledger) -> Self {
        let node = &ledger.node;
        let mut new =
            Self { missing: ledger.interval_us.map(|(_, time_us)| missing(node, time_us, 0)), ..Self::default() };
        let nothing = ReadWrite::default();
        new.push(Scope::Node, String::new(), node, &nothing);
        let mut unattributed = ledger.unattributed.inside.clone();
        unattributed.merge(&ledger.unattributed.edge);
        new.keys(Scope::Target, &ledger.targets, &unattributed, ToString::to_string);
        let name = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        match ledger.clients() {
            Some(clients) => new.keys(Scope::Client, clients, &nothing, name),
            None => new.not_compared.push("clients: the counters of not all of them were read".to_owned()),
        }
        match ledger.jobs() {
            None => new.not_compared.push("jobs: the counters of not all of them were read".to_owned()),
            Some(jobs) if ledger.names_jobs => new.keys(Scope::Job, jobs, &nothing, name),
            Some(_) => new.not_compared.push(
                if ledger.has_io {
                    "jobs: this Lustre version does not log them"
                } else {
                    "jobs: no read or write was traced, so none names its job"
                }
                .to_owned(),
            ),
        }
        new
    }

    /// `unknown` is traffic that may belong to any of the keys.
    fn keys<K: Clone + Eq + Hash>(
        &mut self,
        scope: Scope,
        accounts: &Accounts<K, Reading, ReadWrite>,
        unknown: &ReadWrite,
        name: impl Fn(&K) -> String,
    ) {
        let by_name: BTreeMap<String, &IoAccount> = accounts.by_key.iter().map(|(key, it)| (name(key), it)).collect();
        let mut unseen = 0;
        for (name, account) in by_name {
            self.push(scope, name, account, unknown);
            unseen += u64::from(account.doubt.is_some() && !account.is_compared());
        }
        if unseen > 0 {
            let why = "counters vanished, or were cleared, before two samples had shown them";
            self.not_compared.push(format!("{scope}: {unseen} whose {why}"));
        }
    }

    fn push(&mut self, scope: Scope, name: String, account: &IoAccount, unknown: &ReadWrite) {
        let (counted, inside, edge) = (account.counted, &account.inside, &account.edge);
        let sides = [
            (Direction::Read, counted.read, &inside.read, [&edge.read, &unknown.read]),
            (Direction::Write, counted.write, &inside.write, [&edge.write, &unknown.write]),
        ];
        for (direction, counted, inside, [edge, unknown]) in sides {
            if counted == Count::default() && inside.rpcs + edge.rpcs == 0 {
                continue;
            }
            let mut perhaps = edge.clone();
            perhaps.merge(unknown);
            let verdict = verdict(counted, inside, &perhaps);
            self.rows.push(Row { scope, name: name.clone(), direction, counted, doubt: account.doubt, verdict });
        }
    }

    /// Rows that contradict.
    pub(crate) fn differing(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| matches!(row.verdict, Verdict::Differs { .. }))
    }
}

/// What the trace lacks of reads and writes, up to a sample, if it has handed on all but so many RPCs, which may be counted or not.
pub(crate) fn missing(account: &IoAccount, time_us: i64, unfinished: u64) -> Missing {
    let counted = account.counted.both();
    let (inside, edge) = (account.inside.both(), account.edge.both());
    let (lacks, bytes) = (counted.rpcs.saturating_sub(inside.rpcs), counted.bytes.saturating_sub(inside.bytes));
    let rpcs = lost(lacks, edge.rpcs + unfinished);
    // Which of them are lost is not known, so all count as equally large: as those that the trace lacks, or, where it does not show
    // how much of the bytes it holds, as all that were counted.
    let (bytes, of) = if inside.unsized_rpcs == 0 { (bytes, lacks) } else { (counted.bytes, counted.rpcs) };
    let share = u128::from(bytes) * u128::from(rpcs) / u128::from(of.max(1));
    Missing { time_us, counted_rpcs: counted.rpcs, rpcs, bytes: u64::try_from(share).unwrap_or(bytes) }
}

/// `inside` was certainly counted, `perhaps` may have been.
fn verdict(counted: Count, inside: &Io, perhaps: &Io) -> Verdict {
    let certain = perhaps.rpcs == 0 && inside.is_exact();
    if certain && counted.rpcs == inside.rpcs && counted.bytes == inside.bytes {
        return Verdict::Equal;
    }
    let rpcs = outside(counted.rpcs, inside.rpcs, inside.rpcs + perhaps.rpcs);
    let unsized_rpcs = inside.unsized_rpcs + perhaps.unsized_rpcs;
    let most = inside.bytes_max + perhaps.bytes_max;
    let most = most.saturating_add(unsized_rpcs.saturating_mul(MAX_RPC_BYTES));
    let bytes_possible = outside(counted.bytes, inside.bytes_min, most);
    if rpcs == 0 && bytes_possible == 0 {
        return Verdict::WithinBounds;
    }
    if rpcs == 0 {
        return Verdict::Differs { rpcs, bytes: bytes_possible, unsized_rpcs };
    }
    // One RPC of unknown size may have moved up to 64 MiB. That decides whether both sides can be right; where RPCs are
    // missing they are not, and it must not hide the bytes of thousands.
    let bytes = outside(counted.bytes, inside.bytes, inside.bytes + perhaps.bytes);
    Verdict::Differs { rpcs, bytes, unsized_rpcs }
}

/// How far `value` is above `most` (positive) or below `least` (negative); 0 inside.
fn outside(value: u64, least: u64, most: u64) -> i64 {
    let beyond = |far: u64| i64::try_from(far).unwrap_or(i64::MAX);
    if value < least { -beyond(least - value) } else { beyond(value.saturating_sub(most)) }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
