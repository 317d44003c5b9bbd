//! Sums to an [`Analysis`]: names for symbols, sorted rows.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model as model;
use lioprof_model::parts::sums::{OpcodeSums, SeriesCell};
use lioprof_model::traffic::service_name;
use lioprof_model::units::seconds;
use lioprof_model::{
    Analysis, Client, Direction, Flow, FlowSeries, Heatmap, Io, Job, LockSeries, Marker, Node, NodeSeries, Object,
    Operation, Owner, ReadWrite, RpcSample, Sampled, SampledRpc, SentRpcs, Series, Service, ServiceParts, Symbol,
    Symbols, Target, TargetIo, TargetSeries, Totals,
};
use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{Opcode, TargetKind, TargetName};
use rustc_hash::FxHashMap;

use super::account;
use super::entries::{NodeSum, SentKey, SentSum, TargetDirection, TargetKey};
use super::series::SeriesBins;
use super::service_parts;
use super::services::ServiceSums;
use super::sums::Aggregate;
use super::syncs;
use super::what_if;
use crate::aggregate::object_name;
use crate::cells::limits::{TOP_OBJECTS, TOP_UUIDS};
use crate::cells::{Bins, quarter_octave_edge};
use crate::locks;
use crate::what_if::Run;

/// Fills everything but the inputs, the loss and the warnings; the requests, to be replayed. Large sums are dropped as they become rows:
/// of a day in bins of seconds there is no room for both.
pub(crate) fn finish(mut aggregate: Aggregate, symbols: &Symbols, analysis: &mut Analysis) -> Run {
    aggregate.objects.keep(TOP_OBJECTS);
    // First what takes most room while it is made.
    analysis.targets = targets(&aggregate, symbols);
    let parts = std::mem::take(&mut aggregate.service_parts);
    analysis.service_parts = service_parts::finish(&parts, &analysis.targets, symbols);
    drop(parts);
    analysis.totals = totals(&aggregate, &analysis.totals);
    analysis.nodes = nodes(&aggregate, symbols);
    analysis.clients = clients(&aggregate, symbols);
    analysis.flows = flows(std::mem::take(&mut aggregate.flows), symbols);
    analysis.jobs = jobs(&aggregate, symbols);
    analysis.owners = owners(&aggregate);
    analysis.objects = objects(&aggregate);
    analysis.operations = operations(&aggregate, symbols);
    analysis.sent = sent(std::mem::take(&mut aggregate.sent), symbols);
    analysis.services = services(&aggregate, symbols);
    analysis.throttled = aggregate.throttles.finish(symbols);
    analysis.failures = aggregate.failures.finish(symbols);
    analysis.client_faults = aggregate.faults.finish(&aggregate.failures, |nid| symbols.text(nid));
    analysis.markers = markers(&aggregate, symbols);
    analysis.series = series(&mut aggregate.series, symbols);
    analysis.sample = sample(&aggregate, symbols, analysis);
    analysis.time_account = account::finish(std::mem::take(&mut aggregate.account), symbols, &analysis.service_parts);
    let run = Run { apart: apart(&analysis.service_parts), ..run(&mut aggregate, symbols) };
    analysis.syncs = syncs::of(&run);
    analysis.access = std::mem::take(&mut aggregate.access).finish(symbols);
    analysis.enqueue_parts =
        aggregate.locks.as_ref().map(|sums| locks::finish_enqueues(&sums.enqueues, symbols)).unwrap_or_default();
    analysis.locks = aggregate
        .locks
        .as_ref()
        .map(|sums| locks::finish(sums, symbols, analysis.window, &analysis.series, lock_series(&aggregate, symbols)));
    run
}

/// Servers whose OSTs are no peers of the others'.
fn apart(parts: &ServiceParts) -> BTreeSet<String> {
    parts.servers.iter().filter(|server| server.apart).map(|server| server.node.clone()).collect()
}

