//! The analysis as CSV: one table each, a header line, bytes and microseconds as integers, unknown empty.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use lioprof_model::{
    Analysis, Client, Distribution, EnqueuePart, EnqueueSplit, Event, Failure, Finding, Flow, Io, Job, LockObject,
    LockPair, LockTarget, Object, Operation, Owner, SentRpcs, ServiceSplit, SpentState, SplitPart, Target,
    TargetSeries, TimeOf, TimeSpent,
};

/// A table.
pub struct Table {
    /// File stem.
    pub name: &'static str,
    /// Writes it, with a header line.
    pub write: fn(&Analysis, &mut dyn Write) -> io::Result<()>,
}

/// All tables.
pub const ALL: &[Table] = &[
    Table { name: "targets", write: targets },
    Table { name: "clients", write: clients },
    Table { name: "flows", write: flows },
    Table { name: "jobs", write: jobs },
    Table { name: "owners", write: owners },
    Table { name: "objects", write: objects },
    Table { name: "operations", write: operations },
    Table { name: "operations-by", write: operations_by },
    Table { name: "failures", write: failures },
    Table { name: "service-parts", write: service_parts },
    Table { name: "time-account", write: time_account },
    Table { name: "sent", write: sent },
    Table { name: "series", write: series },
    Table { name: "lock-targets", write: lock_targets },
    Table { name: "lock-objects", write: lock_objects },
    Table { name: "lock-pairs", write: lock_pairs },
    Table { name: "lock-requests", write: lock_requests },
    Table { name: "events", write: events },
    Table { name: "findings", write: findings },
];

pub(crate) fn cell(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A name, and the cell of a row.
pub(crate) type Named<T> = (&'static str, fn(&T) -> String);

/// The same, made of more than a function.
type Column<'t, T> = (String, Box<dyn Fn(&T) -> String + 't>);

/// The columns of a table of which `T` is a row.
pub(crate) struct Columns<'t, T>(Vec<Column<'t, T>>);

impl<'t, T: 't> Columns<'t, T> {
    pub(crate) fn new<const N: usize>(columns: [Named<T>; N]) -> Self {
        let column = |(name, cell): Named<T>| -> Column<'t, T> { (name.to_owned(), Box::new(cell)) };
        Self(columns.into_iter().map(column).collect())
    }

    /// Also reads and writes.
    fn io(mut self, read: fn(&T) -> &Io, write: fn(&T) -> &Io) -> Self {
        let columns: [Named<Io>; 8] = [
            ("rpcs", |io| io.rpcs.to_string()),
            ("errors", |io| io.errors.to_string()),
            ("bytes", |io| cell(io.known_bytes())),
            ("bytes_min", |io| cell(io.known_bytes().map(|_| io.bytes_min))),
            ("bytes_max", |io| cell(io.known_bytes().map(|_| io.bytes_max))),
            ("exact_rpcs", |io| io.exact_rpcs.to_string()),
            ("bounded_rpcs", |io| io.bounded_rpcs.to_string()),
            ("unsized_rpcs", |io| io.unsized_rpcs.to_string()),
        ];
        for (direction, io) in [("read", read), ("write", write)] {
            for (name, cell) in columns {
                self.0.push((format!("{direction}_{name}"), Box::new(move |row| cell(io(row)))));
            }
        }
        self
    }

    /// Also a distribution of times.
    fn times(mut self, prefix: &str, times: fn(&T) -> &Distribution) -> Self {
        let columns: [Named<Distribution>; 6] = [
            ("mean", |times| decimal(times.mean, 1)),
            ("p50", |times| cell(times.p50)),
            ("p90", |times| cell(times.p90)),
            ("p99", |times| cell(times.p99)),
            ("p999", |times| cell(times.p999)),
            ("max", |times| cell(times.max)),
        ];
        for (name, cell) in columns {
            self.0.push((format!("{prefix}_us_{name}"), Box::new(move |row| cell(times(row)))));
        }
        self
    }

    /// One more.
    pub(crate) fn push(&mut self, name: impl Into<String>, cell: impl Fn(&T) -> String + 't) {
        self.0.push((name.into(), Box::new(cell)));
    }

    /// Writes a header and rows.
    pub(crate) fn write(self, rows: impl IntoIterator<Item = impl Borrow<T>>, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.0.iter().map(|(name, _)| name)).map_err(io_error)?;
        for row in rows {
            writer.write_record(self.0.iter().map(|(_, cell)| cell(row.borrow()))).map_err(io_error)?;
        }
        writer.flush()
    }
}

