//! `lioprof compare`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::shared::{PlotArgs, ThreadArgs, ThresholdArgs};
use super::values::bin_us;

#[derive(Debug, clap::Args)]
#[command(after_help = COMPARE_HELP)]
pub(crate) struct CompareArgs {
    /// Reference capture: a log, a directory of logs, or an analysis.json (recognized by content).
    pub(crate) before: PathBuf,
    /// Capture to compare with BEFORE.
    pub(crate) after: PathBuf,
    /// Write comparison.json, comparison.html and plots of both into this directory.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// What to print on stdout.
    #[arg(long, value_enum, default_value = "summary")]
    pub(crate) format: CompareFormat,
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
    /// Width of the time bins in seconds, if logs are compared [default: chosen from the duration].
    #[arg(long, value_name = "SECONDS", value_parser = bin_us)]
    pub(crate) bin: Option<i64>,
    #[command(flatten)]
    pub(crate) thresholds: ThresholdArgs,
    /// Exit with code 1 if a headline figure (duration of the I/O, bandwidth, p99 of reads or writes, lock wait) is
    /// worse by more than this share, judged by the end of its interval that is nearer to 0.
    #[arg(long, value_name = "regression=SHARE")]
    pub(crate) fail_on: Option<RegressionLimit>,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
}

const COMPARE_HELP: &str = "\
Examples:
  lioprof compare before/ after/                        tables on the terminal
  lioprof compare old/analysis.json new.bin.zst -o cmp  comparison.json, page and plots in cmp/
  lioprof compare base.json rpc.bin --fail-on regression=10%    for CI: code 1 if it got worse

docs/compare.md explains intervals and verdicts. Exit codes: 0 done, 1 a regression larger than --fail-on, 2 wrong \
arguments or unreadable input.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// Tables for people, 80 columns.
    Summary,
    /// The whole comparison as JSON, schema lioprof.comparison/1.
    Json,
    /// Print nothing.
    None,
}

/// The limit of `--fail-on regression=SHARE`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RegressionLimit {
    /// Share by which a headline figure may get worse: 0.1 is 10 %.
    pub(crate) share: f64,
}

impl std::str::FromStr for RegressionLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || -> Option<f64> {
            let value = text.strip_prefix("regression=")?;
            let (share, most) = match value.strip_suffix('%') {
                Some(percent) => (percent.trim().parse::<f64>().ok()? / 100.0, f64::MAX),
                // Who writes 10 means ten percent.
                None => (value.trim().parse().ok()?, 1.0),
            };
            (0.0..=most).contains(&share).then_some(share)
        };
        let share = parse().ok_or_else(|| {
            format!("expected regression=SHARE, such as regression=10% or regression=0.1; found `{text}`")
        })?;
        Ok(Self { share })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_shares_or_percent() {
        let share = |text: &str| text.parse::<RegressionLimit>().map(|limit| limit.share);
        assert_eq!(share("regression=10%"), Ok(0.1));
        assert_eq!(share("regression=0.25"), Ok(0.25));
        assert_eq!(share("regression=0"), Ok(0.0));
        assert_eq!(share("regression=150%"), Ok(1.5));
        for bad in
            ["10%", "regression", "regression=", "regression=-1%", "regression=x", "regression=inf", "regression=10"]
        {
            assert!(share(bad).unwrap_err().contains("regression=10%"), "{bad}");
        }
    }
}