fn run(aggregate: &mut Aggregate, symbols: &Symbols) -> Run {
    let record = std::mem::take(&mut aggregate.record);
    let seen = aggregate.targets.keys().filter_map(|key| Some((key.node, key.name?)));
    let known = seen.chain(aggregate.targets_known.iter().copied());
    let known = known.map(|(node, name)| (symbols.text(node), name)).collect();
    what_if::finish(record, &known, symbols)
}

/// Reads and writes of OSTs whose target is unknown, of one node or all.
fn unattributed(aggregate: &Aggregate, node: Option<Symbol>) -> ReadWrite {
    let mut sum: ReadWrite = ReadWrite::default();
    for (key, target) in &aggregate.targets {
        if key.name.is_none() && key.kind == TargetKind::Ost && node.is_none_or(|node| key.node == node) {
            sum.read.merge(&target.moved.read.io);
            sum.write.merge(&target.moved.write.io);
        }
    }
    sum
}

fn totals(aggregate: &Aggregate, counted: &Totals) -> Totals {
    let mut io: ReadWrite = ReadWrite::default();
    for node in aggregate.nodes.values() {
        io.read.merge(&node.sums.read);
        io.write.merge(&node.sums.write);
    }
    Totals {
        rpcs: aggregate.rpcs,
        server_rpcs: aggregate.server_rpcs,
        sent_rpcs: aggregate.nodes.values().filter(|node| !node.client).map(|node| node.sums.sent_rpcs).sum(),
        read: io.read,
        write: io.write,
        dom_read: aggregate.dom.read.clone(),
        dom_write: aggregate.dom.write.clone(),
        unattributed: unattributed(aggregate, None),
        resent_rpcs: aggregate.resent,
        replayed_rpcs: aggregate.replayed,
        size_evidence: aggregate.size_evidence.clone(),
        target_evidence: aggregate.target_evidence.clone(),
        dropped_rpcs: counted.dropped_rpcs,
        sent_timed_out: counted.sent_timed_out,
        evictions: counted.evictions,
    }
}

fn nodes(aggregate: &Aggregate, symbols: &Symbols) -> Vec<Node> {
    let mut nodes: Vec<Node> = aggregate
        .nodes
        .iter()
        .map(|(&symbol, node)| Node {
            name: symbols.text(symbol),
            rpcs: node.sums.rpcs,
            sent_rpcs: node.sums.sent_rpcs,
            // Whoever knows what is missing of the log fills this in.
            left_rpcs: 0,
            sent_reads: node.sums.sent_reads,
            sent_writes: node.sums.sent_writes,
            read: node.sums.read.clone(),
            write: node.sums.write.clone(),
            unattributed: unattributed(aggregate, Some(symbol)),
            first: seconds(node.first_us.unwrap_or(0)),
            last: seconds(node.last_us.unwrap_or(0)),
            sampled: sampled(node),
            role: aggregate.role(symbol, symbols),
            targets: aggregate.targets_of(symbol).iter().map(ToString::to_string).collect(),
            // Whoever compares clocks fills these in.
            clock_reference: None,
            clock_offset_us: None,
            clock_error_us: None,
            clock_drift_ppm: None,
            clock_drift_error_ppm: None,
            clock_aligned: false,
            pairs: 0,
            same_server_as: Vec::new(),
        })
        .collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes
}