/// The error below: a closed pipe is none of CSV.
fn io_error(err: csv::Error) -> io::Error {
    match err.into_kind() {
        csv::ErrorKind::Io(err) => err,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// A number with so many digits behind the point.
fn decimal(value: Option<f64>, digits: usize) -> String {
    cell(value.map(|value| format!("{value:.digits$}")))
}

fn targets(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<Target>::new([
        ("target", |it| it.name.clone()),
        ("node", |it| it.node.clone()),
        ("kind", |it| format!("{:?}", it.kind).to_lowercase()),
    ])
    .io(|it| &it.read.io, |it| &it.write.io)
    .times("read_total", |it| &it.read.latency.total_us)
    .times("write_total", |it| &it.write.latency.total_us)
    .write(&analysis.targets, out)
}

fn clients(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<Client>::new([
        ("nid", |it| it.nid.clone()),
        ("uuids", |it| it.uuids.join(" ")),
        ("server", |it| it.server.to_string()),
        ("rpcs", |it| it.rpcs.to_string()),
        ("targets", |it| it.targets.to_string()),
    ])
    .io(|it| &it.read, |it| &it.write)
    .write(&analysis.clients, out)
}

/// Client x target.
pub(crate) fn flows(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<Flow>::new([
        ("nid", |it| it.nid.clone()),
        ("target", |it| cell(it.target.as_ref())),
        ("node", |it| it.node.clone()),
    ])
    .io(|it| &it.read, |it| &it.write)
    .write(&analysis.flows, out)
}

fn jobs(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<Job>::new([
        ("job", |it| cell(it.job.as_ref())),
        ("rpcs", |it| it.rpcs.to_string()),
        ("clients", |it| it.clients.to_string()),
        ("targets", |it| it.targets.to_string()),
    ])
    .io(|it| &it.read, |it| &it.write)
    .write(&analysis.jobs, out)
}

fn owners(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<Owner>::new([
        ("uid", |it| it.uid.to_string()),
        ("gid", |it| cell(it.gid)),
        ("projid", |it| cell(it.projid)),
    ])
    .io(|it| &it.read, |it| &it.write)
    .write(&analysis.owners, out)
}

fn objects(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<Object>::new([
        ("target", |it| cell(it.target.as_ref())),
        ("fid", |it| cell(it.fid.as_ref())),
        ("objects", |it| it.objects.to_string()),
        ("clients", |it| cell(it.clients)),
        ("writers", |it| cell(it.writers)),
        ("first_byte", |it| cell(it.first_byte)),
        ("last_byte", |it| cell(it.last_byte)),
    ])
    .io(|it| &it.read, |it| &it.write)
    .write(&analysis.objects, out)
}

fn operations(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<Operation>::new([
        ("opcode", |it| it.opcode.to_string()),
        ("name", |it| it.name.clone()),
        ("service", |it| it.service.clone()),
        ("rpcs", |it| it.rpcs.to_string()),
        ("errors", |it| it.errors.to_string()),
    ])
    .times("queue", |it| &it.latency.queue_us)
    .times("service", |it| &it.latency.service_us)
    .times("total", |it| &it.latency.total_us)
    .write(&analysis.operations, out)
}

/// Client x operation, and job x operation.
fn operations_by(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    /// By what, the name, the operation, RPCs, and their service time where it is known.
    type Row<'a> = (&'static str, Option<&'a str>, &'a str, u64, Option<u64>);
    fn rows<'a>(
        by: &'static str,
        name: Option<&'a str>,
        rpcs: &'a BTreeMap<String, u64>,
        us: &'a BTreeMap<String, u64>,
    ) -> impl Iterator<Item = Row<'a>> {
        rpcs.iter().map(move |(operation, rpcs)| (by, name, operation.as_str(), *rpcs, us.get(operation).copied()))
    }
    let clients = analysis.clients.iter().flat_map(|it| rows("client", Some(&it.nid), &it.opcodes, &it.service_us));
    let jobs = analysis.jobs.iter().flat_map(|it| rows("job", it.job.as_deref(), &it.opcodes, &it.service_us));
    Columns::<Row<'_>>::new([
        ("by", |it| it.0.to_owned()),
        ("name", |it| cell(it.1)),
        ("operation", |it| it.2.to_owned()),
        ("rpcs", |it| it.3.to_string()),
        ("service_us", |it| cell(it.4)),
    ])
    .write(clients.chain(jobs), out)
}

