//! A comparison for people: 80 columns, what came and went first.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Ansi};
use lioprof_model::units::{self, Measure, UNKNOWN, figure_label, figure_name, mib, thousands, three_digits};
use lioprof_model::{ChangeVerdict, Comparison, Figure, FindingChange, Row, Rows, Severity};

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
    writeln!(out)?;
    let limit = format!("{:.0} %", 100.0 * comparison.rules.min_change);
    let sure = 100.0 - 100.0 * comparison.rules.error_rate;
    paragraph(
        &format!(
            "Interval: where the change lies, {sure:.0} % sure, and more where a table has many figures. Better, worse: the whole \
             interval lies on one side of 0 and reaches beyond {limit}. Same: it is within {limit}. {UNKNOWN}: cannot tell."
        ),
        "",
        "",
        out,
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
        let remedy = change.finding.remedies.first().filter(|_| change.finding.is_more_than_a_note());
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
    if change.is_judged() {
        return String::new();
    }
    let reason = change.other_reason.as_deref().unwrap_or("unknown why");
    format!(" Cannot tell whether it was there {side}: {reason}.")
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
    let mut table = NumberTable::new(&["figure", "before", "after", "change", "interval", "verdict"]);
    let anything = |figure: &Figure| [figure.before, figure.after].iter().flatten().any(|value| *value != 0.0);
    for (name, figure) in names.iter().filter_map(|name| Some((*name, all.get(*name)?))).filter(|it| anything(it.1)) {
        table.row([
            format!("{}{}", figure_label(name), if figure.headline { " *" } else { "" }),
            value(name, figure.before),
            value(name, figure.after),
            change(figure),
            interval(figure),
            verdict(figure).to_owned(),
        ]);
    }
    let title = format!("{title} (* decides whether a run became worse)");
    table.print(&title, 0, out)
}

/// A table of two figures per row, of which the second one is judged.
struct Pairs<'a> {
    title: &'a str,
    /// What a row is, and the two figures.
    header: [&'a str; 3],
    figures: [&'a str; 2],
    /// How the second figure is shown.
    second: fn(f64) -> String,
    name: fn(&Row) -> String,
}

impl Pairs<'_> {
    fn print(&self, rows: &[&Row], left_out: u64, out: &mut dyn Write) -> io::Result<()> {
        let [what, first, second] = self.header;
        let mut table = NumberTable::new(&[what, first, "after", second, "after", "change", "interval", "verdict"]);
        for row in rows.iter().take(TOP) {
            let [Some(first), Some(second)] = self.figures.map(|name| row.figures.get(name)) else { continue };
            let shown = |value: Option<f64>| value.map_or_else(|| UNKNOWN.to_owned(), self.second);
            table.row([
                (self.name)(row),
                value(self.figures[0], first.before),
                value(self.figures[0], first.after),
                shown(second.before),
                shown(second.after),
                change(second),
                interval(second),
                verdict(second).to_owned(),
            ]);
        }
        table.print(self.title, rows.len() + usize::try_from(left_out).unwrap_or(0), out)
    }
}

fn targets(rows: &Rows, out: &mut dyn Write) -> io::Result<()> {
    for (past, bytes, rate) in [
        ("read", "read_bytes", "read_bandwidth_bytes_per_s"),
        ("written", "written_bytes", "write_bandwidth_bytes_per_s"),
    ] {
        let moved = |row: &&Row| {
            row.figures.get(bytes).is_some_and(|it| it.before.unwrap_or(1.0) + it.after.unwrap_or(1.0) > 0.0)
        };
        let moved: Vec<&Row> = rows.rows.iter().filter(moved).collect();
        let pairs = Pairs {
            title: &format!("OSTs: bytes {past}, and MiB/s while they were"),
            header: ["OST", &format!("{past} before"), "MiB/s"],
            figures: [bytes, rate],
            second: mib,
            name,
        };
        pairs.print(&moved, rows.left_out, out)?;
    }
    Ok(())
}

fn clients(rows: &Rows, out: &mut dyn Write) -> io::Result<()> {
    let pairs = Pairs {
        title: "Clients: RPCs, and MiB/s while they had requests",
        header: ["client", "RPCs before", "MiB/s"],
        figures: ["rpcs", "bandwidth_bytes_per_s"],
        second: mib,
        name,
    };
    pairs.print(&Vec::from_iter(&rows.rows), rows.left_out, out)
}

fn operations(rows: &Rows, out: &mut dyn Write) -> io::Result<()> {
    let tells = |row: &&Row| row.figures.get("total_p99_us").is_some_and(|it| it.verdict != ChangeVerdict::Unknown);
    let told: Vec<&Row> = rows.rows.iter().filter(tells).collect();
    let pairs = Pairs {
        title: "Operations by count; p99 of queue and service together",
        header: ["operation", "RPCs before", "p99 ms"],
        figures: ["rpcs", "total_p99_us"],
        second: ms,
        // An opcode of several services has a row of each.
        name,
    };
    pairs.print(&told, if told.is_empty() { 0 } else { rows.left_out }, out)?;
    match (rows.rows.len() - told.len()) as u64 {
        0 => Ok(()),
        1 => writeln!(out, "Cannot tell whether the p99 of one operation changed: too few slow requests"),
        more => writeln!(out, "Cannot tell whether the p99 of {more} operations changed: too few slow requests"),
    }
}

/// Why headline figures could not be judged.
fn unknown(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let unknown = comparison.headlines().filter(|(_, figure)| figure.verdict == ChangeVerdict::Unknown);
    for (name, figure) in unknown.filter(|(_, figure)| figure.before.or(figure.after).is_some()) {
        let reason = figure.reason.as_deref().unwrap_or("no reason known");
        paragraph(&format!("Cannot tell: {}: {reason}.", figure_name(name)), "", "  ", out)?;
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
    value.map_or_else(|| UNKNOWN.to_owned(), |value| Measure::of(name).in_column(value))
}

fn ms(us: f64) -> String {
    three_digits(us / 1000.0)
}

fn change(figure: &Figure) -> String {
    figure.change.map_or_else(String::new, units::change)
}

/// Where the change lies; nothing of what was counted.
fn interval(figure: &Figure) -> String {
    match (figure.change_min, figure.change_max) {
        _ if figure.better.is_none() => String::new(),
        (None, None) if figure.change.is_some() => UNKNOWN.to_owned(),
        (None, None) => String::new(),
        (min, max) if min == max => String::new(),
        (min, max) => units::interval(min, max),
    }
}

/// The verdict, where there can be one.
fn verdict(figure: &Figure) -> &'static str {
    match figure.verdict {
        ChangeVerdict::Unknown if figure.better.is_none() => "",
        ChangeVerdict::Same if figure.better.is_none() => "same",
        ChangeVerdict::Unknown => UNKNOWN,
        other => other.name(),
    }
}