/// What tracing part of the time means for a node's figures.
#[expect(clippy::cast_precision_loss, reason = "estimates")]
fn sampled(node: &NodeSum) -> Option<Sampled> {
    let (first_us, last_us) = node.first_us.zip(node.last_us)?;
    if node.traced_us.is_empty() || last_us <= first_us {
        return None;
    }
    let inside = |[from, to]: &[i64; 2]| (*to.min(&last_us) - *from.max(&first_us)).max(0);
    let traced_us: i64 = node.traced_us.iter().map(inside).sum();
    if traced_us == last_us - first_us {
        // What was not traced lies before the first record or after the last one.
        return None;
    }
    let share = traced_us as f64 / (last_us - first_us) as f64;
    let whole = |seen: f64| if share > 0.0 { seen / share } else { 0.0 };
    let (read, write) = (&node.sums.read, &node.sums.write);
    let mut traced: Vec<[i64; 2]> = node.traced_us.clone();
    let omitted = traced.len().saturating_sub(MAX_STRETCHES);
    if omitted > 0 {
        traced.sort_by_key(|[from, to]| (from - to, *from));
        traced.truncate(MAX_STRETCHES);
    }
    traced.sort_unstable();
    Some(Sampled {
        traced_s: seconds(traced_us),
        traced_share: share,
        estimated_rpcs: whole(node.sums.rpcs as f64),
        estimated_read_bytes: with_unsized(read).map(whole),
        estimated_write_bytes: with_unsized(write).map(whole),
        unsized_rpcs: read.unsized_rpcs + write.unsized_rpcs,
        estimated_read_bytes_min: whole(read.bytes as f64),
        estimated_write_bytes_min: whole(write.bytes as f64),
        traced: traced.into_iter().map(|span| span.map(seconds)).collect(),
        traced_omitted: omitted as u64,
    })
}

/// Stretches of tracing that are listed for each node.
const MAX_STRETCHES: usize = 1000;

/// Bytes, if RPCs of unknown size are as large as the others on average. Those that failed moved nothing, and count as sized. `None` if more
/// than one in ten is of unknown size: those are of another kind (direct I/O in a light capture), and may be small where others are large.
#[expect(clippy::cast_precision_loss, reason = "estimates")]
fn with_unsized(io: &Io) -> Option<f64> {
    let moved = io.rpcs.saturating_sub(io.unsized_rpcs).saturating_sub(io.errors);
    if io.unsized_rpcs == 0 {
        return Some(io.bytes as f64);
    }
    if 9 * io.unsized_rpcs > moved {
        return None;
    }
    let mean = io.bytes as f64 / moved as f64;
    Some(mean.mul_add(io.unsized_rpcs as f64, io.bytes as f64))
}

fn target_io(direction: &TargetDirection) -> TargetIo {
    TargetIo { io: direction.io.clone(), size_hist: direction.sizes.clone(), latency: direction.times.latency() }
}

fn targets(aggregate: &Aggregate, symbols: &Symbols) -> Vec<Target> {
    let mut keys: BTreeMap<(String, String), TargetKey> = BTreeMap::new();
    for key in aggregate.targets.keys() {
        if let Some(name) = key.name {
            keys.insert((name.to_string(), symbols.text(key.node)), *key);
        }
    }
    // A target that nobody read or wrote is there, too.
    for (node, name) in &aggregate.targets_known {
        let key = TargetKey { node: *node, kind: name.kind(), name: Some(*name) };
        keys.insert((name.to_string(), symbols.text(*node)), key);
    }
    let empty = super::entries::TargetSum::default();
    keys.into_iter()
        .map(|((name, node), key)| {
            let sum = aggregate.targets.get(&key).unwrap_or(&empty);
            Target {
                name,
                node,
                kind: key.kind.into(),
                read: target_io(&sum.moved.read),
                write: target_io(&sum.moved.write),
                opcodes: by_name(&sum.opcodes, |rpcs| *rpcs),
            }
        })
        .collect()
}

fn by_name<T>(opcodes: &BTreeMap<u32, T>, figure: fn(&T) -> u64) -> BTreeMap<String, u64> {
    opcodes.iter().map(|(&opcode, sum)| (Opcode(opcode).to_string(), figure(sum))).collect()
}

fn rpcs_by_opcode(opcodes: &BTreeMap<u32, OpcodeSums>) -> BTreeMap<String, u64> {
    by_name(opcodes, |sum| sum.rpcs)
}

fn service_by_opcode(opcodes: &BTreeMap<u32, OpcodeSums>) -> BTreeMap<String, u64> {
    by_name(opcodes, |sum| sum.service_us)
}

