//! The sums over all rows of a node.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::Merge;
use lioprof_model::parts::sums::{CombinationSums, Second};
use lioprof_model::traffic::{self, is_from_server, service_name};
use lioprof_model::{
    Direction, Mark, ReadWrite, RpcRow, SentRpc, SizeEvidence, Symbol, Symbols, TargetEvidence, TraceSummary,
};
use lustre_debuglog::{Opcode, TargetKind, TargetName};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::access::AccessSums;
use super::account::AccountSums;
use super::combinations::{CombinationKey, Combinations};
use super::entries::{ClientSum, JobSum, NodeSum, OperationSum, OwnerKey, SentKey, SentSum, TargetKey, TargetSum};
use super::failures::Failures;
use super::faults::Faults;
use super::objects::Objects;
use super::sample::Sample;
use super::seconds::SecondBins;
use super::series::SeriesBins;
use super::service_parts::PartSums;
use super::services::{ThreadSum, Throttles};
use super::what_if::Record;
use super::written::Written;
use crate::cells::quarter_octave;
use crate::config::Selection;
use crate::locks::{Contention, LockSums};
use crate::renumber::renumber_fields;

/// Uuids kept per client and node: far more than are listed, so that which ones are listed does not depend on the order of rows.
pub(super) const MAX_UUIDS: usize = 10_000;

/// Rows added at a time: as many as a core's own cache has room for beside what they are added to.
const ROWS_AT_A_TIME: usize = 256;

/// Sums over rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Aggregate {
    /// Rows that are not in any of the sums yet.
    #[serde(skip)]
    waiting: Vec<RpcRow>,
    pub(super) rpcs: u64,
    pub(super) server_rpcs: u64,
    pub(super) resent: u64,
    pub(super) replayed: u64,
    /// Being handled at the end of the time that was selected.
    pub(crate) under_way: u64,
    pub(super) dom: ReadWrite,
    pub(super) size_evidence: BTreeMap<SizeEvidence, u64>,
    pub(super) target_evidence: BTreeMap<TargetEvidence, u64>,
    pub(super) nodes: FxHashMap<Symbol, NodeSum>,
    pub(super) targets: FxHashMap<TargetKey, TargetSum>,
    pub(super) clients: FxHashMap<Symbol, ClientSum>,
    pub(super) flows: FxHashMap<(Symbol, TargetKey), ReadWrite>,
    pub(super) jobs: FxHashMap<Option<Symbol>, JobSum>,
    pub(super) owners: FxHashMap<OwnerKey, ReadWrite>,
    pub(super) objects: Objects,
    pub(super) operations: FxHashMap<(Opcode, Symbol), OperationSum>,
    pub(super) sent: FxHashMap<SentKey, SentSum>,
    pub(super) markers: Vec<(i64, Symbol, Symbol)>,
    #[serde(skip)]
    pub(super) combinations: Combinations,
    pub(super) failures: Failures,
    pub(crate) faults: Faults,
    pub(super) series: SeriesBins,
    /// Kept for rollups only.
    #[serde(skip)]
    pub(super) seconds: Option<SecondBins>,
    pub(super) sample: Sample,
    pub(super) access: AccessSums,
    pub(super) service_parts: PartSums,
    pub(super) account: AccountSums,
    pub(super) record: Record,
    #[serde(skip)]
    written: Written,
    pub(super) throttles: Throttles,
    #[serde(skip)]
    pub(super) threads: FxHashMap<Symbol, ThreadSum>,
    /// A thread of each service, by the service's name.
    pub(super) services: FxHashMap<Box<[u8]>, Symbol>,
    #[serde(skip)]
    pub(super) server_uuids: FxHashMap<Symbol, bool>,
    pub(super) targets_known: FxHashSet<(Symbol, TargetName)>,
    /// `None`: locks are not looked at.
    pub(crate) locks: Option<LockSums>,
}

// Of a node that has ended nothing waits to be added, and what only more of its rows would need is not merged.
renumber_fields!(Aggregate {
    nodes, clients, jobs, objects, markers, faults, series, sample, access, service_parts, account, record, targets_known, locks, failures,
    throttles,
} keys {
    targets, flows, operations, sent,
} without {
    waiting, combinations, written, threads, services, server_uuids, seconds, rpcs, server_rpcs, resent, replayed, under_way, dom, size_evidence,
    target_evidence, owners,
});

