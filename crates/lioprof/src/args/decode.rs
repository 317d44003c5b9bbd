//! `lioprof decode`.

use std::path::PathBuf;

use lioprof_trace::input::NodeRule;

use super::shared::ThreadArgs;

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
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
}