fn clients(aggregate: &Aggregate, symbols: &Symbols) -> Vec<Client> {
    let mut touched: FxHashMap<Symbol, u64> = FxHashMap::default();
    for (nid, _) in aggregate.flows.keys().filter(|(_, key)| key.name.is_some()) {
        *touched.entry(*nid).or_default() += 1;
    }
    let mut clients: Vec<(u64, Client)> = aggregate
        .clients
        .iter()
        .map(|(&nid, sum)| {
            let mut uuids: Vec<String> = sum.uuids.iter().map(|&uuid| symbols.text(uuid)).collect();
            uuids.sort();
            uuids.truncate(TOP_UUIDS);
            let client = Client {
                nid: symbols.text(nid),
                uuids,
                server: sum.server,
                rpcs: sum.rpcs,
                read: sum.io.read.clone(),
                write: sum.io.write.clone(),
                targets: touched.get(&nid).copied().unwrap_or(0),
                opcodes: rpcs_by_opcode(&sum.opcodes),
                service_us: service_by_opcode(&sum.opcodes),
            };
            (sum.io.bytes(), client)
        })
        .collect();
    clients.sort_by(|(a_bytes, a), (b_bytes, b)| {
        b_bytes.cmp(a_bytes).then(b.rpcs.cmp(&a.rpcs)).then_with(|| a.nid.cmp(&b.nid))
    });
    clients.into_iter().map(|(_, client)| client).collect()
}

fn flows(sums: FxHashMap<(Symbol, TargetKey), ReadWrite>, symbols: &Symbols) -> Vec<Flow> {
    let mut flows: Vec<(TargetKind, Flow)> = sums
        .into_iter()
        .map(|((nid, key), ReadWrite { read, write })| {
            let (nid, target, node) =
                (symbols.text(nid), key.name.map(|name| name.to_string()), symbols.text(key.node));
            (key.kind, Flow { nid, target, node, read, write })
        })
        .collect();
    // By kind as well: of a node's unknown targets there may be two, and the order of hash tables is an accident.
    flows.sort_by(|(a_kind, a), (b_kind, b)| {
        (&a.nid, &a.target, &a.node, a_kind).cmp(&(&b.nid, &b.target, &b.node, b_kind))
    });
    flows.into_iter().map(|(_, flow)| flow).collect()
}

fn jobs(aggregate: &Aggregate, symbols: &Symbols) -> Vec<Job> {
    let mut jobs: Vec<(u64, Job)> = aggregate
        .jobs
        .iter()
        .map(|(job, sum)| {
            let row = Job {
                job: job.map(|job| symbols.text(job)),
                rpcs: sum.rpcs,
                read: sum.io.read.clone(),
                write: sum.io.write.clone(),
                clients: sum.clients.len() as u64,
                targets: sum.targets.len() as u64,
                opcodes: rpcs_by_opcode(&sum.opcodes),
                service_us: service_by_opcode(&sum.opcodes),
            };
            (sum.io.bytes(), row)
        })
        .collect();
    jobs.sort_by(|(a_bytes, a), (b_bytes, b)| {
        b_bytes.cmp(a_bytes).then(b.rpcs.cmp(&a.rpcs)).then_with(|| a.job.cmp(&b.job))
    });
    jobs.into_iter().map(|(_, job)| job).collect()
}

fn owners(aggregate: &Aggregate) -> Vec<Owner> {
    let mut owners: Vec<_> = aggregate.owners.iter().collect();
    owners.sort_by(|(a_key, a), (b_key, b)| b.bytes().cmp(&a.bytes()).then(a_key.cmp(b_key)));
    owners
        .into_iter()
        .map(|(key, io)| Owner {
            uid: key.uid,
            gid: key.gid,
            projid: key.projid,
            read: io.read.clone(),
            write: io.write.clone(),
        })
        .collect()
}

