//! The command line of replay, for whichever command offers it.

use std::path::PathBuf;

use super::{Speed, Stamp};
use crate::kernel::LustreVersion;

/// Plays the captured log of a Lustre server through a simulated kernel, whose control files are mounted on a
/// directory.
#[derive(Clone, Debug, clap::Args)]
pub struct ReplayArgs {
    /// Logs of one server: files or directories, text or binary, plain or compressed
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,

    #[command(flatten)]
    /// The simulated server.
    pub server: ServerArgs,

    /// Play the log so many times, one after the other
    #[arg(long = "loop", value_name = "N", default_value_t = 1)]
    pub rounds: u32,
}

/// Options of a simulated server, whatever makes it log.
#[derive(Clone, Debug, clap::Args)]
pub struct ServerArgs {
    /// Mount the server's files (proc, sys, dev/kmsg) on this directory; it is made if it does not exist
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,

    /// How fast: 1 as recorded, 10 ten times as fast, `max` without waiting
    #[arg(long, value_name = "X|max", default_value = "1")]
    pub speed: Speed,

    /// Time of the records: as recorded, or the present
    #[arg(long, value_enum, default_value_t)]
    pub stamp: Stamp,

    /// Lustre version whose files and rules are simulated: 2.10, 2.15 or 2.17
    #[arg(long, value_name = "VERSION", default_value_t)]
    pub version: LustreVersion,

    /// Possible CPUs of the server; by default as many as the log needs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub cpus: Option<u16>,

    /// Values of the counter files, as `lctl get_param` printed them; by default `truth.txt` beside the log
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,

    /// Begin when a debug daemon was started and the masks let rpctrace pass
    #[arg(long)]
    pub wait_daemon: bool,

    /// End when everything was played and no debug daemon runs (any more); otherwise the files stay until a signal
    #[arg(long)]
    pub exit_when_stopped: bool,
}
