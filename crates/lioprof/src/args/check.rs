//! `lioprof check`.

use std::path::PathBuf;

use super::shared::FailOn;
use super::values::{moment_us, some_time, zone_us};
use crate::survey::SurveySettings;

#[derive(Debug, clap::Args)]
#[command(after_help = CHECK_HELP)]
pub(crate) struct CheckArgs {
    /// Facts that `--facts` printed, one file per server; - is stdin [default: read this server].
    #[arg(value_name = "FACTS")]
    pub(crate) facts_files: Vec<PathBuf>,
    /// Judge these kernel logs (dmesg, syslog, journal; plain or compressed; - is stdin) instead of a server: the day before the last line of
    /// each.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["facts_files", "facts", "hosts", "survey", "watch"])]
    pub(crate) kernel_log: Vec<PathBuf>,
    /// Kernel logs: boot time of the node (`uptime -s`), if their time stamps count from the boot.
    #[arg(long, value_name = "TIME", value_parser = moment_us, requires = "kernel_log")]
    pub(crate) boot_time: Option<i64>,
    /// Kernel logs: time zone of time stamps without one (`date +%z`): +01:00, -0500, UTC.
    #[arg(long, value_name = "OFFSET", value_parser = zone_us, allow_hyphen_values = true, requires = "kernel_log")]
    pub(crate) timezone: Option<i64>,
    /// Print what was read of this server as JSON, and judge nothing.
    #[arg(long, conflicts_with_all = ["facts_files", "json", "fail_on"])]
    pub(crate) facts: bool,
    /// Watch the disks for this time, such as 60s, and compare how long their I/O takes. Needs I/O by others: it makes none itself.
    #[arg(long, value_name = "TIME", value_parser = some_time, conflicts_with = "facts_files")]
    pub(crate) watch: Option<std::time::Duration>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with code 1 if a check ends with this status or worse.
    #[arg(long, value_enum, value_name = "STATUS", default_value = "warning")]
    pub(crate) fail_on: FailOn,
    /// Have obdfilter-survey (package lustre-iokit) measure what the OSTs' disks deliver, keep its output in this directory, compare OSTs with
    /// each other and with the last survey there. It writes to all OSTs; lioprof asks before.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["facts_files", "facts"])]
    pub(crate) survey: Option<PathBuf>,
    /// Variables of obdfilter-survey: size is MiB per OST, thr threads and nobj objects per OST, rsz KiB per request.
    #[arg(long, value_name = "NAME=NUMBER ..", default_value = "size=1024 nobjhi=1 thrlo=4 thrhi=16")]
    pub(crate) survey_settings: SurveySettings,
    /// Survey servers even while clients use their OSTs: the survey and the clients slow each other down.
    #[arg(long)]
    pub(crate) survey_under_load: bool,
    /// Do not ask before a survey.
    #[arg(long, requires = "survey")]
    pub(crate) yes: bool,
    /// Survey this server and print it with the facts; `--survey` asks servers so.
    #[arg(long, requires = "facts", hide = true)]
    pub(crate) run_survey: bool,
    /// Time for which clients must be idle before a survey; for tests.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "5s", hide = true)]
    pub(crate) survey_idle: std::time::Duration,
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
  lioprof check --watch 60s                # and whether a disk is slower than the others
  lioprof check --hosts oss[01-40],mds1    # all servers, over ssh (as root, or with sudo -n)
  lioprof check --facts >oss01.json        # on each server, then for all of them together:
  lioprof check oss*.json
  lioprof check --kernel-log oss01/dmesg.txt /var/log/messages    # what the kernel logs say
  lioprof check --hosts oss[01-40] --survey survey      # what do the disks deliver?

Without --survey it reads files of /proc, /sys and /dev/kmsg only. docs/check.md says how to read each line. Exit codes: 0 nothing at or above \
--fail-on, 1 something is, 2 wrong arguments, or nothing is but a server could not be checked. What could not be read is `unknown`, and \
fails nothing.";
