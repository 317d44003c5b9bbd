//! `lioprof-query --version`.

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
const FEATURES: &[(&str, bool)] = &[("cluster", cfg!(feature = "cluster"))];

/// Schemas of the files that it reads and writes.
const SCHEMAS: &[&str] =
    &[lioprof_model::SCHEMA, lioprof_store::ROWS_SCHEMA, lioprof_store::MANIFEST_SCHEMA, lioprof_store::ROLLUP_SCHEMA];
