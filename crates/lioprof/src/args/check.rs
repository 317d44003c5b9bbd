//! `lioprof check`.

use std::path::PathBuf;

use super::shared::FailOn;

#[derive(Debug, clap::Args)]
#[command(after_help = CHECK_HELP)]
pub(crate) struct CheckArgs {
    /// Facts that `--facts` printed, one file per server; - is stdin [default: read this server].
    #[arg(value_name = "FACTS")]
    pub(crate) facts_files: Vec<PathBuf>,
    /// Print what was read of this server as JSON, and judge nothing.
    #[arg(long, conflicts_with_all = ["facts_files", "json", "fail_on"])]
    pub(crate) facts: bool,
    /// Watch the disks for this time, such as 60s, and compare how long their I/O takes. Needs I/O by others: it makes none itself.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, conflicts_with = "facts_files")]
    pub(crate) watch: Option<std::time::Duration>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with code 1 if a check ends with this status or worse.
    #[arg(long, value_enum, value_name = "STATUS", default_value = "warning")]
    pub(crate) fail_on: FailOn,
    /// Directory to use in place of `/`, such as the mount point of a simulated server.
    #[arg(long, value_name = "DIR", default_value = "/", conflicts_with = "facts_files")]
    pub(crate) root: PathBuf,
    /// Check these servers over ssh, all together: oss[01-40],mds1.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["facts_files", "facts"])]
    pub(crate) hosts: Option<lioprof_remote::HostList>,
    /// How to call ssh, such as `ssh -F file`.
    #[arg(long, value_name = "COMMAND", default_value = "ssh", requires = "hosts")]
    pub(crate) ssh: String,
    /// lioprof on the servers: a name in the login's PATH, or a path.
    #[arg(long, value_name = "PROGRAM", default_value = "lioprof", requires = "hosts")]
    pub(crate) remote_lioprof: String,
}

const CHECK_HELP: &str = "\
Examples:
  lioprof check                            # this server, as root
  lioprof check --watch 60s                # and whether one of its disks is slower than the others
  lioprof check --hosts oss[01-40],mds1    # all servers, over ssh (with sudo -n unless the login is root)
  lioprof check --facts >oss01.json        # on each server, then for all of them together:
  lioprof check oss*.json

Reads files of /proc, /sys and /dev/kmsg only. docs/check.md says how to read each line. Exit codes: 0 nothing at or above
--fail-on, 1 something is, 2 wrong arguments, or a server could not be checked. What could not be read is `unknown`, and
fails nothing.";
