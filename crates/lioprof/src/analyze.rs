//! `lioprof analyze`.

use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use lioprof_analysis::{Config, Outcome, analyze_with_stores};
use lioprof_insight::find_and_predict;
use lioprof_model::Severity;
use lioprof_text::{Color, Format, Style};

use crate::args::{AnalyzeArgs, FailOn};
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};
use crate::stores::Stores;
use crate::{output_dir, reading, thresholds};

pub(crate) fn run(args: &AnalyzeArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let config = config(args)?;
    let limits = thresholds::limits(&args.thresholds)?;
    let read = reading::read(&config, verbosity, |config| analyze_with_stores(&args.inputs, &Stores, config, None))?;
    let Some(mut outcome) = read else { return Ok(Code::Unusable) };
    find_and_predict(&mut outcome.analysis, &limits, |changes| outcome.replay.predict(changes));
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
    print(args.format, &outcome, verbosity)?;
    Ok(code(&outcome, args))
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

fn print(format: Format, outcome: &Outcome, verbosity: Verbosity) -> anyhow::Result<()> {
    let style = Style { color: Color::of_stdout(), all: verbosity == Verbosity::Verbose };
    let mut out = io::BufWriter::new(io::stdout().lock());
    lioprof_text::write(&outcome.analysis, format, style, &mut out)?;
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
