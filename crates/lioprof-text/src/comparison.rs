//! A comparison for people: 80 columns, what came and went first.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Ansi};
use lioprof_model::comparison::{figure_name, percent};
use lioprof_model::units::{human_bytes, thousands};
use lioprof_model::{ChangeVerdict, CheckResult, Comparison, Figure, FindingChange, Row, Rows, Severity};

use crate::number_table::{NumberTable, TOP};
use crate::style::{Color, WIDTH, paragraph, style_of};

/// Writes a comparison for people.
///
/// # Errors
/// Those of `out`.
pub fn write(comparison: &Comparison, color: Color, out: &mut dyn Write) -> io::Result<()> {
    for line in textwrap::wrap(&comparison.verdict(), WIDTH) {
        writeln!(out, "{}", color.paint(Ansi::new().bold(), &line))?;
    }
    findings(comparison, color, out)?;
    for note in &comparison.notes {
        paragraph(&format!("Note: {note}."), "", "  ", out)?;
    }
    let sum = |side: &lioprof_model::Side| {
        let activity = side.activity_s.map_or_else(|| "no I/O of OSTs".to_owned(), |s| format!("I/O during {s:.3} s"));
        format!("{activity}, {} bins of {} s with traffic", thousands(side.busy_bins), side.bin_s)
    };
    writeln!(out, "\nBefore: {}\nAfter:  {}", sum(&comparison.before), sum(&comparison.after))?;
    figures("All", &comparison.totals, &TOTALS, out)?;
    figures("Locks", &comparison.locks, &LOCKS, out)?;
    targets(&comparison.targets, out)?;
    clients(&comparison.clients, out)?;
    operations(&comparison.operations, out)?;
    writeln!(
        out,
        "\nChange +- its noise (standard error); a change within {} times its noise is none.",
        comparison.rules.noise_factor
    )?;
    unknown(comparison, out)
}

fn findings(comparison: &Comparison, color: Color, out: &mut dyn Write) -> io::Result<()> {
    let changes = &comparison.findings;
    let one = |sign: &str, change: &FindingChange, style: AnsiColor, rest: String, out: &mut dyn Write| {
        let severity = color.paint(style_of(change.finding.severity), change.finding.severity.name());
        let sign = color.paint(style.on_default().bold(), sign);
        writeln!(out, "\n{sign} {severity} {}", change.finding.id)?;
        paragraph(&format!("{}.{rest}", change.finding.title), "  ", "  ", out)
    };
    for change in &changes.gained {
        let rest = unjudged(change, "before");
        one("NEW", change, AnsiColor::Red, rest, out)?;
        let remedy = change.finding.remedies.first().filter(|_| change.finding.severity > Severity::Info);
        if let Some(remedy) = remedy {
            paragraph(remedy, "  -> ", "     ", out)?;
        }
    }
    for change in &changes.lost {
        let rest = unjudged(change, "after");
        one(if rest.is_empty() { "GONE" } else { "NOT SEEN" }, change, AnsiColor::Green, rest, out)?;
    }
    for pair in changes.kept.iter().filter(|pair| pair.before.severity.max(pair.after.severity) > Severity::Info) {
        let severity = color.paint(style_of(pair.after.severity), pair.after.severity.name());
        let was = if pair.before.severity == pair.after.severity {
            String::new()
        } else {
            format!(" (was {})", pair.before.severity.name())
        };
        writeln!(out, "\nSTILL {severity} {}{was}", pair.after.id)?;
        paragraph(&format!("before: {}.", pair.before.title), "  ", "    ", out)?;
        paragraph(&format!("after:  {}.", pair.after.title), "  ", "    ", out)?;
    }
    Ok(())
}

/// That it may have been there all the same.
fn unjudged(change: &FindingChange, side: &str) -> String {
    if change.other != Some(CheckResult::NotEnoughEvidence) {
        return String::new();
    }
    let reason = change.other_reason.as_deref().unwrap_or("unknown why");
    format!(" Not judged {side}: {reason}.")
}

