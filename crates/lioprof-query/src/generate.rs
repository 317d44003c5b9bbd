//! `lioprof-query generate`: manual pages, completions.

use clap::CommandFactory;
use lioprof_about::{ShareDir, write_share};

use crate::args::Args;

/// `lioprof-query generate DIR`: manual pages and completions.
pub(crate) fn generate(share: &ShareDir) -> anyhow::Result<()> {
    write_share(&Args::command(), None, share)?;
    Ok(())
}
