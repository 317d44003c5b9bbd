//! Whether each node's rollup is of the rows that the node has.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::units::few;
use lioprof_store::{MANIFESTS, NodeRow, ROLLUP_SCHEMA, has_part, is_same_part, node_folder};

use crate::dataset::Dataset;
use crate::error::QueryError;

/// Compares the parts that there are with those that were rolled up.
pub(super) async fn check(dataset: &Dataset, rollups: &[NodeRow]) -> Result<(), QueryError> {
    let parts = dataset.parts().await?;
    let rolled_up: BTreeMap<String, &NodeRow> = rollups.iter().map(|row| (node_folder(&row.node), row)).collect();
    let is_current = |folder: &String, parts: &BTreeSet<String>| {
        rolled_up.get(folder).is_some_and(|row| row.schema == ROLLUP_SCHEMA && row.parts.iter().eq(parts))
    };
    let old: Vec<(&String, &BTreeSet<String>)> =
        parts.iter().filter(|(folder, parts)| !is_current(folder, parts)).collect();
    if let Some(problem) = old.iter().find_map(|(folder, parts)| copied(folder, parts)) {
        return Err(QueryError::Rollup(format!("{problem}, then {}", advice(dataset))));
    }
    // Rows are deleted when they are old, and an analysis is of what is there.
    let none = BTreeSet::new();
    let lacks_rows = |folder: &&String| {
        let there = parts.get(*folder).unwrap_or(&none);
        !rolled_up[*folder].parts.iter().all(|part| has_part(there, part)) || there.is_empty()
    };
    let gone: Vec<&String> = rolled_up.keys().filter(lacks_rows).collect();
    if !gone.is_empty() {
        let problem = format!(
            "rows that the rollups of {} were made of are gone, and an analysis needs both; {}, with --forget: it deletes what is \
             only in these rollups, which SQL can still read (rollup.seconds, ...)",
            names(&gone),
            advice(dataset)
        );
        return Err(QueryError::Rollup(problem));
    }
    if old.is_empty() {
        return Ok(());
    }
    let old: Vec<&String> = old.into_iter().map(|(folder, _)| folder).collect();
    let problem =
        format!("the rollups of {} are missing or older than the rows; {} first", names(&old), advice(dataset));
    Err(QueryError::Rollup(problem))
}

/// A part of a node that is there twice under different names, and what to do about it.
fn copied(folder: &str, parts: &BTreeSet<String>) -> Option<String> {
    // The writer's names of a node's parts are equally long: most datasets have none to look at.
    let shortest = parts.iter().map(String::len).min().unwrap_or(0);
    let twins = parts.iter().filter(|twin| twin.len() > shortest).find_map(|twin| {
        let part = parts.iter().find(|it| it.len() < twin.len() && is_same_part(it, twin))?;
        Some((part, twin))
    });
    let (part, twin) = twins?;
    let node = node_name(folder);
    Some(format!(
        "a part of {node} is there twice, as `{part}` and as `{twin}`: `lioprof analyze` reads one, SQL counts both; delete the \
         files of one, in `{MANIFESTS}` and in every table"
    ))
}

fn names(folders: &[&String]) -> String {
    let names: Vec<&str> = folders.iter().map(|folder| node_name(folder)).collect();
    few(&names)
}

fn node_name(folder: &str) -> &str {
    folder.trim_start_matches("node=")
}

/// How to make rollups.
fn advice(dataset: &Dataset) -> String {
    let name = dataset.name();
    if name.contains("://") {
        "run `lioprof rollup` where the files come from, and copy its folder `rollups`, too".to_owned()
    } else if dataset.is_single() {
        format!("run `lioprof rollup {name}`")
    } else {
        format!(
            "clocks are compared within a dataset: copy those below `{name}` into one, and run `lioprof rollup` on it"
        )
    }
}
