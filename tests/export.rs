//! `lioprof export`: what it writes is read again and compared with the analysis of the logs themselves. Perfetto traces are decoded
//! by others in `scripts/check-perfetto`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use lioprof_testkit::files::unpacked;
use serde_json::Value;
use tempfile::TempDir;

use crate::captures::captures;
use crate::util::{Run, analyze_run, assert_same, figures_only, lioprof};

/// `lioprof export INPUTS.. MORE..`.
#[track_caller]
fn export(inputs: &[&Path], more: &[&OsStr]) -> Run {
    let mut args: Vec<&OsStr> = vec!["export".as_ref()];
    args.extend(inputs.iter().map(|path| path.as_os_str()));
    args.extend(more);
    lioprof(&args)
}

fn option<'a>(name: &'a str, path: &'a Path) -> [&'a OsStr; 2] {
    [name.as_ref(), path.as_os_str()]
}

/// What lies in a directory, by its path in there.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut out = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                out.insert(path.strip_prefix(dir).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    out
}

/// Warnings about single places of a log, and about what stood in two of them.
const ABOUT_PLACES: [&str; 2] = ["could not be decoded as records", "in two inputs"];

/// Everything of an analysis but the account of the inputs.
fn comparable(run: &Run) -> Value {
    let mut json = run.json();
    let object = json.as_object_mut().unwrap();
    object.remove("inputs");
    let warnings = object["warnings"].as_array_mut().unwrap();
    warnings.retain(|warning| !ABOUT_PLACES.iter().any(|about| warning.as_str().unwrap().contains(about)));
    json
}

