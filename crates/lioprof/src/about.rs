//! `lioprof --version`.

use std::sync::LazyLock;

use lioprof_about::Version;

/// The text that `--version` prints after the name.
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

/// Schemas of the files that other programs read.
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
    lioprof_capture::STATUS_SCHEMA,
];