fn objects(aggregate: &Aggregate) -> Vec<Object> {
    let mut kept: Vec<_> = aggregate.objects.kept.iter().collect();
    kept.sort_by(|(a_key, a), (b_key, b)| b.bytes().cmp(&a.bytes()).then(a_key.cmp(b_key)));
    let mut rows: Vec<Object> = kept
        .into_iter()
        .map(|((target, object), sum)| Object {
            target: Some(target.to_string()),
            fid: Some(object_name(*object)),
            objects: 1,
            read: sum.read.clone(),
            write: sum.write.clone(),
            clients: sum.clients(),
            writers: sum.writers(),
            first_byte: sum.first_byte,
            last_byte: sum.last_byte,
        })
        .collect();
    let others = &aggregate.objects.others;
    if others.objects > 0 {
        rows.push(Object {
            target: None,
            fid: None,
            objects: others.objects,
            read: others.read.clone(),
            write: others.write.clone(),
            clients: None,
            writers: None,
            first_byte: None,
            last_byte: None,
        });
    }
    rows
}

fn operations(aggregate: &Aggregate, symbols: &Symbols) -> Vec<Operation> {
    let mut operations: Vec<Operation> = aggregate
        .operations
        .iter()
        .map(|((opcode, service), sum)| Operation {
            opcode: opcode.0,
            name: opcode.to_string(),
            service: lioprof_model::symbol::escape(service_name(symbols.bytes(*service))),
            rpcs: sum.rpcs,
            errors: sum.errors,
            latency: sum.times.latency(),
            total_hist_us: sum
                .total_histogram
                .filled()
                .map(|(bucket, rpcs)| (quarter_octave_edge(bucket), rpcs))
                .collect(),
        })
        .collect();
    operations.sort_by(|a, b| b.rpcs.cmp(&a.rpcs).then_with(|| (a.opcode, &a.service).cmp(&(b.opcode, &b.service))));
    operations
}

fn sent(sums: FxHashMap<SentKey, SentSum>, symbols: &Symbols) -> Vec<SentRpcs> {
    let mut sent: Vec<SentRpcs> = sums
        .into_iter()
        .map(|((node, opcode, device, nid), sum)| SentRpcs {
            node: symbols.text(node),
            opcode: opcode.0,
            name: opcode.to_string(),
            device: symbols.text(device),
            target: TargetName::parse_bytes(symbols.bytes(device)).map(|target| target.to_string()),
            nid: symbols.text(nid),
            rpcs: sum.rpcs,
            round_trip_us: sum.round_trip.distribution(),
        })
        .collect();
    sent.sort_by(|a, b| (&a.node, a.opcode, &a.device, &a.nid).cmp(&(&b.node, b.opcode, &b.device, &b.nid)));
    sent
}

fn services(aggregate: &Aggregate, symbols: &Symbols) -> Vec<Service> {
    let mut services = aggregate.services_by_node(symbols, |_| true);
    services.sort_by(|a, b| (&a.node, &a.service).cmp(&(&b.node, &b.service)));
    services
}

impl Aggregate {
    /// What services did, of some nodes.
    pub(crate) fn services_by_node(&self, symbols: &Symbols, of: impl Fn(Symbol) -> bool) -> Vec<Service> {
        let nodes = self.nodes.iter().filter(|(node, _)| of(**node));
        let services = nodes.flat_map(|(node, sum)| sum.services.iter().map(move |service| (node, service)));
        let service = |(&node, (&service, sums)): (&Symbol, (&Symbol, &ServiceSums))| Service {
            node: symbols.text(node),
            service: lioprof_model::symbol::escape(service_name(symbols.bytes(service))),
            threads: sums.threads,
            rpcs: sums.rpcs,
            queue_us: sums.queue_us,
            service_us: sums.service_us,
            held_us: sums.held_us,
        };
        services.map(service).collect()
    }
}

