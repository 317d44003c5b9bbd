//! Captures as people hand them in: packed by the programs that they use.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use lioprof_testkit::files::unpacked;
use serde_json::Value;
use tempfile::TempDir;

use crate::figures::{number, rows, text};
use crate::util::{analyze_run, lioprof, lioprof_fed};

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/captures");

/// A folder `case` with a capture of two servers in it: logs as text and binary, as they are, and files that are no logs.
fn capture() -> TempDir {
    capture_of("file_per_process")
}

fn capture_of(name: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    for server in fs::read_dir(Path::new(CAPTURES).join(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
    {
        let to = dir.path().join("case").join(server.file_name().unwrap());
        fs::create_dir_all(&to).unwrap();
        for file in fs::read_dir(server).unwrap().map(|entry| entry.unwrap().path()) {
            match file.extension().and_then(|ending| ending.to_str()) {
                Some("zst") => fs::write(to.join(file.file_stem().unwrap()), unpacked(&file)).unwrap(),
                _ => fs::copy(&file, to.join(file.file_name().unwrap())).map(drop).unwrap(),
            }
        }
    }
    dir
}

#[track_caller]
pub(crate) fn sh(dir: &Path, script: &str) {
    let status = Command::new("sh").args(["-ec", script]).current_dir(dir).status().unwrap();
    assert!(status.success(), "{script}");
}

/// The analysis, with `case/` for the place where its files are in an archive.
fn figures(json: &Value, inside: &str) -> Value {
    serde_json::from_str(&json.to_string().replace(inside, "case/")).unwrap()
}

fn paths(json: &Value) -> Vec<String> {
    rows(json, "inputs").iter().map(|input| text(input, "path").unwrap().to_owned()).collect()
}

/// How to pack `case`, and where its files then are.
const FORMS: [(&str, &str, &str); 10] = [
    ("case.tar", "tar cf case.tar case", "case.tar!case/"),
    ("case.tgz", "tar czf case.tgz case", "case.tgz!case/"),
    ("case.tar.xz", "tar cf - case | xz -1 > case.tar.xz", "case.tar.xz!case/"),
    ("case.tar.zst", "tar cf - case | zstd -q > case.tar.zst", "case.tar.zst!case/"),
    ("posix.tar.gz", "tar -C case --format=posix -czf posix.tar.gz .", "posix.tar.gz!./"),
    ("case.zip", "zip -qr case.zip case", "case.zip!case/"),
    ("stored.zip", "zip -q0r stored.zip case", "stored.zip!case/"),
    ("streamed.zip", "zip -qr - case | cat > streamed.zip", "streamed.zip!case/"),
    ("two.tar", "tar czf in.tgz case; tar cf two.tar in.tgz", "two.tar!in.tgz!case/"),
    ("three.tar.xz", "zip -qr in.zip case; tar cf - in.zip | xz -1 > three.tar.xz", "three.tar.xz!in.zip!case/"),
];

#[test]
fn an_archive_gives_the_analysis_of_the_folder() {
    let dir = capture();
    for kept in ["rpc.bin", "rpc.txt"] {
        // First both forms: the binary one is read. Then text alone, which is read where it passes by.
        if kept == "rpc.txt" {
            sh(dir.path(), "rm case/*/rpc.bin");
        }
        let folder = analyze_run(&[&dir.path().join("case")], &[]).json();
        assert!(rows(&folder, "inputs").len() == 2);
        for (name, pack, inside) in FORMS {
            sh(dir.path(), &format!("rm -f *.tar* *.tgz *.zip; {pack}"));
            let run = analyze_run(&[&dir.path().join(name)], &[]);
            let json = run.json();
            let prefix = dir.path().join(inside).display().to_string();
            assert!(paths(&json).iter().all(|path| path.starts_with(&prefix) && path.ends_with(kept)), "{run}");
            assert!(figures(&json, inside) == folder, "{name} of {kept}");
        }
    }
}

#[test]
fn standard_input_brings_a_tar() {
    let dir = capture();
    sh(dir.path(), "tar czf case.tgz case; zip -qr case.zip case");
    let folder = analyze_run(&[&dir.path().join("case")], &[]).json();
    let packed = fs::read(dir.path().join("case.tgz")).unwrap();
    let run = lioprof_fed(&["analyze", "-", "--format", "json"], |stdin| stdin.write_all(&packed));
    assert!(paths(&run.json()).iter().all(|path| path.starts_with("-!case/")), "{run}");
    let here = dir.path().join("case/").display().to_string();
    assert!(figures(&run.json(), "-!case/") == figures(&folder, &here));
    let packed = fs::read(dir.path().join("case.zip")).unwrap();
    let run = lioprof_fed(&["analyze", "-"], |stdin| stdin.write_all(&packed));
    run.exits(2).says(&["`-` is a zip archive, which cannot be read from a pipe", "save it as a file"]);
}

#[test]
fn pieces_of_one_log_that_overlap_are_merged() {
    let dir = capture();
    // Every second line: both pieces are of the same time.
    sh(dir.path(), "cd case; for log in */rpc.txt; do split -n r/3 $log $log.; done; rm */rpc.txt */rpc.bin; cd ..");
    let folder = analyze_run(&[&dir.path().join("case")], &[]).json();
    for (name, pack, inside) in &FORMS[..6] {
        sh(dir.path(), pack);
        assert!(figures(&analyze_run(&[&dir.path().join(name)], &[]).json(), inside) == folder, "{name}");
    }
}

#[test]
fn a_member_that_two_hosts_share_is_told_apart() {
    let dir = capture();
    let script = "cd case; for host in server1 server2; do sed \"s/^/$host: /\" $host/rpc.txt; done > all.txt
        cp server1/rpc.txt zzz.txt; rm -r server1 server2";
    sh(dir.path(), script);
    let folder = analyze_run(&[&dir.path().join("case")], &[]).json();
    assert_eq!(rows(&folder, "inputs").len(), 3);
    for (name, pack, inside) in &FORMS[..6] {
        sh(dir.path(), pack);
        let json = analyze_run(&[&dir.path().join(name)], &[]).json();
        assert!(paths(&json).iter().any(|path| path.ends_with("all.txt")));
        assert!(figures(&json, inside) == folder, "{name}");
    }
}

#[test]
fn a_cut_archive_is_damage() {
    let dir = capture();
    sh(dir.path(), "rm case/*/rpc.bin; tar cf - case | gzip > case.tgz");
    let whole = fs::read(dir.path().join("case.tgz")).unwrap();
    let path = dir.path().join("case.tgz");
    fs::write(&path, &whole[..whole.len() * 3 / 4]).unwrap();
    let args: [&Path; 4] = [Path::new("analyze"), &path, Path::new("--format"), Path::new("json")];
    let run = lioprof(&args).exits(2).says(&["case.tgz`: gz data cut off at byte", "what lies behind is missing"]);
    let json = run.json();
    assert!(number(&json["totals"], "rpcs").is_some_and(|rpcs| rpcs > 0));
    let damaged: Vec<_> = rows(&json, "inputs").iter().filter(|input| !input["error"].is_null()).cloned().collect();
    assert_eq!(damaged.len(), 1, "the member in which it ends");
    assert!(text(&damaged[0], "error").unwrap().contains("gz data cut off"), "{damaged:?}");
}

#[test]
fn an_archive_without_a_log_is_an_error() {
    let dir = TempDir::new().unwrap();
    sh(dir.path(), "mkdir sos; echo oss01 > sos/hostname; ln -s hostname sos/link; tar cJf sos.tar.xz sos");
    let path = dir.path().join("sos.tar.xz");
    let run = lioprof(&[Path::new("analyze"), &path]).exits(2);
    run.says(&["holds no Lustre debug log, but 1 link (sos/link), 1 other file (sos/hostname)", "lctl debug_file"]);
}

#[test]
fn other_commands_read_archives_too() {
    let dir = capture_of("op_anatomy");
    sh(dir.path(), "tar czf case.tgz case");
    let of = |input: &str, args: &[&str]| -> Vec<u8> {
        let input: PathBuf = dir.path().join(input);
        let mut all: Vec<&str> = args.to_vec();
        all.push(input.to_str().unwrap());
        lioprof(&all).exits(0).stdout
    };
    for args in [&["decode"][..], &["operations", "--format", "json"]] {
        let (archive, folder) = (of("case.tgz", args), of("case", args));
        assert!(!archive.is_empty() && archive == folder, "{args:?}");
    }
    let (from_archive, from_folder) = (dir.path().join("rows-a"), dir.path().join("rows-f"));
    for (input, to) in [("case.tgz", &from_archive), ("case", &from_folder)] {
        of(input, &["export", "--parquet", to.to_str().unwrap()]);
    }
    let rows = |dir: &Path| analyze_run(&[dir], &[]).json()["totals"].clone();
    assert_eq!(rows(&from_archive), rows(&from_folder));
}
