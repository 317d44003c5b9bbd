//! Rollups kept beside the rows that they were made of.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lioprof_model::parts::rollup::Rollup;

use super::node_row::{NODES, NodeRow, ROLLUP_SCHEMA, ROLLUPS};
use super::tables;
use crate::error::StoreError;
use crate::layout;
use crate::plain_rows;
use crate::read::Dataset;

/// Rollups of a dataset.
#[derive(Clone, Debug)]
pub struct Rollups {
    pub(super) dir: PathBuf,
}

impl Rollups {
    /// Of the dataset at `dir`.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.join(ROLLUPS) }
    }

    /// Writes the rollup of one node, made of these parts.
    ///
    /// # Errors
    /// If a file cannot be written; the node has no rollup then.
    pub fn write(&self, rollup: &Rollup, parts: &BTreeSet<String>) -> Result<(), StoreError> {
        for facts in &rollup.nodes {
            plain_rows::remove(&self.file(NODES, &facts.node))?;
        }
        let Some(facts) = rollup.nodes.first() else { return Ok(()) };
        tables::write_all(rollup, |table| self.file(table, &facts.node))?;
        let row = NodeRow {
            node: facts.node.clone(),
            schema: ROLLUP_SCHEMA.to_owned(),
            parts: parts.iter().cloned().collect(),
            facts: serde_json::to_string(facts).expect("facts are plain data"),
        };
        plain_rows::write(&self.file(NODES, &facts.node), &[row])
    }

    /// The row of a node, if it has a rollup.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn node(&self, node: &str) -> Result<Option<NodeRow>, StoreError> {
        let path = self.file(NODES, node);
        if !path.exists() {
            return Ok(None);
        }
        Ok(plain_rows::read::<NodeRow>(&path)?.into_iter().next())
    }

    /// The RPCs of a node by which clocks are compared.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn exchanges(&self, node: &str) -> Result<Vec<lioprof_model::parts::rollup::Exchange>, StoreError> {
        plain_rows::read(&self.file(tables::EXCHANGES, node))
    }

    /// Deletes the rollup of a node, if it has one: its file in every table, that in `nodes` first.
    ///
    /// # Errors
    /// If a file cannot be deleted.
    pub fn remove(&self, node: &str) -> Result<(), StoreError> {
        plain_rows::remove(&self.file(NODES, node))?;
        // Tables are folders; one that this version does not know has sums of the node, too.
        for table in plain_rows::folders(&self.dir)? {
            plain_rows::remove(&table.join(file_name(node)))?;
        }
        Ok(())
    }

    /// Names of the nodes that have a rollup, sorted.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn nodes(&self) -> Result<Vec<String>, StoreError> {
        let mut nodes = Vec::new();
        for path in plain_rows::list(&self.dir.join(NODES))? {
            nodes.extend(plain_rows::read::<NodeRow>(&path)?.into_iter().map(|row| row.node));
        }
        nodes.sort();
        Ok(nodes)
    }

    pub(super) fn file(&self, table: &str, node: &str) -> PathBuf {
        self.dir.join(table).join(file_name(node))
    }
}

/// Name of a node's file in each table.
fn file_name(node: &str) -> String {
    format!("{}.parquet", layout::hive(node))
}

/// Whether a part is among others, if only as a copy under another name.
#[must_use]
pub fn has_part(parts: &BTreeSet<String>, name: &str) -> bool {
    parts.contains(name) || parts.iter().any(|part| is_same_part(part, name))
}

/// Whether two names of files are of the same part: file managers and people name a copy after the original.
#[must_use]
pub fn is_same_part(name: &str, other: &str) -> bool {
    name.contains(other) || other.contains(name)
}

impl Dataset {
    /// Names of the files of a node's parts: what a rollup was made of.
    #[must_use]
    pub fn part_names(&self, node: &str) -> BTreeSet<String> {
        let stem =
            |part: &crate::Part| part.manifest_path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        self.parts(node).iter().map(stem).collect()
    }
}
