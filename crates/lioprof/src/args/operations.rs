//! `lioprof operations`.

use std::path::PathBuf;

use lioprof_text::operations::OperationsFormat;

use super::shared::{LogArgs, PlotArgs, SelectionArgs};

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
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
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
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

const OPERATIONS_HELP: &str = "\
To capture (docs/operations.md has the details), on each client and each server, as short as possible:
  lctl set_param debug_mb=512
  lctl clear
  lctl debug_daemon start /run/rpc.bin 1024
  lctl set_param debug='+rpctrace +dlmtrace +vfstrace +iotrace'    # clients
  lctl set_param debug='+rpctrace +dlmtrace +net'                  # servers
  ...                                                              # run what is slow
  lctl debug_daemon stop                               # then put debug and debug_mb back

Examples:
  lioprof operations client1/rpc.bin mds1/rpc.bin oss*/rpc.bin     directories named after nodes
  lioprof operations logs --format csv > operations.csv            one line per operation
  lioprof operations logs -v                                       with percentiles of each part
  lioprof operations logs -o ops                                   a page: down to one operation
  lioprof operations logs --resolve                                how to get the files' names

Exit codes: 0 done, 2 wrong arguments or unreadable input, 3 more lost than --max-loss.";
