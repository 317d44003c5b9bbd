//! Damaged logs through the whole analysis: nothing panics, nothing is counted that is not there, and the
//! result does not depend on threads and chunks.
//!
//! `LIOPROF_FUZZ_ITERATIONS` and `LIOPROF_FUZZ_SEED`: see `lioprof_testkit::fuzz`.

#[cfg(test)]
mod damaged;
