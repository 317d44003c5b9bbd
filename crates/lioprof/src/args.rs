//! The command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Parser, Subcommand, ValueEnum};
use lioprof_analysis::{Bound, ContendedRule, NidPattern};
use lioprof_model::{Change, WriteTest, time};
use lioprof_text::Format;
use lioprof_text::operations::OperationsFormat;
use lioprof_text::what_if::WhatIfFormat;
use lioprof_trace::input::NodeRule;
use lustre_debuglog::{Opcode, TargetName};

use crate::about;
use crate::compare::RegressionLimit;

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
  cat $masks/libcfs_debug $masks/libcfs_subsystem_debug     # note these and debug_mb, to restore them
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
    /// Show where the time of clients' operations (open, read, fsync, ..) went, from logs of clients and servers.
    Operations(Box<OperationsArgs>),
    /// Predict how long the same work would take with something changed, by replaying the requests.
    WhatIf(Box<WhatIfArgs>),
    /// Export every RPC and lock event as Parquet or CSV, or as a trace for the Perfetto UI.
    #[cfg(feature = "export")]
    Export(Box<ExportArgs>),
    /// Check whether servers are fit for a large run: targets, space, errors, settings, disks. Traces nothing, writes nothing.
    Check(Box<CheckArgs>),
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
    /// Stop the daemon: drain the log, write the data, restore all settings.
    #[cfg(feature = "daemon")]
    Stop(TalkArgs),
    /// Write a marker into the log, for `lioprof analyze --from MARK --to MARK`.
    #[cfg(feature = "daemon")]
    Mark(MarkArgs),
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

/// Configuration file, and the root directory of the node.
#[cfg(feature = "daemon")]
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// Configuration file; packaging/lioprof.toml is a sample [default: /etc/lioprof/lioprof.toml if it exists, else built-in
    /// settings].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Directory to use in place of `/`, such as the mount point of a simulated server.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

/// What to capture and where to keep it; `daemon` and `doctor` share these options.
#[cfg(feature = "daemon")]
#[derive(Debug, clap::Args)]
pub(crate) struct CaptureArgs {
    #[command(flatten)]
    pub(crate) source: ConfigArgs,
    /// What to trace: full (exact bytes, locks), light (rpctrace only), auto (full until the budget is used up).
    #[arg(long, value_name = "auto|full|light")]
    pub(crate) profile: Option<String>,
    /// Stop after this time: 10m, 1h 30m.
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) duration: Option<lioprof_capture::config::Span>,
    /// Stop at this time, UTC: 2026-11-21T18:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<lioprof_capture::config::Timestamp>,
    /// Wait until Lustre is loaded, also after it was unloaded. Under systemd it waits by default.
    #[arg(long)]
    pub(crate) wait: bool,
    /// What to keep: rpc (one row per RPC and lock event), raw (the log itself), both.
    #[arg(long, value_name = "rpc|raw|both")]
    pub(crate) keep: Option<String>,
    /// Directory for the captured data.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Directory for the segments that the kernel writes [default: /run/lioprof/spool if there is room, else below --dir].
    #[arg(long, value_name = "DIR")]
    pub(crate) spool: Option<PathBuf>,
    /// Socket for `lioprof status`, `stop` and `mark`.
    #[arg(long, value_name = "FILE")]
    pub(crate) socket: Option<PathBuf>,
    /// Address to serve Prometheus metrics on, or off.
    #[arg(long, value_name = "ADDRESS|off")]
    pub(crate) metrics: Option<lioprof_capture::config::OrOff<std::net::SocketAddr>>,
    /// Name of this server in the data [default: the host name].
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,
}

#[cfg(feature = "daemon")]
#[derive(Debug, clap::Args)]
#[command(after_help = DAEMON_HELP)]
pub(crate) struct DaemonArgs {
    #[command(flatten)]
    pub(crate) capture: CaptureArgs,
    /// Restore the settings that killed daemons left changed, wherever their data directories are, and exit.
    #[arg(long)]
    pub(crate) restore: bool,
    /// Format of messages: auto (human on a terminal, else logfmt), human, logfmt, json.
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) log_format: lioprof_capture::logging::LogFormat,
}