/// Requests that ended with an error, by operation, error, target, client and job.
fn failures(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<Failure>::new([
        ("opcode", |it| it.opcode.to_string()),
        ("name", |it| it.name.clone()),
        ("rc", |it| it.rc.to_string()),
        ("error", |it| it.error.clone()),
        ("everyday", |it| cell(it.everyday.as_ref())),
        ("node", |it| it.node.clone()),
        ("target", |it| cell(it.target.as_ref())),
        ("nid", |it| it.nid.clone()),
        ("job", |it| cell(it.job.as_ref())),
        ("rpcs", |it| it.rpcs.to_string()),
        ("first", |it| decimal(Some(it.first), 6)),
        ("last", |it| decimal(Some(it.last), 6)),
    ])
    .write(&analysis.failures, out)
}

/// Parts of service times: by target, server, client, network and size.
fn service_parts(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    type Row<'a> = (&'static str, String, &'a ServiceSplit);
    let all = &analysis.service_parts;
    let targets = all.targets.iter().map(|it| ("target", cell(it.target.as_ref()), &it.parts));
    let servers = all.servers.iter().map(|it| ("server", it.node.clone(), &it.parts));
    let clients = all.clients.iter().map(|it| ("client", it.nid.clone(), &it.parts));
    let networks = all.networks.iter().map(|it| ("network", it.network.clone(), &it.parts));
    let sizes = all.sizes.iter().map(|it| ("size", it.le_bytes.to_string(), &it.parts));
    let ratio = |part: &SplitPart| decimal(part.against_peers.and_then(|against| against.ratio), 3);
    let mut columns = Columns::<Row<'_>>::new([
        ("by", |it| it.0.to_owned()),
        ("name", |it| it.1.clone()),
        ("direction", |it| it.2.direction.name().to_owned()),
        ("rpcs", |it| it.2.rpcs.to_string()),
        ("bytes", |it| it.2.bytes.to_string()),
    ])
    .times("before", |it| &it.2.before.us)
    .times("transfer", |it| &it.2.transfer.us)
    .times("after", |it| &it.2.after.us);
    columns.push("before_ratio_to_peers", move |it| ratio(&it.2.before));
    columns.push("transfer_ratio_to_peers", move |it| ratio(&it.2.transfer));
    columns.push("after_ratio_to_peers", move |it| ratio(&it.2.after));
    columns.write(targets.chain(servers).chain(clients).chain(networks).chain(sizes), out)
}

/// Parts of the time of lock requests: of all, by target and client.
fn lock_requests(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    type Row<'a> = (&'static str, String, &'a EnqueueSplit);
    let it = &analysis.enqueue_parts;
    let all = Some(("all", String::new(), &it.all)).filter(|(.., parts)| parts.enqueues > 0);
    let targets = it.targets.iter().map(|it| ("target", cell(it.target.as_ref()), &it.parts));
    let clients = it.clients.iter().map(|it| ("client", it.nid.clone(), &it.parts));
    let mut columns = Columns::<Row<'_>>::new([
        ("by", |it| it.0.to_owned()),
        ("name", |it| it.1.clone()),
        ("enqueues", |it| it.2.enqueues.to_string()),
        ("unknown", |it| it.2.unknown.to_string()),
        ("waited", |it| it.2.waited.to_string()),
    ]);
    type Part = fn(&EnqueueSplit) -> &EnqueuePart;
    let parts: [(&str, Part); 5] = [
        ("total", |it| &it.total),
        ("queue", |it| &it.queue),
        ("service", |it| &it.service),
        ("lock_wait", |it| &it.lock_wait),
        ("other_wait", |it| &it.other_wait),
    ];
    for (name, part) in parts {
        columns.push(format!("{name}_us_sum"), move |it| cell(part(it.2).sum_us));
    }
    columns
        .times("total", |it| &it.2.total.us)
        .times("queue", |it| &it.2.queue.us)
        .times("service", |it| &it.2.service.us)
        .times("lock_wait", |it| &it.2.lock_wait.us)
        .times("other_wait", |it| &it.2.other_wait.us)
        .write(all.into_iter().chain(targets).chain(clients), out)
}

fn time_account(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    type Row<'a> = (&'static str, &'a TimeOf, &'a TimeSpent);
    let account = &analysis.time_account;
    let all = account.all.iter().map(|of| ("all", of));
    let clients = account.clients.iter().map(|of| ("client", of));
    let jobs = account.jobs.iter().map(|of| ("job", of));
    let rows = all.chain(clients).chain(jobs).flat_map(|(by, of)| of.spent.iter().map(move |spent| (by, of, spent)));
    Columns::<Row<'_>>::new([
        ("of", |it| it.0.to_owned()),
        ("name", |it| it.1.name.clone()),
        ("span_us", |it| it.1.span_us.to_string()),
        ("on", |it| it.2.on.name().to_owned()),
        ("target", |it| cell(it.2.target.as_ref())),
        ("node", |it| it.2.node.clone()),
        ("us", |it| it.2.us.to_string()),
        ("excess_us", |it| cell(it.2.excess_us)),
        ("state", |it| cell(it.2.state.map(SpentState::name))),
        ("finding", |it| cell(it.2.finding.as_ref())),
    ])
    .write(rows, out)
}

