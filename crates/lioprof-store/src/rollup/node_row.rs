//! The facts of a node as a row.

use lioprof_model::parts::rollup::NodeFacts;
use serde::{Deserialize, Serialize};

use crate::layout;

/// Folder of the rollups of a dataset.
pub const ROLLUPS: &str = "rollups";

/// The table with one row per node; the only one that is not a list of a [`Rollup`](lioprof_model::parts::rollup::Rollup).
pub const NODES: &str = "nodes";

/// Version of the rollups' tables.
pub const ROLLUP_SCHEMA: &str = "lioprof.rollup/1";

/// A node's row of the table `nodes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRow {
    /// Name of the node whose rows were rolled up.
    pub node: String,
    /// Version of the rollup tables, [`ROLLUP_SCHEMA`].
    pub schema: String,
    /// The parts that were rolled up, by the names of their files.
    pub parts: Vec<String>,
    /// [`NodeFacts`] as JSON: what there is once per node adds up to nothing.
    pub facts: String,
}

impl NodeRow {
    /// The facts, of a row that this version understands.
    ///
    /// # Errors
    /// What is wrong with which file.
    pub fn facts(&self) -> Result<NodeFacts, String> {
        let file = || format!("{ROLLUPS}/{NODES}/{}.parquet", layout::hive(&self.node));
        if self.schema != ROLLUP_SCHEMA {
            return Err(format!(
                "`{}` has schema `{}`, expected `{ROLLUP_SCHEMA}`; run `lioprof rollup` on the dataset again",
                file(),
                self.schema
            ));
        }
        serde_json::from_str(&self.facts).map_err(|err| {
            format!("the facts in `{}` are damaged: {err}; run `lioprof rollup` on the dataset again", file())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_another_version_names_its_file() {
        let row = NodeRow { node: "oss 1".into(), schema: "lioprof.rollup/0".into(), ..NodeRow::default() };
        assert_eq!(
            row.facts().unwrap_err(),
            "`rollups/nodes/oss%201.parquet` has schema `lioprof.rollup/0`, expected `lioprof.rollup/1`; \
             run `lioprof rollup` on the dataset again"
        );
    }
}
