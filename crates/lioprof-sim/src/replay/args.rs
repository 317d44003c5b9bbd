//! The arguments of replay, shared by `lioprof replay` and `lioprof-sim replay`.

use std::path::{Path, PathBuf};

use super::Speed;
use crate::kernel::LustreVersion;
use crate::record::Stamp;
use crate::scenario::SizeArgs;

/// Replays the captured log of a Lustre server, or a scenario, through a simulated kernel, and mounts its control files
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

    /// Replay this workload of a simulated cluster instead of a log; --list lists them
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,

    #[command(flatten)]
    /// Size of the scenario.
    pub size: SizeArgs,

    /// Number of the server whose log to replay, from 0
    #[arg(long, value_name = "N", default_value_t = 0, requires = "scenario")]
    pub server_number: usize,

    /// List the scenarios
    #[arg(long)]
    pub list: bool,

    /// Mount the server's files (proc, sys, dev/kmsg) on this directory, which is created if it does not exist
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    pub to: Option<PathBuf>,

    #[command(flatten)]
    /// The simulated server.
    pub server: ServerArgs,

    /// Replay the log this many times in a row
    #[arg(long = "loop", value_name = "N", default_value_t = 1, conflicts_with = "scenario")]
    pub rounds: u32,

    /// Fixed values of the counter files, as printed by `lctl get_param`; by default `truth.txt` beside the log, or a
    /// scenario's own counters, which advance
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,

    /// At the end, write the records logged and lost, and a scenario's counters, to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
}

impl ReplayArgs {
    /// Mount point of the files; clap requires it except with `--list`.
    pub(super) fn to(&self) -> &Path {
        self.to.as_deref().unwrap_or(Path::new("."))
    }
}

/// Options of a simulated server, for logs and scenarios.
#[derive(Clone, Debug, clap::Args)]
pub struct ServerArgs {
    /// Speed: 1 as recorded, 10 ten times as fast, `max` without waiting
    #[arg(long, value_name = "X|max", default_value = "1")]
    pub speed: Speed,

    /// Time of the records: as recorded, or the current time; the default for scenarios is the current time
    #[arg(long, value_enum)]
    pub stamp: Option<Stamp>,

    /// Lustre version whose files and rules are simulated: 2.10, 2.15 or 2.17
    #[arg(long, value_name = "VERSION", default_value_t)]
    pub version: LustreVersion,

    /// Number of possible CPUs of the server; by default as many as the log needs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub cpus: Option<u16>,

    /// Start once a debug daemon is running and the masks include rpctrace
    #[arg(long)]
    pub wait_daemon: bool,

    /// Start when `start` is written to DIR/sim/ctl
    #[arg(long, conflicts_with = "wait_daemon")]
    pub wait_start: bool,

    /// Exit once everything was replayed and no debug daemon runs; otherwise the files stay mounted until a signal
    #[arg(long)]
    pub exit_when_stopped: bool,
}
