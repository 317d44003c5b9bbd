//! The command line of replay, for whichever command offers it.

use std::path::{Path, PathBuf};

use super::Speed;
use crate::kernel::LustreVersion;
use crate::record::Stamp;
use crate::scenario::SizeArgs;

/// Plays the captured log of a Lustre server, or a scenario, through a simulated kernel, whose control files are mounted
/// on a directory.
#[derive(Clone, Debug, clap::Args)]
pub struct ReplayArgs {
    /// Logs of one server: files or directories, text or binary, plain or compressed
    #[arg(
        required_unless_present_any = ["scenario", "list"],
        conflicts_with_all = ["scenario", "SizeArgs"],
        value_name = "INPUT"
    )]
    pub inputs: Vec<PathBuf>,

    /// Play this workload of a simulated cluster instead of a log; see --list
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,

    #[command(flatten)]
    /// How large the scenario is.
    pub size: SizeArgs,

    /// Which of the scenario's servers logs, from 0 on
    #[arg(long, value_name = "N", default_value_t = 0, requires = "scenario")]
    pub server_number: usize,

    /// List the scenarios
    #[arg(long)]
    pub list: bool,

    /// Mount the server's files (proc, sys, dev/kmsg) on this directory; it is made if it does not exist
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    pub to: Option<PathBuf>,

    #[command(flatten)]
    /// The simulated server.
    pub server: ServerArgs,

    /// Play the log so many times, one after the other
    #[arg(long = "loop", value_name = "N", default_value_t = 1, conflicts_with = "scenario")]
    pub rounds: u32,

    /// Values of the counter files, as `lctl get_param` printed them; by default `truth.txt` beside the log, or the
    /// scenario's own, which move
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,

    /// Write what was logged and lost, and a scenario's counters, into this file as JSON at the end
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
}

impl ReplayArgs {
    /// Where the files are mounted; clap demands it unless scenarios are only listed.
    pub(super) fn to(&self) -> &Path {
        self.to.as_deref().unwrap_or(Path::new("."))
    }
}

/// Options of a simulated server, whatever makes it log.
#[derive(Clone, Debug, clap::Args)]
pub struct ServerArgs {
    /// How fast: 1 as recorded, 10 ten times as fast, `max` without waiting
    #[arg(long, value_name = "X|max", default_value = "1")]
    pub speed: Speed,

    /// Time of the records: as recorded, or the present; by default the present for scenarios
    #[arg(long, value_enum)]
    pub stamp: Option<Stamp>,

    /// Lustre version whose files and rules are simulated: 2.10, 2.15 or 2.17
    #[arg(long, value_name = "VERSION", default_value_t)]
    pub version: LustreVersion,

    /// Possible CPUs of the server; by default as many as the log needs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub cpus: Option<u16>,

    /// Begin when a debug daemon was started and the masks let rpctrace pass
    #[arg(long)]
    pub wait_daemon: bool,

    /// Begin when `start` is written to DIR/sim/ctl
    #[arg(long, conflicts_with = "wait_daemon")]
    pub wait_start: bool,

    /// End when everything was played and no debug daemon runs (any more); otherwise the files stay until a signal
    #[arg(long)]
    pub exit_when_stopped: bool,
}
