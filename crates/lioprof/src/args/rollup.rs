//! `lioprof rollup`.

use std::path::PathBuf;

use super::shared::ThreadArgs;

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
    /// Forget the rows that are gone: delete rollups of nodes without rows, and roll up what is left where older rows were deleted.
    #[arg(long)]
    pub(crate) forget: bool,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
}

const ROLLUP_HELP: &str = "\
Examples:
  lioprof rollup rows                          roll up nodes with new parts into rows/rollups
  lioprof rollup /shared/rows --node oss17     on oss17; at last the first one, for the clocks

Only nodes with new parts are read, one per thread at a time. At the end the clocks of the nodes are compared; a node whose \
clock is off is rolled up again with corrected times. A rollup of rows that are gone, or of which some are, stays as it is \
unless --forget is given: it may be all that is left of them. `lioprof analyze rows` takes the sums of the nodes, if it is asked for all of \
the rows. docs/rollups.md is the long version. Exit codes: 0 done, 2 wrong \
arguments, or nodes that were not rolled up.";
