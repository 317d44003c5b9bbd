//! Results for people.

use std::fmt::Write as _;

use lioprof_model::units::plural;
use lioprof_text::hanging;

use crate::outcome::{Detail, Report, Result, Status};

/// Width of the column with the status.
const STATUS: usize = 10;
/// Width of the column with what was checked.
const TITLE: usize = 40;
/// Details that are listed of a check unless all are asked for.
const FEW: usize = 8;

/// How much to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// All details, and what was expected where nothing is wrong.
    pub all: bool,
}

/// A line for each check, the worst first, with details beneath, and a last line that sums up.
#[must_use]
pub fn text(report: &Report, options: TextOptions) -> String {
    let mut out = String::new();
    for failed in &report.failed {
        out += &hanging(&format!("{} was not checked: {}", failed.server, failed.found), "unknown   ");
    }
    for result in &report.results {
        check(&mut out, result, options);
    }
    summary(&mut out, report);
    out
}

fn check(out: &mut String, result: &Result, options: TextOptions) {
    let status = match result.status {
        Status::Critical => "CRITICAL",
        Status::Warning => "WARNING",
        Status::Unknown => "unknown",
        Status::Ok => "ok",
    };
    // Writing to a String cannot fail.
    let _infallible = writeln!(out, "{status:<STATUS$}{:<TITLE$} {}", result.title, result.found);
    let indent = |word: &str| format!("{}{word}", " ".repeat(STATUS));
    let limit = if options.all { usize::MAX } else { FEW };
    let lines = grouped(&result.details);
    for line in lines.iter().take(limit) {
        *out += &hanging(line, &indent(""));
    }
    if lines.len() > limit {
        let more = format!("and {} more; --verbose lists them", lines.len() - limit);
        *out += &hanging(&more, &indent(""));
    }
    if result.status < Status::Unknown || options.all {
        *out += &hanging(result.expected, &indent("expected: "));
    }
    if result.status < Status::Unknown {
        *out += &hanging(result.remedy, &indent("-> "));
    }
}

/// A line for each detail; those of several servers that say the same share one.
fn grouped(details: &[Detail]) -> Vec<String> {
    let mut lines: Vec<(Status, &str, Vec<String>)> = Vec::new();
    for detail in details {
        let place = [detail.server.as_str(), detail.target.as_str()];
        let place: Vec<&str> = place.into_iter().filter(|name| !name.is_empty()).collect();
        let place = place.join(" ");
        match lines.iter_mut().find(|line| line.0 == detail.status && line.1 == detail.found) {
            Some((_, _, places)) => places.push(place),
            None => lines.push((detail.status, &detail.found, vec![place])),
        }
    }
    let line = |(status, found, places): (Status, &str, Vec<String>)| {
        let unknown = if status == Status::Unknown { "not known: " } else { "" };
        let places = places.into_iter().filter(|place| !place.is_empty()).collect::<Vec<_>>().join(", ");
        if places.is_empty() { format!("{unknown}{found}") } else { format!("{places}: {unknown}{found}") }
    };
    lines.into_iter().map(line).collect()
}

fn summary(out: &mut String, report: &Report) {
    let count = |status| report.results.iter().filter(|result| result.status == status).count() as u64;
    let (critical, warnings, unknown) = (count(Status::Critical), count(Status::Warning), count(Status::Unknown));
    let mut words = vec![
        plural(report.results.len() as u64, "check"),
        format!("{critical} critical"),
        plural(warnings, "warning"),
        format!("{unknown} unknown"),
    ];
    if !report.failed.is_empty() {
        words.push(format!("{} not checked", plural(report.failed.len() as u64, "server")));
    }
    let servers = plural(report.servers.len() as u64, "server");
    let _infallible = writeln!(out, "\n{servers}: {}.", words.join(", "));
}
