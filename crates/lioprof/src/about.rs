//! `lioprof --version`, manual pages, completions.

use std::sync::LazyLock;

use clap::CommandFactory;
use lioprof_about::{ShareDir, Version, write_share};

use crate::args::Args;
use crate::exit_code::Code;

/// What `--version` prints behind the name.
pub(crate) fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        Version { number: env!("CARGO_PKG_VERSION"), features: FEATURES, schemas: SCHEMAS }.to_string()
    });
    &TEXT
}

/// All features of `Cargo.toml` but `default`.
const FEATURES: &[(&str, bool)] = &[
    ("daemon", cfg!(feature = "daemon")),
    ("export", cfg!(feature = "export")),
    ("parquet", cfg!(feature = "parquet")),
    ("replay", cfg!(feature = "replay")),
    ("report", cfg!(feature = "report")),
];

/// What others read.
const SCHEMAS: &[&str] = &[
    lioprof_model::SCHEMA,
    lioprof_model::COMPARISON_SCHEMA,
    #[cfg(feature = "parquet")]
    lioprof_store::ROWS_SCHEMA,
    #[cfg(feature = "parquet")]
    lioprof_store::MANIFEST_SCHEMA,
    #[cfg(feature = "export")]
    lioprof_store::ROLLUP_SCHEMA,
    #[cfg(feature = "daemon")]
    lioprof_capture::talk::status::SCHEMA,
];

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
