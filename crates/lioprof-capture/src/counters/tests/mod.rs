//! The sampler and the comparison: on what real servers' counters said, and on made-up nodes.

mod nodes;
mod real;
mod tree;
