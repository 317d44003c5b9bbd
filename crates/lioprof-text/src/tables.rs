//! The analysis as CSV: one table each, a header line, bytes and microseconds as integers, unknown empty.

use std::io::{self, Write};

use lioprof_model::{Analysis, Distribution, Interval, Io, Locks};

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
    Table { name: "sent", write: sent },
    Table { name: "series", write: series },
    Table { name: "lock-targets", write: lock_targets },
    Table { name: "lock-objects", write: lock_objects },
    Table { name: "lock-pairs", write: lock_pairs },
    Table { name: "findings", write: findings },
];

const IO: [&str; 16] = [
    "read_rpcs",
    "read_errors",
    "read_bytes",
    "read_bytes_min",
    "read_bytes_max",
    "read_exact_rpcs",
    "read_bounded_rpcs",
    "read_unsized_rpcs",
    "write_rpcs",
    "write_errors",
    "write_bytes",
    "write_bytes_min",
    "write_bytes_max",
    "write_exact_rpcs",
    "write_bounded_rpcs",
    "write_unsized_rpcs",
];

/// The cells of [`IO`].
fn io(read: &Io, write: &Io) -> Vec<String> {
    let cells = [read, write].into_iter().flat_map(|io| {
        let known = io.known_bytes().is_some();
        let bytes = |n: u64| if known { n.to_string() } else { String::new() };
        [
            io.rpcs.to_string(),
            io.errors.to_string(),
            bytes(io.bytes),
            bytes(io.bytes_min),
            bytes(io.bytes_max),
            io.exact_rpcs.to_string(),
            io.bounded_rpcs.to_string(),
            io.unsized_rpcs.to_string(),
        ]
    });
    cells.collect()
}

fn distribution_names(prefix: &str) -> impl Iterator<Item = String> {
    ["mean", "p50", "p90", "p99", "p999", "max"].into_iter().map(move |name| format!("{prefix}_us_{name}"))
}

fn distribution(d: &Distribution) -> impl Iterator<Item = String> {
    let mean = d.mean.map_or_else(String::new, |mean| format!("{mean:.1}"));
    [mean, cell(d.p50), cell(d.p90), cell(d.p99), cell(d.p999), cell(d.max)].into_iter()
}