/// Names of figures, in the order in which they are shown.
const TOTALS: [&str; 18] = [
    "activity_s",
    "bandwidth_bytes_per_s",
    "read_bandwidth_bytes_per_s",
    "write_bandwidth_bytes_per_s",
    "read_total_p50_us",
    "read_total_p90_us",
    "read_total_p99_us",
    "write_total_p50_us",
    "write_total_p90_us",
    "write_total_p99_us",
    "bytes",
    "read_bytes",
    "written_bytes",
    "rpcs",
    "read_rpcs",
    "write_rpcs",
    "rpcs_per_s",
    "window_s",
];
const LOCKS: [&str; 6] =
    ["wait_s", "lock_wait_s_per_gib", "conflicts", "conflicts_per_gib", "alternations", "alternations_per_gib"];

fn figures(title: &str, all: &BTreeMap<String, Figure>, names: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let mut table = NumberTable::new(&["figure", "before", "after", "change", "+-", "verdict"]);
    let anything = |figure: &Figure| [figure.before, figure.after].iter().flatten().any(|value| *value != 0.0);
    for (name, figure) in names.iter().filter_map(|name| Some((*name, all.get(*name)?))).filter(|it| anything(it.1)) {
        table.row([
            format!("{}{}", label(name), if figure.headline { " *" } else { "" }),
            value(name, figure.before),
            value(name, figure.after),
            change(figure),
            noise(figure),
            verdict(figure).to_owned(),
        ]);
    }
    let title = format!("{title} (* decides whether a run became worse)");
    table.print(&title, 0, out)
}

/// A figure's name with the unit that its values do not have.
fn label(name: &str) -> String {
    let per = match name {
        "rpcs_per_s" => " per s",
        name if name.ends_with("_per_gib") => " per GiB",
        _ => "",
    };
    format!("{}{per}", figure_name(name))
}

fn targets(rows: &Rows, out: &mut dyn Write) -> io::Result<()> {
    for (title, io, past) in [("read", "read", "read"), ("written", "write", "written")] {
        let mut table = NumberTable::new(&[
            "OST",
            &format!("{title} before"),
            "after",
            "MiB/s",
            "after",
            "change",
            "+-",
            "verdict",
        ]);
        let moved = |row: &&Row| {
            let bytes = row.figures.get(&format!("{past}_bytes"));
            bytes.is_some_and(|it| it.before.unwrap_or(1.0) + it.after.unwrap_or(1.0) > 0.0)
        };
        let rows_of: Vec<&Row> = rows.rows.iter().filter(moved).collect();
        for row in rows_of.iter().take(TOP) {
            let bytes = row.figures.get(&format!("{past}_bytes"));
            let rate = row.figures.get(&format!("{io}_bandwidth_bytes_per_s"));
            let (Some(bytes), Some(rate)) = (bytes, rate) else { continue };
            table.row([
                name(row),
                value("bytes", bytes.before),
                value("bytes", bytes.after),
                mib(rate.before),
                mib(rate.after),
                change(rate),
                noise(rate),
                verdict(rate).to_owned(),
            ]);
        }
        let all = rows_of.len() + usize::try_from(rows.left_out).unwrap_or(0);
        table.print(&format!("OSTs: bytes {title}, and MiB/s while they were"), all, out)?;
    }
    Ok(())
}

fn clients(rows: &Rows, out: &mut dyn Write) -> io::Result<()> {
    let mut table = NumberTable::new(&["client", "RPCs before", "after", "MiB/s", "after", "change", "+-", "verdict"]);
    for row in rows.rows.iter().take(TOP) {
        let (Some(rpcs), Some(rate)) = (row.figures.get("rpcs"), row.figures.get("bandwidth_bytes_per_s")) else {
            continue;
        };
        table.row([
            name(row),
            value("rpcs", rpcs.before),
            value("rpcs", rpcs.after),
            mib(rate.before),
            mib(rate.after),
            change(rate),
            noise(rate),
            verdict(rate).to_owned(),
        ]);
    }
    let all = rows.rows.len() + usize::try_from(rows.left_out).unwrap_or(0);
    table.print("Clients: RPCs, and MiB/s of reads and writes over the time of I/O", all, out)
}

