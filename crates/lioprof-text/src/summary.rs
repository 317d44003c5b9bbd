//! What `lioprof analyze` prints below the verdict, for a person and an 80-column terminal: what was captured, and with `--tables` tables.
//!
//! `~` marks an estimate (see bytes_min and bytes_max in the JSON for its bounds), `?` what cannot be known.

use std::cmp::Reverse;
use std::io::{self, Write};

use lioprof_model::names::{self, UNATTRIBUTED, target_of};
use lioprof_model::time::utc_millis;
use lioprof_model::units::{
    RULES, UNKNOWN, human_bytes, mib, micros, milliseconds, percent, plural, real, share, thousands, three_digits,
};
use lioprof_model::{
    Analysis, Client, ConflictKinds, Direction, EnqueuePart, Io, Job, LossEvidence, NodeRole, RpcPhases,
    TargetKindName, TargetSeries,
};

use crate::events;
use crate::number_table::{NumberTable, TOP};
use crate::style::{Style, paragraph};
use crate::verdict;

/// Notes shown without the tables.
const NOTES: usize = 1;

pub(crate) fn write(analysis: &Analysis, style: Style, out: &mut dyn Write) -> io::Result<()> {
    if analysis.only_kernel_logs() {
        events::heading(analysis, out)?;
        return events::write(analysis, out);
    }
    heading(analysis, out)?;
    if style.tables {
        nodes(analysis, out)?;
        osts(analysis, out)?;
        clients(analysis, out)?;
        jobs(analysis, out)?;
        operations(analysis, out)?;
        locks(analysis, out)?;
        lock_requests(analysis, out)?;
        phases(analysis, out)?;
        events::write(analysis, out)?;
        writeln!(out)?;
    } else {
        most_time(analysis, out)?;
        if !analysis.events.is_empty() {
            paragraph(&format!("Events: {}", events::counts(analysis)), "", "  ", out)?;
        }
    }
    let in_full = style.tables || style.all;
    // What a finding says of it is not said again.
    let is_told = !in_full && verdict::tells_loss(analysis);
    if !is_told {
        loss(analysis, out)?;
    }
    if style.tables {
        lost(analysis, out)?;
    }
    let shown = match (in_full, is_told) {
        (true, _) => analysis.warnings.len(),
        (false, true) => 0,
        (false, false) => NOTES,
    };
    for warning in analysis.warnings.iter().take(shown) {
        paragraph(&format!("Note: {warning}"), "", "  ", out)?;
    }
    match analysis.warnings.len().saturating_sub(shown) {
        0 => Ok(()),
        more => {
            let other = if shown > 0 { "more " } else { "" };
            writeln!(out, "{more} {other}{}: --tables", if more == 1 { "note" } else { "notes" })
        }
    }
}

fn heading(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let nodes: Vec<&str> = analysis.nodes.iter().map(|node| node.name.as_str()).collect();
    let shown = if nodes.len() > 4 { format!("{} nodes", nodes.len()) } else { nodes.join(", ") };
    let bytes: u64 = analysis.inputs.iter().map(|input| input.bytes).sum();
    let records: u64 = analysis.inputs.iter().map(|input| input.records).sum();
    writeln!(
        out,
        "{} from {shown}: {} records, {}",
        plural(analysis.inputs.len() as u64, "log"),
        thousands(records),
        human_bytes(bytes)
    )?;
    write!(out, "{}, {:.3} s", utc_millis(micros(analysis.window.start)), analysis.window.duration_s)?;
    match analysis.window.traced_s {
        Some(traced_s) => writeln!(out, ", of which {traced_s:.3} s were traced")?,
        None => writeln!(out)?,
    }
    if analysis.sent_by_clients().is_some() {
        // How many and what they were, the note says.
        return writeln!(out, "Logs of clients only: no RPC handled");
    }
    let totals = &analysis.totals;
    if let Some(selected) = analysis.selected.sentence() {
        paragraph(&selected, "", "  ", out)?;
    }
    if totals.rpcs + totals.sent_rpcs == 0 {
        return writeln!(out, "No RPC handled");
    }
    let of_servers = match totals.server_rpcs {
        0 => String::new(),
        some => format!(" ({} of them on servers' connections)", thousands(some)),
    };
    writeln!(out, "{} handled{of_servers}, {} sent", plural(totals.rpcs, "RPC"), thousands(totals.sent_rpcs))?;
    for (name, io, direction) in [("read", &totals.read, Direction::Read), ("written", &totals.write, Direction::Write)]
    {
        if io.rpcs == 0 {
            continue;
        }
        let doubt = io.doubt().map_or_else(String::new, |doubt| format!(" ({doubt})"));
        let moved = format!("{:>9} {name} in {}{doubt}", io.bytes_in_words(), plural(io.rpcs, "RPC"));
        paragraph(moved.trim_start(), &" ".repeat(moved.len() - moved.trim_start().len()), "          ", out)?;
        if let Some(available) = analysis.available(direction) {
            writeln!(
                out,
                "          at {} MiB/s: {} of available ({} MiB/s of {}, test `{}` of obdfilter-survey)",
                mib(available.bytes_per_s),
                percent(available.share(), 0),
                mib(available.ceiling_bytes_per_s),
                plural(available.osts, "OST"),
                available.test,
            )?;
        }
    }
    for (name, io) in [("read", &totals.dom_read), ("written", &totals.dom_write)] {
        if io.rpcs > 0 {
            writeln!(out, "{:>9} {name} on MDTs (Data-on-MDT) in {}", io.bytes_in_words(), plural(io.rpcs, "RPC"))?;
        }
    }
    Ok(())
}