#[cfg(feature = "daemon")]
const DAEMON_HELP: &str = "\
Examples:
  lioprof doctor                                 # can this server be traced?
  lioprof daemon --for 10m --dir /var/tmp/cap    # ten minutes of everything
  lioprof analyze /var/tmp/cap -o report
  lioprof daemon --config /etc/lioprof/lioprof.toml

The daemon restores every setting that it changed when it ends. After a kill -9 or a power failure, run
`lioprof daemon --restore`, or start the daemon again. Exit codes: 0 ended as asked and restored all settings, 1 ended
early, or failed to write or restore something, 2 could not start.";

#[cfg(feature = "daemon")]
#[derive(Debug, clap::Args)]
#[command(after_help = "Takes the options of `lioprof daemon`: pass the same ones to check what that daemon would do.")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) capture: CaptureArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How to find the daemon to talk to.
#[cfg(feature = "daemon")]
#[derive(Debug, clap::Args)]
pub(crate) struct TalkArgs {
    #[command(flatten)]
    pub(crate) source: ConfigArgs,
    /// The daemon's socket [default: from the configuration, else that of the running daemon].
    #[arg(long, value_name = "FILE")]
    pub(crate) socket: Option<PathBuf>,
}

#[cfg(feature = "daemon")]
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(feature = "daemon")]
#[derive(Debug, clap::Args)]
pub(crate) struct MarkArgs {
    /// Text of the marker: one line, at most 255 characters.
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotFormat {
    Svg,
    Png,
    /// No plots.
    None,
}

#[derive(Debug, clap::Args)]
#[command(after_help = ANALYZE_HELP)]
pub(crate) struct AnalyzeArgs {
    /// Text or binary logs, plain or .gz .zst .xz .bz2, or directories to search for them; - is stdin.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write analysis.json, tables (CSV), plots and report.html into this directory.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// What to print on stdout.
    #[arg(long, value_enum, default_value = "summary")]
    pub(crate) format: Format,
    /// Plots to write with -o, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "svg,png")]
    pub(crate) plots: Vec<PlotFormat>,
    /// Name of the node (server) that all inputs, or those that match GLOB, come from.
    #[arg(long, value_name = "NAME[=GLOB]")]
    pub(crate) node: Vec<NodeRule>,
    /// Width of the time bins in seconds [default: chosen from the duration].
    #[arg(long, value_name = "SECONDS", value_parser = bin_us)]
    pub(crate) bin: Option<i64>,
    /// Count only RPCs that ended at or after this time: Unix seconds, 2026-11-21T08:51:22Z, or the text
    /// of an `lctl mark` line.
    #[arg(long, value_name = "TIME|MARK", value_parser = bound)]
    pub(crate) from: Option<Bound>,
    /// Count only RPCs that ended at or before this time.
    #[arg(long, value_name = "TIME|MARK", value_parser = bound)]
    pub(crate) to: Option<Bound>,
    /// Count only this client, or clients in this range: 10.0.0.1@tcp, 10.0.0.1-10.0.0.9@tcp, 10.0.0.0/24@o2ib, *@tcp1.
    #[arg(long, value_name = "NID|RANGE")]
    pub(crate) client: Vec<NidPattern>,
    /// Count only this target: lustre-OST0003.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Vec<TargetName>,
    /// Count only this job id.
    #[arg(long, value_name = "ID")]
    pub(crate) job: Vec<String>,
    /// Count only this opcode: OST_WRITE, ldlm_enqueue, 101.
    #[arg(long, value_name = "NAME", value_parser = opcode)]
    pub(crate) opcode: Vec<Opcode>,
    /// Skip the analysis of locks.
    #[arg(long)]
    pub(crate) no_locks: bool,
    /// An object with CONFLICTS lock conflicts within SECONDS counts as contended for HOLD seconds (default: SECONDS)
    /// [default: 32/2/2 as in Lustre up to 2.17, 16/4/30 if the log shows a newer one].
    #[arg(long, value_name = "CONFLICTS/SECONDS[/HOLD]", value_parser = contended)]
    pub(crate) contended: Option<ContendedRule>,
    /// Exit with code 3 if more than this share of the bytes or RPCs is known to be lost; 0 also fails if an
    /// unknown amount is lost (the ring buffer was overwritten).
    #[arg(long, value_name = "SHARE", default_value = "0.05", value_parser = share)]
    pub(crate) max_loss: f64,
    #[command(flatten)]
    pub(crate) thresholds: ThresholdArgs,
    /// Bandwidth that the OSTs can deliver: output of obdfilter-survey (`*.summary`), one file per server or one for all.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Vec<PathBuf>,
    /// obdfilter-survey test to compare writes with: `write` (new data) or `rewrite` (overwrites the same data, which may be
    /// several times as fast thanks to the server's cache).
    #[arg(long, value_enum, value_name = "TEST", default_value = "write", requires = "baseline")]
    pub(crate) baseline_write: BaselineWrite,
    /// Exit with code 1 if there is a finding of this severity or worse.
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FailOn>,
    /// Number of threads [default: number of cores, at most 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
    /// Number of bytes to read and decode at a time; for tests.
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u32).range(64..=268_435_456))]
    pub(crate) chunk_bytes: Option<u32>,
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