fn sent(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<SentRpcs>::new([
        ("node", |it| it.node.clone()),
        ("opcode", |it| it.opcode.to_string()),
        ("name", |it| it.name.clone()),
        ("device", |it| it.device.clone()),
        ("nid", |it| it.nid.clone()),
        ("rpcs", |it| it.rpcs.to_string()),
    ])
    .times("round_trip", |it| &it.round_trip_us)
    .write(&analysis.sent, out)
}

/// A bin of a target's series, and when it begins, Unix seconds.
struct TargetBin<'a> {
    target: &'a TargetSeries,
    bin: usize,
    start_s: f64,
}

/// One row per target and bin in which something happened.
fn series(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let series = &analysis.series;
    let rows = series.targets.iter().flat_map(|target| {
        let busy = |&i: &usize| target.rpcs[i] > 0 || target.arrived[i] > 0 || target.in_flight[i] > 0.0;
        #[expect(clippy::cast_precision_loss, reason = "bins are few")]
        let start_s = |i: usize| series.start + i as f64 * series.bin_s;
        (0..series.bins).filter(busy).map(move |bin| TargetBin { target, bin, start_s: start_s(bin) })
    });
    Columns::<TargetBin<'_>>::new([
        ("bin_start_s", |it| format!("{:.6}", it.start_s)),
        ("target", |it| cell(it.target.name.as_ref())),
        ("node", |it| it.target.node.clone()),
        ("read_bytes", |it| it.target.read_bytes[it.bin].to_string()),
        ("write_bytes", |it| it.target.write_bytes[it.bin].to_string()),
        ("read_bounded_bytes", |it| it.target.read_bounded_bytes[it.bin].to_string()),
        ("write_bounded_bytes", |it| it.target.write_bounded_bytes[it.bin].to_string()),
        ("read_rpcs", |it| it.target.read_rpcs[it.bin].to_string()),
        ("write_rpcs", |it| it.target.write_rpcs[it.bin].to_string()),
        ("arrived_rpcs", |it| it.target.arrived[it.bin].to_string()),
        ("queued_mean", |it| format!("{:.3}", it.target.queued[it.bin])),
        ("in_process_mean", |it| format!("{:.3}", it.target.in_process[it.bin])),
        ("mean_total_us", |it| decimal(it.target.mean_total_us[it.bin], 1)),
    ])
    .write(rows, out)
}

fn lock_targets(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<LockTarget>::new([
        ("target", |it| it.target.clone()),
        ("node", |it| it.node.clone()),
        ("evidence", |it| format!("{:?}", it.evidence).to_lowercase()),
        ("enqueues", |it| cell(it.totals.enqueues)),
        ("granted_at_once", |it| cell(it.totals.granted_at_once)),
        ("blocked", |it| it.totals.blocked.to_string()),
        ("client_conflicts", |it| it.totals.kinds.client.to_string()),
        ("own_conflicts", |it| it.totals.kinds.own.to_string()),
        ("server_conflicts", |it| it.totals.kinds.server.to_string()),
        ("true_conflicts", |it| cell(it.totals.true_conflicts)),
        ("expansion_conflicts", |it| cell(it.totals.expansion_conflicts)),
        ("unclassified_conflicts", |it| cell(it.totals.unclassified_conflicts)),
        ("handovers", |it| it.totals.handovers.to_string()),
        ("blocking_asts", |it| it.totals.blocking_asts.to_string()),
        ("completion_asts", |it| it.totals.completion_asts.to_string()),
        ("glimpse_asts", |it| it.totals.glimpse_asts.to_string()),
        ("evictions", |it| it.totals.evictions.to_string()),
        ("callback_timeouts", |it| it.totals.callback_timeouts.to_string()),
        ("wait_s", |it| format!("{:.6}", it.totals.wait_s)),
        ("wait_min_s", |it| format!("{:.6}", it.totals.wait_min_s)),
        ("wait_max_s", |it| format!("{:.6}", it.totals.wait_max_s)),
        ("contended_s", |it| format!("{:.6}", it.contended_s)),
        ("contended_share", |it| format!("{:.6}", it.contended_share)),
        ("bandwidth_contended", |it| decimal(it.bandwidth_contended, 0)),
        ("bandwidth_uncontended", |it| decimal(it.bandwidth_uncontended, 0)),
        ("flushed_bytes", |it| cell(it.flushed_bytes)),
    ])
    .times("wait", |it| &it.wait_us)
    .times("release", |it| &it.release_us)
    .times("blocking_ast", |it| &it.blocking_ast_us)
    .write(analysis.locks.iter().flat_map(|locks| &locks.targets), out)
}

