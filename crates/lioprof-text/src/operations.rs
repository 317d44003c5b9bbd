//! Operations of clients as text: tables of 80 columns, JSON, CSV.

use std::io::{self, Write};

use lioprof_model::client_logs::{self, why_of_none};
use lioprof_model::units::{milliseconds, percent, plural, real, share, thousands};
use lioprof_model::{ClientLog, KindSums, OperationRow, Operations, Part, Quantiles, RpcSum, time};
use serde_json::{Value, json};

use crate::number_table::NumberTable;
use crate::style::paragraph;
use crate::tables::{Columns, cell};

/// Schema of the JSON.
pub const SCHEMA: &str = "lioprof.operations/1";

/// How many of the slowest operations are shown.
pub const SLOWEST: usize = 10;

/// How to print operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OperationsFormat {
    /// Tables for people, 80 columns.
    Summary,
    /// Figures by kind and the slowest operations as JSON, schema lioprof.operations/1.
    Json,
    /// One line per operation as CSV.
    Csv,
}

/// Writes operations; with `all`, tables for people also have percentiles of each part.
///
/// # Errors
/// Those of `out`.
pub fn write(operations: &Operations, format: OperationsFormat, all: bool, out: &mut dyn Write) -> io::Result<()> {
    match format {
        OperationsFormat::Summary => summary(operations, all, out),
        OperationsFormat::Json => {
            serde_json::to_writer(&mut *out, &to_json(operations))?;
            writeln!(out)
        }
        OperationsFormat::Csv => to_csv(operations, out),
    }
}

fn ms(us: u64) -> String {
    milliseconds(Some(real(us)), if us < 100_000 { 2 } else { 0 })
}

fn summary(operations: &Operations, all: bool, out: &mut dyn Write) -> io::Result<()> {
    if operations.rows.is_empty() {
        let none = "No operations and no RPCs in these logs, or none that were asked for.";
        paragraph(&format!("{none}{}", unawaited(operations)), "", "", out)?;
        return notes(operations, out);
    }
    paragraph(&heading(operations), "", "", out)?;
    notes(operations, out)?;
    let kinds = operations.by_kind();
    let mut table = NumberTable::new(&["operation", "count", "p50 ms", "p90 ms", "p99 ms", "max ms", "sum s", "RPCs"]);
    for kind in &kinds {
        let Quantiles { p50, p90, p99, max, total } = kind.duration_us;
        let rows = operations.rows.iter().filter(|row| row.asked == kind.asked);
        let rpcs: u64 = rows.map(|row| u64::from(row.rpcs)).sum();
        let sum = format!("{:.3}", real(total) / 1e6);
        let count = thousands(kind.count);
        table.row([kind.asked.to_string(), count, ms(p50), ms(p90), ms(p99), ms(max), sum, thousands(rpcs)]);
    }
    table.print("How long they took", 0, out)?;
    shares(&kinds, out)?;
    if all {
        for kind in &kinds {
            percentiles(kind, out)?;
        }
    }
    of_none(operations, out)?;
    writeln!(out, "\nThe slowest, in ms")?;
    for row in operations.slowest(SLOWEST) {
        paragraph(&line(row), "  ", "      ", out)?;
    }
    Ok(())
}

fn heading(operations: &Operations) -> String {
    let count = operations.rows.len() as u64;
    if !operations.from_clients {
        return format!(
            "{}, as servers tell: there is no log of a client with operations in it, so that the client's part is unknown, and of \
             the network all but how long data took (docs/operations.md says how to capture one).{}",
            plural(count, "RPC"),
            unawaited(operations)
        );
    }
    let mut text = format!(
        "{} of clients, with {}: the servers' logs have {} of these.",
        plural(count, "operation"),
        plural(operations.owned_rpcs, "RPC"),
        thousands(operations.joined_rpcs),
    );
    let background = operations.read_ahead_rpcs + operations.write_back_rpcs;
    if background > 0 {
        text += &format!(
            " In the whole capture {} of read-ahead and {} of write-back belong to no operation.",
            plural(operations.read_ahead_rpcs, "RPC"),
            thousands(operations.write_back_rpcs)
        );
    }
    if operations.unfinished > 0 {
        let unfinished = plural(operations.unfinished, "more operation");
        text += &format!(" Of {unfinished} one end is missing; they are not counted.");
    }
    if !operations.clocks_known {
        text += " The clocks of some nodes could not be compared: times of the network are unknown there.";
    }
    text
}

