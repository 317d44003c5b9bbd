//! `lioprof analyze`.

use std::path::PathBuf;

use lioprof_analysis::ContendedRule;
use lioprof_text::Format;

use super::shared::{BaselineArgs, FailOn, LogArgs, PlotArgs, SelectionArgs, ThresholdArgs};
use super::values::{bin_us, contended, moment_us, zone_us};

#[derive(Debug, clap::Args)]
#[command(after_help = ANALYZE_HELP)]
pub(crate) struct AnalyzeArgs {
    /// Text or binary logs, kernel logs (dmesg, syslog, journal), plain or .gz .zst .xz .bz2, or directories to search for them; - is stdin.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write analysis.json, tables (CSV), plots and report.html into this directory.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// What to print on stdout.
    #[arg(long, value_enum, default_value = "summary")]
    pub(crate) format: Format,
    /// Also print tables: where the time went, targets, clients, jobs, operations, locks, loss.
    #[arg(long)]
    pub(crate) tables: bool,
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
    /// Width of the time bins in seconds [default: chosen from the duration].
    #[arg(long, value_name = "SECONDS", value_parser = bin_us)]
    pub(crate) bin: Option<i64>,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Skip the analysis of locks.
    #[arg(long)]
    pub(crate) no_locks: bool,
    /// An object with CONFLICTS lock conflicts within SECONDS counts as contended for HOLD seconds (default: SECONDS)
    /// [default: 32/2/2 as in Lustre up to 2.17, 16/4/30 if the log shows a newer one].
    #[arg(long, value_name = "CONFLICTS/SECONDS[/HOLD]", value_parser = contended)]
    pub(crate) contended: Option<ContendedRule>,
    #[command(flatten)]
    pub(crate) thresholds: ThresholdArgs,
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    /// Kernel logs: boot time of the node (`uptime -s`), if its time stamps count from the boot and no debug log says when that was.
    #[arg(long, value_name = "TIME", value_parser = moment_us)]
    pub(crate) boot_time: Option<i64>,
    /// Kernel logs: time zone of time stamps without one (`date +%z`): +01:00, -0500, UTC.
    #[arg(long, value_name = "OFFSET", value_parser = zone_us, allow_hyphen_values = true)]
    pub(crate) timezone: Option<i64>,
    /// Exit with code 1 if there is a finding of this severity or worse.
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FailOn>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Number of bytes to read and decode at a time; for tests.
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u32).range(64..=268_435_456))]
    pub(crate) chunk_bytes: Option<u32>,
}

const ANALYZE_HELP: &str = "\
Examples:
  lioprof analyze /tmp/rpc.bin                     what is wrong, who, when, what to do
  lioprof analyze /tmp/rpc.bin --tables            and all figures as tables on the terminal
  lioprof analyze oss*/rpc.bin.zst -o report       several servers; tables, plots, page in report/
  lioprof analyze /var/log/messages                evictions, timeouts, failures in a kernel log
  lctl dk | lioprof analyze -                      what is in the kernel's debug buffer now
  lioprof analyze rpc.txt --from 'run 7 start' --to 'run 7 end'    between two `lctl mark` lines
  lioprof analyze rpc.bin --fail-on critical       exit code 1 if something is badly wrong
  lioprof analyze rpc.bin --format json | jq '.targets[] | {name, b: .write.bytes}'";
