//! Where rollups are.

/// Folder of the rollups of a dataset.
pub const ROLLUPS: &str = "rollups";

/// The table with one row per node; the only one that is not a list of a [`Rollup`](lioprof_model::parts::rollup::Rollup).
pub const NODES: &str = "nodes";