/// Which operations clients log, and what was inferred.
fn notes(operations: &Operations, out: &mut dyn Write) -> io::Result<()> {
    let notes = client_logs::notes(&operations.clients);
    if notes.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    paragraph(&notes.join(" "), "", "", out)
}

/// The clients' RPCs that belong to no operation, by what they asked for.
fn of_none(operations: &Operations, out: &mut dyn Write) -> io::Result<()> {
    let of_none = operations.no_operation();
    if !operations.from_clients || of_none.is_empty() {
        return Ok(());
    }
    let RpcSum { rpcs, round_trip_us } = RpcSum::of(of_none.values());
    let of_all = format!("{} of {}", thousands(rpcs), plural(operations.rpcs, "RPC"));
    writeln!(out, "\nOf no operation: {of_all}, {:.3} s from sending to reply", real(round_trip_us) / 1e6)?;
    for (opcode, sum) in &of_none {
        let RpcSum { rpcs, round_trip_us } = *sum;
        let (rpcs, sum_s) = (thousands(rpcs), real(round_trip_us) / 1e6);
        let line = format!("{:<15} {rpcs:>7} {sum_s:>9.3} s  {}", opcode.to_string(), why_of_none(*opcode));
        writeln!(out, "  {}", line.trim_end())?;
    }
    Ok(())
}

/// What of the servers' RPCs is not shown.
fn unawaited(operations: &Operations) -> String {
    let rpcs = operations.unawaited_rpcs;
    if rpcs == 0 {
        return String::new();
    }
    let are = if rpcs == 1 { "is" } else { "are" };
    format!(
        " {} {are} left out, since no program waits for them: pings, statfs, cancels, callbacks.",
        plural(rpcs, "more RPC")
    )
}

/// Which part of the time of all operations of a kind went where.
fn shares(kinds: &[KindSums], out: &mut dyn Write) -> io::Result<()> {
    let header =
        ["operation", "client", "c.queue", "out", "s.queue", "lock", "server", "disk", "back", "other", "unknown"];
    let mut table = NumberTable::new(&header);
    for kind in kinds {
        let mut cells: [String; 11] = Default::default();
        cells[0] = kind.asked.to_string();
        for (cell, us) in cells.iter_mut().skip(1).zip(&kind.parts_us) {
            let of_all = |us: &Quantiles| format!("{:.1}", 100.0 * share(us.total, kind.duration_us.total));
            *cell = us.as_ref().map_or_else(|| "?".to_owned(), of_all);
        }
        table.row(cells);
    }
    table.print("Where the time went, in %; out and back: network", 0, out)
}

fn percentiles(kind: &KindSums, out: &mut dyn Write) -> io::Result<()> {
    let mut table = NumberTable::new(&["part", "p50 ms", "p90 ms", "p99 ms", "max ms", "share"]);
    for (part, us) in kind.parts() {
        let of_all = percent(share(us.total, kind.duration_us.total), 1);
        table.row([words(part), ms(us.p50), ms(us.p90), ms(us.p99), ms(us.max), of_all]);
    }
    table.print(&format!("Parts of {}", kind.asked), 0, out)
}

/// A part's name for people.
fn words(part: Part) -> String {
    part.name().replace('_', " ")
}

