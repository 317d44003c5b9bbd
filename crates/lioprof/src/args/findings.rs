//! `lioprof findings`.

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lioprof findings lock-ping-pong\n  lioprof findings > thresholds.toml")]
pub(crate) struct FindingsArgs {
    /// List only these kinds of findings [default: all].
    #[arg(value_name = "RULE")]
    pub(crate) rules: Vec<String>,
}
