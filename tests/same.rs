//! The same records give the same result, however they are stored, split, ordered or worked on.

use std::fs;
use std::path::{Path, PathBuf};

use lioprof_testkit::files::unpacked;
use serde_json::Value;
use tempfile::TempDir;

use crate::binlog::BinaryLog;
use crate::captures::{captures, in_both_formats};
use crate::figures::{DIRECTIONS, Io, number, rows, text};
use crate::util::{analyze, analyze_run, assert_same, figures_only, lioprof};

/// Writes `bytes` to `DIR/server/NAME`: the node of such a file is `server`.
fn write(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let folder = dir.join("server");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), bytes).unwrap();
    folder.join(name)
}

#[test]
fn text_and_binary_are_the_same() {
    for (name, binary, text) in in_both_formats() {
        let from_binary = analyze(&[&binary], &[]);
        let from_text = analyze(&[&text], &[]);
        assert_same(&name, &figures_only(from_text), &figures_only(from_binary));
    }
}

/// The kernel puts pages back that it could not write, and writes what seconds of logging have collected in one pass: all of one
/// CPU, then all of the next one. `lctl` sorts that.
#[test]
fn a_log_that_met_a_full_disk_is_put_in_order() {
    let mut met = 0;
    for capture in captures() {
        for server in capture.servers.iter().filter(|server| server.bad_for_lctl() > 0) {
            let (Some(binary), Some(text)) = (server.binary(), server.log("rpc.txt")) else { continue };
            let name = format!("{}/{}", capture.name, server.name);
            let from_binary = analyze_run(&[&binary], &[]).json();
            if from_binary["loss"]["head_overwritten"] == true {
                continue; // A wrapped ring: its torn records are gone, and `lctl` cannot tell where it begins.
            }
            met += 1;
            let from_text = analyze(&[&text], &[]);
            let said = rows(&from_binary, "warnings");
            assert!(
                said.iter().all(|it| it.as_str().unwrap().contains("could not be decoded as records")),
                "{name}: {said:?}"
            );
            let [mut from_binary, mut from_text] = [from_binary, from_text].map(figures_only);
            from_binary["warnings"] = Value::Null;
            from_text["warnings"] = Value::Null;
            assert_same(&name, &from_binary, &from_text);
        }
    }
    assert!(met > 0);
}

#[test]
fn threads_and_chunks_make_no_difference() {
    for capture in captures() {
        let one = analyze_run(&[&capture.dir], &["--threads", "1"]);
        let settings: [&[&str]; 5] = [
            &["--threads", "2"],
            &["--threads", "8"],
            &["--threads", "2", "--chunk-bytes", "4096"],
            &["--threads", "2", "--chunk-bytes", "100003"],
            &["--threads", "1", "--chunk-bytes", "4194304"],
        ];
        for setting in settings {
            let run = analyze_run(&[&capture.dir], setting);
            if run.stdout != one.stdout {
                assert_same(&format!("{} {setting:?}", capture.name), &run.json(), &one.json());
                panic!("{} {setting:?}: same JSON, other bytes", capture.name);
            }
        }
    }
}

#[test]
fn order_of_inputs_makes_no_difference() {
    for capture in captures().iter().filter(|capture| capture.servers.len() > 1) {
        let mut logs: Vec<PathBuf> =
            capture.servers.iter().filter_map(|server| server.binary().or_else(|| server.text())).collect();
        let there: Vec<&Path> = logs.iter().map(PathBuf::as_path).collect();
        let there = analyze_run(&there, &[]).json();
        logs.reverse();
        let back: Vec<&Path> = logs.iter().map(PathBuf::as_path).collect();
        let back = analyze_run(&back, &[]).json();
        assert_same(&capture.name, &figures_only(back.clone()), &figures_only(there.clone()));
        assert_same(&capture.name, &back["loss"], &there["loss"]);
    }
}

#[test]
fn segments_are_one_capture() {
    for (name, binary, text) in in_both_formats() {
        let dir = TempDir::new().unwrap();
        let log = BinaryLog::new(unpacked(&binary));
        let whole = write(dir.path(), "rpc.bin", log.bytes());
        let want = analyze(&[&whole], &[]);
        fs::remove_file(whole).unwrap();
        for part in 0..3 {
            let records = log.len() * part / 3..log.len() * (part + 1) / 3;
            write(dir.path(), &format!("rpc.bin.{}", part + 1), log.slice(records));
        }
        let got = analyze(&[dir.path()], &[]);
        assert_eq!(rows(&got, "inputs").len(), 3, "{name}");
        assert_same(&format!("{name}, binary"), &figures_only(got), &figures_only(want.clone()));

        let dir = TempDir::new().unwrap();
        let bytes = unpacked(&text);
        let mut start = 0;
        for part in 0..3 {
            let middle = bytes.len() * (part + 1) / 3;
            let end = bytes[middle..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| middle + at + 1);
            write(dir.path(), &format!("rpc-000{part}.txt"), &bytes[start..end]);
            start = end;
        }
        let got = analyze(&[dir.path()], &[]);
        assert_same(&format!("{name}, text"), &figures_only(got), &figures_only(want));
    }
}

