//! The command line.

#[cfg(feature = "cluster")]
use std::net::SocketAddr;
#[cfg(feature = "cluster")]
use std::num::NonZeroU64;
use std::num::NonZeroUsize;
use std::path::PathBuf;
#[cfg(feature = "cluster")]
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
#[cfg(feature = "cluster")]
use lioprof_query::cluster::SchedulerAddress;
use lioprof_query::{Engine, Format};

use crate::about;

/// Queries, in SQL, the rows that `lioprof daemon` and `lioprof export --parquet` write from the logs of Lustre servers.
#[derive(Debug, Parser)]
#[command(version, long_version = about::version(), max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
A DATASET is a folder, a folder with several datasets below it, or s3://BUCKET/PREFIX. Credentials, \
region and endpoint of an object store come from variables such as AWS_ACCESS_KEY_ID, \
AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT.

Examples:
  lioprof-query ready                                          list the queries that need no SQL
  lioprof-query ready who-used-target rows --set target=OST0007 --set from=03:00 --set to=03:05
  lioprof-query sql rows 'SELECT * FROM latency ORDER BY p99_us DESC LIMIT 10'
  lioprof-query sql s3://traces/rows 'SELECT nid, sum(bytes) FROM rpcs GROUP BY nid' --format csv
  lioprof-query prompt rows                                    interactive prompt

Exit codes: 0 done, 2 wrong arguments, invalid SQL, unreadable or unwritable files, missing rollups, or a cluster that does \
not answer; 130 interrupted.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run SQL and print the rows.
    Sql(SqlArgs),
    /// Run SQL interactively, with history and completion.
    Prompt(PromptArgs),
    /// Run a ready query; without NAME, list all; without DATASET, show the query NAME.
    Ready(ReadyArgs),
    /// Analyze a dataset as `lioprof analyze` does; the sums of its nodes are made where queries run.
    Analyze(AnalyzeArgs),
    /// Print the SQL of the views, for use in other engines.
    Views,
    /// Run the scheduler of a cluster, which accepts queries and distributes their tasks to executors.
    #[cfg(feature = "cluster")]
    Scheduler(SchedulerArgs),
    /// Run an executor of a cluster, which asks the scheduler for tasks.
    #[cfg(feature = "cluster")]
    Executor(ExecutorArgs),
    /// Write the manual pages and the completions for bash, zsh and fish. For packages, see docs/install.md.
    #[command(hide = true)]
    Generate(lioprof_about::ShareDir),
}

impl Command {
    /// Engine for the queries of this command; `None` if it has none.
    pub(crate) fn engine(&self) -> Option<&EngineArgs> {
        match self {
            Self::Sql(args) => Some(&args.engine),
            Self::Prompt(args) => Some(&args.engine),
            Self::Ready(args) => Some(&args.engine),
            Self::Analyze(args) => Some(&args.engine),
            Self::Views | Self::Generate(_) => None,
            #[cfg(feature = "cluster")]
            Self::Scheduler(_) | Self::Executor(_) => None,
        }
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = SQL_HELP)]
pub(crate) struct SqlArgs {
    /// Dataset: a folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: String,
    /// One statement, or several separated by `;`.
    #[arg(value_name = "SQL", required_unless_present = "file", conflicts_with = "file")]
    pub(crate) sql: Option<String>,
    /// Read the SQL from a file; - is stdin.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print the query plan; with =run, run the query and print the rows and time of each step.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "plan", value_name = "WHAT")]
    pub(crate) explain: Option<Explain>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

const SQL_HELP: &str = "\
Examples:
  lioprof-query sql rows 'SELECT target, sum(read_bytes) FROM flows GROUP BY target'
  lioprof-query sql rows -f question.sql -o answer.parquet
  lioprof-query sql rows \"SELECT * FROM rpcs WHERE job = 'dd.0'\" --format csv | head
  lioprof-query sql rows 'SHOW TABLES'";

#[derive(Debug, clap::Args)]
pub(crate) struct PromptArgs {
    /// Dataset: a folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: String,
    /// Initial output format; \format changes it.
    #[arg(long, value_parser = terminal_format, default_value = "table", value_name = "table|csv|json")]
    pub(crate) format: Format,
    /// Print at most this many rows of a result as a table; 0 for all.
    #[arg(long, default_value = "1000", value_name = "ROWS")]
    pub(crate) max_rows: usize,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = READY_HELP)]
