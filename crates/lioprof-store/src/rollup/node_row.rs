//! The facts of a node as a row.

use lioprof_model::parts::rollup::NodeFacts;
use serde::{Deserialize, Serialize};

/// Version of the rollups' tables.
pub const ROLLUP_SCHEMA: &str = "lioprof.rollup/1";

/// A node's row of the table `nodes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRow {
    /// Node.
    pub node: String,
    /// [`ROLLUP_SCHEMA`].
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
    /// What is wrong with the row of which node.
    pub fn facts(&self) -> Result<NodeFacts, String> {
        if self.schema != ROLLUP_SCHEMA {
            let (node, found) = (&self.node, &self.schema);
            return Err(format!(
                "the rollup of {node} has schema `{found}`, expected `{ROLLUP_SCHEMA}`; roll the dataset up again"
            ));
        }
        serde_json::from_str(&self.facts).map_err(|err| {
            format!("the facts in the rollup of {} are damaged: {err}; roll the dataset up again", self.node)
        })
    }
}
