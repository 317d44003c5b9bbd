//! The sums of nodes until their clocks have been compared.

use lioprof_model::Symbols;

use crate::aggregate::Aggregate;

/// The sums of nodes, in the order of their names.
pub(crate) enum NodeSums {
    /// Those of each node: one of them may be replaced.
    Apart(Vec<Aggregate>),
    /// Of all together, and their widest bins.
    Together(Option<Box<Aggregate>>, i64),
}

impl NodeSums {
    pub(crate) fn apart() -> Self {
        Self::Apart(Vec::new())
    }

    pub(crate) fn together() -> Self {
        Self::Together(None, 1)
    }

    /// Adds those of the next node.
    pub(crate) fn add(&mut self, node: Aggregate, symbols: &Symbols) {
        match self {
            Self::Apart(nodes) => nodes.push(node),
            Self::Together(sum, widest_us) => {
                *widest_us = node.bin_us().max(*widest_us);
                match sum {
                    Some(sum) => sum.merge(node, symbols),
                    // Merges into the first node's, not into empty ones: those of a single node may be large.
                    None => *sum = Some(Box::new(node)),
                }
            }
        }
    }

    /// Width of the widest bins.
    pub(crate) fn bin_us(&self) -> i64 {
        match self {
            Self::Apart(nodes) => nodes.iter().map(Aggregate::bin_us).max().unwrap_or(1),
            Self::Together(_, widest_us) => *widest_us,
        }
    }

    /// The sum of all; `None` of no node.
    pub(crate) fn sum(self, symbols: &Symbols) -> Option<Aggregate> {
        match self {
            Self::Apart(nodes) => {
                let mut together = Self::together();
                nodes.into_iter().for_each(|node| together.add(node, symbols));
                together.sum(symbols)
            }
            Self::Together(sum, _) => sum.map(|sum| *sum),
        }
    }
}
