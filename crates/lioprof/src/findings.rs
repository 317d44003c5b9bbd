//! Findings for people: the head of the summary, and the list of what is looked for.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style as Ansi};
use anyhow::bail;
use lioprof_analysis::{Limit, rules};
use lioprof_model::{Analysis, CheckResult, Finding, Severity, verdict};

use crate::args::FindingsArgs;
use crate::exit_code::Code;

/// Columns.
pub(crate) const WIDTH: usize = 80;
/// Findings shown in full; with `-v` all are.
const SHOWN: usize = 5;
/// Figures shown of each; with `-v` all are.
const FIGURES: usize = 4;

/// How findings are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) color: Color,
    /// Everything that is known of them.
    pub(crate) all: bool,
}

/// Whether there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    Yes,
    No,
}

impl Color {
    /// What a terminal, `NO_COLOR` and `CLICOLOR_FORCE` ask for.
    pub(crate) fn of_stdout() -> Self {
        let stdout = io::stdout();
        match anstream::AutoStream::choice(&stdout) {
            anstream::ColorChoice::Always | anstream::ColorChoice::AlwaysAnsi => Self::Yes,
            anstream::ColorChoice::Auto if stdout.is_terminal() => Self::Yes,
            anstream::ColorChoice::Auto | anstream::ColorChoice::Never => Self::No,
        }
    }

    pub(crate) fn paint(self, style: Ansi, text: &str) -> String {
        match self {
            Self::Yes => format!("{style}{text}{style:#}"),
            Self::No => text.to_owned(),
        }
    }
}

pub(crate) fn style_of(severity: Severity) -> Ansi {
    match severity {
        Severity::Critical => AnsiColor::Red.on_default().bold(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        Severity::Info => AnsiColor::Cyan.on_default(),
    }
}

/// The verdict, then the findings, worst first.
pub(crate) fn write(analysis: &Analysis, style: Style, out: &mut dyn Write) -> io::Result<()> {
    for line in textwrap::wrap(&verdict(analysis), WIDTH) {
        writeln!(out, "{}", style.color.paint(Ansi::new().bold(), &line))?;
    }
    let shown = if style.all { analysis.findings.len() } else { SHOWN };
    for finding in analysis.findings.iter().take(shown) {
        writeln!(out)?;
        one(finding, style, out)?;
    }
    let left = analysis.findings.len().saturating_sub(shown);
    if left > 0 {
        writeln!(out, "\n{left} more findings: -v shows all")?;
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
    let figures: Vec<String> = figures.map(|(name, value)| format!("{name} {}", figure(*value))).collect();
    paragraph(&figures.join(", "), "  ", "    ", out)?;
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
    let objects: Vec<String> =
        finding.objects.iter().map(|object| format!("{} {}", object.target, object.fid)).collect();
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
        paragraph(&format!("cost: about {} s of {of}", figure(cost_s)), "  ", "    ", out)?;
    }
    let thresholds: Vec<String> =
        finding.thresholds.iter().map(|(name, value)| format!("{} {}", short(name), figure(*value))).collect();
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
    for check in analysis.checks.iter().filter(|check| check.result == CheckResult::NotEnoughEvidence) {
        let reason = check.reason.as_deref().unwrap_or_default();
        paragraph(&format!("Not enough evidence for {}: {reason}", check.id), "", "  ", out)?;
    }
    Ok(())
}

pub(crate) fn paragraph(text: &str, first: &str, rest: &str, out: &mut dyn Write) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    // Names have hyphens; they are looked for as a whole.
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(rest)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    for line in textwrap::wrap(text, options) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Three significant digits, all of an integer.
fn figure(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value}");
    }
    let digits = if value.abs() >= 100.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else if value.abs() >= 1.0 {
        2
    } else {
        3
    };
    format!("{value:.digits$}")
}

/// `lioprof findings`: a file of thresholds, with what they mean as comments.
pub(crate) fn list(args: &FindingsArgs) -> anyhow::Result<Code> {
    if let Some(unknown) = args.rules.iter().find(|id| rules().iter().all(|rule| rule.id != **id)) {
        let known: Vec<&str> = rules().iter().map(|rule| rule.id).collect();
        bail!("there is no kind of finding `{unknown}`; expected one of: {}", known.join(", "));
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(out, "# Kinds of findings and their thresholds; docs/findings.md explains them.")?;
    for rule in rules().iter().filter(|rule| args.rules.is_empty() || args.rules.iter().any(|id| id == rule.id)) {
        writeln!(out)?;
        paragraph(rule.meaning, "# ", "# ", &mut out)?;
        writeln!(out, "[{}]", rule.id)?;
        for Limit { name, default, meaning } in rule.limits {
            paragraph(meaning, "# ", "# ", &mut out)?;
            writeln!(out, "{name} = {default}")?;
        }
    }
    out.flush()?;
    Ok(Code::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_name_plots_that_exist() {
        for rule in rules() {
            for plot in rule.plots {
                assert!(lioprof_plot::plot(plot).is_some(), "{}: {plot}", rule.id);
            }
        }
    }

    #[test]
    fn figures_have_three_digits() {
        let shown = [0.01234, 3.0, 1234567.0, 2.345, 23.45, 234.5].map(figure);
        assert_eq!(shown, ["0.012", "3", "1234567", "2.35", "23.4", "234"]);
    }
}
