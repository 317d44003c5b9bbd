//! Logs to play, and what must come out.

use std::fs;
use std::path::{Path, PathBuf};

use lioprof_testkit::files::{files_under, unpacked};
use serde_json::Value;

use crate::captures::captures;
use crate::util::{analyze_run, assert_same, figures_only};

use super::node::NAME;

/// A server's log in the captures.
pub(crate) struct Log {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// Decompressed.
    pub(crate) bytes: usize,
}

/// One log of every server.
pub(crate) fn logs() -> Vec<Log> {
    let mut out = Vec::new();
    for capture in captures() {
        for server in &capture.servers {
            let path = server.binary().or_else(|| server.text()).unwrap();
            let bytes = unpacked(&path).len();
            out.push(Log { name: format!("{}/{}", capture.name, server.name), path, bytes });
        }
    }
    out
}

/// The `count` richest logs that are small enough to be played often.
pub(crate) fn medium(count: usize) -> Vec<Log> {
    let mut logs: Vec<Log> = logs().into_iter().filter(|log| log.bytes < 4_000_000).collect();
    logs.sort_by_key(|log| std::cmp::Reverse(log.bytes));
    logs.truncate(count);
    assert_eq!(logs.len(), count, "too few captures of medium size");
    logs
}

/// The richest log of medium size.
pub(crate) fn rich() -> Log {
    medium(1).remove(0)
}

/// The analysis of inputs as if they were of the simulated server.
#[track_caller]
pub(crate) fn analysis(inputs: &[&Path]) -> Value {
    analysis_with(inputs, &[])
}

/// [`analysis`] with options.
#[track_caller]
pub(crate) fn analysis_with(inputs: &[&Path], more: &[&str]) -> Value {
    let mut options = vec!["--node", NAME];
    options.extend(more);
    analyze_run(inputs, &options).json()
}

/// Both analyses are the same but for where they come from and what the log says about its own gaps.
#[track_caller]
pub(crate) fn assert_same_figures(what: &str, kept: &Value, original: &Value) {
    assert_same(what, &comparable(kept), &comparable(original));
}

/// What the daemon keeps gives the same analysis as the log that was played.
#[track_caller]
pub(crate) fn assert_kept(what: &str, keep: &Path, log: &Path) {
    let (mut kept, original) = (analysis(&[keep]), analysis(&[log]));
    // A ring that wrapped says that its head is gone; once its records have been played, their numbers say what is missing.
    if original["loss"]["head_overwritten"] == true
        && let Some(warnings) = kept.get_mut("warnings").and_then(Value::as_array_mut)
    {
        warnings.retain(|warning| !warning.as_str().unwrap_or_default().contains("of the RPCs are not in the log"));
    }
    assert_same_figures(what, &kept, &original);
}

/// Warnings about gaps and damage, which depend on how the records were stored.
const ABOUT_LOSS: [&str; 5] =
    ["has wrapped", "begins in the middle", "kernel discarded", "could not be decoded", "in two inputs"];

fn comparable(json: &Value) -> Value {
    let mut json = figures_only(json.clone());
    if let Some(warnings) = json.get_mut("warnings").and_then(Value::as_array_mut) {
        warnings.retain(|warning| {
            let text = warning.as_str().unwrap_or_default();
            !ABOUT_LOSS.iter().any(|about| text.contains(about))
        });
    }
    json
}

/// All manifests of a dataset, in the order of their names.
pub(crate) fn manifests(keep: &Path) -> Vec<Value> {
    let mut paths: Vec<PathBuf> = files_under(keep.join("manifests"));
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect()
}

/// The speed at which a log takes so many seconds to play.
pub(crate) fn speed(log: &Log, seconds: f64) -> String {
    let window = &analysis(&[&log.path])["window"];
    format!("{:.3}", window["duration_s"].as_f64().unwrap() / seconds)
}
