//! Rollups beside the rows: `DIR/rollups/TABLE/NODE.parquet`.
//!
//! A node's rollup exists if, and only if, its file in the table `nodes` does: that one is written last and deleted first.

mod node_row;
mod paths;
mod rollups;
mod tables;

pub use node_row::NodeRow;
pub use node_row::ROLLUP_SCHEMA;
pub use paths::{NODES, ROLLUPS};
pub use rollups::Rollups;
pub use tables::rollup_schemas;