/// What an RPC does with an OST's data; `None` if it does nothing with them.
fn ost_direction(opcode: Opcode, target: TargetKey) -> Option<Direction> {
    Direction::of(opcode).filter(|_| target.kind != TargetKind::Mdt)
}

impl Aggregate {
    /// With bins of a width chosen by the user, or adaptive ones.
    pub(crate) fn new(bin_us: Option<i64>) -> Self {
        Self { series: SeriesBins::new(bin_us), ..Self::default() }
    }

    /// Keeps figures per second, too.
    pub(crate) fn with_seconds(self) -> Self {
        Self { seconds: Some(SecondBins::default()), ..self }
    }

    /// RPCs handled.
    pub(crate) fn rpcs(&self) -> u64 {
        self.rpcs
    }

    /// What was moved in each second, if that was kept.
    pub(crate) fn seconds(&self, symbols: &Symbols) -> Vec<Second> {
        self.seconds.as_ref().map(|seconds| seconds.rows(symbols)).unwrap_or_default()
    }

    /// Whether numbers in sums that were read are those of something.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.series.check()?;
        self.account.check()?;
        self.record.check()
    }

    /// Where the time that was chosen begins, once it is known.
    pub(crate) fn begin(&mut self, us: Option<i64>) {
        self.account.begin(us);
    }

    /// Adds a row, with others at a time.
    pub(crate) fn row(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.waiting.push(row.clone());
        if self.waiting.len() >= ROWS_AT_A_TIME {
            self.settle(symbols);
        }
    }

    /// Counts a row that is over only after the time that was selected.
    pub(crate) fn under_way(&mut self, row: &RpcRow, selection: &Selection, symbols: &Symbols) {
        self.under_way += u64::from(selection.takes(row, symbols));
    }

    /// Adds the rows that wait.
    fn settle(&mut self, symbols: &Symbols) {
        let mut rows = std::mem::take(&mut self.waiting);
        self.rows(&rows, symbols);
        rows.clear();
        self.waiting = rows;
    }

    /// Adds the rows that wait, and what was counted by combination: all sums are whole then.
    fn settle_all(&mut self, symbols: &Symbols) {
        self.settle(symbols);
        self.take_combinations_apart(symbols);
    }

    /// Table by table: rows that go through the same code one after the other wait for memory at the same time.
    fn rows(&mut self, rows: &[RpcRow], symbols: &Symbols) {
        for row in rows {
            let service = self.of_thread(row, symbols);
            self.operation(row, service);
            self.throttles.row(row, service);
            self.faults.row(row);
        }
        let of_target = |row: &RpcRow| {
            // Data-on-MDT is kept apart from what OSTs do, as the servers' own counters do.
            let kind = if traffic::row_is_on_mdt(row, symbols) { TargetKind::Mdt } else { TargetKind::Ost };
            TargetKey { node: row.node, kind, name: row.target }
        };
        let keyed: Vec<(&RpcRow, TargetKey)> = rows.iter().map(|row| (row, of_target(row))).collect();
        keyed.iter().for_each(|&(row, key)| self.failures.row(row, key));
        let moving = || keyed.iter().filter_map(|&(row, key)| Some((row, key, row.direction()?)));
        for (row, _, direction) in moving().filter(|(_, key, _)| key.kind == TargetKind::Ost) {
            self.access.add(row, direction);
        }
        for (row, key, direction) in moving() {
            *self.size_evidence.entry(row.size_evidence).or_default() += 1;
            *self.target_evidence.entry(row.target_evidence).or_default() += 1;
            self.target(row, key, direction);
        }
        moving().for_each(|(row, key, direction)| self.service_parts.add(row, key, direction));
        moving().for_each(|(row, _, direction)| self.objects.add(row, direction));
        moving().for_each(|(row, key, _)| self.sample.add(row, key.kind, symbols));
        if let Some(seconds) = &mut self.seconds {
            moving().for_each(|(row, key, direction)| seconds.add(row, key, direction));
        }
        for &(row, key) in &keyed {
            self.series.add(row, key, row.direction(), symbols);
        }
        for &(row, key) in &keyed {
            if !self.is_server(row.client_uuid, symbols) {
                let key = self.of_sync(row, key);
                self.account.row(row, key, row.direction());
                self.record.row(row, key, row.direction());
            }
        }
        for &(row, key) in &keyed {
            if self.combinations.add(row, key) {
                self.take_combinations_apart(symbols);
            }
        }
    }

    /// The target of a client's request as far as time is concerned: counts stay with what a log names.
    fn of_sync(&mut self, row: &RpcRow, key: TargetKey) -> TargetKey {
        match row.opcode {
            Opcode::OST_WRITE if key.kind == TargetKind::Ost => self.written.write(row),
            Opcode::OST_SYNC if key.name.is_none() => return TargetKey { name: self.written.sync(row), ..key },
            _ => {}
        }
        key
    }

    fn is_server(&mut self, client_uuid: Symbol, symbols: &Symbols) -> bool {
        *self.server_uuids.entry(client_uuid).or_insert_with(|| is_from_server(symbols.bytes(client_uuid)))
    }

    pub(super) fn target(&mut self, row: &RpcRow, key: TargetKey, direction: Direction) {
        let sum = self.targets.entry(key).or_default().moved.direction(direction);
        sum.io.add(row.size, row.failed());
        sum.times.add(row);
        if !row.failed() {
            sum.sizes.add(row.size);
        }
    }

    /// Adds what was counted by combination to everything that it belongs to, table by table: see [`Self::rows`].
    pub(super) fn take_combinations_apart(&mut self, symbols: &Symbols) {
        let all: Vec<(CombinationKey, CombinationSums)> = self.combinations.take().collect();
        for (CombinationKey { client_uuid, target, .. }, sums) in &all {
            let server = self.is_server(*client_uuid, symbols);
            self.rpcs += sums.rpcs;
            self.server_rpcs += if server { sums.rpcs } else { 0 };
            self.resent += sums.resent;
            self.replayed += sums.replayed;
            self.nodes.entry(target.node).or_default().sums.rpcs += sums.rpcs;
        }
        for (CombinationKey { nid, client_uuid, opcode, target, .. }, sums) in &all {
            let server = self.is_server(*client_uuid, symbols);
            let client = self.clients.entry(*nid).or_default();
            client.rpcs += sums.rpcs;
            client.opcodes.entry(opcode.0).or_default().merge(&sums.of_opcode());
            client.server |= server;
            if client.uuids.len() < MAX_UUIDS {
                client.uuids.insert(*client_uuid);
            }
            if let Some(direction) = ost_direction(*opcode, *target) {
                client.io.direction(direction).merge(&sums.io);
            }
        }
        for (CombinationKey { nid, job, opcode, target, .. }, sums) in &all {
            let job = self.jobs.entry(*job).or_default();
            job.rpcs += sums.rpcs;
            job.opcodes.entry(opcode.0).or_default().merge(&sums.of_opcode());
            job.clients.insert(*nid);
            if Direction::of(*opcode).is_some() {
                job.targets.extend(target.name);
            }
            if let Some(direction) = ost_direction(*opcode, *target) {
                job.io.direction(direction).merge(&sums.io);
            }
        }
        for (CombinationKey { opcode, target, .. }, CombinationSums { rpcs, .. }) in &all {
            if Direction::of(*opcode).is_some() || target.name.is_some() {
                *self.targets.entry(*target).or_default().opcodes.entry(opcode.0).or_default() += rpcs;
            }
        }
        for (CombinationKey { nid, opcode, target, owner, .. }, CombinationSums { io, .. }) in &all {
            let Some(direction) = Direction::of(*opcode) else { continue };
            self.flows.entry((*nid, *target)).or_default().direction(direction).merge(io);
            if target.kind == TargetKind::Mdt {
                self.dom.direction(direction).merge(io);
                continue;
            }
            self.nodes.entry(target.node).or_default().sums.direction(direction).merge(io);
            if let Some(owner) = owner {
                self.owners.entry(*owner).or_default().direction(direction).merge(io);
            }
        }
    }

    pub(super) fn operation(&mut self, row: &RpcRow, service: Symbol) {
        let operation = self.operations.entry((row.opcode, service)).or_default();
        operation.rpcs += 1;
        operation.errors += u64::from(row.failed());
        operation.times.add(row);
        if let Some(us) = row.total_us {
            operation.total_histogram.add(quarter_octave(us), 1);
        }
    }

    /// Adds a row to its thread; the thread that stands for all threads of its service.
    fn of_thread(&mut self, row: &RpcRow, symbols: &Symbols) -> Symbol {
        if let Some(thread) = self.threads.get_mut(&row.thread) {
            thread.add(row);
            return thread.service;
        }
        let mut thread = ThreadSum::new(self.service(row.thread, symbols));
        thread.add(row);
        self.threads.insert(row.thread, thread);
        thread.service
    }

    pub(super) fn service(&mut self, thread: Symbol, symbols: &Symbols) -> Symbol {
        *self.services.entry(service_name(symbols.bytes(thread)).into()).or_insert(thread)
    }

    /// Counts an RPC that the node sent, or the round trip of one that was answered.
    pub(crate) fn sent_rpc(&mut self, sent: &SentRpc) {
        let sum = self.sent.entry((sent.node, sent.opcode, sent.device, sent.nid)).or_default();
        match sent.round_trip_us {
            None => {
                sum.rpcs += 1;
                self.nodes.entry(sent.node).or_default().count_sent(sent.opcode, 1);
            }
            Some(round_trip_us) => sum.round_trip.add(round_trip_us),
        }
    }

    /// Takes what happened to a target's locks.
    pub(crate) fn lock(&mut self, node: Symbol, time_us: i64, target: TargetName, contention: Contention) {
        self.series.lock(node, time_us, target, contention);
        if let Some(seconds) = &mut self.seconds {
            seconds.lock(node, time_us, target, contention);
        }
    }

    /// Adds a client's wait for a lock to the account of the time and to what can be replayed.
    pub(crate) fn lock_wait(
        &mut self,
        node: Symbol,
        target: TargetName,
        whose: (Symbol, Option<Symbol>),
        [from_us, to_us]: [i64; 2],
        symbols: &Symbols,
    ) {
        // The record keeps what ended at the same time in the order in which it came.
        self.settle(symbols);
        let key = TargetKey { node, kind: target.kind(), name: Some(target) };
        self.account.lock_wait(whose, key, from_us, to_us);
        self.record.lock_wait(whose.0, key, from_us, to_us);
    }

    /// Notes a marker.
    pub(crate) fn mark(&mut self, mark: &Mark) {
        self.markers.push((mark.time_us, mark.node, mark.text));
    }

    /// Width of the time bins.
    pub(crate) fn bin_us(&self) -> i64 {
        self.series.clock.width_us()
    }

    /// The end of a node: notes the span of its records and the targets that they name.
    pub(crate) fn node(&mut self, node: Symbol, log: &TraceSummary, symbols: &Symbols) {
        self.settle_all(symbols);
        self.waiting = Vec::new();
        self.keep_little();
        let sum = self.nodes.entry(node).or_default();
        sum.first_us = sum.first_us.into_iter().chain(log.first_us).min();
        sum.last_us = sum.last_us.max(log.last_us);
        sum.traced_us.extend(&log.traced_us);
        for thread in self.threads.values() {
            sum.services.entry(thread.service).or_default().merge(&thread.sums);
        }
        self.targets_known.extend(log.targets.iter().map(|&target| (node, target)));
        self.infer_only_target(node, TargetKind::Ost, &log.pinging_targets);
        self.infer_only_target(node, TargetKind::Mdt, &log.pinging_targets);
    }

    /// Gives up what only more rows of the node would need: sums of all nodes are kept until their clocks have been compared.
    fn keep_little(&mut self) {
        self.access.keep_little();
        self.account.keep_little();
        self.objects.keep_little();
        self.record.keep_little();
        self.written.keep_little();
        self.sample.kept.shrink_to_fit();
    }

    /// If a node has exactly one target of a kind, what could not be attributed is that target's.
    ///
    /// That a log names one target only does not say that there is one only. Every target pings the first
    /// MDT, though: if such pings are in the log, and all are of one target, it is alone.
    pub(super) fn infer_only_target(&mut self, node: Symbol, kind: TargetKind, pinging: &BTreeSet<TargetName>) {
        let mut named = self.targets_known.iter().filter(|(n, target)| *n == node && target.kind() == kind);
        let (Some(&(_, only)), None) = (named.next(), named.next()) else { return };
        if !pinging.contains(&only) {
            return;
        }
        let unknown = TargetKey { node, kind, name: None };
        let known = TargetKey { node, kind, name: Some(only) };
        let Some(sum) = self.targets.remove(&unknown) else { return };
        let moved = sum.moved.read.io.rpcs + sum.moved.write.io.rpcs;
        *self.target_evidence.entry(TargetEvidence::OnlyTarget).or_default() += moved;
        if let Some(none) = self.target_evidence.get_mut(&TargetEvidence::None) {
            *none -= moved;
        }
        self.target_evidence.retain(|_, rpcs| *rpcs > 0);
        self.targets.entry(known).or_default().merge(&sum);
        let flows: Vec<_> = self.flows.keys().copied().filter(|(_, key)| *key == unknown).collect();
        for (nid, key) in flows {
            if let Some(io) = self.flows.remove(&(nid, key)) {
                self.flows.entry((nid, known)).or_default().merge(&io);
            }
        }
        for kept in &mut self.sample.kept {
            if kept.node == node && kept.target.is_none() && kept.kind == kind {
                kept.target = Some(only);
            }
        }
        self.failures.rename(unknown, known);
        self.series.rename(unknown, known);
        self.service_parts.rename(unknown, known);
        self.account.rename(unknown, known);
        self.record.rename(unknown, known);
        if let Some(seconds) = &mut self.seconds {
            seconds.rename(unknown, known);
        }
    }

    /// Adds what the same node did later, before its end.
    pub(crate) fn go_on(&mut self, mut later: Self, symbols: &Symbols) {
        self.settle_all(symbols);
        later.settle_all(symbols);
        for (&thread, sum) in &later.threads {
            let service = self.service(thread, symbols);
            self.threads.entry(thread).and_modify(|mine| mine.go_on(sum)).or_insert_with(|| sum.of(service));
        }
        self.merge(later, symbols);
    }

    /// Adds another node's sums; both must use the same table of symbols, see [`Renumber`](crate::renumber::Renumber).
    pub(crate) fn merge(&mut self, other: Self, symbols: &Symbols) {
        debug_assert!(other.waiting.is_empty(), "its node has ended, or `go_on` has settled it");
        self.rpcs += other.rpcs;
        self.server_rpcs += other.server_rpcs;
        self.resent += other.resent;
        self.replayed += other.replayed;
        self.under_way += other.under_way;
        self.dom.merge(&other.dom);
        Merge::merge(&mut self.size_evidence, &other.size_evidence);
        Merge::merge(&mut self.target_evidence, &other.target_evidence);
        self.nodes.merge(&other.nodes);
        self.targets.merge(&other.targets);
        self.clients.merge(&other.clients);
        self.flows.merge(&other.flows);
        self.jobs.merge(&other.jobs);
        self.owners.merge(&other.owners);
        self.objects.merge(other.objects);
        for ((opcode, thread), theirs) in other.operations {
            let service = self.service(thread, symbols);
            self.operations.entry((opcode, service)).or_default().merge(&theirs);
        }
        self.sent.merge(&other.sent);
        self.markers.extend(other.markers);
        let mut throttles = std::mem::take(&mut self.throttles);
        throttles.merge(&other.throttles, |thread| self.service(thread, symbols));
        self.throttles = throttles;
        self.failures.merge(&other.failures);
        self.faults.merge(&other.faults);
        self.series.merge(other.series, symbols);
        self.sample.merge(other.sample);
        self.access.merge(other.access);
        self.service_parts.merge(&other.service_parts);
        self.account.merge(other.account);
        self.record.merge(other.record);
        self.targets_known.extend(other.targets_known);
        match (&mut self.locks, other.locks) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
    }
}