/// Lowest severity of a finding that makes the command fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Warning,
    Critical,
}

#[derive(Debug, clap::Args)]
#[command(after_help = CHECK_HELP)]
pub(crate) struct CheckArgs {
    /// Facts that `--facts` printed, one file per server; - is stdin [default: read this server].
    #[arg(value_name = "FACTS")]
    pub(crate) facts_files: Vec<PathBuf>,
    /// Print what was read of this server as JSON, and judge nothing.
    #[arg(long, conflicts_with_all = ["facts_files", "json", "fail_on"])]
    pub(crate) facts: bool,
    /// Watch the disks for this time, such as 60s, and compare how long their I/O takes. Needs I/O by others: it makes none itself.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, conflicts_with = "facts_files")]
    pub(crate) watch: Option<std::time::Duration>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with code 1 if a check ends with this status or worse.
    #[arg(long, value_enum, value_name = "STATUS", default_value = "warning")]
    pub(crate) fail_on: FailOn,
    /// Directory to use in place of `/`, such as the mount point of a simulated server.
    #[arg(long, value_name = "DIR", default_value = "/", conflicts_with = "facts_files")]
    pub(crate) root: PathBuf,
    /// Check these servers over ssh, all together: oss[01-40],mds1.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["facts_files", "facts"])]
    pub(crate) hosts: Option<lioprof_remote::HostList>,
    /// How to call ssh, such as `ssh -F file`.
    #[arg(long, value_name = "COMMAND", default_value = "ssh", requires = "hosts")]
    pub(crate) ssh: String,
    /// lioprof on the servers: a name in the login's PATH, or a path.
    #[arg(long, value_name = "PROGRAM", default_value = "lioprof", requires = "hosts")]
    pub(crate) remote_lioprof: String,
}

const CHECK_HELP: &str = "\
Examples:
  lioprof check                            # this server, as root
  lioprof check --watch 60s                # and whether one of its disks is slower than the others
  lioprof check --hosts oss[01-40],mds1    # all servers, over ssh (with sudo -n unless the login is root)
  lioprof check --facts >oss01.json        # on each server, then for all of them together:
  lioprof check oss*.json

