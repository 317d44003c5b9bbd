//! Rows that are damaged, incomplete or there twice: what is left is analyzed, and what is missing is told, in words and in the exit code.
//! The capture has 326 RPCs, 280 of them of `server1`.

use std::fs;
use std::path::{Path, PathBuf};

use lioprof_testkit::files::capture;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::util::{Run, lioprof};

/// The capture as rows.
fn exported() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let rows = dir.path().join("rows");
    let log = capture("masks");
    lioprof(&["export", log.to_str().unwrap(), "--parquet", rows.to_str().unwrap(), "-q"]).exits(0);
    (dir, rows)
}

fn analyze(inputs: &[&Path]) -> Run {
    let inputs = inputs.iter().map(|path| path.to_str().unwrap());
    lioprof(&["analyze", "--format", "json"].into_iter().chain(inputs).collect::<Vec<_>>())
}

fn rpcs(run: &Run) -> &'static str {
    match run.json()["totals"]["rpcs"].as_u64() {
        Some(326) => "all",
        Some(280) => "of server1",
        Some(46) => "of server2",
        other => panic!("{other:?} RPCs"),
    }
}

/// The files of a node in a folder of a dataset.
fn files(rows: &Path, folder: &str, node: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let node = rows.join(folder).join("fs=lustre").join(format!("node={node}"));
    for date in fs::read_dir(node).unwrap() {
        found.extend(fs::read_dir(date.unwrap().path()).unwrap().map(|file| file.unwrap().path()));
    }
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, target).unwrap();
        }
    }
}

#[test]
fn a_manifest_that_cannot_be_read_is_told() {
    let (_dir, rows) = exported();
    for text in ["", "{}", "[]", "{\"schema\":\"lioprof.rows/99\"}"] {
        let [manifest] = &files(&rows, "manifests", "server2")[..] else { panic!() };
        fs::write(manifest, text).unwrap();
        let run = analyze(&[&rows]).exits(2).says(&[manifest.to_str().unwrap()]);
        assert_eq!(rpcs(&run), "of server1", "{text}");
    }
    let [manifest] = &files(&rows, "manifests", "server1")[..] else { panic!() };
    fs::write(manifest, "").unwrap();
    for command in ["analyze", "operations"] {
        lioprof(&[command, rows.to_str().unwrap()]).exits(2).says(&["server1", "server2"]);
    }
}

#[test]
fn rows_without_a_manifest_are_told() {
    let (_dir, rows) = exported();
    fs::remove_dir_all(rows.join("manifests/fs=lustre/node=server2")).unwrap();
    let run = analyze(&[&rows]).exits(0).says(&["3 files of rows skipped", "server2", "manifest"]);
    assert_eq!(rpcs(&run), "of server1");
    fs::remove_dir_all(rows.join("manifests")).unwrap();
    for path in [rows.clone(), rows.join("rpcs")] {
        analyze(&[&path]).exits(2).says(&["Parquet files without the manifests", "`manifests`"]);
    }
    analyze(&[&files(&rows, "rpcs", "server1")[0]]).exits(2).says(&["folder that has `manifests` in it"]);
}

#[test]
fn rows_that_cannot_be_read_are_loss() {
    let (_dir, rows) = exported();
    let whole: Value = analyze(&[&rows]).exits(0).json();
    assert_eq!((&whole["loss"]["unread_parts"], &whole["loss"]["unread_rpcs"]), (&json!(0), &json!(0)));
    for node in ["server1", "server2"] {
        let [file] = &files(&rows, "rpcs", node)[..] else { panic!() };
        let bytes = fs::read(file).unwrap();
        fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
        let run = analyze(&[&rows]).exits(2).says(&[file.to_str().unwrap()]);
        fs::write(file, bytes).unwrap();
        let (json, lost) = (run.json(), if node == "server1" { 280 } else { 46 });
        let loss = &json["loss"];
        assert_eq!((&loss["unread_parts"], &loss["unread_rpcs"]), (&json!(1), &json!(lost)));
        // The servers numbered 326 requests.
        let share = f64::from(lost) / 326.0;
        for bound in ["lost_fraction_min", "estimated_lost_fraction", "lost_fraction_max"] {
            assert!((loss[bound].as_f64().unwrap() - share).abs() < 1e-9, "{bound}: {loss}");
        }
        assert!(json["warnings"].to_string().contains("copy the dataset again"), "{}", json["warnings"]);
        assert_eq!(json["findings"][0]["id"], "trace-quality");
        assert!(json["findings"][0]["remedies"].to_string().contains("Copy the dataset again"));
    }
}

#[test]
fn what_is_there_twice_counts_once() {
    let (dir, rows) = exported();
    let run = analyze(&[&rows, &rows]).exits(0);
    assert_eq!(rpcs(&run), "all");
    // A copy, in a folder of its own and below the same.
    let twice = dir.path().join("twice");
    for name in ["a", "b"] {
        copy(&rows, &twice.join(name));
    }
    let run = analyze(&[&twice]).exits(0).says(&["2 parts skipped: they are in an input before it"]);
    assert_eq!(rpcs(&run), "all");
    assert_eq!(rpcs(&analyze(&[&rows, &twice.join("b")]).exits(0).says(&["skipped"])), "all");
    // Under other names in the same folders.
    for folder in ["manifests", "rpcs", "lock_events", "sent_rpcs"] {
        for file in files(&rows, folder, "server1") {
            let name = file.file_name().unwrap().to_str().unwrap();
            fs::copy(&file, file.with_file_name(format!("0{name}"))).unwrap();
        }
    }
    assert_eq!(rpcs(&analyze(&[&rows]).exits(0).says(&["1 part skipped: copies of others"])), "all");
}

#[test]
fn a_log_and_its_own_rows_are_told() {
    let (_dir, rows) = exported();
    let run = analyze(&[&capture("masks"), &rows]).exits(0);
    let json = run.json();
    for node in ["server1", "server2"] {
        let told = format!("{node}: the log");
        let is_told =
            |warning: &Value| warning.as_str().is_some_and(|it| it.starts_with(&told) && it.contains("counts twice"));
        assert!(json["warnings"].as_array().unwrap().iter().any(is_told), "{}", json["warnings"]);
    }
    // Of another time they are one capture.
    let apart = analyze(&[&capture("lock_pingpong_dlm"), &rows]).exits(0).json();
    assert!(!apart["warnings"].to_string().contains("counts twice"));
}
