//! The sampler and the comparison: on what real servers' counters said, and on made-up nodes.

#[cfg(test)]
mod nodes;
#[cfg(test)]
mod real;
#[cfg(test)]
mod tree;
