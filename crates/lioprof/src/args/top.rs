//! `lioprof top`.

use std::time::Duration;

use super::daemon::TalkArgs;
use super::values::time_within;

#[derive(Debug, clap::Args)]
#[command(after_help = TOP_HELP)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    /// Show these servers together, over ssh: oss[01-40],mds1.
    #[arg(long, value_name = "LIST")]
    pub(crate) hosts: Option<lioprof_remote::HostList>,
    /// How to call ssh, such as `ssh -F file`.
    #[arg(long, value_name = "COMMAND", default_value = "ssh", requires = "hosts")]
    pub(crate) ssh: String,
    /// lioprof on the servers: a name in the login's PATH, or a path.
    #[arg(long, value_name = "PROGRAM", default_value = "lioprof", requires = "hosts")]
    pub(crate) remote_lioprof: String,
    /// Print once and exit, as text or with --json.
    #[arg(long)]
    pub(crate) once: bool,
    /// Print JSON, one object per line, every --interval until stopped.
    #[arg(long)]
    pub(crate) json: bool,
    /// Begin with this view.
    #[arg(long, value_enum, value_name = "VIEW", default_value = "osts")]
    pub(crate) view: lioprof_top::View,
    /// Sort by this column, by its heading as `--once` prints it; largest first, names from A to Z.
    #[arg(long, value_name = "COLUMN", conflicts_with = "json")]
    pub(crate) sort: Option<String>,
    /// Show only rows that contain this text in a name.
    #[arg(long, value_name = "TEXT", conflicts_with = "json")]
    pub(crate) filter: Option<String>,
    /// Time between two updates.
    #[arg(long, value_name = "TIME", value_parser = interval, default_value = "1s")]
    pub(crate) interval: Duration,
}

/// Servers have better things to do than to answer more often.
const SHORTEST: Duration = Duration::from_millis(500);

fn interval(text: &str) -> Result<Duration, String> {
    time_within(text, SHORTEST.., "at least 500ms")
}

const TOP_HELP: &str = "\
Examples:
  lioprof top                            # full screen; q quits, ? helps
  lioprof top --hosts oss[01-40],mds1    # over ssh (as root, or with sudo -n)
  lioprof top --once --view clients      # text, for a mail or a script
  lioprof top --once --json | jq '.targets.rows[] | {target, write}'

Needs `lioprof daemon` on each server, and asks it; nothing else is traced. Rates are of the last 10 s, a few seconds \
late; verdicts are of the last minute. docs/top.md explains each column. Exit codes: 0 done, 2 wrong arguments, or no \
daemon that answers; with --once also if one of --hosts does not.";
