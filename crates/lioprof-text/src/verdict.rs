//! The verdict and the findings: the head of the summary.

use std::io::{self, Write};

use anstyle::Style as Ansi;
use lioprof_model::time::utc_of;
use lioprof_model::units::{Measure, few, figure_label, number};
use lioprof_model::{Analysis, CheckResult, Finding, Interval, Target};

use crate::style::{Style, paragraph, style_of, wrapped};

/// Lines of findings; of those that there is no room for stands the title only. With `-v` there are as many as it takes.
const LINES: usize = 13;
/// Findings that are told; the others are named.
const MOST: usize = 4;

/// The verdict, then the findings, worst first.
pub(crate) fn write(analysis: &Analysis, style: Style, out: &mut dyn Write) -> io::Result<()> {
    for line in wrapped(&analysis.verdict.text, "", "").lines() {
        writeln!(out, "{}", style.color.paint(Ansi::new().bold(), line))?;
    }
    if style.all {
        for finding in &analysis.findings {
            writeln!(out)?;
            in_full(finding, style, out)?;
        }
        checks(analysis, out)?;
        return writeln!(out);
    }
    // What it rests on comes first, notes are named only.
    let is_told = |finding: &&Finding| finding.is_more_than_a_note() || analysis.verdict.findings.contains(&finding.id);
    let mut room = LINES;
    let mut only_named: Vec<&str> = Vec::new();
    for (at, finding) in analysis.findings.iter().enumerate() {
        let mut text = Vec::new();
        if is_told(&finding) {
            in_short(finding, analysis, style, &mut text)?;
        }
        let lines = 1 + text.iter().filter(|byte| **byte == b'\n').count();
        if text.is_empty() || at >= MOST {
            only_named.push(&finding.id);
            continue;
        }
        writeln!(out)?;
        if at == 0 || lines <= room {
            out.write_all(&text)?;
        } else {
            heading(finding, style, out)?;
            paragraph(&format!("{}.", finding.title), "  ", "  ", out)?;
        }
        room = room.saturating_sub(lines);
    }
    only_named.dedup();
    if !only_named.is_empty() {
        writeln!(out)?;
        paragraph(&format!("Also found: {} (-v shows all).", only_named.join(", ")), "", "  ", out)?;
    }
    writeln!(out)
}

/// Whether a finding that is told says what the capture lost.
pub(crate) fn tells_loss(analysis: &Analysis) -> bool {
    let told = analysis.findings.iter().take(MOST).filter(|finding| finding.is_more_than_a_note());
    told.into_iter().any(|finding| finding.id == "trace-quality" && finding.evidence.contains_key("torn_seams"))
}

/// What to ask for next.
pub(crate) fn next(analysis: &Analysis, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let explain = analysis.verdict.findings.first().map(|id| format!("lioprof explain {id}"));
    let more = Some(style.more.to_owned()).filter(|more| !more.is_empty());
    let next: Vec<String> = explain.into_iter().chain(more).collect();
    if next.is_empty() { Ok(()) } else { paragraph(&format!("Next: {}", next.join("; ")), "", "  ", out) }
}

fn heading(finding: &Finding, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let severity = style.color.paint(style_of(finding.severity), finding.severity.name());
    writeln!(out, "{severity} {} (confidence {})", finding.id, finding.confidence.name())
}

/// What it is, who and when, and what to do first.
fn in_short(finding: &Finding, analysis: &Analysis, style: Style, out: &mut dyn Write) -> io::Result<()> {
    heading(finding, style, out)?;
    // The verdict begins with the title of the first.
    if !analysis.verdict.text.starts_with(&finding.title) {
        paragraph(&format!("{}.", finding.title), "  ", "  ", out)?;
        if let Some(saves) = finding.saves_in_words() {
            paragraph(&format!("A remedy {saves}."), "  ", "    ", out)?;
        }
    }
    paragraph(&who(finding, analysis), "  ", "    ", out)?;
    if let Some(interval) = &finding.interval {
        writeln!(out, "  {}", from_to(interval))?;
    }
    for remedy in finding.remedies.iter().take(1) {
        paragraph(remedy, "  -> ", "     ", out)?;
    }
    Ok(())
}