/// The client and the job that took most of the servers' time, in a line.
fn most_time(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let all_us = analysis.clients.iter().filter_map(Client::server_us).sum::<u64>();
    let most = |name: Option<&str>, server_us: Option<u64>| {
        let part = share(server_us?, all_us);
        name.filter(|name| part > 0.0 && !name.is_empty()).map(|name| format!("{name} {}", percent(part, 0)))
    };
    let client = analysis.clients_by_server_time().first().and_then(|it| most(Some(&it.nid), it.server_us()));
    let job = analysis.jobs_by_server_time().first().and_then(|it| most(it.job.as_deref(), it.server_us()));
    let named: Vec<String> = client.into_iter().chain(job.map(|job| format!("job {job}"))).collect();
    if named.is_empty() {
        return Ok(());
    }
    paragraph(&format!("Most of the servers' time: {}", named.join(", ")), "", "  ", out)
}

/// The nodes and their clocks, if there are several.
fn nodes(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    if analysis.nodes.len() < 2 {
        return Ok(());
    }
    let reference = analysis.nodes.iter().find_map(|node| node.clock_reference.as_deref());
    let mut table = NumberTable::new(&["node", "role", "targets", "RPCs", "sent", "clock ms", "+- ms", "shifted"]);
    for node in analysis.nodes.iter().take(TOP) {
        let is_reference = reference == Some(&node.name);
        let known = |text: String| if is_reference { "-".to_owned() } else { text };
        table.row([
            node.name.clone(),
            node.role.map_or(UNKNOWN, NodeRole::name).to_owned(),
            thousands(node.targets.len() as u64),
            thousands(node.rpcs),
            thousands(node.sent_rpcs),
            known(milliseconds(node.clock_offset_us.map(signed), 3)),
            known(milliseconds(node.clock_error_us.map(real), 3)),
            known(if node.clock_aligned { "yes" } else { "no" }.to_owned()),
        ]);
    }
    let title = match reference {
        Some(reference) => format!("Nodes; clocks against that of {reference}, by RPCs between them"),
        None => "Nodes; their clocks could not be compared".to_owned(),
    };
    table.print(&title, analysis.nodes.len(), out)
}

#[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
fn signed(us: i64) -> f64 {
    us as f64
}

/// Where the time of RPCs goes, for clients whose log is there.
fn phases(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: Vec<&RpcPhases> = analysis.rpc_phases.iter().filter(|row| row.target.is_some()).collect();
    rows.sort_by_key(|row| (Reverse(row.rpcs), &row.client, &row.target));
    if rows.is_empty() {
        return Ok(());
    }
    let mut table = NumberTable::new(&["client", "target", "RPCs", "round trip", "there", "queue", "service", "back"]);
    for row in rows.iter().take(TOP) {
        let ms = |us| milliseconds(us, 2);
        table.row([
            row.client.clone(),
            row.target.clone().unwrap_or_default(),
            thousands(row.rpcs),
            ms(row.round_trip_us.mean),
            ms(row.network_out_us),
            ms(row.queue_us.mean),
            ms(row.service_us.mean),
            ms(row.network_back_us),
        ]);
    }
    table.print(
        "Phases of clients' RPCs, mean ms: on the way there, in queue and service, on the way back",
        rows.len(),
        out,
    )
}

