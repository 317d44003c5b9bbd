//! Options of several commands.

use std::path::PathBuf;

use clap::ValueEnum;
use lioprof_analysis::{Bound, Config, NidPattern, Selection, TargetPattern};
use lioprof_insight::read_baseline;
use lioprof_model::{Baseline, WriteTest};
use lioprof_trace::Progress;
use lioprof_trace::input::NodeRule;
use lustre_debuglog::Opcode;

use super::values::{bound, opcode, share, threshold};

/// Which logs are of which node, which time of them counts, and how they are read.
#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// Name of the node (server) that all inputs, or those that match GLOB, come from.
    #[arg(long, value_name = "NAME[=GLOB]")]
    pub(crate) node: Vec<NodeRule>,
    /// Use only requests that ended at or after this time: Unix seconds, 2026-11-21T08:51:22Z, 08:51:22
    /// (UTC, of logs of one day), or the text of an `lctl mark` line.
    #[arg(long, value_name = "TIME|MARK", value_parser = bound)]
    pub(crate) from: Option<Bound>,
    /// Use only requests that ended at or before this time.
    #[arg(long, value_name = "TIME|MARK", value_parser = bound)]
    pub(crate) to: Option<Bound>,
    /// Exit with code 3 if more than this share of the bytes or RPCs is known to be lost; 0 also fails if an
    /// unknown amount is lost (the ring buffer was overwritten).
    #[arg(long, value_name = "SHARE", default_value = "0.05", value_parser = share)]
    pub(crate) max_loss: f64,
    #[command(flatten)]
    threads: ThreadArgs,
}

impl LogArgs {
    /// A configuration with these options; all else is as by default.
    pub(crate) fn config(&self) -> Config {
        Config {
            threads: self.threads.count(),
            from: self.from.clone(),
            to: self.to.clone(),
            node_rules: self.node.clone(),
            progress: Progress::default(),
            ..Config::default()
        }
    }
}

/// What to count.
#[derive(Debug, clap::Args)]
pub(crate) struct SelectionArgs {
    /// Count only this client, or clients in this range: 10.0.0.1@tcp, 10.0.0.1 in any network, 10.0.0.1-10.0.0.9@tcp, 10.0.0.0/24@o2ib, *@tcp1.
    #[arg(long, value_name = "NID|RANGE")]
    client: Vec<NidPattern>,
    /// Count only RPCs to this target, and operations that sent one to it: lustre-OST0003, or OST0003 of any file system.
    #[arg(long, value_name = "NAME")]
    target: Vec<TargetPattern>,
    /// Count only RPCs of this job id, and operations that sent one.
    #[arg(long, value_name = "ID")]
    job: Vec<String>,
    /// Count only RPCs of this opcode, and operations that sent one: OST_WRITE, ldlm_enqueue, 101.
    #[arg(long, value_name = "NAME", value_parser = opcode)]
    opcode: Vec<Opcode>,
}

impl SelectionArgs {
    /// Whether it is about some clients or jobs only.
    #[cfg(feature = "daemon")]
    pub(crate) fn is_of_somebody(&self) -> bool {
        !self.client.is_empty() || !self.job.is_empty()
    }

    pub(crate) fn selection(&self) -> Selection {
        Selection {
            clients: self.client.clone(),
            targets: self.target.clone(),
            jobs: self.job.clone(),
            opcodes: self.opcode.clone(),
        }
    }
}

/// What the OSTs can deliver.
#[derive(Debug, clap::Args)]
pub(crate) struct BaselineArgs {
    /// Bandwidth that the OSTs can deliver: output of obdfilter-survey (`*.summary`), one file per server or one for all, or the directory
    /// of `lioprof check --survey`.
    #[arg(long, value_name = "FILE|DIR")]
    baseline: Vec<PathBuf>,
    /// obdfilter-survey test to compare writes with: `write` (new data) or `rewrite` (overwrites the same data, which may be
    /// several times as fast thanks to the server's cache).
    #[arg(long, value_enum, value_name = "TEST", default_value = "write", requires = "baseline")]
    baseline_write: BaselineWrite,
}

impl BaselineArgs {
    /// The baseline, if one was given.
    pub(crate) fn read(&self) -> anyhow::Result<Option<Baseline>> {
        if self.baseline.is_empty() {
            return Ok(None);
        }
        Ok(Some(read_baseline(&self.baseline, self.baseline_write.into())?))
    }
}

/// Tests of obdfilter-survey that writes can be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BaselineWrite {
    Write,
    Rewrite,
}

impl From<BaselineWrite> for WriteTest {
    fn from(test: BaselineWrite) -> Self {
        match test {
            BaselineWrite::Write => Self::Write,
            BaselineWrite::Rewrite => Self::Rewrite,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ThreadArgs {
    /// Number of threads [default: number of cores, at most 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl ThreadArgs {
    /// The number of threads asked for, else the number of cores up to 8: one node's log keeps no more busy.
    pub(crate) fn count(&self) -> usize {
        self.threads.map_or_else(default_threads, usize::from)
    }
}

/// Number of threads unless told.
pub(crate) fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(8)
}

/// Which plots are written, and how.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PlotArgs {
    /// Plots to write into the directory, separated by commas.
    #[arg(long = "plots", value_name = "PLOTS", value_enum, value_delimiter = ',', default_value = "svg,png")]
    pub(crate) formats: Vec<PlotFormat>,
    /// Plots without title and description, for papers.
    #[arg(long)]
    pub(crate) bare: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotFormat {
    Svg,
    Png,
    /// No plots.
    None,
}

/// Thresholds of the findings.
#[derive(Debug, clap::Args)]
pub(crate) struct ThresholdArgs {
    /// Override a threshold of the findings; `lioprof findings` lists them.
    #[arg(long = "threshold", value_name = "RULE.NAME=VALUE", value_parser = threshold)]
    pub(crate) single: Vec<(String, f64)>,
    /// Override thresholds from this TOML file, as written by `lioprof findings`; --threshold takes precedence.
    #[arg(long = "thresholds", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// Lowest severity of a finding that makes the command fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Warning,
    Critical,
}