/// The lines of a CSV file by column; no cell of the captures has a line break in it.
fn csv(dir: &Path, table: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(dir.join(format!("{table}.csv"))).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

#[test]
fn parquet_gives_the_analysis_of_the_logs() {
    for capture in captures() {
        let dir = TempDir::new().unwrap();
        let rows = dir.path().join("rows");
        let run = export(&[&capture.dir], &option("--parquet", &rows));
        assert!(matches!(run.code, Some(0 | 3)), "{run}");
        let logs = analyze_run(&[&capture.dir], &[]);
        assert_eq!(run.code, logs.code, "{run}");
        let kept = analyze_run(&[&rows], &[]);
        assert_same(&capture.name, &comparable(&kept), &comparable(&logs));
        // Nothing but whole files.
        assert!(contents(&rows).keys().all(|path| path.extension().is_some_and(|it| it == "parquet" || it == "json")));
    }
}

#[test]
fn rows_of_rows_are_the_same_rows() {
    let capture = &captures()[0];
    let dir = TempDir::new().unwrap();
    let [first, second] = ["first", "second"].map(|name| dir.path().join(name));
    export(&[&capture.dir], &option("--parquet", &first)).exits(0);
    export(&[&first], &option("--parquet", &second)).exits(0);
    assert_eq!(contents(&second), contents(&first));
}

#[test]
fn files_for_old_readers_hold_the_same_rows() {
    let capture = &captures()[0];
    let dir = TempDir::new().unwrap();
    let [usual, old, back] = ["usual", "old", "back"].map(|name| dir.path().join(name));
    export(&[&capture.dir], &option("--parquet", &usual)).exits(0);
    let mut options = vec!["--old-readers".as_ref()];
    options.extend(option("--parquet", &old));
    export(&[&usual], &options).exits(0);
    assert_ne!(contents(&old), contents(&usual));
    export(&[&old], &option("--parquet", &back)).exits(0);
    assert_eq!(contents(&back), contents(&usual));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for capture in captures().iter().filter(|capture| capture.name.starts_with("lock_pingpong")) {
        let outputs = ["1", "2"].map(|threads| {
            let dir = TempDir::new().unwrap();
            let [rows, tables, trace] = ["rows", "tables", "trace.pftrace"].map(|name| dir.path().join(name));
            let mut options = vec!["--threads".as_ref(), threads.as_ref()];
            options.extend(option("--parquet", &rows));
            options.extend(option("--csv", &tables));
            options.extend(option("--perfetto", &trace));
            export(&[&capture.dir], &options).exits(0);
            contents(dir.path())
        });
        assert!(outputs[0].len() > 6, "{:?}", outputs[0].keys());
        assert!(outputs[0] == outputs[1], "{}: 1 thread and 2 give different files", capture.name);
    }
}

#[test]
fn csv_has_every_row_and_the_columns_of_the_parquet_files() {
    for capture in captures() {
        let dir = TempDir::new().unwrap();
        let run = export(&[&capture.dir], &option("--csv", dir.path()));
        assert!(matches!(run.code, Some(0 | 3)), "{run}");
        let analysis = analyze_run(&[&capture.dir], &[]).json();
        let rpcs = csv(dir.path(), "rpcs");
        assert_eq!(rpcs.len() as u64, analysis["totals"]["rpcs"].as_u64().unwrap(), "{}", capture.name);
        for target in analysis["targets"].as_array().unwrap() {
            for (direction, opcode) in [("read", "OST_READ"), ("write", "OST_WRITE")] {
                let own = rpcs.iter().filter(|row| {
                    row["target"] == target["name"] && row["node"] == target["node"] && row["opcode_name"] == opcode
                });
                let bytes: u64 = own.filter_map(|row| row["bytes"].parse::<u64>().ok()).sum();
                assert_eq!(bytes, target[direction]["bytes"].as_u64().unwrap_or(0), "{}: {target}", capture.name);
            }
        }
        let marks = csv(dir.path(), "marks");
        let known = analysis["markers"].as_array().unwrap();
        assert_eq!(marks.len(), known.len(), "{}", capture.name);
        for mark in known {
            assert!(marks.iter().any(|row| row["text"] == mark["text"] && row["node"] == mark["node"]), "{mark}");
        }
        // All tables of a node are numbered through.
        let mut places: Vec<(String, u64)> = ["rpcs", "lock_events", "sent_rpcs", "marks"]
            .iter()
            .flat_map(|table| csv(dir.path(), table))
            .map(|row| (row["node"].clone(), row["seq"].parse().unwrap()))
            .collect();
        places.sort();
        let mut expected = BTreeMap::new();
        for (node, seq) in places {
            let next = expected.entry(node).or_insert(0);
            assert_eq!(seq, *next, "{}", capture.name);
            *next += 1;
        }
    }
    let page = include_str!("../docs/export.md");
    let dir = TempDir::new().unwrap();
    export(&[&captures()[0].dir], &option("--csv", dir.path()));
    for (file, _) in contents(dir.path()) {
        assert!(page.contains(&format!("`{}`", file.display())), "docs/export.md says nothing of {}", file.display());
    }
}

#[test]
fn a_time_span_is_exported_alone() {
    let captures = captures();
    let capture = captures.iter().find(|capture| capture.name == "lock_pingpong_dlm").unwrap();
    let dir = TempDir::new().unwrap();
    let rows = dir.path().join("rows");
    let limits = ["--from", "CAPTURE-START", "--to", "CAPTURE-STOP"];
    let mut options: Vec<&OsStr> = limits.map(OsStr::new).to_vec();
    options.extend(option("--parquet", &rows));
    export(&[&capture.dir], &options).exits(0);
    let (kept, mut logs) = (analyze_run(&[&rows], &[]).json(), analyze_run(&[&capture.dir], &limits).json());
    // Of what is not kept nobody knows how much was under way, nor that there was more.
    assert_eq!(logs["window"]["under_way_rpcs"].take(), 0);
    assert_eq!((&kept["window"]["limited"], logs["window"]["limited"].take()), (&false.into(), true.into()));
    logs["window"]["limited"] = false.into();
    for figure in ["totals", "targets", "clients", "jobs", "operations", "window"] {
        assert_same(figure, &kept[figure], &logs[figure]);
    }
    export(
        &[&capture.dir],
        &[&["--from".as_ref(), "no such mark".as_ref()], &option("--csv", &dir.path().join("x"))[..]].concat(),
    )
    .exits(2)
    .says(&["no such mark"]);
}

#[test]
fn a_wound_costs_what_it_hits() {
    let captures = captures();
    let server = &captures.iter().find(|capture| capture.name == "lock_pingpong_dlm").unwrap().servers[0];
    let log = unpacked(server.binary().unwrap());
    let dir = TempDir::new().unwrap();
    let wounded = dir.path().join("rpc.bin");
    let mut bytes = log.clone();
    let middle = bytes.len() / 2;
    bytes[middle..middle + log.len() / 5].fill(0);
    fs::write(&wounded, bytes).unwrap();
    let rows = dir.path().join("rows");
    export(&[&wounded], &option("--parquet", &rows)).exits(3);
    let (kept, logs) = (analyze_run(&[&rows], &[]), analyze_run(&[&wounded], &[]));
    assert_eq!(logs.code, Some(3));
    assert_same("wounded", &figures_only(comparable(&kept)), &figures_only(comparable(&logs)));
    assert!(kept.json()["totals"]["rpcs"].as_u64().unwrap() > 100);
    // The limit is the user's.
    export(
        &[&wounded],
        &[&["--max-loss".as_ref(), "1".as_ref()], &option("--csv", &dir.path().join("tables"))[..]].concat(),
    )
    .exits(0);
}

#[test]
fn others_files_are_left_alone() {
    let capture = &captures()[0];
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    for output in ["--parquet", "--csv"] {
        export(&[&capture.dir], &option(output, dir.path())).exits(2).says(&["is not empty"]);
    }
    assert_eq!(contents(dir.path()).len(), 1);
    let both = dir.path().join("both");
    export(&[&capture.dir], &[option("--parquet", &both), option("--csv", &both)].concat())
        .exits(2)
        .says(&["different names", "both"]);
    // Nothing is left of a span without anything, nor of a mark that is not there.
    let to = "2026-11-23T05:00:00Z";
    for from in ["2026-11-23T06:00:00Z", "nobody wrote this"] {
        let span: [&OsStr; 4] = ["--from", from, "--to", to].map(AsRef::as_ref);
        export(&[&capture.dir], &[&option("--csv", &both)[..], &span].concat()).exits(2);
        assert!(!both.exists() || contents(&both).is_empty(), "{from}");
    }
    export(&[&capture.dir], &[]).exits(2).says(&["--parquet <DIR>", "--csv <DIR>", "--perfetto <FILE>"]);
}

#[test]
fn without_input_nothing_is_left_behind() {
    let dir = TempDir::new().unwrap();
    let (tables, trace) = (dir.path().join("tables"), dir.path().join("trace.pftrace"));
    let options = [option("--csv", &tables), option("--perfetto", &trace)].concat();
    export(&[&dir.path().join("nothing")], &options).exits(2).says(&["nothing"]);
    assert!(contents(dir.path()).is_empty());
    // The same command works once there is something.
    export(&[&captures()[0].dir], &options).exits(0);
}

#[test]
fn a_large_trace_is_several_files() {
    let captures = captures();
    let mut inputs: Vec<&Path> = captures.iter().map(|capture| capture.dir.as_path()).collect();
    inputs.truncate(12);
    let dir = TempDir::new().unwrap();
    let trace = dir.path().join("all.pftrace");
    let options: [&[&OsStr]; 2] = [&option("--perfetto", &trace), &["--split-mib".as_ref(), "1".as_ref()]];
    let run = export(&inputs, &options.concat());
    let files = contents(dir.path());
    assert!(files.len() > 2, "{run}");
    assert!(run.stderr.contains(&format!("{} files", files.len())), "{run}");
    for number in 2..=files.len() {
        let name = format!("all-{number}.pftrace");
        let bytes = files.get(Path::new(&name)).unwrap_or_else(|| panic!("no {name}: {:?}", files.keys()));
        // Each begins like a trace: field 1, a packet.
        assert_eq!(bytes[0], 0x0a, "{name}");
        assert!(bytes.len() < 3 << 20, "{name}: {} bytes", bytes.len());
    }
}
