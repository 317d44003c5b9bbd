//! Sums of nodes, each a value that stands by itself, and how they become one.

use lioprof_model::Symbols;
use serde::{Deserialize, Serialize};

use crate::aggregate::Aggregate;
use crate::renumber::Renumber;

/// Sums of a node, or of several.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Partial {
    /// The texts of all symbols in the sums.
    pub(crate) symbols: Symbols,
    pub(crate) aggregate: Aggregate,
}

impl Partial {
    /// Adds the sums of other nodes. The grouping does not matter, unless a list is full: then what it forgets depends on what it has had,
    /// so nodes are added in the order of their names.
    pub(crate) fn merge(&mut self, mut other: Self) {
        other.aggregate.renumber(&self.symbols.take_in(&other.symbols));
        self.aggregate.merge(other.aggregate, &self.symbols);
    }
}

/// The sums of nodes until their clocks have been compared, in the order of their names.
pub(crate) enum Partials {
    /// Those of each node: one of them may be replaced.
    Apart(Vec<Partial>),
    /// Of all together, and their widest bins.
    Together(Option<Box<Partial>>, i64),
}

impl Partials {
    pub(crate) fn apart() -> Self {
        Self::Apart(Vec::new())
    }

    pub(crate) fn together() -> Self {
        Self::Together(None, 1)
    }

    /// Adds those of the next node.
    pub(crate) fn add(&mut self, node: Partial) {
        match self {
            Self::Apart(nodes) => nodes.push(node),
            Self::Together(sum, widest_us) => {
                *widest_us = node.aggregate.bin_us().max(*widest_us);
                match sum {
                    Some(sum) => sum.merge(node),
                    // Merges into the first node's, not into empty ones: those of a single node may be large.
                    None => *sum = Some(Box::new(node)),
                }
            }
        }
    }

    /// Width of the widest bins.
    pub(crate) fn bin_us(&self) -> i64 {
        match self {
            Self::Apart(nodes) => nodes.iter().map(|node| node.aggregate.bin_us()).max().unwrap_or(1),
            Self::Together(_, widest_us) => *widest_us,
        }
    }

    /// All of them merged; `None` of no node.
    pub(crate) fn merged(self) -> Option<Partial> {
        match self {
            Self::Apart(nodes) => {
                let mut together = Self::together();
                nodes.into_iter().for_each(|node| together.add(node));
                together.merged()
            }
            Self::Together(sum, _) => sum.map(|sum| *sum),
        }
    }
}

#[cfg(test)]
#[path = "partial_tests.rs"]
mod tests;
