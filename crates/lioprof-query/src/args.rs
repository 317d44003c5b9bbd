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

/// Asks, in SQL, the rows that `lioprof daemon` and `lioprof export --parquet` keep of Lustre servers' logs.
#[derive(Debug, Parser)]
#[command(version, long_version = about::version(), max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
A DATASET is a folder, a folder with several of them below, or s3://BUCKET/PREFIX. Credentials,
region and endpoint of an object store come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
AWS_REGION, AWS_ENDPOINT and the like.

Examples:
  lioprof-query ready                                          what can be asked without SQL
  lioprof-query ready who-used-target rows --set target=OST0007 --set from=03:00 --set to=03:05
  lioprof-query sql rows 'SELECT * FROM latency ORDER BY p99_us DESC LIMIT 10'
  lioprof-query sql s3://traces/rows 'SELECT nid, sum(bytes) FROM rpcs GROUP BY nid' --format csv
  lioprof-query prompt rows                                    ask one question after the other

Exit codes: 0 done, 2 wrong arguments, SQL that cannot be run, files that cannot be read or written, rollups that are missing,
a cluster that does not answer; 130 interrupted.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run SQL and print the rows.
    Sql(SqlArgs),
    /// Ask one question after the other, with history and completion.
    Prompt(PromptArgs),
    /// Run a ready query; without a name list them, without a dataset show one.
    Ready(ReadyArgs),
    /// Make the analysis of a dataset: what `lioprof analyze` makes of the same rows, by SQL over rows and rollups.
    Analyze(AnalyzeArgs),
    /// Print the views as SQL, for use in other engines.
    Views,
    /// Run the scheduler of a cluster: it takes queries and hands their parts to executors.
    #[cfg(feature = "cluster")]
    Scheduler(SchedulerArgs),
    /// Run an executor of a cluster: it asks a scheduler for work.
    #[cfg(feature = "cluster")]
    Executor(ExecutorArgs),
    /// Write the manual pages and the completions for bash, zsh and fish. For packages, see docs/install.md.
    #[command(hide = true)]
    Generate(lioprof_about::ShareDir),
}

impl Command {
    /// Who runs its queries, if it asks any.
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
    /// Folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: String,
    /// One statement, or several with `;` between them.
    #[arg(value_name = "SQL", required_unless_present = "file", conflicts_with = "file")]
    pub(crate) sql: Option<String>,
    /// Take the SQL from a file; - is stdin.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print how the query would be run; with =run, run it and say how many rows and how much time each step took.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "plan", value_name = "WHAT")]
    pub(crate) explain: Option<Explain>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

const SQL_HELP: &str = "\
Examples:
  lioprof-query sql rows 'SELECT target, sum(read_bytes) FROM flows GROUP BY target ORDER BY target'
  lioprof-query sql rows -f question.sql -o answer.parquet
  lioprof-query sql rows \"SELECT * FROM rpcs WHERE job = 'dd.0' ORDER BY end_time\" --format csv | head
  lioprof-query sql rows 'SHOW TABLES'";

#[derive(Debug, clap::Args)]
pub(crate) struct PromptArgs {
    /// Folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: String,
    /// Format to begin with; \format changes it.
    #[arg(long, value_parser = terminal_format, default_value = "table", value_name = "table|csv|json")]
    pub(crate) format: Format,
    /// Print at most so many rows of an answer as a table; 0 for all.
    #[arg(long, default_value = "1000", value_name = "ROWS")]
    pub(crate) max_rows: usize,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = READY_HELP)]
pub(crate) struct ReadyArgs {
    /// Ready query.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Folder, or s3://BUCKET/PREFIX.
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
Times are UTC: 2026-11-21T03:00:00Z, 2026-11-21 03:00, Unix seconds, or 03:00 if the dataset has
one day.

Examples:
  lioprof-query ready
  lioprof-query ready who-used-target                     its parameters, its columns, its SQL
  lioprof-query ready who-used-target rows --set target=OST0007 --set from=03:00 --set to=03:05";

#[derive(Debug, clap::Args)]
#[command(after_help = ANALYZE_HELP)]
pub(crate) struct AnalyzeArgs {
    /// Folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: String,
    /// Write analysis.json, CSV tables and report.html into this directory.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// What to print on stdout.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "summary")]
    pub(crate) format: lioprof_text::Format,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

const ANALYZE_HELP: &str = "\
Examples:
  lioprof rollup rows && lioprof-query analyze rows -o report
  lioprof-query analyze rows --format json | lioprof report - -o page.html

`lioprof rollup` sums up what needs the order of events; it has to run again when there are new rows.";

#[derive(Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// How to write the rows [default: by the ending of -o, else table].
    #[arg(long, value_parser = format, value_name = "table|csv|json|parquet")]
    pub(crate) format: Option<Format>,
    /// Write into this file: complete, or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print at most so many rows as a table; 0 for all.
    #[arg(long, default_value = "1000", value_name = "ROWS")]
    pub(crate) max_rows: usize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EngineArgs {
    /// Who runs it: this process, or a cluster, whose scheduler and executors see the dataset at the same place.
    #[arg(long, value_name = "embedded|ballista://HOST:PORT", default_value = "embedded")]
    pub(crate) engine: Engine,
    /// Parts that a cluster cuts each step of a query into, for all executors together [default: 16 for each].
    #[arg(long, value_name = "N")]
    pub(crate) partitions: Option<NonZeroUsize>,
    /// Threads of the embedded engine [default: all cores].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Memory of the embedded engine for sorting, joining and grouping, in MiB; beyond it they go on in files below $TMPDIR
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
    /// An executor that has been silent for so long is lost, and others do its work; at least 10s.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = executor_timeout)]
    pub(crate) executor_timeout: Duration,
}

#[cfg(feature = "cluster")]
const SCHEDULER_HELP: &str = "\
Its address is printed once it listens. Whoever reaches that port can have executors read and write whatever they may: keep it
inside a trusted network. docs/cluster.md tells how to set a cluster up.

Example:
  lioprof-query scheduler
  lioprof-query executor --scheduler head:50050                             on each host that is to work
  lioprof-query sql /mnt/rows 'SELECT count(*) FROM rpcs' --engine ballista://head:50050";

#[cfg(feature = "cluster")]
#[derive(Debug, clap::Args)]
#[command(after_help = EXECUTOR_HELP)]
pub(crate) struct ExecutorArgs {
    /// The scheduler to ask for work.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) scheduler: SchedulerAddress,
    /// Address and port where others fetch intermediate results; with port 0 the system chooses one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:50051")]
    pub(crate) bind: SocketAddr,
    /// Name or address that others reach it by [default: the bound one, or what the scheduler sees].
    #[arg(long, value_name = "HOST")]
    pub(crate) advertise: Option<String>,
    /// Tasks at the same time [default: all cores].
    #[arg(long, value_name = "N")]
    pub(crate) concurrent_tasks: Option<NonZeroUsize>,
    /// Memory for sorting, joining and grouping, in MiB, shared by the tasks [default: 70 % of the host's].
    #[arg(long, value_name = "MIB")]
    pub(crate) memory_mib: Option<NonZeroU64>,
    /// Where to make a folder for intermediate results; on a local disk [default: the folder for temporary files].
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

/// A format that can be read on a terminal.
pub(crate) fn terminal_format(text: &str) -> Result<Format, String> {
    match format(text)? {
        Format::Parquet => Err("Parquet is nothing for a terminal: `lioprof-query sql -o FILE`".to_owned()),
        format => Ok(format),
    }
}

/// A time that an executor may be silent: it speaks every five seconds, and may be late.
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
