//! `lioprof compare`.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use lioprof_analysis::{AnalyzeError, Config, Outcome, analyze_with_stores};
use lioprof_insight::{Limits, compare, find, find_and_predict};
use lioprof_model::units;
use lioprof_model::{Analysis, ChangeVerdict, Comparison, ComparisonRules, SCHEMA};
use lioprof_text::Color;
use lioprof_trace::Progress;
use lioprof_trace::input::InputProblem;

use crate::args::{CompareArgs, CompareFormat, RegressionLimit};
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};
use crate::progress::Bar;
use crate::stores::Stores;
use crate::{output_dir, saved, thresholds};

pub(crate) fn run(args: &CompareArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let limits = thresholds::limits(&args.thresholds)?;
    if let Some(dir) = &args.output {
        output_dir::check_comparison(dir, &args.plots)?;
    }
    let read = |path: &Path, bin_us| read(path, bin_us, args, &limits, verbosity);
    // Both are read before anything is said of either.
    let (before, after) = (read(&args.before, args.bin)?, read(&args.after, args.bin)?);
    let (Some(mut before), Some(mut after)) = (before, after) else { return Ok(Code::Unusable) };
    // Bandwidths in bins of different widths do not compare: the log of the narrower ones is read again, or that of the others.
    let [narrow, wide] = if before.bin_us() < after.bin_us() {
        [(&mut before, &args.before), (&mut after, &args.after)]
    } else {
        [(&mut after, &args.after), (&mut before, &args.before)]
    };
    let bins = [narrow.0.bin_us(), wide.0.bin_us()];
    let again = if narrow.0.is_log { Some((narrow, bins[1])) } else { wide.0.is_log.then_some((wide, bins[0])) };
    if bins[0] < bins[1]
        && let Some(((side, path), bin_us)) = again
        && let Some(read) = read(path, Some(bin_us))?
    {
        *side = read;
    }
    [&before, &after].into_iter().for_each(|side| messages::problems(&side.problems, verbosity));
    let complete = before.complete && after.complete;
    let (before, after) = (before.analysis, after.analysis);
    let comparison = compare(&before, &after, &ComparisonRules::default());
    if let Some(dir) = &args.output {
        output_dir::write_comparison(&comparison, (&before, &after), dir, &args.plots, verbosity)?;
    }
    print(args.format, &comparison)?;
    if !complete {
        return Ok(Code::Unusable);
    }
    Ok(args.fail_on.map_or(Code::Success, |limit| code(&comparison, limit, verbosity)))
}

fn code(comparison: &Comparison, limit: RegressionLimit, verbosity: Verbosity) -> Code {
    let regressions = comparison.regressions(limit.share);
    for (name, figure) in &regressions {
        let by = match figure.change {
            Some(change) => {
                format!("{} ({})", units::change(change), units::interval(figure.change_min, figure.change_max))
            }
            None => "from none".to_owned(),
        };
        messages::note(verbosity, &format!("regression: {} {by}", units::figure_name(name)));
    }
    if comparison.headlines().all(|(_, figure)| figure.verdict == ChangeVerdict::Unknown) {
        messages::note(verbosity, "warning: --fail-on: cannot tell whether any headline figure changed");
    }
    if regressions.is_empty() { Code::Success } else { Code::Failed }
}

/// One of the inputs.
struct Side {
    analysis: Analysis,
    /// Whether all of the input could be read.
    complete: bool,
    problems: Vec<InputProblem>,
    /// Whether it is a log, or rows, that can be read again.
    is_log: bool,
}

impl Side {
    fn saved(analysis: Analysis) -> Self {
        Self { analysis, complete: true, problems: Vec::new(), is_log: false }
    }

    /// Width of its bins, microseconds.
    fn bin_us(&self) -> i64 {
        units::micros(self.analysis.series.bin_s)
    }
}

/// The analysis of an input, in bins of a width if it is a log; `None` if none of it could be read.
fn read(
    path: &Path,
    bin_us: Option<i64>,
    args: &CompareArgs,
    limits: &Limits,
    verbosity: Verbosity,
) -> anyhow::Result<Option<Side>> {
    if is_analysis(path)? {
        return Ok(Some(Side::saved(read_saved(path, limits, verbosity)?)));
    }
    let config = Config { threads: args.threads.count(), bin_us, progress: Progress::default(), ..Config::default() };
    let bar = Bar::start(&config.progress, verbosity);
    let outcome = analyze_with_stores(&[path.to_owned()], &Stores, &config, None);
    drop(bar);
    match outcome {
        Ok(outcome) => {
            let complete = !outcome.has_errors();
            let Outcome { mut analysis, problems, mut replay, .. } = outcome;
            find_and_predict(&mut analysis, limits, &mut replay);
            Ok(Some(Side { analysis, complete, problems, is_log: path.is_file() || path.is_dir() }))
        }
        Err(AnalyzeError::NoInput { problems }) => match report_in(path) {
            Some(report) => Ok(Some(Side::saved(read_saved(&report, limits, verbosity)?))),
            None => {
                messages::problems(&problems, verbosity);
                Ok(None)
            }
        },
        Err(error) => Err(error.into()),
    }
}

/// The analysis in a directory that `lioprof analyze -o` wrote.
fn report_in(dir: &Path) -> Option<PathBuf> {
    let path = dir.join("analysis.json");
    is_analysis(&path).ok()?.then_some(path)
}

/// Number of leading bytes that are enough to tell JSON from a log.
const HEAD: u64 = 64;

/// Whether `path` is a regular file that begins like a JSON object; no log does.
fn is_analysis(path: &Path) -> anyhow::Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    let name = path.display();
    let mut head = Vec::new();
    let file = File::open(path).with_context(|| format!("failed to open `{name}`"))?;
    file.take(HEAD).read_to_end(&mut head).with_context(|| format!("failed to read `{name}`"))?;
    let mut bytes = head.trim_ascii_start().iter().filter(|byte| !byte.is_ascii_whitespace());
    Ok((bytes.next(), bytes.next()) == (Some(&b'{'), Some(&b'"')))
}

/// A saved analysis, with its findings judged again by the thresholds of this run, unless something that they are judged by is left out.
fn read_saved(path: &Path, limits: &Limits, verbosity: Verbosity) -> anyhow::Result<Analysis> {
    let name = path.display();
    let json = fs::read(path).with_context(|| format!("failed to read `{name}`"))?;
    let not = || format!("`{name}` is not an analysis.json of this version of lioprof");
    let schema = saved::schema(&json).with_context(not)?;
    if schema != SCHEMA {
        bail!(
            "`{name}` has the schema `{schema}`, expected `{SCHEMA}`: give an analysis.json, or analyze the log again"
        );
    }
    let mut analysis: Analysis = serde_json::from_slice(&json).with_context(not)?;
    saved::complete(&mut analysis, path, verbosity)?;
    if !analysis.is_cut() {
        find(&mut analysis, limits);
    }
    Ok(analysis)
}

fn print(format: CompareFormat, comparison: &Comparison) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match format {
        CompareFormat::Summary => lioprof_text::write_comparison(comparison, Color::of_stdout(), &mut out)?,
        CompareFormat::Json => {
            serde_json::to_writer(&mut out, comparison)?;
            writeln!(out)?;
        }
        CompareFormat::None => {}
    }
    out.flush().context("failed to write to stdout")?;
    Ok(())
}
