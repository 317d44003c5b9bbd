//! Bad inputs, messages, exit codes: 0 ok, 2 usage or unreadable input, 3 damaged beyond `--max-loss`.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lioprof_testkit::files::unpacked;
use serde_json::Value;
use tempfile::TempDir;

use crate::captures::{captures, in_both_formats};
use crate::figures::{number, rows, text};
use crate::util::{Run, analyze, assert_same, figures_only, lioprof, lioprof_fed, lioprof_with};

/// A small capture, decompressed, in a directory of its own: `DIR/server/rpc.bin`.
struct Bench {
    dir: TempDir,
    binary: Vec<u8>,
    text: Vec<u8>,
}

impl Bench {
    fn new() -> Self {
        let both = in_both_formats().into_iter().map(|(_, binary, text)| (unpacked(&binary), unpacked(&text)));
        let (binary, text) = both.min_by_key(|(binary, _)| binary.len()).unwrap();
        let bench = Self { dir: TempDir::new().unwrap(), binary, text };
        bench.write("server/rpc.bin", &bench.binary);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn good(&self) -> PathBuf {
        self.path("server/rpc.bin")
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

#[track_caller]
fn analyze_json(inputs: &[&Path]) -> Run {
    let mut args: Vec<&OsStr> = vec!["analyze".as_ref()];
    args.extend(inputs.iter().map(|path| path.as_os_str()));
    args.extend(["--format", "json"].map(OsStr::new));
    lioprof(&args)
}

/// A bad input alone ends with 2 and a message; beside a good one the good one is analysed all the same.
#[track_caller]
fn is_refused(bench: &Bench, bad: &Path, says: &[&str]) {
    let name = bad.file_name().unwrap().to_string_lossy().into_owned();
    analyze_json(&[bad]).exits(2).says(&[&name]).says(says);
    let both = analyze_json(&[bad, &bench.good()]).exits(2).says(&[&name]).says(says);
    let alone = analyze_json(&[&bench.good()]).exits(0);
    assert_same(&name, &figures_only(both.json()), &figures_only(alone.json()));
}

#[test]
fn help_version_and_usage() {
    for args in [&["--help"][..], &["--version"], &["analyze", "--help"], &["decode", "--help"]] {
        let run = lioprof(args).exits(0);
        assert!(!run.stdout.is_empty(), "{run}");
    }
    let wrong: [&[&str]; 9] = [
        &[],
        &["analyze"],
        &["nonsense"],
        &["analyze", "x", "--format", "nonsense"],
        &["analyze", "x", "--bin", "0"],
        &["analyze", "x", "--bin", "nonsense"],
        &["analyze", "x", "--threads", "many"],
        &["analyze", "x", "--node", "=*.bin"],
        &["analyze", "x", "--node", "oss=a***b"],
    ];
    for args in wrong {
        let run = lioprof(args).exits(2);
        assert!(!run.stderr.is_empty(), "{run}");
    }
}

#[test]
fn colours_are_as_asked_for() {
    let bench = Bench::new();
    let colours = |args: &[&str], variables: &[(&str, &str)]| {
        let mut all = vec!["analyze".to_owned(), bench.good().to_string_lossy().into_owned()];
        all.extend(args.iter().map(|arg| (*arg).to_owned()));
        let run = lioprof_with(&all, variables).exits(0);
        run.stdout.contains(&0x1b)
    };
    // `lioprof` is run with NO_COLOR, and prints into a pipe.
    assert!(!colours(&[], &[]));
    assert!(colours(&["--color", "always"], &[]));
    assert!(colours(&[], &[("NO_COLOR", ""), ("CLICOLOR_FORCE", "1")]));
    assert!(!colours(&["--color=never"], &[("NO_COLOR", ""), ("CLICOLOR_FORCE", "1")]));
    lioprof(&["analyze", "x", "--color", "mauve"]).exits(2).says(&["--color"]);
}

#[test]
fn no_such_file() {
    let bench = Bench::new();
    is_refused(&bench, &bench.path("missing.bin"), &[]);
}

#[test]
fn unreadable_file() {
    let bench = Bench::new();
    let path = bench.write("secret.bin", &bench.binary);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read everything.
    if fs::File::open(&path).is_err() {
        is_refused(&bench, &path, &[]);
    }
    is_refused(&bench, Path::new("/proc/self/mem"), &[]);
}

#[test]
fn empty_file() {
    let bench = Bench::new();
    is_refused(&bench, &bench.write("nothing.bin", b""), &["empty"]);
    is_refused(&bench, &bench.write("nothing.zst", &zstd::encode_all(&b""[..], 1).unwrap()), &["empty"]);
}

#[test]
fn no_debug_log() {
    let bench = Bench::new();
    let says = ["is not a Lustre debug log", "byte 0", "found", "lctl debug_file"];
    is_refused(&bench, &bench.write("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), &says);
    is_refused(&bench, &bench.write("notes.txt", b"some notes\n"), &["is not a Lustre debug log", "some notes"]);
    is_refused(&bench, &bench.write("zeros.bin", &[0; 100_000]), &["is not a Lustre debug log"]);
    is_refused(&bench, &bench.write("logs.zip", b"PK\x03\x04\x14\0\0\0\x08\0"), &["archive"]);
}

#[test]
fn a_directory_without_logs() {
    let bench = Bench::new();
    fs::create_dir(bench.path("hollow")).unwrap();
    is_refused(&bench, &bench.path("hollow"), &["no Lustre debug log"]);
}

/// Foreign files of a directory are noted, not refused; a capture that lies there twice counts once.
#[test]
fn a_directory_with_foreign_files() {
    let bench = Bench::new();
    bench.write("server/README", b"hello");
    bench.write("server/truth.txt", b"obdfilter.fs-OST0000.stats=\n");
    bench.write("server/dmesg.txt", b"[    0.000000] Linux version 6.1\n");
    bench.write("server/picture.png", b"\x89PNG\r\n\x1a\n");
    bench.write("server/rpc.txt", &bench.text);
    let alone = analyze_json(&[&bench.good()]).exits(0).json();
    let run = analyze_json(&[bench.dir.path()]).exits(0).says(&["note"]);
    let args = ["analyze".as_ref(), bench.dir.path().as_os_str(), "-v".as_ref()];
    lioprof(&args).exits(0).says(&["README", "truth.txt", "dmesg.txt", "picture.png", "rpc.txt", "same capture"]);
    assert_eq!(rows(&run.json(), "inputs").len(), 1);
    assert_same("directory", &figures_only(run.json()), &figures_only(alone));
}

#[test]
fn the_same_file_twice_counts_once() {
    let bench = Bench::new();
    let twice = analyze_json(&[&bench.good(), &bench.good(), bench.dir.path()]).exits(0).json();
    let once = analyze_json(&[&bench.good()]).exits(0).json();
    assert_same("twice", &figures_only(twice), &figures_only(once));
}

#[test]
fn file_names_that_are_not_utf8() {
    let bench = Bench::new();
    let path = bench.dir.path().join(OsStr::from_bytes(b"oss\xff1.bin"));
    fs::write(&path, &bench.binary).unwrap();
    let json = analyze_json(&[&path]).exits(0).json();
    assert!(text(&rows(&json, "inputs")[0], "path").is_some_and(|path| path.ends_with("1.bin")));
}

/// A log of a server without `rpctrace` in its mask: nothing to count, and said so.
#[test]
fn a_log_without_rpctrace() {
    let bench = Bench::new();
    let lines = bench.text.split_inclusive(|&byte| byte == b'\n');
    let others: Vec<u8> = lines.filter(|line| line.get(9..17) != Some(b"00100000")).flatten().copied().collect();
    assert!(!others.is_empty());
    let run = analyze_json(&[&bench.write("other.txt", &others)]).exits(0);
    let json = run.json();
    assert_eq!(number(&json["totals"], "rpcs"), Some(0));
    let warned = rows(&json, "warnings").iter().any(|it| it.as_str().is_some_and(|it| it.contains("rpctrace")));
    assert!(warned && run.stderr.contains("rpctrace"), "{run}");
}

fn compressed(kind: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let program = match kind {
        "zst" => return Some(zstd::encode_all(bytes, 1).unwrap()),
        "gz" => "gzip",
        "xz" => "xz",
        _ => "bzip2",
    };
    let child = Command::new(program).arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.ok()?;
    let mut stdin = child.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    let feeder = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output.status.success().then_some(output.stdout)
}

#[test]
fn compressed_files() {
    let bench = Bench::new();
    let plain = analyze_json(&[&bench.good()]).exits(0).json();
    for kind in ["zst", "gz", "xz", "bz2"] {
        let Some(packed) = compressed(kind, &bench.binary) else { continue };
        // The name says nothing: the content does.
        let json = analyze_json(&[&bench.write("packed/server/rpc.bin", &packed)]).exits(0).json();
        assert_eq!(text(&rows(&json, "inputs")[0], "compression"), Some(kind));
        assert_same(kind, &figures_only(json), &figures_only(plain.clone()));
    }
}

/// What a truncated file still holds is analysed; the rest is reported with its place.
#[test]
fn truncated_compression() {
    let bench = Bench::new();
    // Large enough for several blocks of every kind.
    let largest = in_both_formats().into_iter().map(|(_, binary, _)| unpacked(&binary)).max_by_key(Vec::len).unwrap();
    for kind in ["zst", "gz", "xz", "bz2"] {
        let Some(packed) = compressed(kind, &largest) else { continue };
        let bad = bench.write("cut.bin", &packed[..packed.len() * 3 / 4]);
        let run = analyze_json(&[&bad, &bench.good()]).says(&["cut.bin"]);
        assert!(matches!(run.code, Some(2 | 3)), "{kind}: {run}");
        let json = run.json();
        let input = rows(&json, "inputs").iter().find(|row| text(row, "path").unwrap().ends_with("cut.bin")).unwrap();
        assert!(number(input, "records").unwrap() > 0, "{kind}: {input}");
        assert!(text(input, "error").is_some_and(|error| error.contains(kind)), "{kind}: {input}");
        assert_eq!(rows(&json, "inputs").len(), 2, "{kind}");
    }
}

#[test]
fn nodes_come_from_folders_and_rules() {
    for capture in captures().iter().filter(|capture| capture.servers.len() > 1).take(2) {
        let run = |more: &[&str]| crate::util::analyze_run(&[&capture.dir], more).json();
        let names = |json: &Value| -> Vec<String> {
            rows(json, "nodes").iter().map(|row| text(row, "name").unwrap().to_owned()).collect()
        };
        let servers: Vec<&str> = capture.servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names(&run(&[])), servers, "{}", capture.name);
        let rule = format!("oss9=*/{}/*", servers[0]);
        let mut renamed = vec!["oss9".to_owned()];
        renamed.extend(servers[1..].iter().map(|name| (*name).to_owned()));
        renamed.sort();
        assert_eq!(names(&run(&["--node", &rule])), renamed, "{}", capture.name);
    }
}

#[test]
fn standard_input() {
    let bench = Bench::new();
    let file = analyze(&[&bench.good()], &[]);
    for bytes in [bench.binary.clone(), bench.text.clone(), zstd::encode_all(&bench.text[..], 1).unwrap()] {
        for name in ["-", "/dev/stdin"] {
            let args = ["analyze", name, "--node", "server", "--format", "json"];
            let json = lioprof_fed(&args, |stdin| stdin.write_all(&bytes)).exits(0).json();
            assert_same(name, &figures_only(json), &figures_only(file.clone()));
        }
    }
    lioprof_fed(&["analyze", "-"], |stdin| stdin.write_all(b"no log")).exits(2).says(&["is not a Lustre debug log"]);
    lioprof_fed(&["analyze", "-"], |_| Ok(())).exits(2).says(&["empty"]);
}

/// One line of a gigabyte, in less memory than that.
#[test]
fn a_line_of_one_gigabyte() {
    let bench = Bench::new();
    let started = Instant::now();
    let limited = Command::new("sh")
        .args(["-c", "ulimit -v 1048576 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_lioprof")])
        .args(["analyze", "-", "--node", "server", "--threads", "2", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = limited.unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let half = bench.text.len() / 2;
    let half = half + bench.text[half..].iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let (before, after) = (bench.text[..half].to_vec(), bench.text[half..].to_vec());
    let feeder = std::thread::spawn(move || -> std::io::Result<()> {
        stdin.write_all(&before)?;
        let block = vec![b'x'; 1 << 20];
        for _ in 0..1024 {
            stdin.write_all(&block)?;
        }
        stdin.write_all(b"\n")?;
        stdin.write_all(&after)
    });
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{:?}\n{stderr}", output.status);
    feeder.join().unwrap().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let input = &rows(&json, "inputs")[0];
    assert!(number(input, "bytes").unwrap() > 1 << 30, "{input}");
    // A part of the line may pass for the text of the record before, which must not suffer.
    assert!(number(input, "skipped_bytes").unwrap() >= (1 << 30) - (1 << 20), "{input}");
    let good = analyze(&[&bench.good()], &[]);
    assert_eq!(input["records"], rows(&good, "inputs")[0]["records"]);
    assert_eq!(input["malformed"], rows(&good, "inputs")[0]["malformed"]);
    assert_eq!(json["totals"]["rpcs"], good["totals"]["rpcs"]);
    assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
}

#[test]
fn marks_and_times_that_are_not_there() {
    let bench = Bench::new();
    let path = bench.good();
    for option in ["--from", "--to"] {
        let args = ["analyze".as_ref(), path.as_os_str(), option.as_ref(), "no such mark".as_ref()];
        lioprof(&args).exits(2).says(&["no such mark"]);
    }
}

/// `--from` and `--to` take marks and times alike. (A mark is looked up on each node, so: one node.)
#[test]
fn windows_by_mark_and_by_time() {
    let mut compared = 0;
    for capture in captures() {
        let dir = &capture.servers[0].dir;
        let json = crate::util::analyze_run(&[dir], &[]).json();
        let mark = |word: &str| {
            let mut marks = rows(&json, "markers").iter();
            marks.find(|row| text(row, "text").is_some_and(|it| it.starts_with(word)))
        };
        let (Some(from), Some(to)) = (mark("CAPTURE-START"), mark("CAPTURE-STOP")) else { continue };
        let by_mark = ["--from", text(from, "text").unwrap(), "--to", text(to, "text").unwrap()];
        let time = |row: &Value| format!("{:.6}", row["time"].as_f64().unwrap());
        let (start, end) = (time(from), time(to));
        let by_time = ["--from", &start, "--to", &end];
        assert_same(&capture.name, &analyze(&[dir], &by_time), &analyze(&[dir], &by_mark));
        compared += 1;
    }
    assert!(compared > 0, "no capture has both markers");
}

#[test]
fn output_directory_and_formats() {
    let bench = Bench::new();
    let path = bench.good();
    let out = bench.path("out");
    let base: [&OsStr; 2] = ["analyze".as_ref(), path.as_os_str()];
    let with = |more: &[&OsStr]| lioprof(&[&base[..], more].concat()).exits(0);
    let silent = with(&["--format".as_ref(), "none".as_ref(), "-o".as_ref(), out.as_os_str()]);
    assert!(silent.stdout.is_empty(), "{silent}");
    let written: Value = serde_json::from_slice(&fs::read(out.join("analysis.json")).unwrap()).unwrap();
    let printed = with(&["--format".as_ref(), "json".as_ref()]).json();
    assert_same("analysis.json", &written, &printed);
    assert_eq!(text(&printed, "schema"), Some("lioprof.analysis/1"));
    let summary = with(&[]);
    assert!(!summary.stdout.is_empty(), "{summary}");
    let quiet = with(&["--quiet".as_ref(), "--format".as_ref(), "none".as_ref()]);
    assert!(quiet.stderr.is_empty(), "{quiet}");
}

/// A reader that goes away is no failure.
#[test]
fn broken_pipes() {
    let bench = Bench::new();
    let path = bench.good();
    let cases: [&[&str]; 2] = [&["decode"], &["analyze", "--format", "json"]];
    for case in cases {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lioprof"))
            .args(case)
            .arg(&path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 1];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{case:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{case:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
