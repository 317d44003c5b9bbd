//! `lioprof operations`: tables, JSON, CSV, file names only on request, and what servers alone can tell. Figures are tested against the
//! programs' own in `crates/lioprof-analysis/tests/operations`.

use std::ffi::OsStr;
use std::path::Path;

use lioprof_testkit::files::capture;

use crate::util::{Run, lioprof};

fn operations(inputs: &[&Path], more: &[&str]) -> Run {
    let mut args: Vec<&OsStr> = vec!["operations".as_ref(), "-q".as_ref()];
    args.extend(inputs.iter().map(|path| path.as_os_str()));
    args.extend(more.iter().map(OsStr::new));
    lioprof(&args).exits(0)
}

fn text(run: &Run) -> &str {
    std::str::from_utf8(&run.stdout).unwrap()
}

#[test]
fn tables_json_and_csv_tell_the_same() {
    let logs = capture("op_anatomy");
    let json = operations(&[&logs], &["--format", "json"]).json();
    assert_eq!(json["schema"], "lioprof.operations/1");
    assert_eq!((&json["operations"], &json["unfinished"]), (&1260.into(), &0.into()));
    assert_eq!(json["joined_rpcs"], json["owned_rpcs"]);
    let csv = operations(&[&logs], &["--format", "csv"]);
    let mut reader = csv::Reader::from_reader(csv.stdout.as_slice());
    let columns = reader.headers().unwrap().clone();
    let at = |name: &str| columns.iter().position(|column| column == name).unwrap();
    let (duration, parts) = (at("duration_us"), at("client_work_us")..=at("unknown_us"));
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.unwrap()).collect();
    assert_eq!(rows.len(), 1260);
    for row in &rows {
        let sum: u64 = parts.clone().map(|part| row[part].parse::<u64>().unwrap()).sum();
        assert_eq!(sum, row[duration].parse::<u64>().unwrap(), "{row:?}");
    }
    for kind in json["kinds"].as_array().unwrap() {
        let of_kind = rows.iter().filter(|row| row[at("operation")] == *kind["operation"].as_str().unwrap());
        let total: u64 = of_kind.map(|row| row[duration].parse::<u64>().unwrap()).sum();
        assert_eq!(kind["duration_us"]["total"], total, "{kind}");
    }
    let summary = operations(&[&logs], &[]);
    assert!(text(&summary).lines().all(|line| line.chars().count() <= 80), "{summary}");
    assert!(text(&summary).contains("The slowest, in ms"), "{summary}");
}

#[test]
fn names_of_files_are_nowhere() {
    let logs = capture("op_anatomy");
    for format in ["summary", "json", "csv"] {
        let run = operations(&[&logs], &["--format", format]);
        assert!(!text(&run).contains("f001") && !text(&run).contains("/mnt/"), "{run}");
    }
    let resolve = operations(&[&logs], &["--resolve"]);
    assert!(text(&resolve).lines().all(|line| line.starts_with("lfs fid2path MOUNTPOINT '[0x2")), "{resolve}");
}

#[test]
fn names_are_shown_only_to_people_who_ask() {
    let logs = capture("op_anatomy");
    let summary = operations(&[&logs], &["--names"]);
    let slowest: Vec<&str> = text(&summary).split("The slowest, in ms").nth(1).unwrap().lines().collect();
    assert!(slowest.iter().any(|line| line.contains("0x0] \"f0")), "{summary}");
    for format in ["json", "csv"] {
        let run = operations(&[&logs], &["--names", "--format", format]);
        assert!(!text(&run).contains("f00"), "{run}");
    }
    let dir = tempfile::tempdir().unwrap();
    let page = |names: &[&str]| {
        let to = dir.path().to_str().unwrap();
        operations(&[&logs], &[&["-o", to, "--plots", "svg"], names].concat());
        std::fs::read_to_string(dir.path().join("operations.html")).unwrap()
    };
    assert!(!page(&[]).contains("\"name\":\"f0"));
    assert!(page(&["--names"]).contains("\"name\":\"f0"));
    let json = std::fs::read_to_string(dir.path().join("operations.json")).unwrap();
    assert!(!json.contains("f00"));
    assert!(std::fs::read(dir.path().join("operations-parts.svg")).unwrap().starts_with(b"<svg"));
}

#[test]
fn garbage_in_names_is_escaped() {
    let dir = tempfile::tempdir().unwrap();
    let line = |edge: &str, us: u32, name: &[u8], rest: &str| {
        let head =
            format!("00000080:00000008:0.0:1700000000.{us:06}:0:7:0:(file.c:100:do_file_read_iter()) {edge} file ");
        [head.as_bytes(), name, b":[0x200000bd1:0xe:0x0], ppos: 0, ", rest.as_bytes(), b"\n"].concat()
    };
    let name: &[u8] = b"a\x1b[31m\xff\xe2\x80\xaeb";
    let begin = line("START", 1, name, "count: 4096");
    let end = line("COMPLETED:", 900, name, "count: 0, rc = 4096");
    let log = dir.path().join("client").join("rpc.txt");
    std::fs::create_dir(log.parent().unwrap()).unwrap();
    std::fs::write(&log, [begin, end].concat()).unwrap();
    let summary = operations(&[&log], &["--names"]);
    assert!(text(&summary).contains("\"a\\x1b[31m\\xff\\xe2\\x80\\xaeb\""), "{summary}");
    assert!(!text(&operations(&[&log], &[])).contains("31m"));
}