Reads files of /proc, /sys and /dev/kmsg only. docs/check.md says how to read each line. Exit codes: 0 nothing at or above
--fail-on, 1 something is, 2 wrong arguments, or a server could not be checked. What could not be read is `unknown`, and
fails nothing.";

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lioprof findings lock-ping-pong\n  lioprof findings > thresholds.toml")]
pub(crate) struct FindingsArgs {
    /// List only these kinds of findings [default: all].
    #[arg(value_name = "RULE")]
    pub(crate) rules: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// Tables for people, 80 columns.
    Summary,
    /// The whole comparison as JSON, schema lioprof.comparison/1.
    Json,
    /// Print nothing.
    None,
}

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
    /// Plots to write with -o, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "svg,png")]
    pub(crate) plots: Vec<PlotFormat>,
    /// Width of the time bins in seconds, if logs are compared [default: chosen from the duration].
    #[arg(long, value_name = "SECONDS", value_parser = bin_us)]
    pub(crate) bin: Option<i64>,
    #[command(flatten)]
    pub(crate) thresholds: ThresholdArgs,
    /// Exit with code 1 if a headline figure (duration of the I/O, bandwidth, p99 of reads or writes, lock wait) got
    /// certainly worse by more than this share: by the near end of its interval.
    #[arg(long, value_name = "regression=SHARE")]
    pub(crate) fail_on: Option<RegressionLimit>,
    /// Number of threads [default: number of cores, at most 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
}

const COMPARE_HELP: &str = "\
Examples:
  lioprof compare before/ after/                        tables on the terminal
  lioprof compare old/analysis.json new.bin.zst -o cmp  comparison.json and overlaid plots into cmp/
  lioprof compare base.json rpc.bin --fail-on regression=10%    for CI: exit code 1 if it got worse

docs/compare.md explains intervals and verdicts. Exit codes: 0 done, 1 a regression larger than --fail-on, 2 wrong
arguments or unreadable input.";

