//! The verdict and the findings: the head of the summary.

use std::io::{self, Write};

use anstyle::Style as Ansi;
use lioprof_model::units::number;
use lioprof_model::{Analysis, CheckResult, Finding, Severity};

use crate::style::{Style, WIDTH, paragraph, style_of};

/// Findings shown in full; with `-v` all are.
const SHOWN: usize = 5;
/// Figures shown of each; with `-v` all are.
const FIGURES: usize = 4;

/// The verdict, then the findings, worst first.
pub(crate) fn write(analysis: &Analysis, style: Style, out: &mut dyn Write) -> io::Result<()> {
    for line in textwrap::wrap(&analysis.verdict.text, WIDTH) {
        writeln!(out, "{}", style.color.paint(Ansi::new().bold(), &line))?;
    }
    let shown = if style.all { analysis.findings.len() } else { SHOWN };
    for finding in analysis.findings.iter().take(shown) {
        writeln!(out)?;
        one(finding, style, out)?;
    }
    let left = analysis.findings.len().saturating_sub(shown);
    if left > 0 {
        writeln!(out, "\n{left} more {}: -v shows all", if left == 1 { "finding" } else { "findings" })?;
    }
    if style.all {
        checks(analysis, out)?;
    }
    writeln!(out)
}

fn one(finding: &Finding, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let severity = style.color.paint(style_of(finding.severity), finding.severity.name());
    writeln!(out, "{severity} {} (confidence {})", finding.id, finding.confidence.name())?;
    paragraph(&format!("{}.", finding.title), "  ", "  ", out)?;
    if let Some(cause) = &finding.explained_by {
        paragraph(&format!("Explained by {cause}."), "  ", "  ", out)?;
    }
    // Of notes a line is enough for those who did not ask for all.
    if finding.severity == Severity::Info && !style.all {
        return Ok(());
    }
    if style.all {
        paragraph(&finding.explanation, "  ", "  ", out)?;
    }
    let most = |most| if style.all { usize::MAX } else { most };
    let figures = finding.evidence.iter().take(most(FIGURES));
    let figures: Vec<String> = figures.map(|(name, value)| format!("{name} {}", number(*value))).collect();
    paragraph(&figures.join(", "), "  ", "    ", out)?;
    if let Some(saves) = finding.saves_in_words() {
        paragraph(&format!("A remedy {saves}."), "  ", "    ", out)?;
    }
    for remedy in finding.remedies.iter().take(most(1)) {
        paragraph(remedy, "  -> ", "     ", out)?;
    }
    if style.all {
        details(finding, out)?;
    }
    Ok(())
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
    writeln!(out, "  docs/findings.md#{}", finding.docs)
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