fn markers(aggregate: &Aggregate, symbols: &Symbols) -> Vec<Marker> {
    let mut markers: Vec<_> =
        aggregate.markers.iter().map(|&(us, node, text)| (us, symbols.text(node), symbols.text(text))).collect();
    markers.sort();
    markers.into_iter().map(|(us, node, text)| Marker { time: seconds(us), node, text }).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 52 bits")]
fn ratio(a: u64, b: u64) -> f64 {
    a as f64 / b as f64
}

/// What was counted over time but locks' events, which are left.
fn series(bins: &mut SeriesBins, symbols: &Symbols) -> Series {
    let span = bins.clock.span();
    let width_us = bins.clock.width_us();
    let width = u64::try_from(width_us).unwrap_or(1);
    let count = |bins: &Bins<SeriesCell>, get: fn(&SeriesCell) -> u64| bins.column(span, 0, get);
    let depth =
        |bins: &Bins<SeriesCell>, get: fn(&SeriesCell) -> u64| bins.column(span, 0.0, |cell| ratio(get(cell), width));
    let mean = |bins: &Bins<SeriesCell>| bins.column(span, None, |c| (c.timed > 0).then(|| ratio(c.total_us, c.timed)));

    let mut targets: Vec<TargetSeries> = std::mem::take(&mut bins.targets)
        .iter()
        .map(|(key, b)| TargetSeries {
            name: key.name.map(|name| name.to_string()),
            node: symbols.text(key.node),
            kind: key.kind.into(),
            read_bytes: count(b, |c| c.read_bytes),
            write_bytes: count(b, |c| c.write_bytes),
            read_bounded_bytes: count(b, |c| c.read_bounded_bytes),
            write_bounded_bytes: count(b, |c| c.write_bounded_bytes),
            read_rpcs: count(b, |c| c.read_rpcs),
            write_rpcs: count(b, |c| c.write_rpcs),
            rpcs: count(b, |c| c.rpcs),
            arrived: count(b, |c| c.arrived),
            queued: depth(b, |c| c.queued_us),
            in_process: depth(b, |c| c.process_us),
            in_flight: depth(b, |c| c.queued_us + c.process_us),
            mean_total_us: mean(b),
        })
        .collect();
    targets.sort_by(|a, b| (&a.name, &a.node, a.kind).cmp(&(&b.name, &b.node, b.kind)));

    let mut nodes: Vec<NodeSeries> = bins
        .nodes
        .iter()
        .map(|(node, b)| NodeSeries {
            node: symbols.text(*node),
            rpcs: count(b, |c| c.rpcs),
            arrived: count(b, |c| c.arrived),
            queued: depth(b, |c| c.queued_us),
            in_process: depth(b, |c| c.process_us),
            in_flight: depth(b, |c| c.queued_us + c.process_us),
            mean_total_us: mean(b),
        })
        .collect();
    nodes.sort_by(|a, b| a.node.cmp(&b.node));

    let mut flows: Vec<(TargetKind, FlowSeries)> = std::mem::take(&mut bins.flows)
        .iter()
        .map(|((nid, key), flow)| {
            let series = FlowSeries {
                nid: nid.map(|nid| symbols.text(nid)),
                target: key.name.map(|name| name.to_string()),
                node: symbols.text(key.node),
                read_rpcs: flow.bins.column(span, 0, |c| c.read_rpcs),
                write_rpcs: flow.bins.column(span, 0, |c| c.write_rpcs),
            };
            (key.kind, series)
        })
        .collect();
    flows.sort_by(|(a_kind, a), (b_kind, b)| {
        (&a.target, &a.node, &a.nid, a_kind).cmp(&(&b.target, &b.node, &b.nid, b_kind))
    });

    Series {
        bin_s: seconds(width_us),
        start: seconds(span.0 * width_us),
        bins: span.1,
        targets,
        nodes,
        flows: flows.into_iter().map(|(_, series)| series).collect(),
        latency: heatmaps(std::mem::take(&mut bins.latency), span.0),
        ..Series::default()
    }
}

fn lock_series(aggregate: &Aggregate, symbols: &Symbols) -> Vec<LockSeries> {
    let span = aggregate.series.clock.span();
    let width = u64::try_from(aggregate.series.clock.width_us()).unwrap_or(1);
    let mut series: Vec<LockSeries> = aggregate
        .series
        .locks
        .iter()
        .map(|((node, target), b)| LockSeries {
            target: target.to_string(),
            node: symbols.text(*node),
            conflicts: b.column(span, 0, |c| c.conflicts),
            true_conflicts: b.column(span, 0, |c| c.true_conflicts),
            expansion_conflicts: b.column(span, 0, |c| c.expansion_conflicts),
            blocking_asts: b.column(span, 0, |c| c.blocking_asts),
            waiting: b.column(span, 0.0, |c| ratio(c.waiting_us, width)),
        })
        .collect();
    series.sort_by(|a, b| (&a.target, &a.node).cmp(&(&b.target, &b.node)));
    series
}

fn heatmaps(latency: FxHashMap<(Direction, u32), Bins<u64>>, first_bin: i64) -> Vec<Heatmap> {
    let Some(lowest) = latency.keys().map(|(_, bucket)| *bucket).min() else { return Vec::new() };
    let highest = latency.keys().map(|(_, bucket)| *bucket).max().unwrap_or(lowest);
    let edges_us: Vec<u64> = (lowest..=highest).map(quarter_octave_edge).collect();
    let (reads, writes): (Vec<_>, Vec<_>) =
        latency.into_iter().partition(|((direction, _), _)| *direction == Direction::Read);
    [(Direction::Read, reads), (Direction::Write, writes)]
        .into_iter()
        .map(|(direction, buckets)| {
            // A day has a million cells: no room for twice as many.
            let mut cells = Vec::with_capacity(buckets.iter().map(|(_, bins)| bins.filled().count()).sum());
            for ((_, bucket), bins) in buckets {
                let cell = |(bin, n)| Some((u32::try_from(bin - first_bin).ok()?, bucket - lowest, n));
                cells.extend(bins.filled().filter_map(cell));
            }
            cells.sort_unstable();
            Heatmap { direction, edges_us: edges_us.clone(), cells }
        })
        .filter(|heatmap| !heatmap.cells.is_empty())
        .collect()
}

fn sample(aggregate: &Aggregate, symbols: &Symbols, analysis: &Analysis) -> RpcSample {
    let index = |i: usize| u32::try_from(i).ok();
    let clients: BTreeMap<&str, Option<u32>> =
        analysis.clients.iter().enumerate().map(|(i, client)| (client.nid.as_str(), index(i))).collect();
    let targets: BTreeMap<(&str, &str), Option<u32>> = analysis
        .targets
        .iter()
        .enumerate()
        .map(|(i, target)| ((target.name.as_str(), target.node.as_str()), index(i)))
        .collect();
    let jobs: BTreeMap<&str, u32> =
        analysis.jobs.iter().enumerate().filter_map(|(i, job)| Some((job.job.as_deref()?, index(i)?))).collect();
    let mut kept: Vec<_> = aggregate.sample.kept.iter().collect();
    kept.sort_by(|a, b| {
        let key = |k: &super::sample::SampledRpc| (k.end_us, k.arrival_us, k.xid);
        key(a).cmp(&key(b)).then_with(|| symbols.bytes(a.nid).cmp(symbols.bytes(b.nid)))
    });
    // Thousands of RPCs are of a few clients, targets and objects: names are made once.
    let mut clients_seen: FxHashMap<Symbol, Option<u32>> = FxHashMap::default();
    let mut targets_seen: FxHashMap<(Symbol, TargetName), Option<u32>> = FxHashMap::default();
    let mut objects_seen: FxHashMap<ObjectName, String> = FxHashMap::default();
    let rpcs = kept
        .into_iter()
        .filter_map(|rpc| {
            let client = clients_seen
                .entry(rpc.nid)
                .or_insert_with(|| clients.get(symbols.text(rpc.nid).as_str()).copied().flatten());
            let target = rpc.target.and_then(|target| {
                *targets_seen.entry((rpc.node, target)).or_insert_with(|| {
                    let (name, node) = (target.to_string(), symbols.text(rpc.node));
                    targets.get(&(name.as_str(), node.as_str())).copied().flatten()
                })
            });
            let object = rpc.object.map(|it| objects_seen.entry(it).or_insert_with(|| object_name(it)).clone());
            Some(SampledRpc {
                arrival: seconds(rpc.arrival_us),
                start: seconds(rpc.start_us),
                end: seconds(rpc.end_us),
                direction: rpc.direction,
                client: (*client)?,
                target,
                object,
                offset: rpc.extent.map(|extent| extent.start),
                last: rpc.extent.map(|extent| extent.end),
                bytes: rpc.bytes,
                job: rpc.job.and_then(|job| jobs.get(symbols.text(job).as_str()).copied()),
                before_us: rpc.bulk_us.map(|(before_us, _)| before_us),
                transfer_us: rpc.bulk_us.map(|(_, transfer_us)| transfer_us),
            })
        })
        .collect();
    RpcSample { one_in: aggregate.sample.one_in(), rpcs }
}

/// An [`Io`] of a whole analysis for messages: reads and writes together.
pub(crate) fn both(totals: &model::Totals) -> Io {
    let mut io = totals.read.clone();
    io.merge(&totals.write);
    io
}

#[cfg(test)]
mod tests {
    use lioprof_model::TraceSummary;

    use super::*;

    #[test]
    fn a_node_that_was_traced_in_part_is_so_after_merging() {
        let mut symbols = Symbols::default();
        let node = symbols.intern(b"oss1");
        let summary = TraceSummary {
            first_us: Some(0),
            last_us: Some(10_000_000),
            traced_us: vec![[0, 1_000_000], [9_000_000, 12_000_000]],
            ..TraceSummary::default()
        };
        let mut one = Aggregate::new(None);
        one.node(node, &summary, &symbols);
        let mut sum = Aggregate::new(None);
        sum.merge(one, &symbols);
        let mut analysis = Analysis::default();
        finish(sum, &symbols, &mut analysis);
        let sampled = analysis.nodes[0].sampled.as_ref().expect("it was traced part of the time");
        assert!((sampled.traced_share - 0.2).abs() < 1e-9, "{sampled:?}");
        assert_eq!(sampled.traced, [[0.0, 1.0], [9.0, 12.0]]);
    }

    #[test]
    fn a_pause_before_or_after_all_records_is_none() {
        let mut symbols = Symbols::default();
        let summary = TraceSummary {
            first_us: Some(0),
            last_us: Some(10_000_000),
            traced_us: vec![[0, 10_000_000], [90_000_000, 91_000_000]],
            ..TraceSummary::default()
        };
        let node = symbols.intern(b"oss1");
        let mut sum = Aggregate::new(None);
        sum.node(node, &summary, &symbols);
        let mut analysis = Analysis::default();
        finish(sum, &symbols, &mut analysis);
        assert_eq!(analysis.nodes[0].sampled, None);
    }

    #[test]
    fn rpcs_of_unknown_size_are_in_the_estimate() {
        let io = Io { rpcs: 25, errors: 5, bytes: 18 * 1024, unsized_rpcs: 2, ..Io::default() };
        // Eighteen have a size, five failed.
        assert!((with_unsized(&io).unwrap() - 20.0 * 1024.0).abs() < 1e-9);
        assert_eq!(with_unsized(&Io { unsized_rpcs: 3, ..io }), None);
        assert_eq!(with_unsized(&Io { rpcs: 5, unsized_rpcs: 5, ..Io::default() }), None);
        assert_eq!(with_unsized(&Io { rpcs: 5, errors: 5, ..Io::default() }), Some(0.0));
    }
}
