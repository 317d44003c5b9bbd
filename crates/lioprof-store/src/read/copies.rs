//! Parts that are in a dataset more than once.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::dataset::Dataset;
use super::find;
use super::part::Part;
use crate::error::StoreError;

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
    /// Copies that were passed over, in the order of their paths.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    pub fn copied_parts(&self) -> Result<Vec<CopiedPart>, StoreError> {
        let known: HashSet<&Path> = self.nodes.values().flatten().map(|part| part.manifest_path.as_path()).collect();
        let mut copies = Vec::new();
        for (dir, manifest) in find::manifests(&self.path)? {
            if known.contains(manifest.as_path()) {
                continue;
            }
            // An unreadable one is among the problems, and one that a daemon has just written is no copy.
            let Ok(copy) = Part::read(manifest, &dir) else { continue };
            let node = copy.manifest.node.clone();
            if let Some(part) = self.parts(&node).iter().find(|part| part.order() == copy.order()) {
                let (read, passed_over) = (part.manifest_path.clone(), copy.manifest_path);
                copies.push(CopiedPart { node, read, passed_over });
            }
        }
        Ok(copies)
    }
}
