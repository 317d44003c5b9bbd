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

use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};

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
pub(crate) use shared::{FailOn, PlotArgs, PlotFormat, ThresholdArgs};
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
    /// Colours: auto (on a terminal, unless NO_COLOR is set), always, never.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 902)]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub(crate) color: ColorChoice,
}

impl Args {
    /// The arguments of this process; ends it if they are wrong, or ask for help.
    pub(crate) fn of_process() -> Self {
        Self::from_arg_matches(&grouped().get_matches()).unwrap_or_else(|error| error.exit())
    }
}

/// The commands that `--help` lists, by what they are for.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Capture", &["doctor", "daemon", "status", "mark", "stop", "record"]),
    ("Analyze", &["analyze", "explain", "compare", "what-if", "operations", "report", "findings"]),
    ("Watch", &["top", "check"]),
    ("Convert", &["decode", "anonymise", "export", "rollup", "replay"]),
];

/// The command line, with its commands listed in groups.
fn grouped() -> clap::Command {
    let command = Args::command();
    let header = command.get_styles().get_header();
    let name_style = command.get_styles().get_literal();
    let mut lists = String::new();
    for (group, names) in GROUPS {
        lists.push_str(&format!("{header}{group}:{header:#}\n"));
        for sub in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            lists.push_str(&format!("  {name_style}{:10}{name_style:#}  {about}\n", sub.get_name()));
        }
        lists.push('\n');
    }
    let options = format!("{header}Options:{header:#}\n{{options}}");
    command
        .help_template(format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{lists}{options}{{after-help}}"))
}

const AFTER_HELP: &str = "\
`lioprof COMMAND --help` explains a command. To capture ten minutes on an OSS or MDS, as root:
  lioprof daemon --for 10m --dir /var/tmp/cap       # restores every setting when it ends
  lioprof analyze /var/tmp/cap -o report

Without lioprof on the server, with lctl alone (docs/capture.md has the details):
  lctl get_param daemon_file                        # a path: somebody else's is running, stop here
  masks=$(dirname /sys/module/l*/parameters/libcfs_debug)   # numbers: not every bit has a name
  debug=$(cat $masks/libcfs_debug) subsystem=$(cat $masks/libcfs_subsystem_debug)
  mb=$(lctl get_param -n debug_mb)
  lctl set_param debug_mb=512 subsystem_debug='rpc filter ldlm'
  lctl clear
  lctl debug_daemon start /var/tmp/rpc.bin 1024     # a new local file, at most 1 GiB
  lctl set_param debug='+rpctrace +dlmtrace +net'   # +rpctrace alone: smaller, less exact
  sleep 60                                          # meanwhile: the I/O to be analyzed
  echo $debug > $masks/libcfs_debug
  echo $subsystem > $masks/libcfs_subsystem_debug
  lctl debug_daemon stop
  lctl set_param debug_mb=$mb
  lioprof analyze /var/tmp/rpc.bin -o report

Exit codes: 0 done, 1 findings at or above --fail-on, 2 wrong arguments or unreadable input, 3 more lost than --max-loss.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What is wrong, who, when, what to do, from debug or kernel logs.
    ///
    /// Rebuilds every RPC from the debug logs, and shows which client used which OST, at what bandwidth and latency.
    Analyze(Box<AnalyzeArgs>),
    /// What improved or got worse between two captures.
    ///
    /// Takes logs or saved analyses. Also says which findings are new or gone.
    Compare(Box<CompareArgs>),
    /// Print a binary log as text, as `lctl debug_file` does.
    ///
    /// The records are sorted by time.
    Decode(DecodeArgs),
    /// Replace all names in logs and counters, to send them to others.
    ///
    /// Writes the logs and counters again, with a pseudonym for each name.
    Anonymise(AnonymiseArgs),
    /// Where the time of clients' operations (open, read, fsync) went.
    ///
    /// Takes the logs of clients and servers.
    Operations(Box<OperationsArgs>),
    /// Predict how long the same work would take with something changed.
    ///
    /// Replays the captured requests, with faster OSTs, without waits for locks, or with larger requests.
    WhatIf(Box<WhatIfArgs>),
    /// Every RPC and lock event as Parquet, CSV or a Perfetto trace.
    #[cfg(feature = "export")]
    Export(Box<ExportArgs>),
    /// Check whether servers are fit for a large run.
    ///
    /// Checks targets, space, errors, settings and disks. Traces nothing.
    Check(Box<CheckArgs>),
    /// Explain a kind of finding: how it is decided, what to do.
    ///
    /// Also says what may fool it.
    Explain(ExplainArgs),
    /// List the thresholds of the findings, for `analyze --thresholds`.
    Findings(FindingsArgs),
    /// Trace this server until stopped; then restore all settings.
    ///
    /// Enables rpctrace, drains the kernel's debug log, and keeps one row per RPC.
    #[cfg(feature = "daemon")]
    Daemon(Box<DaemonArgs>),
    /// Check whether this server can be traced, and what is missing.
    #[cfg(feature = "daemon")]
    Doctor(DoctorArgs),
    /// Show what the daemon on this server does, costs and lost.
    #[cfg(feature = "daemon")]
    Status(StatusArgs),
    /// What OSTs, clients and jobs do now, on one server or on many.
    ///
    /// Also says what is wrong by the last minute.
    #[cfg(feature = "daemon")]
    Top(Box<TopArgs>),
    /// Stop the daemon: write the data, restore all settings.
    #[cfg(feature = "daemon")]
    Stop(TalkArgs),
    /// Write a mark into the log, for `analyze --from MARK --to MARK`.
    #[cfg(feature = "daemon")]
    Mark(MarkArgs),
    /// Capture on many servers while a command runs; one report.
    ///
    /// Starts daemons over ssh, keeps them alive, fetches their rows, and makes one report of all.
    #[cfg(feature = "daemon")]
    Record(Box<RecordArgs>),
    /// Do on this server what `lioprof record` says on standard input.
    #[cfg(feature = "daemon")]
    #[command(hide = true)]
    Agent(AgentArgs),
    /// Play a log or a synthetic workload on a simulated server.
    ///
    /// For tests and demonstrations. Needs root and FUSE.
    #[cfg(feature = "replay")]
    Replay(Box<lioprof_sim::replay::ReplayArgs>),
    /// Make the HTML page of a saved analysis or comparison.
    ///
    /// One self-contained file, with findings and interactive views.
    #[cfg(feature = "report")]
    Report(ReportArgs),
    /// Sum up the rows of many nodes, for dashboards and large sites.
    ///
    /// Writes a summary (rollup) of each node into the dataset; `lioprof-query analyze` reads them.
    #[cfg(feature = "export")]
    Rollup(RollupArgs),
    /// Write the manual pages and the completions for bash, zsh and fish; for packagers, see docs/install.md.
    #[command(hide = true)]
    Generate(lioprof_about::ShareDir),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        grouped().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group_and_has_one_line() {
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        listed.sort_unstable();
        let command = Args::command();
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            assert!(listed.contains(&sub.get_name()), "{} is in no group", sub.get_name());
        }
        assert!(listed.windows(2).all(|pair| pair[0] != pair[1]), "{listed:?}");
        let mut command = grouped();
        let help = command.render_help().to_string();
        for group in ["Capture:", "Analyze:", "Watch:", "Convert:"] {
            assert_eq!(help.lines().filter(|line| *line == group).count(), 1, "{group} {help}");
        }
        let list = help.split("Options:").next().unwrap();
        assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    }

    #[test]
    fn examples_are_not_wrapped() {
        let all = Args::command();
        for command in all.get_subcommands().chain([&all]) {
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
