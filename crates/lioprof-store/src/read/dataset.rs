//! The datasets below a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lioprof_model::{RowSource, RowStores};

use super::find;
use super::part::Part;
use super::samples::counters;
use super::source::NodeSource;
use crate::error::StoreError;
use crate::layout::{self, MANIFESTS};
use crate::table::counters::CounterSample;

/// A dataset, or several below one folder.
#[derive(Debug)]
pub struct Dataset {
    pub(super) path: PathBuf,
    /// By node, in the order in which they were written.
    pub(super) nodes: BTreeMap<String, Vec<Part>>,
    pub(super) problems: Vec<StoreError>,
}

impl Dataset {
    /// Finds the parts at `path` and below.
    ///
    /// A part whose manifest cannot be read is among [`Self::problems`]. A part that was copied twice counts once.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut dataset = Self { path: path.to_owned(), nodes: BTreeMap::new(), problems: Vec::new() };
        for (dir, manifest) in find::manifests(path)? {
            match Part::read(manifest, &dir) {
                Ok(part) => dataset.nodes.entry(part.manifest.node.clone()).or_default().push(part),
                Err(err) => dataset.problems.push(err),
            }
        }
        for parts in dataset.nodes.values_mut() {
            // Stable: of two copies the one with the smaller path stays.
            parts.sort_by(|a, b| a.order().cmp(&b.order()));
            parts.dedup_by(|a, b| a.order() == b.order());
        }
        Ok(dataset)
    }

    /// Names of the nodes, sorted.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.nodes.keys().map(String::as_str)
    }

    /// Parts of a node, in the order in which they were written.
    #[must_use]
    pub fn parts(&self, node: &str) -> &[Part] {
        self.nodes.get(node).map_or(&[], Vec::as_slice)
    }

    /// Parts that cannot be used.
    #[must_use]
    pub fn problems(&self) -> &[StoreError] {
        &self.problems
    }

    /// One source of rows per node, in the order of their names.
    #[must_use]
    pub fn node_sources(&self) -> Vec<Box<dyn RowSource>> {
        self.nodes().filter_map(|node| self.node_source(node)).collect()
    }

    /// The source of a node's rows, if there is one.
    #[must_use]
    pub fn node_source(&self, node: &str) -> Option<Box<dyn RowSource>> {
        let parts = self.nodes.get(node)?;
        Some(Box::new(NodeSource::new(node.to_owned(), self.path.clone(), parts.clone())))
    }

    /// Hands the counter samples of a node to `to`, in the order in which they were written. What cannot be read is
    /// passed over and returned.
    pub fn counters(&self, node: &str, mut to: impl FnMut(&CounterSample<'_>)) -> Vec<StoreError> {
        let mut problems = Vec::new();
        for part in self.parts(node) {
            problems.extend(counters(part, &mut to).err());
        }
        problems
    }
}

/// Datasets among the inputs of an analysis.
#[derive(Clone, Copy, Debug)]
pub struct Datasets;

impl RowStores for Datasets {
    fn is_store(&self, dir: &Path) -> bool {
        layout::is_dataset(dir)
    }

    fn open(&self, dir: &Path) -> Result<Vec<Box<dyn RowSource>>, String> {
        Ok(Dataset::open(dir).map_err(|err| err.chain())?.node_sources())
    }
}

/// Bytes of all files of a part that are there.
pub(crate) fn part_bytes(part: &Part) -> u64 {
    let tables = part.manifest.tables.keys().map(|table| part.table_path(table));
    tables.chain([part.manifest_path.clone()]).filter_map(|path| fs::metadata(path).ok()).map(|it| it.len()).sum()
}

/// Parts of one node in the dataset at `dir`, in the order in which they were written, and those that are unreadable.
pub(crate) fn node_parts(dir: &Path, node: &str) -> Result<(Vec<Part>, Vec<StoreError>), StoreError> {
    let (mut parts, mut problems) = (Vec::new(), Vec::new());
    for manifest in find::node_files(&dir.join(MANIFESTS), node, "json")? {
        match Part::read(manifest, dir) {
            Ok(part) => parts.push(part),
            Err(err) => problems.push(err),
        }
    }
    parts.sort_by(|a, b| a.order().cmp(&b.order()));
    Ok((parts, problems))
}
