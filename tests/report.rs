//! `lioprof report`: the page is the one that `analyze` writes, and unusable inputs are refused with a hint.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use tempfile::TempDir;

use crate::captures::captures;
use crate::util::{lioprof, lioprof_fed};

/// An analysis of a small capture, and the page that `analyze` wrote of it.
fn analyzed() -> TempDir {
    let dir = TempDir::new().expect("a temporary directory");
    let capture = captures().into_iter().next().expect("there are captures");
    let (input, out) = (capture.dir.to_string_lossy(), dir.path().to_string_lossy());
    lioprof(&["analyze", &input, "-o", &out, "--plots", "none", "--format", "none"]);
    dir
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
}

#[test]
fn a_saved_analysis_gives_the_same_page() {
    let dir = analyzed();
    let (json, page) = (dir.path().join("analysis.json"), dir.path().join("report.html"));
    let from_analyze = read(&page);
    assert!(from_analyze.starts_with(b"<!doctype html>"));
    fs::remove_file(&page).unwrap();
    lioprof(&["report", &json.to_string_lossy()]).exits(0).says(&["report.html"]);
    assert!(read(&page) == from_analyze, "beside the analysis");
    let printed = lioprof_fed(&["report", "-", "-o", "-"], |stdin| stdin.write_all(&read(&json))).exits(0);
    assert!(printed.stdout == from_analyze, "from standard input to standard output");
}

#[test]
fn an_analysis_from_before_there_were_findings_gets_them() {
    let dir = analyzed();
    let json = dir.path().join("analysis.json");
    let with_findings = lioprof(&["report", &json.to_string_lossy(), "-o", "-"]).exits(0).stdout;
    let mut old: serde_json::Value = serde_json::from_slice(&read(&json)).unwrap();
    for key in ["findings", "checks"] {
        old.as_object_mut().unwrap().remove(key).unwrap();
    }
    fs::write(&json, old.to_string()).unwrap();
    let page = lioprof(&["report", &json.to_string_lossy(), "-o", "-"]).exits(0).stdout;
    assert!(page == with_findings);
}

#[test]
fn what_is_no_analysis_is_refused() {
    let dir = analyzed();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    lioprof(&["report", &path("no-such.json")]).exits(2).says(&["no-such.json", "failed to open"]);
    lioprof(&["report", &path("report.html")]).exits(2).says(&[
        "report.html",
        "not an analysis.json",
        "lioprof analyze",
    ]);
    let json = String::from_utf8(read(&dir.path().join("analysis.json"))).unwrap();
    fs::write(dir.path().join("other.json"), json.replacen("lioprof.analysis/1", "lioprof.analysis/9", 1)).unwrap();
    lioprof(&["report", &path("other.json")]).exits(2).says(&["lioprof.analysis/9", "lioprof.analysis/1"]);
}

#[test]
fn a_folder_stands_for_the_analysis_in_it() {
    let dir = analyzed();
    let (folder, page) = (dir.path().to_string_lossy().into_owned(), dir.path().join("report.html"));
    let from_analyze = read(&page);
    fs::remove_file(&page).unwrap();
    lioprof(&["report", &folder]).exits(0).says(&["report.html"]);
    assert!(read(&page) == from_analyze);
    fs::copy(dir.path().join("analysis.json"), dir.path().join("comparison.json")).unwrap();
    lioprof(&["report", &folder]).exits(2).says(&["an analysis.json and a comparison.json"]);
    let hollow = TempDir::new().unwrap();
    lioprof(&["report", &hollow.path().to_string_lossy()]).exits(2).says(&["no analysis.json", "lioprof analyze"]);
}

#[test]
fn files_of_others_are_not_overwritten() {
    let dir = TempDir::new().unwrap();
    let capture = captures().into_iter().next().expect("there are captures");
    let (input, out) = (capture.dir.to_string_lossy(), dir.path().to_string_lossy());
    for (name, command) in [
        ("clients.csv", "analyze"),
        ("latency.svg", "analyze"),
        ("analysis.json", "analyze"),
        ("report.html", "analyze"),
        ("operations.html", "operations"),
        ("comparison.json", "compare"),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, "mine").unwrap();
        let inputs = if command == "compare" { vec![input.as_ref(); 2] } else { vec![input.as_ref()] };
        let args = [vec![command], inputs, vec!["-o", out.as_ref()]].concat();
        let run = lioprof(&args).exits(2).says(&[name, "would be overwritten"]);
        assert!(run.stdout.is_empty(), "before anything is read: {run}");
        assert_eq!(read(&path), b"mine");
        fs::remove_file(&path).unwrap();
    }
    // Files that it does not write stay, and its own are written again.
    fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    let args = ["analyze", input.as_ref(), "-o", out.as_ref(), "--plots", "none"];
    lioprof(&args).exits(0);
    lioprof(&args).exits(0);
    assert_eq!(read(&dir.path().join("notes.txt")), b"mine");
    let page = dir.path().join("report.html");
    fs::write(&page, "mine").unwrap();
    lioprof(&args).exits(2).says(&["report.html", "would be overwritten"]);
    lioprof(&["report", &out]).exits(2).says(&["report.html", "-o"]);
    assert_eq!(read(&page), b"mine");
}
