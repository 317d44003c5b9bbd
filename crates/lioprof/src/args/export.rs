//! `lioprof export`.

use std::path::PathBuf;

use super::shared::LogArgs;

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
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

const EXPORT_HELP: &str = "\
Examples:
  lioprof export oss*/rpc.bin.zst --parquet rows             for DuckDB, Polars, pandas, lioprof
  lioprof export /var/lib/lioprof --parquet old --old-readers   the daemon's rows, for Spark 3
  lioprof export rpc.bin --csv tables                        one file per table, one line per RPC
  lioprof export rpc.bin --perfetto rpc.pftrace              open it at https://ui.perfetto.dev
  lioprof export rows --perfetto noon.pftrace --from 2026-11-21T12:00:00Z --to 2026-11-21T12:01:00Z

docs/export.md describes columns and tracks. Exit codes: 0 done, 2 wrong arguments, unreadable input or incomplete \
output, 3 more lost than --max-loss.";
