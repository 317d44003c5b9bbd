//! What the logs tell besides requests: a table by kind, client, target and hour.

use std::collections::BTreeMap;
use std::io::{self, Write};

use lioprof_model::time::utc_of;
use lioprof_model::units::{human_bytes, plural, thousands};
use lioprof_model::{Analysis, Event, EventKind, Input};

use crate::number_table::{NumberTable, TOP};
use crate::style::paragraph;

/// Seconds of a row of the table.
const HOUR_S: f64 = 3600.0;

/// The head of the tables where there is no debug log.
pub(crate) fn heading(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut nodes: Vec<&str> = analysis.inputs.iter().map(|input| input.node.as_str()).collect();
    nodes.dedup();
    let shown = if nodes.len() > 4 { format!("{} nodes", nodes.len()) } else { nodes.join(", ") };
    let sum = |figure: fn(&Input) -> u64| analysis.inputs.iter().map(figure).sum::<u64>();
    writeln!(
        out,
        "{} from {shown}: {} lines of the kernel, {} of them of Lustre; {}",
        plural(analysis.inputs.len() as u64, "kernel log"),
        thousands(sum(|input| input.records)),
        thousands(sum(|input| input.messages)),
        human_bytes(sum(|input| input.bytes)),
    )?;
    let times: Vec<f64> = analysis.events.iter().filter_map(|event| event.time).collect();
    if let (Some(first), Some(last)) = (times.first(), times.last()) {
        writeln!(out, "{} to {}", utc_of(*first), utc_of(*last))?;
    }
    paragraph(
        "A kernel log tells of events, not of requests: for figures of I/O give a debug log (`lctl debug_file`, `lctl dk`).",
        "",
        "  ",
        out,
    )
}

/// What the table counts.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Row<'a> {
    /// Place of the kind, worst first.
    kind: usize,
    target: &'a str,
    client: &'a str,
    hour: String,
}

/// The table, if there are events.
pub(crate) fn write(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: BTreeMap<Row<'_>, (u64, &Event)> = BTreeMap::new();
    for event in &analysis.events {
        let row = Row {
            kind: EventKind::ALL.iter().position(|kind| *kind == event.kind).unwrap_or(usize::MAX),
            target: event.target.as_deref().unwrap_or("-"),
            client: event.client.as_deref().unwrap_or("-"),
            hour: event.time.map_or("-".to_owned(), |time| hour((time / HOUR_S).floor() * HOUR_S)),
        };
        rows.entry(row).or_insert((0, event)).0 += 1;
    }
    let mut table = NumberTable::new(&["event", "target", "client", "hour (UTC)", "events"]);
    let all = rows.len();
    for (row, (events, event)) in rows.iter().take(TOP) {
        table.row([
            event.kind.as_str().replace('_', " "),
            row.target.to_owned(),
            row.client.to_owned(),
            row.hour.clone(),
            thousands(*events),
        ]);
    }
    table.print(&format!("Events that the logs tell: {}", counts(analysis)), all, out)?;
    let kinds = EventKind::ALL.into_iter().filter_map(|kind| Some((kind, analysis.others.get(&Event::rest_of(kind))?)));
    for (kind, rest) in kinds {
        writeln!(out, "  {} are not listed: the earliest are", plural(rest.rows, kind.noun()))?;
    }
    if analysis.events.is_empty() {
        return Ok(());
    }
    paragraph(
        "When each of them was, and why, is in `--format json` under `events` (and in events.csv, with -o).",
        "  ",
        "  ",
        out,
    )
}

/// `2 evictions, 7 LNet errors`, worst first.
pub(crate) fn counts(analysis: &Analysis) -> String {
    let count = |kind: EventKind| {
        let listed = analysis.events.iter().filter(|event| event.kind == kind).count() as u64;
        listed + analysis.others.get(&Event::rest_of(kind)).map_or(0, |rest| rest.rows)
    };
    let told = EventKind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, events)| *events > 0);
    told.map(|(kind, events)| plural(events, kind.noun())).collect::<Vec<_>>().join(", ")
}

/// `11-25 09h`.
fn hour(start: f64) -> String {
    let text = utc_of(start);
    format!("{} {}h", text.get(5..10).unwrap_or_default(), text.get(11..13).unwrap_or_default())
}