/// Whom and what it names: `lustre-OST0002 on server2; 10.10.0.11@tcp; job python3.0`.
fn who(finding: &Finding, analysis: &Analysis) -> String {
    let names = |names: &[String]| few(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut nodes: Vec<&str> = finding.nodes.iter().map(String::as_str).collect();
    if nodes.is_empty() {
        let serves = |target: &&Target| finding.targets.contains(&target.name);
        nodes = analysis.targets.iter().filter(serves).map(|target| target.node.as_str()).collect();
        nodes.sort_unstable();
        nodes.dedup();
    }
    let place = match (finding.targets.is_empty(), nodes.is_empty()) {
        (true, true) => String::new(),
        (true, false) => few(&nodes),
        (false, true) => names(&finding.targets),
        (false, false) => format!("{} on {}", names(&finding.targets), few(&nodes)),
    };
    let jobs = match finding.jobs.len() {
        0 => String::new(),
        1 => format!("job {}", finding.jobs[0]),
        _ => format!("jobs {}", names(&finding.jobs)),
    };
    let parts = [place, names(&finding.clients), jobs];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// `2026-11-21 08:43:01 to 08:43:15 UTC`, `2026-11-21 08:43:01 UTC`.
fn from_to(interval: &Interval) -> String {
    let [start, end] = [interval.start, interval.end].map(|time| utc_of(time).replace('T', " ").replace('Z', ""));
    let day = |moment: &str| moment.split_once(' ').map(|(day, _)| day.to_owned());
    match end.split_once(' ') {
        _ if start == end => format!("{start} UTC"),
        Some((_, time)) if day(&start) == day(&end) => format!("{start} to {time} UTC"),
        _ => format!("{start} to {end} UTC"),
    }
}

/// All that is known of it.
fn in_full(finding: &Finding, style: Style, out: &mut dyn Write) -> io::Result<()> {
    heading(finding, style, out)?;
    paragraph(&format!("{}.", finding.title), "  ", "  ", out)?;
    if let Some(cause) = &finding.explained_by {
        paragraph(&format!("Explained by {cause}."), "  ", "  ", out)?;
    }
    paragraph(&finding.explanation, "  ", "  ", out)?;
    if let Some(interval) = &finding.interval {
        writeln!(out, "  {}", from_to(interval))?;
    }
    let figure =
        |(key, value): (&String, &f64)| format!("{} {}", figure_label(key), Measure::of(key).in_column(*value));
    paragraph(&finding.evidence.iter().map(figure).collect::<Vec<_>>().join("; "), "  ", "    ", out)?;
    if let Some(saves) = finding.saves_in_words() {
        paragraph(&format!("A remedy {saves}."), "  ", "    ", out)?;
    }
    for remedy in &finding.remedies {
        paragraph(remedy, "  -> ", "     ", out)?;
    }
    details(finding, out)
}

/// Who and what is concerned, and the thresholds.
fn details(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let objects: Vec<String> = finding.objects.iter().map(ToString::to_string).collect();
    for (what, names) in [
        ("targets", &finding.targets),
        ("clients", &finding.clients),
        ("objects", &objects),
        ("jobs", &finding.jobs),
        ("nodes", &finding.nodes),
    ] {
        if !names.is_empty() {
            paragraph(&format!("{what}: {}", names.join(", ")), "  ", "    ", out)?;
        }
    }
    if let Some((cost_s, of)) = finding.cost_s.zip(finding.cost_of.as_ref()) {
        // Seconds of the run, or the unit is said.
        let unit = if of.contains("seconds") { "" } else { "s of " };
        paragraph(&format!("cost: about {} {unit}{of}", number(cost_s)), "  ", "    ", out)?;
    }
    let thresholds: Vec<String> =
        finding.thresholds.iter().map(|(name, value)| format!("{} {}", short(name), number(*value))).collect();
    paragraph(&format!("thresholds: {}", thresholds.join(", ")), "  ", "    ", out)?;
    if let Some(plot) = &finding.plot {
        writeln!(out, "  plot: {plot}")?;
    }
    writeln!(out, "  more: lioprof explain {}", finding.docs)
}

/// A threshold's name within its rule.
fn short(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, name)| name)
}

/// What was looked for without a finding.
fn checks(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let healthy: Vec<&str> = analysis
        .checks
        .iter()
        .filter(|check| check.result == CheckResult::Healthy)
        .map(|check| check.id.as_str())
        .collect();
    if !healthy.is_empty() {
        writeln!(out)?;
        paragraph(&format!("Nothing wrong: {}", healthy.join(", ")), "", "  ", out)?;
    }
    for (result, what) in
        [(CheckResult::NotEnoughEvidence, "Cannot tell"), (CheckResult::NotApplicable, "Does not apply")]
    {
        for check in analysis.checks.iter().filter(|check| check.result == result) {
            let reason = check.reason.as_deref().unwrap_or_default();
            paragraph(&format!("{what}: {}: {reason}", check.id), "", "  ", out)?;
        }
    }
    Ok(())
}