fn lock_objects(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<LockObject>::new([
        ("target", |it| it.target.clone()),
        ("node", |it| it.node.clone()),
        ("resource", |it| cell(it.resource.as_ref())),
        ("fid", |it| cell(it.fid.as_ref())),
        ("inferred", |it| it.inferred.to_string()),
        ("conflicts", |it| it.conflicts.to_string()),
        ("true_conflicts", |it| cell(it.true_conflicts)),
        ("expansion_conflicts", |it| cell(it.expansion_conflicts)),
        ("unclassified_conflicts", |it| cell(it.unclassified_conflicts)),
        ("alternations", |it| it.alternations.to_string()),
        ("mean_run", |it| format!("{:.3}", it.mean_run)),
        ("clients", |it| it.clients.join(" ")),
        ("wait_s", |it| format!("{:.6}", it.wait_s)),
        ("ping_pong", |it| it.ping_pong.to_string()),
        ("contended_intervals", |it| it.contended.len().to_string()),
    ])
    .write(analysis.locks.iter().flat_map(|locks| &locks.objects), out)
}

fn lock_pairs(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<LockPair>::new([
        ("target", |it| it.target.clone()),
        ("holder_nid", |it| it.holder_nid.clone()),
        ("waiter_nid", |it| it.waiter_nid.clone()),
        ("conflicts", |it| it.conflicts.to_string()),
        ("true_conflicts", |it| cell(it.true_conflicts)),
        ("expansion_conflicts", |it| cell(it.expansion_conflicts)),
        ("handovers", |it| it.handovers.to_string()),
        ("wait_s", |it| format!("{:.6}", it.wait_s)),
    ])
    .write(analysis.locks.iter().flat_map(|locks| &locks.pairs), out)
}

fn events(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<Event>::new([
        ("time", |it| decimal(it.time, 6)),
        ("node", |it| it.node.clone()),
        ("kind", |it| it.kind.to_string()),
        ("target", |it| cell(it.target.as_ref())),
        ("client", |it| cell(it.client.as_ref())),
        ("reason", |it| it.reason.clone()),
        ("source", |it| it.source.name().to_owned()),
    ])
    .write(&analysis.events, out)
}

fn findings(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    Columns::<Finding>::new([
        ("id", |it| it.id.clone()),
        ("severity", |it| it.severity.name().to_owned()),
        ("confidence", |it| it.confidence.name().to_owned()),
        ("title", |it| it.title.clone()),
        ("explanation", |it| it.explanation.clone()),
        ("evidence", |it| evidence(it)),
        ("remedies", |it| it.remedies.join(" ")),
        ("targets", |it| it.targets.join(" ")),
        ("clients", |it| it.clients.join(" ")),
        ("objects", |it| finding_objects(it)),
        ("jobs", |it| it.jobs.join(" ")),
        ("nodes", |it| it.nodes.join(" ")),
        ("start", |it| decimal(it.interval.map(|interval| interval.start), 6)),
        ("end", |it| decimal(it.interval.map(|interval| interval.end), 6)),
        ("cost_s", |it| decimal(it.cost_s, 6)),
        ("cost_of", |it| cell(it.cost_of.as_ref())),
        ("saves_s", |it| decimal(it.saves_s, 3)),
        ("saves_s_min", |it| decimal(it.saves_s_min, 3)),
        ("saves_s_max", |it| decimal(it.saves_s_max, 3)),
        ("explained_by", |it| cell(it.explained_by.as_ref())),
        ("plot", |it| cell(it.plot.as_ref())),
        ("docs", |it| it.docs.clone()),
    ])
    .write(&analysis.findings, out)
}

fn evidence(finding: &Finding) -> String {
    let evidence = finding.evidence.iter().map(|(name, value)| format!("{name}={value}"));
    evidence.collect::<Vec<_>>().join(" ")
}

fn finding_objects(finding: &Finding) -> String {
    let objects = finding.objects.iter().map(ToString::to_string);
    objects.collect::<Vec<_>>().join(", ")
}
