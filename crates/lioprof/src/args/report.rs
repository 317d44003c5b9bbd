//! `lioprof report`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = REPORT_HELP)]
pub(crate) struct ReportArgs {
    /// Directory that `lioprof analyze -o` or `compare -o` wrote, or an analysis.json or comparison.json; - is stdin.
    #[arg(value_name = "DIR|FILE.json")]
    pub(crate) input: PathBuf,
    /// Write to this file; - is stdout [default: report.html or comparison.html beside the input].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

const REPORT_HELP: &str = "\
The page opens from disk in any current browser and needs no network. `lioprof analyze -o DIR` and `lioprof compare -o DIR` \
also write it.

Examples:
  lioprof report report                                                writes report/report.html
  lioprof analyze rpc.bin --format json | lioprof report - -o run7.html";