fn osts(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: Vec<_> = analysis
        .targets
        .iter()
        .filter(|target| target.kind == TargetKindName::Ost || target.read.io.rpcs + target.write.io.rpcs > 0)
        .collect();
    rows.sort_by_key(|target| (Reverse(target.read.io.bytes + target.write.io.bytes), &target.name, &target.node));
    let unknown = &analysis.totals.unattributed;
    let mut table =
        NumberTable::new(&["target", "reads", "read", "r MiB/s", "r p99", "writes", "written", "w MiB/s", "w p99"]);
    for target in rows.iter().take(TOP) {
        let series = analysis
            .series
            .targets
            .iter()
            .find(|series| series.name.as_deref() == Some(&target.name) && series.node == target.node);
        table.row([
            target.name.clone(),
            thousands(target.read.io.rpcs),
            target.read.io.bytes_in_words(),
            rate(analysis, series, |s| &s.read_bytes),
            ms(target.read.latency.total_us.p99),
            thousands(target.write.io.rpcs),
            target.write.io.bytes_in_words(),
            rate(analysis, series, |s| &s.write_bytes),
            ms(target.write.latency.total_us.p99),
        ]);
    }
    if unknown.read.rpcs + unknown.write.rpcs > 0 {
        table.row([
            UNATTRIBUTED.to_owned(),
            thousands(unknown.read.rpcs),
            unknown.read.bytes_in_words(),
            String::new(),
            String::new(),
            thousands(unknown.write.rpcs),
            unknown.write.bytes_in_words(),
            String::new(),
            String::new(),
        ]);
    }
    let title =
        format!("Targets by bytes; MiB/s in bins of {} s with traffic; p99 of total time in ms", analysis.series.bin_s);
    table.print(&title, rows.len(), out)
}

/// Mean rate over the bins that have traffic.
fn rate(analysis: &Analysis, series: Option<&TargetSeries>, column: fn(&TargetSeries) -> &Vec<u64>) -> String {
    let Some(series) = series else { return String::new() };
    let busy: Vec<u64> = column(series).iter().copied().filter(|&bytes| bytes > 0).collect();
    if busy.is_empty() {
        return "-".to_owned();
    }
    let bytes: u64 = busy.iter().sum();
    mib(real(bytes) / real(busy.len() as u64) / analysis.series.bin_s)
}

fn clients<'a>(analysis: &'a Analysis, out: &mut dyn Write) -> io::Result<()> {
    let clients = analysis.clients_by_server_time().into_iter().filter(|client| !client.server);
    let user = |it: &'a Client| User {
        name: &it.nid,
        server_us: it.server_us(),
        rpcs: it.rpcs,
        read: &it.read,
        write: &it.write,
        others: it.targets,
    };
    users(["client", "targets"], "Clients", clients.map(user).collect(), out)
}

fn jobs<'a>(analysis: &'a Analysis, out: &mut dyn Write) -> io::Result<()> {
    let user = |it: &'a Job| {
        let name = it.job.as_deref().filter(|job| !job.is_empty())?;
        Some(User {
            name,
            server_us: it.server_us(),
            rpcs: it.rpcs,
            read: &it.read,
            write: &it.write,
            others: it.clients,
        })
    };
    users(["job", "clients"], "Jobs", analysis.jobs_by_server_time().into_iter().filter_map(user).collect(), out)
}

/// Who had requests handled.
struct User<'a> {
    name: &'a str,
    server_us: Option<u64>,
    rpcs: u64,
    read: &'a Io,
    write: &'a Io,
    /// How many others it has to do with.
    others: u64,
}

