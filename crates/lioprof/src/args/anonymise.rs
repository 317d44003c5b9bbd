//! `lioprof anonymise`.

use std::path::PathBuf;

use lioprof_trace::input::NodeRule;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lioprof anonymise capture -o to-send                       # other pseudonyms each time
  head -c 32 /dev/urandom > key; chmod 600 key
  lioprof anonymise capture -o to-send --key key --mapping names.tsv

docs/anonymise.md says what is replaced, what stays, what is dropped, and what others can still find out.")]
pub(crate) struct AnonymiseArgs {
    /// Logs, text or binary, counters of `lctl get_param`, and folders of these; `-` is standard input.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// New or empty folder to write to.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// File with a secret of 16 bytes or more: the same key gives the same pseudonyms [default: a random key, which is
    /// forgotten].
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Write the table of names and pseudonyms to this new file. It must not leave the site.
    #[arg(long, value_name = "FILE")]
    pub(crate) mapping: Option<PathBuf>,
    /// Name of the node that all inputs, or those that match GLOB, come from.
    #[arg(long, value_name = "NAME[=GLOB]")]
    pub(crate) node: Vec<NodeRule>,
}
