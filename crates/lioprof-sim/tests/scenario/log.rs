//! A scenario's log as a file.

use std::fs;

use lioprof_sim::scenario::SizeArgs;
use lioprof_sim::scenario_log::{LogArgs, LogError, write};

fn args(directory: &tempfile::TempDir, name: &str, binary: bool) -> LogArgs {
    LogArgs {
        scenario: "lock-pingpong".to_owned(),
        output: directory.path().join(name),
        binary,
        client_logs: false,
        debug: "rpctrace dlmtrace".to_owned(),
        subsystem_debug: "rpc filter ldlm".to_owned(),
        size: SizeArgs { clients: Some(2), ..SizeArgs::default() },
    }
}

/// Records of a binary log, by their lengths.
fn count(log: &[u8]) -> u64 {
    let (mut at, mut records) = (0, 0);
    while at < log.len() {
        at += usize::try_from(u32::from_le_bytes(log[at..at + 4].try_into().unwrap())).unwrap();
        records += 1;
    }
    assert_eq!(at, log.len(), "whole records");
    records
}

#[test]
fn text_and_binary_hold_the_same_records_and_the_same_options_give_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let [text, binary, again] =
        [("a.txt", false), ("a.bin", true), ("b.bin", true)].map(|(name, form)| args(&directory, name, form));
    // What is there is replaced, not continued.
    fs::write(&binary.output, b"rubbish").unwrap();
    let records = write(&text).unwrap();
    assert!(records > 1000);
    assert_eq!(write(&binary).unwrap(), records);
    assert_eq!(write(&again).unwrap(), records);
    let lines = fs::read_to_string(&text.output).unwrap();
    assert_eq!(lines.lines().count() as u64, records);
    let bytes = fs::read(&binary.output).unwrap();
    assert_eq!(count(&bytes), records);
    assert_eq!(bytes, fs::read(&again.output).unwrap());
    assert!(lines.contains("Handled RPC") && lines.contains("lock incompatible"));
    assert!(!lines.contains("Transferring"), "mask net was not asked for");
}

#[test]
fn unknown_names_are_refused_with_what_there_is() {
    let directory = tempfile::tempdir().unwrap();
    let mut bad = args(&directory, "a", false);
    bad.scenario = "nothing".to_owned();
    let error = write(&bad).unwrap_err();
    assert!(matches!(error, LogError::Scenario(_)) && error.to_string().contains("false-sharing"), "{error}");
    let mut bad = args(&directory, "a", false);
    bad.debug = "rpctrase".to_owned();
    let error = write(&bad).unwrap_err();
    assert!(error.to_string().contains("debug does not take `rpctrase`"), "{error}");
    assert!(!bad.output.exists(), "nothing was written");
}
