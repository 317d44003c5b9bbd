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
    /// Also rebuild rollups that are up to date.
    #[arg(long)]
    pub(crate) force: bool,
    /// Forget deleted rows: delete the rollups of nodes without rows, and rebuild those of nodes whose older rows were deleted.
    #[arg(long)]
    pub(crate) forget: bool,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
}

const ROLLUP_HELP: &str = "\
Examples:
  lioprof rollup rows                          roll up nodes with new parts into rows/rollups
  lioprof rollup /shared/rows --node oss17     on oss17; afterwards once without --node

Only nodes with new parts are read, each by one thread. At the end the clocks of the nodes are compared, and a node whose \
clock is off is rolled up again with corrected times. If rows of a node were deleted, its rollup stays as it is, as it may be all that is \
left of them, unless --forget is given. `lioprof analyze rows` uses the rollups if it is asked for all of the rows. docs/rollups.md is the long version. Exit codes: 0 done, 2 wrong \
arguments, or nodes that were not rolled up.";
