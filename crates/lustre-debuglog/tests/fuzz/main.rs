//! Damaged logs: nothing panics, every byte is accounted for, what is whole is found.
//!
//! `LIOPROF_FUZZ_ITERATIONS` and `LIOPROF_FUZZ_SEED`: see `lioprof_testkit::fuzz`.

#[cfg(test)]
mod binary;
#[cfg(test)]
mod text;
