//! Rollups beside the rows: `DIR/rollups/TABLE/NODE.parquet`.
//!
//! A node's rollup exists if, and only if, its file in the table `nodes` does: that one is written last and deleted first.

mod node_row;
mod rollups;
mod tables;

pub use node_row::{NODES, NodeRow, ROLLUP_SCHEMA, ROLLUPS};
pub use rollups::{Rollups, has_part, is_same_part};
pub use tables::rollup_schemas;
