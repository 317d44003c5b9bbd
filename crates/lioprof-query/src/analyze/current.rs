//! Whether each node's rollup is of the rows that the node has.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::units::few;
use lioprof_store::{NodeRow, ROLLUP_SCHEMA, node_folder};

use crate::dataset::Dataset;
use crate::error::QueryError;

/// Compares the parts that there are with those that were rolled up.
pub(super) async fn check(dataset: &Dataset, rollups: &[NodeRow]) -> Result<(), QueryError> {
    let parts = dataset.parts().await?;
    let rolled_up: BTreeMap<String, &NodeRow> = rollups.iter().map(|row| (node_folder(&row.node), row)).collect();
    let is_current = |folder: &String, parts: &BTreeSet<String>| {
        rolled_up.get(folder).is_some_and(|row| row.schema == ROLLUP_SCHEMA && row.parts.iter().eq(parts))
    };
    let old = parts.iter().filter(|(folder, parts)| !is_current(folder, parts)).map(|(folder, _)| folder);
    // Rows are deleted when they are old, and an analysis is of what is there.
    let gone = rolled_up.keys().filter(|folder| !parts.contains_key(*folder));
    let old: Vec<&str> = old.chain(gone).map(|folder| folder.trim_start_matches("node=")).collect();
    if old.is_empty() {
        return Ok(());
    }
    let name = dataset.name();
    let advice = if name.contains("://") {
        "run `lioprof rollup` where the files come from, and copy its folder `rollups`, too".to_owned()
    } else if dataset.is_single() {
        format!("run `lioprof rollup {name}` first")
    } else {
        format!(
            "clocks are compared within a dataset: copy those below `{name}` into one, and run `lioprof rollup` on it"
        )
    };
    let problem = format!("the rollups of {} are missing or older than the rows; {advice}", few(&old));
    Err(QueryError::Rollup(problem))
}
