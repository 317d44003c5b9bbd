//! The daemon, and the commands that talk to it.

use std::path::PathBuf;

/// Configuration file, and the root directory of the node.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// Configuration file; packaging/lioprof.toml is a sample [default: /etc/lioprof/lioprof.toml if it exists, else built-in
    /// settings].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Directory to use in place of `/`, such as the mount point of a simulated server.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

/// What to capture and where to keep it; `daemon` and `doctor` share these options.
#[derive(Debug, clap::Args)]
pub(crate) struct CaptureArgs {
    #[command(flatten)]
    pub(crate) source: ConfigArgs,
    /// What to trace: full (exact bytes, locks), light (rpctrace only), auto (full until the budget is used up).
    #[arg(long, value_name = "auto|full|light")]
    pub(crate) profile: Option<String>,
    /// Stop after this time: 10m, 1h 30m.
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) duration: Option<lioprof_capture::config::Span>,
    /// Stop at this time, UTC: 2026-11-21T18:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = to_come)]
    pub(crate) until: Option<lioprof_capture::config::Timestamp>,
    /// Stop unless `lioprof record`, or somebody else by the socket, renews the lease at least this often: 60s.
    #[arg(long, value_name = "TIME")]
    pub(crate) lease: Option<lioprof_capture::config::Span>,
    /// Wait until Lustre is loaded, also after it was unloaded. Under systemd it waits by default.
    #[arg(long)]
    pub(crate) wait: bool,
    /// What to keep: rpc (one row per RPC and lock event), raw (the log itself), both.
    #[arg(long, value_name = "rpc|raw|both")]
    pub(crate) keep: Option<String>,
    /// Directory for the captured data.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Directory for the segments that the kernel writes [default: /run/lioprof/spool if there is room, else below --dir].
    #[arg(long, value_name = "DIR")]
    pub(crate) spool: Option<PathBuf>,
    /// Socket for `lioprof status`, `stop` and `mark`.
    #[arg(long, value_name = "FILE")]
    pub(crate) socket: Option<PathBuf>,
    /// Address to serve Prometheus metrics on, or off.
    #[arg(long, value_name = "ADDRESS|off")]
    pub(crate) metrics: Option<lioprof_capture::config::OrOff<std::net::SocketAddr>>,
    /// Name of this server in the data [default: the host name].
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,
}

/// A time that is not over: nothing would be traced.
fn to_come(text: &str) -> Result<lioprof_capture::config::Timestamp, String> {
    let time: lioprof_capture::config::Timestamp = text.parse()?;
    if time.0 > std::time::SystemTime::now() { Ok(time) } else { Err("expected a time to come".to_owned()) }
}

#[derive(Debug, clap::Args)]
#[command(after_help = DAEMON_HELP)]
pub(crate) struct DaemonArgs {
    #[command(flatten)]
    pub(crate) capture: CaptureArgs,
    /// Restore the settings that killed daemons left changed, wherever their data directories are, and exit.
    #[arg(long)]
    pub(crate) restore: bool,
    /// Leave the session of whoever started it; `lioprof record` needs that.
    #[arg(long, hide = true)]
    pub(crate) own_session: bool,
    /// Format of messages: auto (human on a terminal, else logfmt), human, logfmt, json.
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) log_format: lioprof_capture::logging::LogFormat,
}

const DAEMON_HELP: &str = "\
Examples:
  lioprof doctor                                 # can this server be traced?
  lioprof daemon --for 10m --dir /var/tmp/cap    # ten minutes of everything
  lioprof analyze /var/tmp/cap -o report
  lioprof daemon --config /etc/lioprof/lioprof.toml

The daemon restores every setting that it changed when it ends. After a kill -9 or a power failure, run \
`lioprof daemon --restore`, or start the daemon again. Exit codes: 0 ended as asked and restored all settings, 1 ended \
early, or failed to write or restore something, 2 could not start.";

#[derive(Debug, clap::Args)]
#[command(after_help = "Takes the options of `lioprof daemon`: pass the same ones to check what that daemon would do.")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) capture: CaptureArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How to find the daemon to talk to.
#[derive(Debug, clap::Args)]
pub(crate) struct TalkArgs {
    #[command(flatten)]
    pub(crate) source: ConfigArgs,
    /// The daemon's socket [default: from the configuration, else that of the running daemon].
    #[arg(long, value_name = "FILE")]
    pub(crate) socket: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MarkArgs {
    /// Text of the marker: one line, at most 255 characters.
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}