/// An operation as a line of its parts, the largest first.
fn line(row: &OperationRow) -> String {
    let mut parts: Vec<(Part, u64)> = Part::ALL.into_iter().map(|part| (part, row.parts.get(part))).collect();
    parts.retain(|(_, us)| *us > 0);
    parts.sort_by_key(|(part, us)| (std::cmp::Reverse(*us), *part));
    let parts: Vec<String> = parts.into_iter().map(|(part, us)| format!("{} {}", words(part), ms(us))).collect();
    let fid = row.fid.map(|fid| format!(" {fid}")).unwrap_or_default();
    let name = row.name.as_ref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let (took, begin) = (ms(row.duration_us), time::utc_millis(row.begin_us));
    format!("{took} {} {}{fid}{name} pid {} at {begin}: {}", row.node, row.asked, row.pid, parts.join(", "))
}

fn to_json(operations: &Operations) -> Value {
    let kinds: Vec<Value> = operations.by_kind().iter().map(kind_json).collect();
    let slowest: Vec<Value> = operations.slowest(SLOWEST).into_iter().map(row_json).collect();
    json!({
        "schema": SCHEMA,
        "from_clients": operations.from_clients,
        "operations": operations.rows.len(),
        "unawaited_rpcs": operations.unawaited_rpcs,
        "unfinished": operations.unfinished,
        "rpcs": operations.rpcs,
        "owned_rpcs": operations.owned_rpcs,
        "joined_rpcs": operations.joined_rpcs,
        "read_ahead_rpcs": operations.read_ahead_rpcs,
        "write_back_rpcs": operations.write_back_rpcs,
        "clocks_known": operations.clocks_known,
        "inferred": operations.inferred(),
        "clients": operations.clients.iter().map(client_json).collect::<Vec<_>>(),
        "kinds": kinds,
        "slowest": slowest,
    })
}

fn client_json(client: &ClientLog) -> Value {
    let RpcSum { rpcs, round_trip_us } = client.no_operation_sum();
    let by_opcode: Vec<Value> = client
        .no_operation
        .iter()
        .map(|(opcode, sum)| {
            json!({ "opcode": opcode.to_string(), "rpcs": sum.rpcs, "round_trip_us": sum.round_trip_us })
        })
        .collect();
    json!({
        "node": &*client.node,
        "logged": client.logged,
        "not_logged": client.not_logged(),
        "inferred": client.inferred,
        "rpcs": client.rpcs,
        "logged_rpcs": client.logged_rpcs,
        "inferred_rpcs": client.inferred_rpcs,
        "no_operation": { "rpcs": rpcs, "round_trip_us": round_trip_us, "by_opcode": by_opcode },
    })
}

fn kind_json(kind: &KindSums) -> Value {
    let figures =
        |us: &Quantiles| json!({ "p50": us.p50, "p90": us.p90, "p99": us.p99, "max": us.max, "total": us.total });
    let parts: serde_json::Map<String, Value> = Part::ALL
        .into_iter()
        .zip(&kind.parts_us)
        .map(|(part, us)| (part.name_us().to_owned(), us.as_ref().map_or(Value::Null, figures)))
        .collect();
    json!({
        "operation": kind.asked.name(),
        "inferred": kind.asked.is_inferred(),
        "evidence": &kind.evidence,
        "count": kind.count,
        "duration_us": figures(&kind.duration_us),
        "parts": parts,
    })
}

fn row_json(row: &OperationRow) -> Value {
    let parts: serde_json::Map<String, Value> =
        Part::ALL.into_iter().map(|part| (part.name_us().to_owned(), json!(row.part_us(part)))).collect();
    json!({
        "node": &*row.node,
        "pid": row.pid,
        "operation": row.asked.name(),
        "inferred": row.asked.is_inferred(),
        "evidence": row.evidence,
        "fid": row.fid.map(|fid| fid.to_string()),
        "begin_us": row.begin_us,
        "duration_us": row.duration_us,
        "begin_evidence": row.begin_evidence,
        "result": row.result,
        "rpcs": row.rpcs,
        "joined_rpcs": row.joined_rpcs,
        "parts": parts,
    })
}

