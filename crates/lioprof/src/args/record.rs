//! `lioprof record`, and the agent that it starts on servers.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};
use lioprof_record::Fetch;

use super::daemon::ConfigArgs;
use super::shared::{BaselineArgs, PlotArgs, SelectionArgs};
use super::values::{some_time, time_within};

#[derive(Debug, clap::Args)]
#[command(after_help = RECORD_HELP, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct RecordArgs {
    #[command(subcommand)]
    pub(crate) later: Option<LaterCommand>,
    /// Servers to record, as ClusterShell and Slurm write them: oss[01-40],mds1.
    #[arg(long, value_name = "LIST", required = true)]
    pub(crate) hosts: Option<lioprof_remote::HostList>,
    /// Directory for the rows of all servers, the report, and record.json.
    #[arg(short, long, value_name = "DIR", required = true)]
    pub(crate) output: Option<PathBuf>,
    /// End after this time, such as 5m [default: when COMMAND ends, or at Ctrl-C].
    #[arg(long = "for", value_name = "TIME", value_parser = some_time, conflicts_with = "run")]
    pub(crate) duration: Option<Duration>,
    /// Copy this lioprof to servers that lack it, and remove it afterwards.
    #[arg(long)]
    pub(crate) push: bool,
    /// Go on with the servers that are fine.
    #[arg(long)]
    pub(crate) partial: bool,
    /// What to fetch at the end.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "sums")]
    pub(crate) fetch: FetchWhat,
    /// The same as --fetch rows.
    #[arg(long, conflicts_with = "fetch")]
    pub(crate) rows: bool,
    /// How to call ssh, such as `ssh -F file`.
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    pub(crate) ssh: String,
    /// lioprof on the servers: a name in the login's PATH, or a path.
    #[arg(long, value_name = "PROGRAM", default_value = "lioprof")]
    pub(crate) remote_lioprof: String,
    /// Daemons end by themselves, and restore all settings, if they have not heard of this command for this long.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = lease)]
    pub(crate) lease: Duration,
    /// What to trace: full (exact bytes, locks), light (rpctrace only), auto (full until a server's budget is used up)
    /// [default: as each server's configuration says].
    #[arg(long, value_name = "auto|full|light")]
    pub(crate) profile: Option<String>,
    #[command(flatten)]
    pub(crate) report: RecordReportArgs,
    /// Command to run meanwhile; its exit code is passed on.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) run: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LaterCommand {
    /// Put a mark into the logs of all servers of a recording that runs.
    Mark(RecordMarkArgs),
    /// Fetch the rows of a recording, or what is missing of them, and make the report again.
    Fetch(RecordFetchArgs),
    /// Delete what the servers still have of a recording; the report stays.
    Forget(RecordForgetArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecordMarkArgs {
    /// Text of the mark: one line, at most 255 characters.
    pub(crate) text: String,
    /// Directory that was given to `lioprof record -o`.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecordFetchArgs {
    /// Directory that was given to `lioprof record -o`.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// What to fetch.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "rows")]
    pub(crate) fetch: FetchWhat,
    #[command(flatten)]
    pub(crate) report: RecordReportArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecordForgetArgs {
    /// Directory that was given to `lioprof record -o`.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

/// What the report is about, and what it consists of.
#[derive(Debug, clap::Args)]
pub(crate) struct RecordReportArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
}

/// What is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FetchWhat {
    /// What a report is made of: each server sums up its rows, which stay there
    Sums,
    /// All rows: for other questions later
    Rows,
    /// Nothing: rows stay on the servers, for `lioprof record fetch --fetch rows`
    Nothing,
}

impl From<FetchWhat> for Fetch {
    fn from(what: FetchWhat) -> Self {
        match what {
            FetchWhat::Sums => Self::Sums,
            FetchWhat::Rows => Self::Rows,
            FetchWhat::Nothing => Self::Nothing,
        }
    }
}

/// The agent's options: an administrator may start it through a wrapper that names another configuration.
#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    pub(crate) source: ConfigArgs,
}

fn lease(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_secs(2)..=Duration::from_secs(86_400), "2s to 1day")
}

const RECORD_HELP: &str = "\
Examples:
  lioprof record --hosts oss[01-40],mds1 -o run7 -- mpirun -n 4096 ./app
  lioprof record --hosts oss[01-40],mds1 -o now --for 5m
  lioprof record --hosts oss[01-40],mds1 -o run8 --job 4711 -- srun ./app   # about this job
  lioprof record mark 'checkpoint 3' -o run7                                # meanwhile
  lioprof record fetch run7                                                 # brings the rows
  lioprof record forget run7                                                # deletes them there

Each server is reached by the system's own ssh, with sudo -n unless the login is root. All are checked first (lioprof and its \
version, what `lioprof doctor` checks, clocks, names): if something is wrong, nothing has been changed anywhere. The report \
goes to DIR/report; each server sums up its rows for it, and keeps them until they are fetched to DIR/rows or forgotten. What was \
recorded where and what went wrong is in DIR/record.json. \
docs/record.md says what happens when something dies. Exit codes: that of COMMAND if it is not 0; else 0 all is there, 1 a \
server failed or something of it is missing, 2 wrong arguments, or nothing was recorded and nothing changed.";