/// Nothing orders records of different CPUs with the same time: swapping them changes nothing.
#[test]
fn records_of_the_same_time_may_be_swapped() {
    for (name, _, text) in in_both_formats() {
        let bytes = unpacked(&text);
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
        let (mut at, mut swapped) = (0, 0);
        while at + 1 < lines.len() {
            if time(lines[at]) == time(lines[at + 1]) && cpu(lines[at]) != cpu(lines[at + 1]) {
                lines.swap(at, at + 1);
                swapped += 1;
                at += 1;
            }
            at += 1;
        }
        if swapped == 0 {
            continue;
        }
        let dir = TempDir::new().unwrap();
        let got = analyze(&[&write(dir.path(), "rpc.txt", &lines.concat())], &[]);
        let want = analyze(&[&write(dir.path(), "rpc.txt", &bytes)], &[]);
        assert_same(&format!("{name}, {swapped} pairs"), &figures_only(got), &figures_only(want));
    }
}

#[test]
fn decode_is_what_lctl_prints() {
    for (name, binary, text) in in_both_formats() {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("decoded.txt");
        let to_file = lioprof(&["decode".as_ref(), binary.as_os_str(), "-o".as_ref(), file.as_os_str()]).exits(0);
        assert_eq!(to_file.stdout, b"", "{name}");
        let printed = lioprof(&["decode".as_ref(), binary.as_os_str()]).exits(0).stdout;
        assert!(fs::read(&file).unwrap() == printed, "{name}: -o and standard output differ");
        let want = unpacked(&text);
        let (got, want) = (grouped(&printed), grouped(&want));
        let difference = got.iter().zip(&want).position(|(got, want)| got != want);
        if let Some(at) = difference {
            let shown = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
            panic!("{name}: line {}:\n{}expected\n{}", at + 1, shown(got[at]), shown(want[at]));
        }
        assert_eq!(got.len(), want.len(), "{name}: lines");
    }
}

/// The lines; those of equal time sorted.
fn grouped(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    for group in lines.chunk_by_mut(|a, b| time(a) == time(b)) {
        group.sort_unstable();
    }
    lines
}

/// `SUBSYS:MASK:CPU.TYPE[F]:SEC.USEC:...`
fn time(line: &[u8]) -> &[u8] {
    line.split(|&byte| byte == b':').nth(3).unwrap_or_default()
}

fn cpu(line: &[u8]) -> &[u8] {
    let field = line.split(|&byte| byte == b':').nth(2).unwrap_or_default();
    field.strip_suffix(b"F").unwrap_or(field)
}

/// The tables of one analysis tell the same story.
#[test]
fn sums_agree() {
    for capture in captures() {
        let json = analyze_run(&[&capture.dir], &[]).json();
        for (direction, _) in DIRECTIONS {
            let total = sum(&[json.pointer(&format!("/totals/{direction}")).unwrap()]);
            let unknown = sum(&[json.pointer(&format!("/totals/unattributed/{direction}")).unwrap()]);
            for array in ["nodes", "clients", "jobs"] {
                let rows: Vec<&Value> = rows(&json, array).iter().map(|row| &row[direction]).collect();
                assert_eq!(sum(&rows), total, "{}: {array} {direction}", capture.name);
            }
            let of_osts = |array: &str, name: &str| -> Vec<u64> {
                let rows =
                    rows(&json, array).iter().filter(|row| text(row, name).is_some_and(|it| it.contains("-OST")));
                sum(&rows.map(|row| &row[direction]).collect::<Vec<_>>())
            };
            let targets = of_osts("targets", "name");
            assert_eq!(targets, of_osts("flows", "target"), "{}: flows {direction}", capture.name);
            let together: Vec<u64> = targets.iter().zip(&unknown).map(|(a, b)| a + b).collect();
            assert_eq!(together, total, "{}: attributed + unattributed {direction}", capture.name);
            series_agree(&capture.name, &json, direction);
        }
        let operations: u64 = rows(&json, "operations").iter().filter_map(|row| number(row, "rpcs")).sum();
        assert_eq!(Some(operations), number(&json["totals"], "rpcs"), "{}: operations", capture.name);
    }
}

fn sum(ios: &[&Value]) -> Vec<u64> {
    let mut sum = Io::default();
    ios.iter().for_each(|io| sum.merge(&Io::of(io).unwrap()));
    vec![sum.rpcs, sum.bytes, sum.bytes_min, sum.bytes_max, sum.bounded, sum.unsized_]
}

fn series_agree(name: &str, json: &Value, direction: &str) {
    let series = &json["series"];
    let added = |row: &Value, key: &str| -> u64 { rows(row, key).iter().filter_map(Value::as_u64).sum() };
    for row in rows(json, "targets").iter().filter(|row| row["kind"] == "ost") {
        let io = Io::of(&row[direction]).unwrap();
        let mine = rows(series, "targets").iter().find(|it| it["name"] == row["name"] && it["node"] == row["node"]);
        let (rpcs, bytes) = mine
            .map_or((0, 0), |it| (added(it, &format!("{direction}_rpcs")), added(it, &format!("{direction}_bytes"))));
        assert_eq!((rpcs, bytes), (io.rpcs, io.bytes), "{name}: series of {} {direction}", row["name"]);
    }
}