const ANALYZE_HELP: &str = "\
Examples:
  lioprof analyze /tmp/rpc.bin                     tables on the terminal
  lioprof analyze oss*/rpc.bin.zst -o report       several servers; JSON, CSV, plots, report.html into report/
  lctl dk | lioprof analyze -                      the current content of the kernel's debug buffer
  lioprof analyze rpc.txt --from 'run 7 start' --to 'run 7 end'    between two `lctl mark` lines
  lioprof analyze rpc.bin --fail-on critical       exit code 1 if something is badly wrong
  lioprof analyze rpc.bin --format json | jq '.targets[] | {name, b: .write.bytes}'";

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lioprof decode rpc.bin.zst | grep 'Handled RPC' | less")]
pub(crate) struct DecodeArgs {
    /// Logs, as for `analyze`.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write the text to this file [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Name of the node that all inputs, or those that match GLOB, come from; nodes are written one after the other.
    #[arg(long, value_name = "NAME[=GLOB]")]
    pub(crate) node: Vec<NodeRule>,
    /// Number of threads [default: number of cores, at most 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = OPERATIONS_HELP)]
pub(crate) struct OperationsArgs {
    /// Logs of clients and servers, as for `analyze`.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write operations.json, operations.html and a plot of the parts into this directory.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// What to print on stdout.
    #[arg(long, value_enum, default_value = "summary")]
    pub(crate) format: OperationsFormat,
    /// Plots to write with -o, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "svg,png")]
    pub(crate) plots: Vec<PlotFormat>,
    /// Also write all operations into this Parquet file, table operations_client; without names of files.
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FILE")]
    pub(crate) parquet: Option<PathBuf>,
    /// Also write a trace for ui.perfetto.dev: operations by thread, their RPCs, and what the servers did for these.
    #[cfg(feature = "export")]
    #[arg(long, value_name = "FILE")]
    pub(crate) perfetto: Option<PathBuf>,
    /// Print the `lfs fid2path` commands that tell the names of the slowest operations' files, and nothing else.
    #[arg(long)]
    pub(crate) resolve: bool,
    /// Show names of files beside their FIDs in tables, on the page and in the Perfetto trace; never in JSON, CSV and Parquet.
    #[arg(long)]
    pub(crate) names: bool,
    /// Name of the node that all inputs, or those that match GLOB, come from.
    #[arg(long, value_name = "NAME[=GLOB]")]
    pub(crate) node: Vec<NodeRule>,
    /// Use only what ended at or after this time: Unix seconds, 2026-11-21T08:51:22Z, or the text of an `lctl mark` line.
    #[arg(long, value_name = "TIME|MARK", value_parser = bound)]
    pub(crate) from: Option<Bound>,
    /// Use only what ended at or before this time.
    #[arg(long, value_name = "TIME|MARK", value_parser = bound)]
    pub(crate) to: Option<Bound>,
    /// Show only this client, or clients in this range: 10.0.0.1@tcp, 10.0.0.1-10.0.0.9@tcp, 10.0.0.0/24@o2ib, *@tcp1.
    #[arg(long, value_name = "NID|RANGE")]
    pub(crate) client: Vec<NidPattern>,
    /// Show only operations with an RPC to this target: lustre-OST0003.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Vec<TargetName>,
    /// Show only operations with an RPC of this job id.
    #[arg(long, value_name = "ID")]
    pub(crate) job: Vec<String>,
    /// Show only operations with an RPC of this opcode: OST_WRITE, ldlm_enqueue, 101.
    #[arg(long, value_name = "NAME", value_parser = opcode)]
    pub(crate) opcode: Vec<Opcode>,
    /// Exit with code 3 if more than this share of the bytes or RPCs is known to be lost; 0 also fails if an
    /// unknown amount is lost (the ring buffer was overwritten).
    #[arg(long, value_name = "SHARE", default_value = "0.05", value_parser = share)]
    pub(crate) max_loss: f64,
    /// Number of threads [default: number of cores, at most 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = WHAT_IF_HELP)]
pub(crate) struct WhatIfArgs {
    /// Logs or rows of all servers that took part, as for `analyze`.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// An OST as fast as the others (peers), or so many times as fast as it was (x2, x0.5); may be given several times, as all options.
    #[arg(long, value_name = "NAME=peers|xFACTOR", value_parser = ost_change)]
    pub(crate) ost: Vec<Change>,
    /// All OSTs of a server as fast as those of other servers: its link, its memory.
    #[arg(long, value_name = "NAME=peers", value_parser = server_change)]
    pub(crate) server: Vec<Change>,
    /// A client's requests as fast as those of other clients: its link.
    #[arg(long, value_name = "NID=peers", value_parser = client_change)]
    pub(crate) client: Vec<Change>,
    /// What one client reads and writes done by N, each with a link of its own.
    #[arg(long, value_name = "NID=N", value_parser = writers_change)]
    pub(crate) writers: Vec<Change>,
    /// The same requests evenly on all OSTs.
    #[arg(long)]
    pub(crate) spread_evenly: bool,
    /// No client waits for a lock that another one has.
    #[arg(long)]
    pub(crate) no_lock_waits: bool,
    /// Requests of up to 1 MiB in place of small ones in the same object.
    #[arg(long)]
    pub(crate) full_size: bool,
    /// No small requests of clients that send large ones.
    #[arg(long)]
    pub(crate) no_small: bool,
    /// What to print on stdout.
    #[arg(long, value_enum, default_value = "summary")]
    pub(crate) format: WhatIfFormat,
    /// Name of the node (server) that all inputs, or those that match GLOB, come from.
    #[arg(long, value_name = "NAME[=GLOB]")]
    pub(crate) node: Vec<NodeRule>,
    /// Use only what ended at or after this time: Unix seconds, 2026-11-21T08:51:22Z, or the text of an `lctl mark` line.
    #[arg(long, value_name = "TIME|MARK", value_parser = bound)]
    pub(crate) from: Option<Bound>,
    /// Use only what ended at or before this time.
    #[arg(long, value_name = "TIME|MARK", value_parser = bound)]
    pub(crate) to: Option<Bound>,
    /// Exit with code 3 if more than this share of the bytes or RPCs is known to be lost; 0 also fails if an
    /// unknown amount is lost (the ring buffer was overwritten).
    #[arg(long, value_name = "SHARE", default_value = "0.05", value_parser = share)]
    pub(crate) max_loss: f64,
    /// Number of threads [default: number of cores, at most 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
}

const WHAT_IF_HELP: &str = "\
Examples:
  lioprof what-if oss*/rpc.bin                                     what lioprof tries itself
  lioprof what-if oss*/rpc.bin --ost lustre-OST0002=peers          that OST as fast as the others
  lioprof what-if oss*/rpc.bin --ost lustre-OST0002=x2 --no-lock-waits   both together
  lioprof what-if /shared/rows --writers 10.10.0.11@tcp=4 --format json

docs/what-if.md says how it is done, and what it cannot know. Exit codes: 0 done, 2 wrong arguments or unreadable
input, 3 more lost than --max-loss.";

const OPERATIONS_HELP: &str = "\
To capture (docs/operations.md has the details), on each client and each server, as short as possible:
  lctl set_param debug_mb=512
  lctl clear
  lctl debug_daemon start /run/rpc.bin 1024
  lctl set_param debug='+rpctrace +dlmtrace +vfstrace +iotrace'    # clients
  lctl set_param debug='+rpctrace +dlmtrace +net'                  # servers
  ...                                                              # run what is slow
  lctl debug_daemon stop                                           # then put debug and debug_mb back

Examples:
  lioprof operations client1/rpc.bin mds1/rpc.bin oss*/rpc.bin     one log per node, in directories named after the nodes
  lioprof operations logs --format csv > operations.csv            one line per operation
  lioprof operations logs -v                                       with percentiles of each part
  lioprof operations logs -o ops                                   ops/operations.html: click through to single operations
  lioprof operations logs --resolve                                commands that tell the files' names

Exit codes: 0 done, 2 wrong arguments or unreadable input, 3 more lost than --max-loss.";

#[cfg(feature = "export")]
#[derive(Debug, clap::Args)]
#[command(after_help = EXPORT_HELP, group = clap::ArgGroup::new("to_what").required(true).multiple(true))]
pub(crate) struct ExportArgs {
    /// Logs, as for `analyze`, or directories written by `daemon` or `export --parquet`; - is stdin.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write Parquet files into this directory, which must be new or empty, as the daemon does.
    #[arg(long, value_name = "DIR", group = "to_what")]
    pub(crate) parquet: Option<PathBuf>,
    /// Write Parquet files that older engines (DuckDB 1, Spark 3) can read, too: 13 % larger.
    #[arg(long, requires = "parquet")]
    pub(crate) old_readers: bool,
    /// Write the same rows as CSV files into this directory, which must be new or empty.
    #[arg(long, value_name = "DIR", group = "to_what")]
    pub(crate) csv: Option<PathBuf>,
    /// Write a trace for ui.perfetto.dev.
    #[arg(long, value_name = "FILE", group = "to_what")]
    pub(crate) perfetto: Option<PathBuf>,
    /// Start another trace file (FILE-2, FILE-3, ..) after this many MiB.
    #[arg(long, value_name = "MIB", default_value = "256", value_parser = clap::value_parser!(u32).range(1..=65_536), requires = "perfetto")]
    pub(crate) split_mib: u32,
    /// Name of the node (server) that all inputs, or those that match GLOB, come from.
    #[arg(long, value_name = "NAME[=GLOB]")]
    pub(crate) node: Vec<NodeRule>,
    /// Export only what ended at or after this time: Unix seconds, 2026-11-21T08:51:22Z, or the text of an `lctl mark` line.
    #[arg(long, value_name = "TIME|MARK", value_parser = bound)]
    pub(crate) from: Option<Bound>,
    /// Export only what ended at or before this time.
    #[arg(long, value_name = "TIME|MARK", value_parser = bound)]
    pub(crate) to: Option<Bound>,
    /// Exit with code 3 if more than this share of the bytes or RPCs is known to be lost; 0 also fails if an
    /// unknown amount is lost (the ring buffer was overwritten).
    #[arg(long, value_name = "SHARE", default_value = "0.05", value_parser = share)]
    pub(crate) max_loss: f64,
    /// Number of threads [default: number of cores, at most 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
}

#[cfg(feature = "export")]
const EXPORT_HELP: &str = "\
Examples:
  lioprof export oss*/rpc.bin.zst --parquet rows             for DuckDB, Polars, pandas, and `lioprof analyze rows`
  lioprof export /var/lib/lioprof --parquet old --old-readers   the daemon's rows, for Spark 3
  lioprof export rpc.bin --csv tables                        one file per table, one line per RPC
  lioprof export rpc.bin --perfetto rpc.pftrace              open it at https://ui.perfetto.dev
  lioprof export /var/lib/lioprof --perfetto noon.pftrace --from 2026-11-21T12:00:00Z --to 2026-11-21T12:01:00Z

docs/export.md describes columns and tracks. Exit codes: 0 done, 2 wrong arguments, unreadable input or incomplete
output, 3 more lost than --max-loss.";

#[cfg(feature = "export")]
#[derive(Debug, clap::Args)]
#[command(after_help = ROLLUP_HELP)]
pub(crate) struct RollupArgs {
    /// Directory written by `daemon` or `export --parquet`.
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: PathBuf,
    /// Roll up only these nodes, so that several machines can share the work.
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Vec<String>,
    /// Rebuild rollups that are up to date, too.
    #[arg(long)]
    pub(crate) force: bool,
    /// Number of nodes to roll up at a time [default: number of cores, at most 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
}

#[cfg(feature = "export")]
const ROLLUP_HELP: &str = "\
Examples:
  lioprof rollup rows                          roll up nodes with new parts into rows/rollups
  lioprof rollup /shared/rows --node oss17     on oss17; once all nodes are done, `lioprof rollup /shared/rows` for the clocks

Only nodes with new parts are read. At the end the clocks of the nodes are compared; a node whose clock is off is rolled up
again with corrected times. docs/rollups.md describes the tables. Exit codes: 0 done, 2 wrong arguments, or nodes that
could not be rolled up.";

#[cfg(feature = "report")]
#[derive(Debug, clap::Args)]
#[command(after_help = REPORT_HELP)]
pub(crate) struct ReportArgs {
    /// An analysis.json or comparison.json that `lioprof analyze` or `compare` wrote with -o DIR or --format json; - is
    /// stdin.
    #[arg(value_name = "FILE.json")]
    pub(crate) input: PathBuf,
    /// Write to this file; - is stdout [default: report.html or comparison.html beside the input].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[cfg(feature = "report")]
const REPORT_HELP: &str = "\
The page opens from disk in any current browser and needs no network. `lioprof analyze -o DIR` and `lioprof compare -o DIR`
also write it.

Examples:
  lioprof report report/analysis.json                                  writes report/report.html
  lioprof analyze rpc.bin --format json | lioprof report - -o run7.html";

/// The number of threads asked for, else the number of cores up to 8: more threads would be idle.
pub(crate) fn threads(asked: Option<u16>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(8);
    asked.map_or_else(cores, usize::from)
}

fn bin_us(text: &str) -> Result<i64, String> {
    let expected = || format!("expected a number of seconds from 0.001 to 86400, such as 0.1; found `{text}`");
    let seconds: f64 = text.parse().map_err(|_| expected())?;
    if !(0.001..=86_400.0).contains(&seconds) {
        return Err(expected());
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most 86,400,000,000")]
    let us = (seconds * 1e6).round() as i64;
    Ok(us)
}

fn contended(text: &str) -> Result<ContendedRule, String> {
    let parse = || -> Option<ContendedRule> {
        let mut parts = text.split('/');
        let conflicts = parts.next()?.parse().ok().filter(|&n| (1..=1_000_000).contains(&n))?;
        let window_us = bin_us(parts.next()?).ok()?;
        let hold_us = parts.next().map_or(Some(window_us), |hold| bin_us(hold).ok())?;
        parts.next().is_none().then_some(ContendedRule { conflicts, window_us, hold_us })
    };
    parse()
        .ok_or_else(|| format!("expected CONFLICTS/SECONDS or CONFLICTS/SECONDS/HOLD, such as 16/4/30; found `{text}`"))
}

fn threshold(text: &str) -> Result<(String, f64), String> {
    text.split_once('=')
        .and_then(|(name, value)| Some((name.trim().to_owned(), value.trim().parse().ok()?)))
        .ok_or_else(|| format!("expected RULE.NAME=VALUE, such as trace-quality.lost_share=0.05; found `{text}`"))
}

fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| format!("expected a share from 0 to 1, such as 0.05; found `{text}`"))
}

/// `NAME=VALUE`; a NID has no `=`.
fn named(text: &str, expected: &str) -> Result<(String, String), String> {
    let named = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let (name, value) = named.ok_or_else(|| format!("expected {expected}; found `{text}`"))?;
    Ok((name.to_owned(), value.to_owned()))
}

fn ost_change(text: &str) -> Result<Change, String> {
    let expected = "an OST and what it is to be, such as lustre-OST0002=peers or lustre-OST0002=x2";
    let (target, value) = named(text, expected)?;
    if value == "peers" {
        return Ok(Change::TargetAsPeers { target });
    }
    let factor = value.strip_prefix('x').and_then(|factor| factor.parse::<f64>().ok());
    let factor = factor.filter(|factor| factor.is_finite() && *factor > 0.0);
    factor
        .map(|factor| Change::TargetFaster { target, factor })
        .ok_or_else(|| format!("expected {expected}; found `{text}`"))
}

fn server_change(text: &str) -> Result<Change, String> {
    let expected = "a server as its peers, such as oss2=peers";
    match named(text, expected)? {
        (node, value) if value == "peers" => Ok(Change::NodeAsPeers { node }),
        _ => Err(format!("expected {expected}; found `{text}`")),
    }
}

fn client_change(text: &str) -> Result<Change, String> {
    let expected = "a client as its peers, such as 10.10.0.12@tcp=peers";
    match named(text, expected)? {
        (client, value) if value == "peers" => Ok(Change::ClientAsPeers { client }),
        _ => Err(format!("expected {expected}; found `{text}`")),
    }
}

fn writers_change(text: &str) -> Result<Change, String> {
    let expected = "a client and how many are to do its work, from 2 to 1000, such as 10.10.0.11@tcp=2";
    let (client, value) = named(text, expected)?;
    let writers = value.parse().ok().filter(|writers| (2..=1000).contains(writers));
    writers
        .map(|writers| Change::Writers { client, writers })
        .ok_or_else(|| format!("expected {expected}; found `{text}`"))
}

fn opcode(text: &str) -> Result<Opcode, String> {
    Opcode::from_str(&text.to_ascii_uppercase())
        .map_err(|_| format!("expected a name such as OST_WRITE or ldlm_enqueue, or a number; found `{text}`"))
}

/// Parses a time; any other text is that of a marker.
#[expect(clippy::unnecessary_wraps, reason = "clap wants a Result")]
fn bound(text: &str) -> Result<Bound, String> {
    Ok(time::parse(text).map_or_else(|| Bound::Marker(text.to_owned()), Bound::Time))
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
    fn times_and_markers() {
        assert_eq!(bound("1700000000.5"), Ok(Bound::Time(1_700_000_000_500_000)));
        assert_eq!(bound("2023-11-14T22:13:20Z"), Ok(Bound::Time(1_700_000_000_000_000)));
        assert_eq!(bound("2023-11-14 22:13:20.25"), Ok(Bound::Time(1_700_000_000_250_000)));
        assert_eq!(bound("CAPTURE-START x"), Ok(Bound::Marker("CAPTURE-START x".to_owned())));
    }

    #[test]
    fn contention_rules() {
        let rule = ContendedRule { conflicts: 16, window_us: 4_000_000, hold_us: 30_000_000 };
        assert_eq!(contended("16/4/30"), Ok(rule));
        assert_eq!(contended("16/4"), Ok(ContendedRule { hold_us: 4_000_000, ..rule }));
        for bad in ["", "16", "0/4", "16/x", "16/4/30/1"] {
            assert!(contended(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bins_are_checked() {
        assert_eq!(bin_us("0.25"), Ok(250_000));
        for bad in ["0", "-1", "x", "nan", "1e9"] {
            assert!(bin_us(bad).is_err(), "{bad}");
        }
    }
}
