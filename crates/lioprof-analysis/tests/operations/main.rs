//! Operations in a capture of clients and servers, against what the programs themselves measured (`syscalls.csv`).
#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

mod removed;
mod truth;

use std::path::PathBuf;

use lioprof_analysis::{Config, NoStores, find_operations};
use lioprof_model::Operations;

/// The operations in these logs.
fn operations(inputs: &[PathBuf]) -> Operations {
    let config = Config { threads: 2, ..Config::default() };
    find_operations(inputs, &NoStores, &config).unwrap().1
}