fn cell(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Writes a header and rows.
fn table<R, C>(out: &mut dyn Write, header: impl IntoIterator<Item = String>, rows: R) -> io::Result<()>
where
    R: IntoIterator<Item = C>,
    C: IntoIterator<Item = String>,
{
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(header.into_iter().map(String::into_bytes))?;
    for row in rows {
        writer.write_record(row.into_iter().map(String::into_bytes))?;
    }
    writer.flush()?;
    Ok(())
}

fn names(names: &[&str]) -> impl Iterator<Item = String> {
    names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().into_iter()
}

fn targets(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let header = names(&["target", "node", "kind"])
        .chain(names(&IO))
        .chain(distribution_names("read_total"))
        .chain(distribution_names("write_total"));
    let rows = analysis.targets.iter().map(|t| {
        [t.name.clone(), t.node.clone(), format!("{:?}", t.kind).to_lowercase()]
            .into_iter()
            .chain(io(&t.read.io, &t.write.io))
            .chain(distribution(&t.read.latency.total_us))
            .chain(distribution(&t.write.latency.total_us))
    });
    table(out, header, rows)
}

fn clients(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let header = names(&["nid", "uuids", "server", "rpcs", "targets"]).chain(names(&IO));
    let rows = analysis.clients.iter().map(|c| {
        [c.nid.clone(), c.uuids.join(" "), c.server.to_string(), c.rpcs.to_string(), c.targets.to_string()]
            .into_iter()
            .chain(io(&c.read, &c.write))
    });
    table(out, header, rows)
}

/// Client x target.
pub(crate) fn flows(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let header = names(&["nid", "target", "node"]).chain(names(&IO));
    let rows = analysis
        .flows
        .iter()
        .map(|f| [f.nid.clone(), cell(f.target.as_ref()), f.node.clone()].into_iter().chain(io(&f.read, &f.write)));
    table(out, header, rows)
}

fn jobs(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let header = names(&["job", "rpcs", "clients", "targets"]).chain(names(&IO));
    let rows = analysis.jobs.iter().map(|j| {
        [cell(j.job.as_ref()), j.rpcs.to_string(), j.clients.to_string(), j.targets.to_string()]
            .into_iter()
            .chain(io(&j.read, &j.write))
    });
    table(out, header, rows)
}

fn owners(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let header = names(&["uid", "gid", "projid"]).chain(names(&IO));
    let rows = analysis
        .owners
        .iter()
        .map(|o| [o.uid.to_string(), cell(o.gid), cell(o.projid)].into_iter().chain(io(&o.read, &o.write)));
    table(out, header, rows)
}

fn objects(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let header =
        names(&["target", "fid", "objects", "clients", "writers", "first_byte", "last_byte"]).chain(names(&IO));
    let rows = analysis.objects.iter().map(|o| {
        [
            cell(o.target.as_ref()),
            cell(o.fid.as_ref()),
            o.objects.to_string(),
            cell(o.clients),
            cell(o.writers),
            cell(o.first_byte),
            cell(o.last_byte),
        ]
        .into_iter()
        .chain(io(&o.read, &o.write))
    });
    table(out, header, rows)
}

fn operations(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let header = names(&["opcode", "name", "service", "rpcs", "errors"])
        .chain(distribution_names("queue"))
        .chain(distribution_names("service"))
        .chain(distribution_names("total"));
    let rows = analysis.operations.iter().map(|o| {
        [o.opcode.to_string(), o.name.clone(), o.service.clone(), o.rpcs.to_string(), o.errors.to_string()]
            .into_iter()
            .chain(distribution(&o.latency.queue_us))
            .chain(distribution(&o.latency.service_us))
            .chain(distribution(&o.latency.total_us))
    });
    table(out, header, rows)
}

fn sent(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let header = names(&["node", "opcode", "name", "device", "nid", "rpcs"]).chain(distribution_names("round_trip"));
    let rows = analysis.sent.iter().map(|s| {
        [s.node.clone(), s.opcode.to_string(), s.name.clone(), s.device.clone(), s.nid.clone(), s.rpcs.to_string()]
            .into_iter()
            .chain(distribution(&s.round_trip_us))
    });
    table(out, header, rows)
}

/// One row per target and bin in which something happened.
fn series(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let series = &analysis.series;
    let header = names(&[
        "bin_start_s",
        "target",
        "node",
        "read_bytes",
        "write_bytes",
        "read_bounded_bytes",
        "write_bounded_bytes",
        "read_rpcs",
        "write_rpcs",
        "arrived_rpcs",
        "queued_mean",
        "in_process_mean",
        "mean_total_us",
    ]);
    let rows = series.targets.iter().flat_map(|target| {
        (0..series.bins).filter(|&i| target.rpcs[i] > 0 || target.arrived[i] > 0 || target.in_flight[i] > 0.0).map(
            move |i| {
                #[expect(clippy::cast_precision_loss, reason = "bins are few")]
                let start = series.start + i as f64 * series.bin_s;
                vec![
                    format!("{start:.6}"),
                    cell(target.name.as_ref()),
                    target.node.clone(),
                    target.read_bytes[i].to_string(),
                    target.write_bytes[i].to_string(),
                    target.read_bounded_bytes[i].to_string(),
                    target.write_bounded_bytes[i].to_string(),
                    target.read_rpcs[i].to_string(),
                    target.write_rpcs[i].to_string(),
                    target.arrived[i].to_string(),
                    format!("{:.3}", target.queued[i]),
                    format!("{:.3}", target.in_process[i]),
                    target.mean_total_us[i].map_or_else(String::new, |us| format!("{us:.1}")),
                ]
            },
        )
    });
    table(out, header, rows)
}

fn locks(analysis: &Analysis) -> impl Iterator<Item = &Locks> {
    analysis.locks.iter()
}

fn lock_targets(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let header = names(&[
        "target",
        "node",
        "evidence",
        "enqueues",
        "granted_at_once",
        "blocked",
        "client_conflicts",
        "own_conflicts",
        "server_conflicts",
        "true_conflicts",
        "expansion_conflicts",
        "unclassified_conflicts",
        "handovers",
        "blocking_asts",
        "completion_asts",
        "glimpse_asts",
        "evictions",
        "callback_timeouts",
        "wait_s",
        "contended_s",
        "contended_share",
        "bandwidth_contended",
        "bandwidth_uncontended",
        "flushed_bytes",
    ])
    .chain(distribution_names("wait"))
    .chain(distribution_names("release"))
    .chain(distribution_names("blocking_ast"));
    let rows = locks(analysis).flat_map(|locks| &locks.targets).map(|t| {
        let totals = &t.totals;
        [
            t.target.clone(),
            t.node.clone(),
            format!("{:?}", t.evidence).to_lowercase(),
            cell(totals.enqueues),
            cell(totals.granted_at_once),
            totals.blocked.to_string(),
            totals.kinds.client.to_string(),
            totals.kinds.own.to_string(),
            totals.kinds.server.to_string(),
            cell(totals.true_conflicts),
            cell(totals.expansion_conflicts),
            cell(totals.unclassified_conflicts),
            totals.handovers.to_string(),
            totals.blocking_asts.to_string(),
            totals.completion_asts.to_string(),
            totals.glimpse_asts.to_string(),
            totals.evictions.to_string(),
            totals.callback_timeouts.to_string(),
            format!("{:.6}", totals.wait_s),
            format!("{:.6}", t.contended_s),
            format!("{:.6}", t.contended_share),
            t.bandwidth_contended.map_or_else(String::new, |rate| format!("{rate:.0}")),
            t.bandwidth_uncontended.map_or_else(String::new, |rate| format!("{rate:.0}")),
            cell(t.flushed_bytes),
        ]
        .into_iter()
        .chain(distribution(&t.wait_us))
        .chain(distribution(&t.release_us))
        .chain(distribution(&t.blocking_ast_us))
    });
    table(out, header, rows)
}

fn lock_objects(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let header = names(&[
        "target",
        "node",
        "resource",
        "fid",
        "inferred",
        "conflicts",
        "true_conflicts",
        "expansion_conflicts",
        "unclassified_conflicts",
        "alternations",
        "mean_run",
        "clients",
        "wait_s",
        "ping_pong",
        "contended_intervals",
    ]);
    let rows = locks(analysis).flat_map(|locks| &locks.objects).map(|o| {
        [
            o.target.clone(),
            o.node.clone(),
            cell(o.resource.as_ref()),
            cell(o.fid.as_ref()),
            o.inferred.to_string(),
            o.conflicts.to_string(),
            cell(o.true_conflicts),
            cell(o.expansion_conflicts),
            cell(o.unclassified_conflicts),
            o.alternations.to_string(),
            format!("{:.3}", o.mean_run),
            o.clients.join(" "),
            format!("{:.6}", o.wait_s),
            o.ping_pong.to_string(),
            o.contended.len().to_string(),
        ]
    });
    table(out, header, rows)
}

fn lock_pairs(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let header = names(&[
        "target",
        "holder_nid",
        "waiter_nid",
        "conflicts",
        "true_conflicts",
        "expansion_conflicts",
        "handovers",
        "wait_s",
    ]);
    let rows = locks(analysis).flat_map(|locks| &locks.pairs).map(|p| {
        [
            p.target.clone(),
            p.holder_nid.clone(),
            p.waiter_nid.clone(),
            p.conflicts.to_string(),
            cell(p.true_conflicts),
            cell(p.expansion_conflicts),
            p.handovers.to_string(),
            format!("{:.6}", p.wait_s),
        ]
    });
    table(out, header, rows)
}

fn findings(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let header = names(&[
        "id",
        "severity",
        "confidence",
        "title",
        "explanation",
        "evidence",
        "remedies",
        "targets",
        "clients",
        "objects",
        "jobs",
        "nodes",
        "start",
        "end",
        "cost_s",
        "cost_of",
        "explained_by",
        "plot",
        "docs",
    ]);
    let rows = analysis.findings.iter().map(|f| {
        let evidence: Vec<String> = f.evidence.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let objects: Vec<String> = f.objects.iter().map(|object| format!("{} {}", object.target, object.fid)).collect();
        let time = |time: fn(&Interval) -> f64| cell(f.interval.as_ref().map(|i| format!("{:.6}", time(i))));
        [
            f.id.clone(),
            f.severity.name().to_owned(),
            f.confidence.name().to_owned(),
            f.title.clone(),
            f.explanation.clone(),
            evidence.join(" "),
            f.remedies.join(" "),
            f.targets.join(" "),
            f.clients.join(" "),
            objects.join(", "),
            f.jobs.join(" "),
            f.nodes.join(" "),
            time(|i| i.start),
            time(|i| i.end),
            cell(f.cost_s.map(|s| format!("{s:.6}"))),
            cell(f.cost_of.as_ref()),
            cell(f.explained_by.as_ref()),
            cell(f.plot.as_ref()),
            f.docs.clone(),
        ]
    });
    table(out, header, rows)
}