fn operations(rows: &Rows, out: &mut dyn Write) -> io::Result<()> {
    let mut table =
        NumberTable::new(&["operation", "RPCs before", "after", "p99 ms", "after", "change", "+-", "verdict"]);
    for row in rows.rows.iter().take(TOP) {
        let (Some(rpcs), Some(p99)) = (row.figures.get("rpcs"), row.figures.get("total_p99_us")) else { continue };
        table.row([
            row.name.split_once(' ').map_or(row.name.as_str(), |(operation, _)| operation).to_owned(),
            value("rpcs", rpcs.before),
            value("rpcs", rpcs.after),
            ms(p99.before),
            ms(p99.after),
            change(p99),
            noise(p99),
            verdict(p99).to_owned(),
        ]);
    }
    let all = rows.rows.len() + usize::try_from(rows.left_out).unwrap_or(0);
    table.print("Operations by count; p99 of queue and service together", all, out)
}

/// Why headline figures could not be judged.
fn unknown(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let unknown = comparison.headlines().filter(|(_, figure)| figure.verdict == ChangeVerdict::Unknown);
    for (name, figure) in unknown.filter(|(_, figure)| figure.before.or(figure.after).is_some()) {
        let reason = figure.reason.as_deref().unwrap_or("no reason known");
        paragraph(&format!("Not judged: {}, {reason}.", figure_name(name)), "", "  ", out)?;
    }
    Ok(())
}

/// The name, with a sign if only one side has it.
fn name(row: &Row) -> String {
    let only = match (row.is_before, row.is_after) {
        (true, false) => " (before)",
        (false, true) => " (after)",
        _ => "",
    };
    format!("{}{only}", row.name)
}

fn value(name: &str, value: Option<f64>) -> String {
    let Some(value) = value else { return "?".to_owned() };
    if name.ends_with("bytes_per_s") {
        return format!("{} MiB/s", mib(Some(value)));
    }
    if name.ends_with("bytes") {
        return human_bytes(whole(value));
    }
    if name.ends_with("_us") {
        return format!("{} ms", ms(Some(value)));
    }
    if name.ends_with("_s_per_gib") || (name.ends_with("_s") && !name.ends_with("_per_s")) {
        return format!("{} s", digits(value));
    }
    if value == value.trunc() { thousands(whole(value)) } else { digits(value) }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts, never negative, shown to people")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

fn mib(rate: Option<f64>) -> String {
    rate.map_or_else(|| "?".to_owned(), |rate| format!("{:.1}", rate / f64::from(1 << 20)))
}

fn ms(us: Option<f64>) -> String {
    us.map_or_else(|| "?".to_owned(), |us| digits(us / 1000.0))
}

/// Three significant digits.
fn digits(value: f64) -> String {
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$}")
}

fn change(figure: &Figure) -> String {
    figure.change.map_or_else(String::new, percent)
}

fn noise(figure: &Figure) -> String {
    match (figure.change, figure.noise) {
        (Some(_), None) => "?".to_owned(),
        (Some(_), Some(noise)) if figure.better.is_some() => percent(noise).trim_start_matches('+').to_owned(),
        _ => String::new(),
    }
}

/// The verdict, where there can be one.
fn verdict(figure: &Figure) -> &'static str {
    match figure.verdict {
        ChangeVerdict::Unknown if figure.better.is_none() => "",
        ChangeVerdict::Same if figure.better.is_none() => "same",
        other => other.name(),
    }
}
