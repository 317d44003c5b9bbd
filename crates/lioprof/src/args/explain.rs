//! `lioprof explain`.

#[derive(Debug, clap::Args)]
#[command(after_help = EXPLAIN_HELP)]
pub(crate) struct ExplainArgs {
    /// Kind of finding, as `lioprof analyze` names it; without one, all kinds are listed.
    #[arg(value_name = "KIND")]
    pub(crate) kind: Option<String>,
}

const EXPLAIN_HELP: &str = "\
Examples:
  lioprof explain                      the kinds that there are
  lioprof explain lock-ping-pong       one of them";
