//! Fuzzing of archives. `LIOPROF_FUZZ_ITERATIONS` says how many inputs are tried.

#[cfg(test)]
mod damaged;