#[test]
fn operations_are_chosen_by_their_rpcs() {
    let logs = capture("op_anatomy");
    let all = operations(&[&logs], &["--format", "csv"]);
    let all: std::collections::BTreeSet<&str> = text(&all).lines().skip(1).collect();
    let chosen = |more: &[&str]| {
        let run = operations(&[&logs], &[&["--format", "csv"], more].concat());
        let lines: Vec<&str> = text(&run).lines().skip(1).collect();
        // All of their parts, not only those of the RPC that they were chosen for.
        assert!(lines.iter().all(|line| all.contains(line)), "{more:?}");
        lines.iter().map(|line| line.split(',').nth(2).unwrap().to_owned()).collect::<Vec<String>>()
    };
    let writers = chosen(&["--opcode", "OST_WRITE"]);
    assert!(!writers.is_empty() && writers.iter().all(|kind| kind == "fsync" || kind == "write"), "{writers:?}");
    let of_ost = chosen(&["--target", "lustre-OST0002", "--opcode", "OST_WRITE"]);
    assert!(!of_ost.is_empty() && of_ost.len() < writers.len(), "{of_ost:?}");
    for nothing in [["--job", "nobody's"], ["--target", "lustre-OST0077"], ["--opcode", "OST_QUOTACTL"]] {
        let run = lioprof(&[&["operations", logs.to_str().unwrap(), "-q", "--format", "csv"][..], &nothing].concat())
            .exits(2);
        assert_eq!(text(&run).lines().count(), 1, "{nothing:?}");
    }
    assert!(!chosen(&["--job", "python3.0"]).is_empty());
    assert!(chosen(&["--opcode", "MDS_CLOSE"]).contains(&"close".to_owned()));
    // Where only servers tell, an RPC is what is chosen.
    let server = operations(&[&capture("op_anatomy/server2")], &["--format", "csv", "--target", "lustre-OST0002"]);
    assert!(text(&server).lines().skip(1).count() > 0);
}

#[test]
fn one_client_is_chosen() {
    let logs = capture("op_anatomy");
    let json = operations(&[&logs], &["--format", "json", "--client", "10.10.0.12@tcp"]).json();
    assert_eq!(json["operations"], 630);
    assert!(json["slowest"].as_array().unwrap().iter().all(|row| row["node"] == "clientB"));
}

#[test]
fn servers_alone_tell_of_rpcs() {
    let (one, two) = (capture("op_anatomy/server1"), capture("op_anatomy/server2"));
    let json = operations(&[&one, &two], &["--format", "json"]).json();
    assert_eq!(json["from_clients"], false);
    let kinds = json["kinds"].as_array().unwrap();
    let writes = kinds.iter().find(|kind| kind["operation"] == "OST_WRITE").unwrap();
    assert!(writes["parts"]["client_work_us"].is_null() && writes["parts"]["other_us"].is_null());
    assert!(writes["parts"]["disk_us"]["total"].as_u64() > Some(0));
    // Every RPC is shown or said to be left out.
    let analysis = lioprof(&[
        OsStr::new("analyze"),
        "-q".as_ref(),
        one.as_os_str(),
        two.as_os_str(),
        "--format".as_ref(),
        "json".as_ref(),
    ]);
    let rpcs = analysis.json()["totals"]["rpcs"].as_u64().unwrap();
    let (shown, left_out) = (json["operations"].as_u64().unwrap(), json["unawaited_rpcs"].as_u64().unwrap());
    assert!(left_out > 0);
    assert_eq!(shown + left_out, rpcs);
    let summary = text(&operations(&[&one, &two], &[])).replace('\n', " ");
    assert!(
        summary.contains(&format!(" {left_out} more RPCs are left out, since no program waits for them")),
        "{summary}"
    );
    let [one, two] = [&one, &two].map(|path| path.to_str().unwrap());
    let pings = lioprof(&["operations", one, two, "--opcode", "OBD_PING"]).exits(2);
    assert!(text(&pings).contains("left out"), "{pings}");
    // Without the servers, the time of RPCs is unknown; the operations are the same.
    let clients =
        operations(&[&capture("op_anatomy/clientA"), &capture("op_anatomy/clientB")], &["--format", "json"]).json();
    assert_eq!((&clients["operations"], &clients["joined_rpcs"]), (&1260.into(), &0.into()));
}

#[test]
fn a_trace_that_lacks_rpcs_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let (logs, trace) = (capture("op_anatomy"), dir.path().join("trace.pftrace"));
    let run = [OsStr::new("operations"), logs.as_os_str(), "--perfetto".as_ref(), trace.as_os_str()];
    let run = lioprof(&run).exits(0);
    assert!(run.stderr.contains("lacks 6 of 1,341 RPCs of operations"), "{run}");
}
