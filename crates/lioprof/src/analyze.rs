//! `lioprof analyze`.

use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use lioprof_analysis::{Bound, Config, Outcome, Selection, analyze_with_stores};
use lioprof_insight::find_and_predict;
use lioprof_model::{Analysis, Severity};
use lioprof_text::{Color, Format, Style};
use lustre_debuglog::TargetName;

use crate::args::{AnalyzeArgs, FailOn};
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};
use crate::stores::Stores;
use crate::{output_dir, reading, thresholds};

pub(crate) fn run(args: &AnalyzeArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let limits = thresholds::limits(&args.thresholds)?;
    if let Some(dir) = &args.output {
        output_dir::check(dir, &args.plots)?;
    }
    let config = Config { noted_loss: limits.lost_share(), ..config(args)? };
    let read = reading::read(&config, verbosity, |config| analyze_with_stores(&args.inputs, &Stores, config, None))?;
    let Some(mut outcome) = read else { return Ok(Code::Unusable) };
    // Scripts get what they asked for, and the exit code.
    if args.format == Format::Summary
        && let Some(why) = matches_nothing(&outcome.analysis, &config)
    {
        // What is wrong with an option is said once, with what there is.
        outcome.problems.retain(|problem| !problem.path.as_os_str().is_empty());
        messages::problems(&outcome.problems, verbosity);
        let there = what_there_is(args, &config, verbosity)?;
        anyhow::bail!("{why}{there}");
    }
    find_and_predict(&mut outcome.analysis, &limits, &mut outcome.replay);
    messages::problems(&outcome.problems, verbosity);
    messages::named(&outcome.named, verbosity);
    // The summary says them, too: not twice on one screen.
    let on_screen = args.format == Format::Summary && io::stdout().is_terminal() && io::stderr().is_terminal();
    for warning in outcome.analysis.warnings.iter().filter(|_| !on_screen) {
        messages::note(verbosity, &format!("warning: {warning}"));
    }
    if let Some(dir) = &args.output {
        output_dir::write(&outcome.analysis, dir, &args.plots, verbosity)?;
    }
    print(args, &outcome, verbosity)?;
    Ok(code(&outcome, args))
}

/// Why there is nothing to report, if marks or a selection leave nothing.
fn matches_nothing(analysis: &Analysis, config: &Config) -> Option<String> {
    for bound in [&config.from, &config.to] {
        if let Some(Bound::Marker(text)) = bound
            && !analysis.markers.iter().any(|mark| mark.text.starts_with(text.as_str()))
        {
            let mut marks: Vec<&str> = analysis.markers.iter().map(|mark| mark.text.as_str()).collect();
            marks.dedup();
            return Some(format!("no mark begins with `{text}`, and it is no time; {}", listed("marks", &marks)));
        }
    }
    let is_nothing = analysis.totals.rpcs == 0
        && analysis.events.is_empty()
        && !analysis.window.limited
        && !analysis.selected.is_everything();
    is_nothing.then(|| format!("no handled RPC matches {}; ", analysis.selected.options()))
}

/// The jobs, clients and targets that there are, of the kinds that were selected by; nothing if marks were what did not match, or if the
/// inputs can be read only once.
fn what_there_is(args: &AnalyzeArgs, config: &Config, verbosity: Verbosity) -> anyhow::Result<String> {
    let selection = &config.selection;
    if *selection == Selection::default() || args.inputs.iter().any(|path| path.as_os_str() == "-") {
        return Ok(String::new());
    }
    let all = Config { selection: Selection::default(), locks: false, ..config.clone() };
    let read = reading::read(&all, verbosity, |all| analyze_with_stores(&args.inputs, &Stores, all, None))?;
    let Some(Outcome { analysis, .. }) = read else { return Ok(String::new()) };
    let jobs = analysis.jobs.iter().filter_map(|it| it.job.as_deref()).filter(|job| !job.is_empty());
    let clients = analysis.clients.iter().map(|it| it.nid.as_str());
    let targets = analysis.targets.iter().map(|it| it.name.as_str());
    let mut there = Vec::new();
    for (kind, names, is_selected) in [
        ("jobs", jobs.collect::<Vec<_>>(), !selection.jobs.is_empty()),
        ("clients", clients.collect::<Vec<_>>(), !selection.clients.is_empty()),
        ("targets", targets.collect::<Vec<_>>(), !selection.targets.is_empty()),
    ] {
        if is_selected {
            there.push(listed(kind, &names));
        }
    }
    let is_there = |it: &lioprof_model::Target| {
        let name = TargetName::parse_bytes(it.name.as_bytes());
        name.is_some_and(|name| selection.targets.iter().any(|wanted| wanted.matches(name)))
    };
    if analysis.targets.iter().any(is_there) {
        there.push(
            "a request for metadata does not say in the log which MDT it is for: choose by --client, --job or --opcode"
                .to_owned(),
        );
    }
    Ok(there.join("; "))
}

/// Names listed in a message.
const LISTED: usize = 20;

/// `jobs there are: a, b and 3 more`.
fn listed(kind: &str, names: &[&str]) -> String {
    if names.is_empty() {
        return format!("there are no {kind}");
    }
    let shown = names[..names.len().min(LISTED)].join(", ");
    let more = names.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{kind} there are: {shown}{more}")
}

fn config(args: &AnalyzeArgs) -> anyhow::Result<Config> {
    Ok(Config {
        chunk_bytes: args.chunk_bytes.map_or(Config::default().chunk_bytes, |bytes| bytes as usize),
        bin_us: args.bin,
        selection: args.selection.selection(),
        locks: !args.no_locks,
        contended: args.contended,
        baseline: args.baseline.read()?,
        boot_us: args.boot_time,
        zone_us: args.timezone,
        ..args.log.config()
    })
}

fn print(args: &AnalyzeArgs, outcome: &Outcome, verbosity: Verbosity) -> anyhow::Result<()> {
    let more = match (&args.output, args.tables) {
        (None, false) => "--tables for all figures; -o DIR for a page and plots",
        (None, true) => "-o DIR for a page and plots",
        (Some(_), false) => "--tables for all figures",
        (Some(_), true) => "",
    };
    let style = Style { color: Color::of_stdout(), all: verbosity == Verbosity::Verbose, tables: args.tables, more };
    let mut out = io::BufWriter::new(io::stdout().lock());
    lioprof_text::write(&outcome.analysis, args.format, style, &mut out)?;
    out.flush().context("failed to write to stdout")?;
    Ok(())
}

fn code(outcome: &Outcome, args: &AnalyzeArgs) -> Code {
    let worst = outcome.analysis.findings.iter().map(|finding| finding.severity).max();
    let limit = args.fail_on.map(|fail_on| match fail_on {
        FailOn::Warning => Severity::Warning,
        FailOn::Critical => Severity::Critical,
    });
    match Code::of_selection(outcome, args.log.max_loss, &args.selection.selection(), outcome.analysis.totals.rpcs == 0)
    {
        Code::Success if limit.is_some() && worst >= limit => Code::Failed,
        code => code,
    }
}
