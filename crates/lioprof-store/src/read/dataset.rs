//! The datasets below a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lioprof_model::units::plural;
use lioprof_model::{OpenStores, RowSource, RowStores};

use super::part::Part;
use super::samples::counters;
use super::source::NodeSource;
use crate::error::StoreError;
use crate::find;
use crate::layout::{self, MANIFESTS};
use crate::leftovers;
use crate::table::counters::CounterSample;

/// A dataset, or several below one folder.
#[derive(Debug)]
pub struct Dataset {
    pub(super) path: PathBuf,
    /// By node, in the order in which they were written.
    pub(super) nodes: BTreeMap<String, Vec<Part>>,
    pub(super) problems: Vec<StoreError>,
    copies: Vec<CopiedPart>,
}

/// A part that is there once more. Lioprof reads one of the copies, an SQL engine that globs for files reads all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedPart {
    /// Node that the part is of.
    pub node: String,
    /// Manifest of the copy that is read.
    pub read: PathBuf,
    /// Manifest of the copy that is passed over.
    pub passed_over: PathBuf,
}

impl Dataset {
    /// Finds the parts at `path` and below.
    ///
    /// A part whose manifest cannot be read is among [`Self::problems`]. A part that was copied twice counts once.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut dataset =
            Self { path: path.to_owned(), nodes: BTreeMap::new(), problems: Vec::new(), copies: Vec::new() };
        for (dir, manifest) in find::manifests(path)? {
            match Part::read(manifest, &dir) {
                Ok(part) => dataset.nodes.entry(part.manifest.node.clone()).or_default().push(part),
                Err(err) => dataset.problems.push(err),
            }
        }
        for (node, parts) in &mut dataset.nodes {
            // Stable: of two copies the one with the smaller path stays.
            parts.sort_by(|a, b| a.order().cmp(&b.order()));
            parts.dedup_by(|copy, part| {
                let is_copy = copy.order() == part.order();
                if is_copy {
                    let (read, passed_over) = (part.manifest_path.clone(), copy.manifest_path.clone());
                    dataset.copies.push(CopiedPart { node: node.clone(), read, passed_over });
                }
                is_copy
            });
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

    /// Copies of parts that are passed over.
    #[must_use]
    pub fn copied_parts(&self) -> &[CopiedPart] {
        &self.copies
    }

    /// Parts that cannot be used.
    #[must_use]
    pub fn problems(&self) -> &[StoreError] {
        &self.problems
    }

    /// Names of the files of a node's parts: what a rollup was made of.
    #[must_use]
    pub fn part_names(&self, node: &str) -> BTreeSet<String> {
        self.parts(node).iter().map(Part::name).collect()
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

    /// The source of a part's rows alone.
    #[must_use]
    pub fn part_source(&self, part: &Part) -> Box<dyn RowSource> {
        Box::new(NodeSource::new(part.manifest.node.clone(), self.path.clone(), vec![part.clone()]))
    }

    /// Hands the counter samples of a part to `to`, in the order in which they were written.
    ///
    /// # Errors
    /// If the file of the samples cannot be read. What was read before has been handed on.
    pub fn part_counters(part: &Part, mut to: impl FnMut(&CounterSample<'_>)) -> Result<(), StoreError> {
        counters(part, &mut to)
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

    fn open(&self, dirs: &[PathBuf]) -> OpenStores {
        let mut opened = OpenStores::default();
        let mut seen = BTreeSet::new();
        for dir in dirs {
            let mut dataset = match Dataset::open(dir) {
                Ok(dataset) => dataset,
                Err(err) => {
                    opened.unreadable.push((dir.clone(), err.chain()));
                    continue;
                }
            };
            opened.unreadable.extend(dataset.problems.iter().map(|problem| (dir.clone(), problem.chain())));
            let copies = dataset.retain(|node, part| seen.insert((node.to_owned(), part.identity())));
            opened.left_out.extend(dataset.left_out(copies).map(|why| (dir.clone(), why)));
            opened.sources.extend(dataset.node_sources());
        }
        opened
    }
}

impl Dataset {
    /// Keeps parts; how many it did not keep.
    fn retain(&mut self, mut keep: impl FnMut(&str, &Part) -> bool) -> usize {
        let mut dropped = 0;
        for (node, parts) in &mut self.nodes {
            let before = parts.len();
            parts.retain(|part| keep(node, part));
            dropped += before - parts.len();
        }
        self.nodes.retain(|_, parts| !parts.is_empty());
        dropped
    }

    /// What of the folder is not read, given how many of its parts are in a folder before it.
    fn left_out(&self, elsewhere: usize) -> impl Iterator<Item = String> {
        let dir = self.path.display();
        let copies = |parts: usize, of_what: &str| {
            (parts > 0).then(|| format!("`{dir}`: {} skipped: {of_what}", plural(parts as u64, "part")))
        };
        let orphans = leftovers::without_manifest(&self.path).unwrap_or_default();
        let without_manifest = orphans.first().map(|first| {
            format!(
                "`{dir}`: {} of rows skipped, since they have no manifest (the first: `{}`): the dataset was copied in part, or its \
                 daemon was killed; copy it again, with its folder `{MANIFESTS}`, or start the daemon again, which tidies up",
                plural(orphans.len() as u64, "file"),
                first.display()
            )
        });
        [
            copies(self.copies.len(), "copies of others in it"),
            copies(elsewhere, "they are in an input before it, too"),
            without_manifest,
        ]
        .into_iter()
        .flatten()
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
