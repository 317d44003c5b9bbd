//! Marks that occur more than once: the last complete pair limits the analysis.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use lioprof_testkit::files::unpacked;
use serde_json::Value;
use tempfile::TempDir;

use crate::captures::captures;
use crate::figures::{rows, text};
use crate::util::{analyze, assert_same, figures_only, lioprof, lioprof_fed};

/// The marks of a capture and what they are called where the same names occur twice.
const RENAMED: [(&str, &str); 4] = [
    ("CAPTURE-START file_per_process", "run start"),
    ("PHASE file_per_process WRITE", "run end"),
    ("PHASE file_per_process READ", "run start"),
    ("CAPTURE-STOP file_per_process", "run end"),
];

/// The log of a server with phases, and the same with repeated marks.
fn logs(dir: &Path) -> (PathBuf, PathBuf) {
    let capture = captures().into_iter().find(|it| it.name == "file_per_process").unwrap();
    let original = unpacked(capture.servers[1].log("rpc.txt").unwrap());
    let mut repeated = String::from_utf8(original.clone()).unwrap();
    for (mark, name) in RENAMED {
        let [mark, name] = [mark, name].map(|text| format!("DEBUG MARKER: {text}\n"));
        assert_eq!(repeated.matches(&mark).count(), 1, "{mark}");
        repeated = repeated.replace(&mark, &name);
    }
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.join(name).join("server2");
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("rpc.txt"), bytes).unwrap();
        path.join("rpc.txt")
    };
    (write("original", &original), write("repeated", repeated.as_bytes()))
}

/// Without the marks themselves and what is said of them.
fn without_marks(json: Value) -> Value {
    let mut json = figures_only(json);
    for key in ["markers", "warnings"] {
        json[key] = Value::Null;
    }
    json
}

fn said(json: &Value) -> String {
    let said = rows(json, "warnings").iter().filter_map(Value::as_str).find(|it| it.contains("has the mark"));
    said.unwrap_or_default().to_owned()
}

const LAST: [&str; 4] = ["--from", "run start", "--to", "run end"];

#[test]
fn the_last_complete_pair_is_used_and_told() {
    let dir = TempDir::new().unwrap();
    let (original, repeated) = logs(dir.path());
    let [.., read, stop] = RENAMED.map(|(mark, _)| mark);
    let want = analyze(&[&original], &["--from", read, "--to", stop]);
    let got = analyze(&[&repeated], &LAST);
    assert_same("last pair", &without_marks(got.clone()), &without_marks(want.clone()));
    assert!(
        said(&got).contains("`run start` 2 times and `run end` 2 times: the last complete pair"),
        "{}",
        got["warnings"]
    );
    assert_eq!(said(&want), "");
    assert!(
        rows(&got, "markers").iter().filter_map(|row| text(row, "text")).filter(|it| *it == "run start").count() == 2
    );
}

#[test]
fn a_stream_can_be_read_once_only() {
    let dir = TempDir::new().unwrap();
    let (original, repeated) = logs(dir.path());
    let [start, write, ..] = RENAMED.map(|(mark, _)| mark);
    let want = analyze(&[&original], &["--from", start, "--to", write]);
    let args = ["analyze", "-", "--node", "server2", "--format", "json"].iter().chain(&LAST).collect::<Vec<_>>();
    let bytes = std::fs::read(repeated).unwrap();
    let got = lioprof_fed(&args, |stdin| stdin.write_all(&bytes)).exits(0).json();
    assert_same("first pair", &without_marks(got.clone()), &without_marks(want));
    assert!(said(&got).contains("read only once gives the first complete pair"), "{}", got["warnings"]);
}

#[cfg(feature = "export")]
#[test]
fn rows_are_those_of_the_last_complete_pair() {
    let dir = TempDir::new().unwrap();
    let (original, repeated) = logs(dir.path());
    let [.., read, stop] = RENAMED.map(|(mark, _)| mark);
    let export = |input: &Path, name: &str, limits: [&str; 4]| {
        let out = dir.path().join(name);
        let args = ["export".as_ref(), input.as_os_str(), "--csv".as_ref(), out.as_os_str()];
        let args: Vec<&OsStr> = args.into_iter().chain(limits.iter().map(OsStr::new)).collect();
        lioprof(&args).exits(0);
        std::fs::read_to_string(out.join("rpcs.csv")).unwrap()
    };
    let want = export(&original, "a", ["--from", read, "--to", stop]);
    let got = export(&repeated, "b", LAST);
    assert!(want.lines().count() > 10);
    assert_eq!(got, want);
}

#[test]
fn marks_in_the_wrong_order_are_told() {
    let dir = TempDir::new().unwrap();
    let (original, _) = logs(dir.path());
    let [start, .., stop] = RENAMED.map(|(mark, _)| mark);
    let args = ["analyze".as_ref(), original.as_os_str()];
    let limits = ["--from", stop, "--to", start].map(OsStr::new);
    lioprof(&[&args[..], &limits].concat()).exits(2).says(&[start, "comes after the mark", stop]);
}
