//! Names and what stands for them.

use rustc_hash::FxHashMap;

/// The pseudonym of each name of a kind.
pub(crate) type Table = FxHashMap<Box<[u8]>, Box<[u8]>>;