pub(crate) struct ReadyArgs {
    /// Name of the ready query.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Dataset: a folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: Option<String>,
    /// Set a parameter of the query.
    #[arg(long, value_name = "PARAMETER=VALUE", value_parser = setting)]
    pub(crate) set: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

const READY_HELP: &str = "\
Times are UTC: 2026-11-21T03:00:00Z, 2026-11-21 03:00, Unix seconds, or just 03:00 if the dataset \
covers a single day.

Examples:
  lioprof-query ready
  lioprof-query ready who-used-target                     show its parameters, columns and SQL
  lioprof-query ready who-used-target rows --set target=OST0007 --set from=03:00 --set to=03:05";

#[derive(Debug, clap::Args)]
#[command(after_help = ANALYZE_HELP)]
pub(crate) struct AnalyzeArgs {
    /// Dataset: a folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: String,
    /// Write analysis.json, CSV tables and report.html into this directory.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// What to print on stdout.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "summary")]
    pub(crate) format: lioprof_text::Format,
    /// Also print tables: where the time went, targets, clients, jobs, operations, locks, loss.
    #[arg(long)]
    pub(crate) tables: bool,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

const ANALYZE_HELP: &str = "\
Examples:
  lioprof-query analyze rows -o report
  lioprof-query analyze /shared/rows --engine ballista://head:50050 -o report
  lioprof-query analyze rows --format json | lioprof report - -o page.html

Sums that `lioprof rollup` has made of the rows are taken as they are.";

#[derive(Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// Output format [default: by the file extension of -o, else table].
    #[arg(long, value_parser = format, value_name = "table|csv|json|parquet")]
    pub(crate) format: Option<Format>,
    /// Write to this file, which is complete or not created at all.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print at most this many rows as a table; 0 for all.
    #[arg(long, default_value = "1000", value_name = "ROWS")]
    pub(crate) max_rows: usize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EngineArgs {
    /// Where to run queries: in this process, or on a cluster, whose scheduler and executors must see the dataset under the
    /// same path.
    #[arg(long, value_name = "embedded|ballista://HOST:PORT", default_value = "embedded")]
    pub(crate) engine: Engine,
    /// Number of partitions for each step of a query on a cluster, for all executors together [default: 16 per executor].
    #[arg(long, value_name = "N")]
    pub(crate) partitions: Option<NonZeroUsize>,
    /// Number of threads of the embedded engine [default: number of cores].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Memory of the embedded engine for sorting, joining and grouping, in MiB; beyond it, they spill to files below $TMPDIR
    /// [default: no limit].
    #[arg(long, value_name = "MIB")]
    pub(crate) memory_mib: Option<NonZeroUsize>,
}

#[cfg(feature = "cluster")]
#[derive(Debug, clap::Args)]
#[command(after_help = SCHEDULER_HELP)]
pub(crate) struct SchedulerArgs {
    /// Address and port to listen on; with port 0 the system chooses one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:50050")]
    pub(crate) bind: SocketAddr,
    /// Treat an executor as lost after it was silent for this time, at least 10s, and give its tasks to others.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = executor_timeout)]
    pub(crate) executor_timeout: Duration,
}

#[cfg(feature = "cluster")]
const SCHEDULER_HELP: &str = "\
The scheduler prints its address once it listens. Anyone who can reach that port can make executors read and write every file \
that they have access to: keep it inside a trusted network. docs/cluster.md explains how to set up a cluster.

Example:
  lioprof-query scheduler
  lioprof-query executor --scheduler head:50050                             on each worker host
  lioprof-query sql /mnt/rows 'SELECT count(*) FROM rpcs' --engine ballista://head:50050";

#[cfg(feature = "cluster")]
#[derive(Debug, clap::Args)]
#[command(after_help = EXECUTOR_HELP)]
pub(crate) struct ExecutorArgs {
    /// Scheduler to get tasks from.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) scheduler: SchedulerAddress,
    /// Address and port where other executors fetch intermediate results; with port 0 the system chooses one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:50051")]
    pub(crate) bind: SocketAddr,
    /// Name or address under which others reach this executor [default: the bound address, or the one that the scheduler sees].
    #[arg(long, value_name = "HOST")]
    pub(crate) advertise: Option<String>,
    /// Number of tasks to run at a time [default: number of cores].
    #[arg(long, value_name = "N")]
    pub(crate) concurrent_tasks: Option<NonZeroUsize>,
    /// Memory for sorting, joining and grouping, in MiB, shared by the tasks [default: 70 % of the host's].
    #[arg(long, value_name = "MIB")]
    pub(crate) memory_mib: Option<NonZeroU64>,
    /// Local directory in which to create a folder for intermediate results [default: the directory for temporary files].
    #[arg(long, value_name = "DIR")]
    pub(crate) work_dir: Option<PathBuf>,
}

#[cfg(feature = "cluster")]
const EXECUTOR_HELP: &str = "\
Example:
  lioprof-query executor --scheduler head:50050 --work-dir /local/scratch";

/// What `--explain` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Explain {
    /// The plan.
    Plan,
    /// The plan as it was run.
    Run,
}

/// A format by its name.
pub(crate) fn format(text: &str) -> Result<Format, String> {
    let known = Format::ALL.map(Format::name);
    Format::ALL
        .into_iter()
        .find(|format| format.name() == text)
        .ok_or_else(|| format!("expected one of {}; found `{text}`", known.join(", ")))
}

/// A format that is readable on a terminal.
pub(crate) fn terminal_format(text: &str) -> Result<Format, String> {
    match format(text)? {
        Format::Parquet => Err("Parquet cannot be printed on a terminal: use `lioprof-query sql -o FILE`".to_owned()),
        format => Ok(format),
    }
}

/// How long an executor may be silent; it reports every five seconds, and may be late.
#[cfg(feature = "cluster")]
pub(crate) fn executor_timeout(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).map_err(|err| err.to_string())?;
    if time < Duration::from_secs(10) { Err(format!("expected at least 10s; found `{text}`")) } else { Ok(time) }
}

/// `NAME=VALUE`.
pub(crate) fn setting(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(|| format!("expected PARAMETER=VALUE, such as target=OST0007; found `{text}`"))
}
