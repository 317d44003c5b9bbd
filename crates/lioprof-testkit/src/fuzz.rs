//! Damage to logs, reproducible by a seed.
//!
//! `LIOPROF_FUZZ_ITERATIONS` sets how many inputs a test makes (slow ones make a share of them), and
//! `LIOPROF_FUZZ_SEED` the seed of the first one. A failure prints the seed of its input:
//! `LIOPROF_FUZZ_SEED=<seed> LIOPROF_FUZZ_ITERATIONS=1` repeats it.

mod records;
mod rng;
mod wound;

pub use records::{binary_records, change_binary_header, change_text_header, text_records};
pub use rng::{Rng, for_each_seed};
pub use wound::{ChangeHeader, Piece, join, wound};
