//! Operations in a capture of clients and servers, against what the programs themselves measured (`syscalls.csv`).
#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

mod inferred;
mod removed;
mod truth;
mod wordings;

use std::path::PathBuf;

use lioprof_analysis::{Config, NoStores, find_operations};
use lioprof_model::{OperationRow, Operations};

/// The operations that lie within a system call.
#[expect(clippy::cast_precision_loss, reason = "microseconds since the epoch fit into 52 bits")]
fn contained<'a>(rows: &[&'a OperationRow], call: &truth::Call) -> Vec<&'a OperationRow> {
    let is_during =
        |row: &&&OperationRow| row.begin_us as f64 >= call.start_us - 1.0 && row.end_us() as f64 <= call.end_us + 1.0;
    rows.iter().filter(is_during).copied().collect()
}

/// The operations in these logs.
fn operations(inputs: &[PathBuf]) -> Operations {
    let config = Config { threads: 2, ..Config::default() };
    find_operations(inputs, &NoStores, &config).unwrap().1
}
