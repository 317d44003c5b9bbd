//! `lioprof generate`: manual pages, completions.

use clap::CommandFactory;
use lioprof_about::{ShareDir, write_share};

use crate::args::Args;
use crate::exit_code::Code;

/// `lioprof generate DIR`: manual pages and completions.
pub(crate) fn generate(share: &ShareDir) -> anyhow::Result<Code> {
    #[cfg(feature = "daemon")]
    let config = Some(&CONFIG);
    #[cfg(not(feature = "daemon"))]
    let config = None;
    write_share(&Args::command(), config, share)?;
    Ok(Code::Success)
}

#[cfg(feature = "daemon")]
const CONFIG: lioprof_about::ConfigPage<'_> = lioprof_about::ConfigPage {
    name: "lioprof.toml",
    about: "configuration of the lioprof daemon",
    path: "/etc/lioprof/lioprof.toml",
    sample: include_str!("../../../packaging/lioprof.toml"),
    see_also: &["lioprof-daemon(1)", "lioprof-doctor(1)"],
};