fn users([who, others]: [&str; 2], title: &str, rows: Vec<User<'_>>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = NumberTable::new(&[who, "server s", "RPCs", "reads", "read", "writes", "written", others]);
    for User { name, server_us, rpcs, read, write, others } in rows.iter().take(TOP) {
        table.row([
            (*name).to_owned(),
            server_us.map_or_else(|| UNKNOWN.to_owned(), |us| three_digits(real(us) / 1e6)),
            thousands(*rpcs),
            thousands(read.rpcs),
            read.bytes_in_words(),
            thousands(write.rpcs),
            write.bytes_in_words(),
            others.to_string(),
        ]);
    }
    table.print(&format!("{title} by the time that servers handled their RPCs"), rows.len(), out)
}

fn operations(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut table =
        NumberTable::new(&["operation", "service", "RPCs", "errors", "q p50", "q p99", "s p50", "s p99", "max"]);
    for operation in analysis.operations.iter().take(TOP) {
        let (queue, service) = (&operation.latency.queue_us, &operation.latency.service_us);
        table.row([
            operation.name.clone(),
            operation.service.clone(),
            thousands(operation.rpcs),
            thousands(operation.errors),
            ms(queue.p50),
            ms(queue.p99),
            ms(service.p50),
            ms(service.p99),
            ms(operation.latency.total_us.max),
        ]);
    }
    table.print(
        "Operations by count; ms in queue (q), in service (s); max: both together",
        analysis.operations.len(),
        out,
    )
}

fn locks(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let Some(locks) = &analysis.locks else { return Ok(()) };
    let totals = &locks.totals;
    if totals.blocking_asts + totals.completion_asts + totals.glimpse_asts + totals.kinds.client == 0 {
        return Ok(());
    }
    writeln!(out, "\nLocks on OSTs")?;
    paragraph(&locks.doubts().join(" "), "  ", "  ", out)?;
    writeln!(
        out,
        "  {} blocking, {} completion, {} glimpse callbacks sent",
        thousands(totals.blocking_asts),
        thousands(totals.completion_asts),
        thousands(totals.glimpse_asts)
    )?;
    let ConflictKinds { client, own, server } = totals.kinds;
    writeln!(
        out,
        "  conflicts: {} between clients, {} of a client with itself, {} of servers (unlink)",
        thousands(client),
        thousands(own),
        thousands(server)
    )?;
    if client == 0 {
        return Ok(());
    }
    if let (Some(overlap), Some(expansion)) = (totals.true_conflicts, totals.expansion_conflicts) {
        writeln!(
            out,
            "  of those between clients, {} really overlap, {} only hit an expanded lock",
            thousands(overlap),
            thousands(expansion)
        )?;
    }
    writeln!(out, "  clients waited {} in all, {} hand-overs", totals.wait_in_words(), thousands(totals.handovers))?;

    let mut table =
        NumberTable::new(&["contended target", "conflicts", "contended s", "wait p50", "p99 ms", "MiB/s then", "else"]);
    let contended: Vec<_> = locks.targets.iter().filter(|target| target.totals.conflicts > 0).collect();
    for target in contended.iter().take(TOP) {
        table.row([
            format!("{}{}", mark(target.is_inferred()), target.target),
            thousands(target.totals.conflicts),
            format!("{:.2}", target.contended_s),
            ms(target.wait_us.p50),
            ms(target.wait_us.p99),
            known(target.bandwidth_contended.map(mib)),
            known(target.bandwidth_uncontended.map(mib)),
        ]);
    }
    table.print("Contended targets; MiB/s while clients waited for locks, and else", contended.len(), out)?;

    let mut table = NumberTable::new(&["object", "conflicts", "same", "turns", "clients", "wait s"]);
    for object in locks.objects.iter().take(TOP) {
        let fight = if object.ping_pong { " ping-pong" } else { "" };
        table.row([
            format!("{}{}{fight}", mark(object.inferred), names::object(&object.target, object.id())),
            thousands(object.conflicts),
            object.true_conflicts.map_or_else(|| UNKNOWN.to_owned(), thousands),
            thousands(object.alternations),
            object.clients.len().to_string(),
            format!("{:.2}", object.wait_s),
        ]);
    }
    table.print("Objects that clients fight over; same: conflicts over the same bytes", locks.objects.len(), out)
}

