//! The command line: a file per command, what several share in `shared.rs`.

mod analyze;
mod anonymise;
mod check;
mod compare;
#[cfg(feature = "daemon")]
mod daemon;
mod decode;
mod explain;
#[cfg(feature = "export")]
mod export;
mod findings;
mod operations;
#[cfg(feature = "daemon")]
mod record;
#[cfg(feature = "report")]
mod report;
#[cfg(feature = "export")]
mod rollup;
mod shared;
#[cfg(feature = "daemon")]
mod top;
mod values;
mod what_if;

use clap::{Parser, Subcommand};

use crate::about;

pub(crate) use analyze::AnalyzeArgs;
pub(crate) use anonymise::AnonymiseArgs;
pub(crate) use check::CheckArgs;
pub(crate) use compare::{CompareArgs, CompareFormat, RegressionLimit};
#[cfg(feature = "daemon")]
pub(crate) use daemon::{CaptureArgs, ConfigArgs, DaemonArgs, DoctorArgs, MarkArgs, StatusArgs, TalkArgs};
pub(crate) use decode::DecodeArgs;
pub(crate) use explain::ExplainArgs;
#[cfg(feature = "export")]
pub(crate) use export::ExportArgs;
pub(crate) use findings::FindingsArgs;
pub(crate) use operations::OperationsArgs;
#[cfg(feature = "daemon")]
pub(crate) use record::{
    AgentArgs, LaterCommand, RecordArgs, RecordFetchArgs, RecordForgetArgs, RecordMarkArgs, RecordReportArgs,
};
#[cfg(feature = "report")]
pub(crate) use report::ReportArgs;
#[cfg(feature = "export")]
pub(crate) use rollup::RollupArgs;
#[cfg(feature = "daemon")]
pub(crate) use shared::default_threads;
pub(crate) use shared::{FailOn, PlotFormat, ThresholdArgs};
#[cfg(feature = "daemon")]
pub(crate) use top::TopArgs;
pub(crate) use values::given_twice;
pub(crate) use what_if::WhatIfArgs;

/// Shows what a Lustre file system really does, from its servers' debug logs.
#[derive(Debug, Parser)]
#[command(version, long_version = about::version(), about, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print only errors on stderr, no notes or warnings.
    #[arg(short, long, global = true, display_order = 900)]
    pub(crate) quiet: bool,
    /// Print more: all details of each finding, every skipped file, what the daemon does.
    #[arg(short, long, global = true, conflicts_with = "quiet", display_order = 901)]
    pub(crate) verbose: bool,
}

const AFTER_HELP: &str = "\
To capture a log on an OSS (docs/capture.md has the details):
  masks=$(dirname /sys/module/l*/parameters/libcfs_debug)   # as numbers: not every bit has a name
  cat $masks/libcfs_debug $masks/libcfs_subsystem_debug     # note these and debug_mb
  lctl get_param debug_mb
  lctl set_param debug_mb=512 subsystem_debug='rpc filter ldlm'
  lctl clear
  lctl debug_daemon start /run/rpc.bin 1024                 # a new local file, at most 1 GiB
  lctl set_param debug='+rpctrace +dlmtrace +net'           # +rpctrace alone: smaller, less exact
  ...                                                       # run the I/O to be analyzed
  lctl set_param debug='-rpctrace -dlmtrace -net'
  lctl debug_daemon stop
  echo -1 > $masks/libcfs_subsystem_debug                   # or the value that you noted
  lioprof analyze /run/rpc.bin -o report

Exit codes: 0 done, 1 findings at or above --fail-on, 2 wrong arguments or unreadable input, 3 more lost than --max-loss.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Rebuild every RPC from debug logs; show which client used which OST, at what bandwidth and latency.
    Analyze(Box<AnalyzeArgs>),
    /// Compare two captures or saved analyses: what improved, what got worse, which findings are new or gone.
    Compare(Box<CompareArgs>),
    /// Print a binary log as text, as `lctl debug_file` does, sorted by time.
    Decode(DecodeArgs),
    /// Write logs and counters again with all names replaced by pseudonyms, to be sent to others.
    Anonymise(AnonymiseArgs),
    /// Show where the time of clients' operations (open, read, fsync, ..) went, from logs of clients and servers.
    Operations(Box<OperationsArgs>),
    /// Predict how long the same work would take with something changed, by replaying the requests.
    WhatIf(Box<WhatIfArgs>),
    /// Export every RPC and lock event as Parquet or CSV, or as a trace for the Perfetto UI.
    #[cfg(feature = "export")]
    Export(Box<ExportArgs>),
    /// Check whether servers are fit for a large run: targets, space, errors, settings, disks. Traces nothing.
    Check(Box<CheckArgs>),
    /// Explain a kind of finding: how it is decided, what may fool it, what to do.
    Explain(ExplainArgs),
    /// List the kinds of findings and their thresholds, in the format that `analyze --thresholds` reads.
    Findings(FindingsArgs),
    /// Trace this server until stopped: enable rpctrace, drain the kernel's debug log, keep one row per RPC.
    #[cfg(feature = "daemon")]
    Daemon(Box<DaemonArgs>),
    /// Check whether this server can be traced, and what is missing.
    #[cfg(feature = "daemon")]
    Doctor(DoctorArgs),
    /// Show what the daemon on this server is doing.
    #[cfg(feature = "daemon")]
    Status(StatusArgs),
    /// Show what OSTs, clients and jobs do now, on this server or on many, and what is wrong by the last minute.
    #[cfg(feature = "daemon")]
    Top(Box<TopArgs>),
    /// Stop the daemon: drain the log, write the data, restore all settings.
    #[cfg(feature = "daemon")]
    Stop(TalkArgs),
    /// Write a marker into the log, for `lioprof analyze --from MARK --to MARK`.
    #[cfg(feature = "daemon")]
    Mark(MarkArgs),
    /// Capture on many servers while a command runs: start daemons over ssh, keep them alive, fetch their rows, make one report.
    #[cfg(feature = "daemon")]
    Record(Box<RecordArgs>),
    /// Do on this server what `lioprof record` says on standard input.
    #[cfg(feature = "daemon")]
    #[command(hide = true)]
    Agent(AgentArgs),
    /// Replay a captured log or a synthetic workload on a simulated server, for tests and demonstrations
    /// (needs root and FUSE).
    #[cfg(feature = "replay")]
    Replay(Box<lioprof_sim::replay::ReplayArgs>),
    /// Turn a saved analysis into one self-contained HTML page with its findings and interactive views.
    #[cfg(feature = "report")]
    Report(ReportArgs),
    /// Write per-node summaries (rollups) into a dataset, for dashboards and for `lioprof-query analyze`.
    #[cfg(feature = "export")]
    Rollup(RollupArgs),
    /// Write the manual pages and the completions for bash, zsh and fish; for packagers, see docs/install.md.
    #[command(hide = true)]
    Generate(lioprof_about::ShareDir),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn examples_are_not_wrapped() {
        for command in Args::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            // Text is wrapped to the terminal; examples begin with spaces and stay as they are.
            for line in help.lines().filter(|line| line.starts_with("  ")) {
                assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
            }
            let mut texts = help.split("\n\n").filter(|text| !text.is_empty());
            assert!(texts.all(|text| text.contains("\n  ") || !text.contains('\n')), "{}: {help}", command.get_name());
        }
    }
}
