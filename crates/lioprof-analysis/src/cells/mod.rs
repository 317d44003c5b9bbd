//! What adds up: below everything that sums up rows, lock events or RPCs sent, and knowing none of it.
//!
//! All of it is integers, and merges in any order and grouping (`merge_tests`). Reads and writes are [`lioprof_model::ReadWrite`].

mod bins;
pub mod limits;
#[cfg(test)]
mod merge_tests;
mod quarter_octaves;
mod times;
mod union;

pub(crate) use bins::{BinClock, Bins, used};
pub(crate) use quarter_octaves::{QuarterOctaves, quarter_octave, quarter_octave_edge};
pub(crate) use times::{RpcTimes, Times};
pub(crate) use union::Union;