/// What the time of lock requests was made of, if some of them waited for other clients.
fn lock_requests(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let it = &analysis.enqueue_parts;
    if it.all.waited == 0 {
        return Ok(());
    }
    let mut targets: Vec<_> = it.targets.iter().filter(|target| target.parts.waited > 0).collect();
    targets.sort_by_key(|target| Reverse(target.parts.lock_wait.sum_us));
    let rows = targets.iter().map(|target| (target_of(target.target.as_deref(), &target.node), &target.parts));
    let mut table =
        NumberTable::new(&["lock requests", "known", "waited", "mean ms", "queue", "service", "wait", "other"]);
    for (name, parts) in [("all".into(), &it.all)].into_iter().chain(rows).take(TOP) {
        let mean_ms = |part: &EnqueuePart| milliseconds(part.us.mean, 3);
        table.row([
            name.into_owned(),
            format!("{} of {}", thousands(parts.known()), thousands(parts.enqueues)),
            thousands(parts.waited),
            mean_ms(&parts.total),
            mean_ms(&parts.queue),
            mean_ms(&parts.service),
            mean_ms(&parts.lock_wait),
            mean_ms(&parts.other_wait),
        ]);
    }
    table.print("Lock requests: mean time of those whose parts are known, and its parts", targets.len() + 1, out)
}

/// How much is missing, in a line.
fn loss(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let loss = &analysis.loss;
    let why = if loss.estimated_lost_fraction.is_none() { format!(" ({})", loss.estimate) } else { String::new() };
    let counted: u64 = loss.by_service.iter().map(|service| service.counted_rpcs).sum();
    let of = match loss.decided_by {
        LossEvidence::Counters | LossEvidence::Mixed if counted > 0 => {
            format!(" of {} that the servers counted", thousands(counted))
        }
        LossEvidence::Unknown => String::new(),
        _ => format!(" of {} that the schedulers numbered", thousands(loss.nrs_sequence_seen + loss.nrs_sequence_gaps)),
    };
    paragraph(&format!("Loss: {}{why}{of}", loss.how_much()), "", "  ", out)
}

/// Of what it is missing, and what else there is only half of.
fn lost(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let loss = &analysis.loss;
    for it in loss.by_service.iter().filter(|it| it.lost_rpcs > 0) {
        let (lost, counted) = (thousands(it.lost_rpcs), thousands(it.counted_rpcs));
        let share = percent(it.lost_fraction, 2);
        writeln!(out, "  {} of {}: {lost} of {counted} lost, {share}", it.service, it.node)?;
    }
    for it in loss.by_target.iter().filter(|it| it.lost_rpcs_min > 0) {
        let lost = if it.lost_rpcs_min == it.lost_rpcs_max {
            thousands(it.lost_rpcs_max)
        } else {
            format!("{} to {}", thousands(it.lost_rpcs_min), thousands(it.lost_rpcs_max))
        };
        let bytes = it.counted_bytes.saturating_sub(it.seen_bytes);
        writeln!(
            out,
            "  {}: {lost} of {} reads and writes lost, {} of {}",
            it.target,
            thousands(it.counted_rpcs),
            human_bytes(bytes),
            human_bytes(it.counted_bytes)
        )?;
    }
    for (count, what) in [
        (loss.missing_handled, "started and not finished"),
        (loss.missing_handling, "finished without a start"),
        (loss.never_handled, "announced and never handled"),
        (analysis.totals.resent_rpcs, "resent by clients"),
        (analysis.totals.dropped_rpcs, "dropped before they were handled"),
    ] {
        if count > 0 {
            writeln!(out, "  {} {what}", plural(count, "RPC"))?;
        }
    }
    if analysis.totals.evictions > 0 {
        writeln!(out, "  {} by lock timers, callbacks or the pinger", plural(analysis.totals.evictions, "eviction"))?;
    }
    if loss.bad_records > 0 {
        let bytes: u64 = analysis.inputs.iter().map(|input| input.skipped_bytes).sum();
        let hold = if loss.bad_records == 1 { "holds" } else { "hold" };
        writeln!(out, "  {} that {hold} no record, {}", plural(loss.bad_records, "place"), plural(bytes, "byte"))?;
    }
    Ok(())
}

/// Before a name whose figures are inferred.
fn mark(is_inferred: bool) -> &'static str {
    if is_inferred { RULES.estimated } else { "" }
}

fn ms(us: Option<u64>) -> String {
    known(us.map(|us| three_digits(real(us) / 1000.0)))
}

/// A cell; `-` where there was nothing to measure.
fn known(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}