fn to_csv(operations: &Operations, out: &mut dyn Write) -> io::Result<()> {
    let mut columns = Columns::<OperationRow>::new([
        ("node", |it| it.node.to_string()),
        ("pid", |it| it.pid.to_string()),
        ("operation", |it| it.asked.name()),
        ("fid", |it| cell(it.fid)),
        ("begin_us", |it| it.begin_us.to_string()),
        ("duration_us", |it| it.duration_us.to_string()),
        ("begin_evidence", |it| it.begin_evidence.name().to_owned()),
        ("result", |it| cell(it.result)),
        ("rpcs", |it| it.rpcs.to_string()),
        ("joined_rpcs", |it| it.joined_rpcs.to_string()),
    ]);
    for part in Part::ALL {
        columns.push(part.name_us(), move |it| cell(it.part_us(part)));
    }
    columns.push("evidence", |it| it.evidence.name().to_owned());
    columns.write(&operations.rows, out)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lioprof_model::{Asked, BeginEvidence, Evidence, Parts};
    use lustre_debuglog::vocab::OperationKind;
    use lustre_debuglog::{Fid, Opcode};

    use super::*;

    fn made_up(asked: Asked) -> Operations {
        let mut parts = Parts::default();
        parts.add(Part::ServerWork, 30_000);
        parts.add(Part::Unknown, 12_345);
        let row = OperationRow {
            node: Arc::from("client"),
            pid: 7,
            asked,
            fid: Some(Fid { seq: 0x2_0000_0401, oid: 0x2a, ver: 0 }),
            name: None,
            begin_us: 1_700_000_000_000_000,
            duration_us: 42_345,
            begin_evidence: BeginEvidence::PathWalk,
            evidence: Evidence::Logged,
            result: Some(-2),
            rpcs: 1,
            joined_rpcs: 1,
            parts,
            stretches: Vec::new(),
            sent: Vec::new(),
            axis_us: 0,
        };
        let from_clients = matches!(asked, Asked::Operation(_));
        Operations {
            rows: vec![row],
            from_clients,
            owned_rpcs: 1,
            joined_rpcs: 1,
            clocks_known: true,
            ..Operations::default()
        }
    }

    fn text(operations: &Operations, format: OperationsFormat) -> String {
        let mut out = Vec::new();
        write(operations, format, true, &mut out).unwrap_or_else(|err| panic!("{err}"));
        String::from_utf8(out).unwrap_or_else(|err| panic!("{err}"))
    }

    #[test]
    fn tables_fit_a_terminal_and_tell_the_parts() {
        let summary = text(&made_up(Asked::Operation(OperationKind::Open)), OperationsFormat::Summary);
        assert!(summary.lines().all(|line| line.chars().count() <= 80), "{summary}");
        assert!(summary.contains("42.34 client open [0x200000401:0x2a:0x0] pid 7"), "{summary}");
        assert!(summary.contains("server work 30.00, unknown 12.34") || summary.contains("unknown 12.35"), "{summary}");
        let mut named = made_up(Asked::Operation(OperationKind::Open));
        named.rows[0].name = Some(Arc::from("long name ".repeat(30)));
        let summary = text(&named, OperationsFormat::Summary);
        assert!(summary.lines().all(|line| line.chars().count() <= 80), "{summary}");
        assert!(summary.contains("[0x200000401:0x2a:0x0] \"long name"), "{summary}");
        for format in [OperationsFormat::Json, OperationsFormat::Csv] {
            assert!(!text(&named, format).contains("long name"));
        }
        let servers = text(&made_up(Asked::Rpc(Opcode::LDLM_ENQUEUE)), OperationsFormat::Summary);
        assert!(servers.lines().all(|line| line.chars().count() <= 80), "{servers}");
        assert!(servers.contains('?'), "{servers}");
    }

    #[test]
    fn what_clients_do_not_log_is_said() {
        let mut inferred = made_up(Asked::Inferred(OperationKind::Open));
        inferred.from_clients = true;
        inferred.rows[0].evidence = Evidence::EntryLine;
        inferred.rpcs = 22;
        let sum = |rpcs, round_trip_us| RpcSum { rpcs, round_trip_us };
        inferred.clients = vec![ClientLog {
            node: Arc::from("client"),
            logged: vec![OperationKind::Read, OperationKind::Write],
            inferred: vec![OperationKind::Open],
            rpcs: 22,
            logged_rpcs: 0,
            inferred_rpcs: 1,
            no_operation: [(Opcode::LDLM_ENQUEUE, sum(20, 154_000)), (Opcode::MDS_CLOSE, sum(1, 1_000))].into(),
        }];
        let summary = text(&inferred, OperationsFormat::Summary);
        assert!(summary.lines().all(|line| line.chars().count() <= 80), "{summary}");
        let words = summary.split_whitespace().collect::<Vec<_>>().join(" ");
        for sentence in [
            "The log of client has lines of reads and writes only; its opens (*) were inferred",
            "21 of its 22 RPCs (0.155 s from sending to reply) belong to no operation",
            "open* 1 42.34",
            "Of no operation: 21 of 22 RPCs, 0.155 s from sending to reply MDS_CLOSE 1 0.001 s closes by",
            "LDLM_ENQUEUE 20 0.154 s walks,",
        ] {
            assert!(words.contains(sentence), "{sentence}: {summary}");
        }
        let json: Value = serde_json::from_str(&text(&inferred, OperationsFormat::Json)).unwrap_or_default();
        let kind = &json["kinds"][0];
        assert_eq!((&kind["operation"], &kind["inferred"]), (&"open".into(), &true.into()));
        assert_eq!(kind["evidence"], json!({ "entry_line": 1 }));
        assert_eq!(json["slowest"][0]["evidence"], "entry_line");
        let client = &json["clients"][0];
        assert_eq!(client["not_logged"], json!(["open", "close", "fsync", "stat"]));
        assert_eq!(
            client["no_operation"]["by_opcode"][0],
            json!({ "opcode": "MDS_CLOSE", "rpcs": 1, "round_trip_us": 1000 })
        );
        let csv = text(&inferred, OperationsFormat::Csv);
        assert!(csv.lines().nth(1).unwrap_or_default().ends_with(",entry_line"), "{csv}");
        // Servers alone: how many RPCs the client sent is said all the same.
        let mut servers = made_up(Asked::Rpc(Opcode::LDLM_ENQUEUE));
        servers.clients = inferred.clients;
        servers.clients[0].logged.clear();
        servers.clients[0].inferred.clear();
        let words = text(&servers, OperationsFormat::Summary).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("The log of client has no lines of operations. 21 of its 22 RPCs"), "{words}");
    }

    #[test]
    fn what_servers_cannot_tell_is_empty_or_null() {
        let servers = made_up(Asked::Rpc(Opcode::OST_WRITE));
        let csv = text(&servers, OperationsFormat::Csv);
        let line = csv.lines().nth(1).unwrap_or_default();
        assert!(line.ends_with(",path_walk,-2,1,1,,,0,0,0,30000,0,0,,12345,logged"), "{line}");
        let json: Value = serde_json::from_str(&text(&servers, OperationsFormat::Json)).unwrap_or_default();
        assert_eq!(json["slowest"][0]["parts"]["client_work_us"], Value::Null);
        assert_eq!(json["slowest"][0]["parts"]["server_work_us"], 30_000);
        assert_eq!(json["kinds"][0]["parts"]["unknown_us"]["p99"], 12_345);
    }
}
