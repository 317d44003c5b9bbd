//! Kernel logs as people hand them in: of several servers, beside debug logs, with something before each line, in the journal's forms.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::archives::sh;
use crate::figures::rows;
use crate::util::{analyze, analyze_run, folder, lioprof, lioprof_fed};

fn fixture(name: &str) -> PathBuf {
    lioprof_testkit::files::fixture(format!("kernel-logs/{name}"))
}

fn dmesg() -> String {
    fs::read_to_string(fixture("both/dmesg.txt")).unwrap()
}

fn each(log: &str, line: impl Fn(usize, &str) -> String) -> String {
    log.lines().zip(1..).map(|(text, n)| line(n, text) + "\n").collect()
}

/// Stamp in seconds, and text.
fn parts(line: &str) -> (f64, &str) {
    let (stamp, text) = line.strip_prefix('[').unwrap().split_once("] ").unwrap();
    (stamp.trim().parse().unwrap(), text)
}

/// Kind, target and client of each event of a node.
fn told(json: &Value, node: &str) -> Vec<String> {
    let of_node = rows(json, "events").iter().filter(|event| event["node"] == node);
    of_node.map(|event| format!("{} {} {}", event["kind"], event["target"], event["client"])).collect()
}

fn sources(json: &Value, node: &str) -> Vec<String> {
    let of_node = rows(json, "events").iter().filter(|event| event["node"] == node);
    of_node.map(|event| event["source"].as_str().unwrap().to_owned()).collect()
}

/// What the log tells as it was logged.
fn want() -> Vec<String> {
    let want = told(&analyze(&[&fixture("both/dmesg.txt")], &["--node", "x"]), "x");
    assert_eq!(want.len(), 7);
    want
}

#[test]
fn two_servers_are_two_nodes_wherever_their_kernel_logs_lie() {
    let (log, want) = (dmesg(), want());
    for scheme in [
        "HOST/dmesg.txt",
        "HOST/dmesg",
        "HOST/var/log/dmesg",
        "HOST/sos_commands/kernel/dmesg",
        "HOST/var/crash/127.0.0.1-2026-11-21-09:32:54/vmcore-dmesg.txt",
        "dmesg-HOST.txt",
        "HOST-kern.log",
        "HOST/run.txt",
    ] {
        let dir = folder(["oss01", "oss02"].map(|host| (scheme.replace("HOST", host), log.as_str())));
        sh(dir.path(), "tar czf ../$$.tgz . && mkdir archive && mv ../$$.tgz archive/all.tgz");
        let archive = dir.path().join("archive/all.tgz");
        for host in ["oss01", "oss02"] {
            assert_eq!(told(&analyze(&[&archive], &[]), host), want, "{scheme} in an archive");
        }
        fs::remove_file(archive).unwrap();
        let json = analyze(&[dir.path()], &[]);
        for host in ["oss01", "oss02"] {
            assert_eq!(told(&json, host), want, "{scheme}");
        }
    }
}

#[test]
fn a_kernel_log_is_of_the_server_whose_debug_log_lies_beside_it() {
    let (debug, other) = (fixture("both/dk.txt"), fixture("default-mask/dk.txt"));
    let [debug, other] = [debug, other].map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
    let kernel = dmesg();
    for (of_debug, of_kernel) in [
        ("dk-oss02.txt", "dmesg-oss02.txt"),
        ("dk.oss02", "dmesg.oss02"),
        ("oss02.dk", "oss02.dmesg"),
        ("oss02_dk.txt", "oss02_dmesg.txt"),
        ("oss02-dk.log", "oss02-dmesg-T.log"),
        ("debug-oss02.log", "messages-oss02"),
        ("oss02.log", "oss02-kern.log"),
        ("lustre-debug-oss02.txt", "kernel-oss02.txt"),
        ("oss02/lustre.log", "oss02/dmesg.log"),
        ("oss02/tmp/lustre-log.1795770509.923", "oss02/var/log/dmesg"),
        ("sosreport-oss02-2026-11-25-abcdefg/sos_commands/lustre/lctl_debug_kernel", "oss02-syslog.txt"),
    ] {
        let dir = folder([
            (of_debug.to_owned(), debug.as_str()),
            (of_kernel.to_owned(), &kernel),
            ("zz-oss01.dk".to_owned(), &other),
        ]);
        let json = analyze(&[dir.path()], &[]);
        let nodes: Vec<&Value> = rows(&json, "nodes").iter().map(|node| &node["name"]).collect();
        assert_eq!(nodes, ["oss02", "zz-oss01"], "{of_kernel}");
        let both = sources(&json, "oss02").iter().filter(|source| *source == "both").count();
        assert_eq!(
            (both, rows(&json, "events").iter().filter(|event| event["source"] == "kernel_log").count()),
            (7, 0),
            "{of_kernel}"
        );
    }
    // Another server's is not.
    let dir = folder([("oss02.txt".to_owned(), debug.as_str()), ("dmesg-oss03.txt".to_owned(), &kernel)]);
    let run = analyze_run(&[dir.path()], &["-v"]).says(&["is a kernel log of node oss03 (by its name)"]);
    assert_eq!(told(&run.json(), "oss03"), want());
}

/// The log in an envelope, the node that it names, and what was repaired.
fn in_envelopes() -> Vec<(&'static str, String, &'static str, &'static str)> {
    let log = dmesg();
    vec![
        ("quote", each(&log, |_, line| format!("> {line}")), "oss05", "prefix"),
        ("grep -n", each(&log, |n, line| format!("{n}:{line}")), "oss05", "prefix"),
        ("pdsh", each(&log, |_, line| format!("oss07: {line}")), "oss07", "prefix"),
        ("grep -H", each(&log, |_, line| format!("logs/oss07.txt:{line}")), "oss07", "prefix"),
        (
            "grep -H of a syslog",
            each(&log, |n, line| {
                format!("/var/log/messages-20261122:Nov 27 09:08:{n:02} oss07 kernel: {}", parts(line).1)
            }),
            "oss07",
            "prefix",
        ),
        (
            "colours",
            each(&log, |_, line| format!("\x1b[32m{}", line.replacen("] ", "] \x1b[0m", 1))),
            "oss05",
            "characters",
        ),
        ("web page", log.replace('>', "&gt;").replace('\'', "&#39;"), "oss05", "characters"),
        ("no-break spaces", log.replace(' ', "\u{a0}"), "oss05", "characters"),
        ("list archive", log.replace("@@@", "$").replace('@', " at ").replace('$', "@@@"), "oss05", "at_sign"),
        (
            "broken",
            each(&log, |_, line| {
                let pieces: Vec<&str> =
                    (0..line.len()).step_by(80).map(|at| &line[at..line.len().min(at + 80)]).collect();
                pieces.join("\n")
            }),
            "oss05",
            "wrapped",
        ),
    ]
}

#[test]
fn what_was_done_to_the_lines_on_their_way_is_undone_counted_and_said() {
    let (dir, want) = (TempDir::new().unwrap(), want());
    fs::create_dir(dir.path().join("oss05")).unwrap();
    let path = dir.path().join("oss05/dmesg.txt");
    for (form, text, node, kind) in in_envelopes() {
        fs::write(&path, &text).unwrap();
        let run =
            analyze_run(&[&path], &["--timezone", "UTC"]).exits(0).says(&["did not arrive as it was logged", kind]);
        let json = run.json();
        assert_eq!(told(&json, node), want, "{form}");
        let envelope = &json["inputs"][0]["envelope"];
        assert!(envelope[kind].as_u64().unwrap() >= 2, "{form}: {envelope}");
        // And with its debug log, of which no sentence is told twice.
        let debug = fixture("both/dk.txt");
        let json = analyze(&[&debug, &path], &["--node", "a"]);
        let kernel_only = sources(&json, "a").iter().filter(|source| *source == "kernel_log").count();
        assert_eq!(kernel_only, 0, "{form}");
    }
    let utf16: Vec<u8> = "\u{feff}".chars().chain(dmesg().chars()).flat_map(|c| (c as u16).to_le_bytes()).collect();
    fs::write(&path, utf16).unwrap();
    assert_eq!(analyze(&[&path], &[])["inputs"][0]["envelope"], json!({"utf16": 9}));
}

#[test]
fn hosts_in_headings_and_before_lines_are_nodes() {
    let (dir, want, log) = (TempDir::new().unwrap(), want(), dmesg());
    let path = dir.path().join("all.txt");
    let rule = "-".repeat(15);
    for text in [
        format!("{rule}\noss07\n{rule}\n{log}{rule}\noss08\n{rule}\n{log}"),
        log.lines().map(|line| format!("oss07: {line}\noss08: {line}\n")).collect(),
    ] {
        fs::write(&path, text).unwrap();
        let json = analyze(&[&path], &[]);
        for host in ["oss07", "oss08"] {
            assert_eq!(told(&json, host), want);
        }
        assert_eq!(rows(&json, "inputs").len(), 2);
        // The bytes of the file count once.
        assert!(rows(&json, "inputs").iter().any(|input| input["bytes"] == 0));
    }
}

/// Since the epoch, when the node was booted.
const BOOTED_S: f64 = 1_795_769_332.185;

#[test]
fn the_journal_is_read_in_all_its_forms() {
    let (dir, want, log) = (TempDir::new().unwrap(), want(), dmesg());
    let path = dir.path().join("journal.txt");
    let us = |line: &str| format!("{:.0}", (BOOTED_S + parts(line).0) * 1e6);
    let entry = |line: &str| json!({"_HOSTNAME": "oss07", "__REALTIME_TIMESTAMP": us(line), "_TRANSPORT": "kernel", "MESSAGE": parts(line).1});
    let fields = |line: &str, begin: &str| {
        let fields = ["_HOSTNAME=oss07", "_TRANSPORT=kernel"].map(str::to_owned).into_iter();
        let fields = fields.chain([format!("MESSAGE={}", parts(line).1)]);
        fields.map(|field| format!("{begin}{field}\n")).collect::<String>()
    };
    let entries: Vec<Value> = log.lines().map(entry).collect();
    for (form, text) in [
        ("json-pretty", each(&log, |_, line| serde_json::to_string_pretty(&entry(line)).unwrap())),
        ("json-sse", each(&log, |_, line| format!("data: {}\n", entry(line)))),
        ("json-seq", each(&log, |_, line| format!("\x1e{}", entry(line)))),
        ("array", serde_json::to_string_pretty(&entries).unwrap()),
        (
            "export",
            each(&log, |_, line| format!("__CURSOR=s\n__REALTIME_TIMESTAMP={}\n{}", us(line), fields(line, ""))),
        ),
        (
            "verbose",
            each(&log, |_, line| {
                let us = us(line);
                let (time, micros) = (lioprof_model::time::utc(us.parse().unwrap()), &us[us.len() - 6..]);
                let heading = format!("Fri {} {}.{micros} UTC [s=1;i=1]", &time[..10], &time[11..19]);
                format!("{heading}\n{}", fields(line, "    ").trim_end())
            }),
        ),
    ] {
        fs::write(&path, text).unwrap();
        let json = analyze(&[&path], &[]);
        assert_eq!(told(&json, "oss07"), want, "{form}");
        let eviction = json["events"][5]["time"].as_f64().unwrap();
        assert!((eviction - 1_795_770_501.990).abs() < 0.01, "{form}: {eviction}");
    }
}

#[test]
fn what_cannot_be_read_is_called_what_it_is() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("log.txt");
    let run = |text: &str| {
        fs::write(&path, text).unwrap();
        lioprof(&["analyze", path.to_str().unwrap()]).exits(2)
    };
    run(&each(&dmesg(), |n, line| format!("#{n}={}", parts(line).1)))
        .says(&["seems to be a kernel log with \"#1=\" before each line", "journalctl -k"]);
    run("[{\"__REALTIME_TIMESTAMP\":\"1\",\"MESSAGE\":\"Lustre: x\"},{}]\n").says(&["jq -c"]);
    run("It said\n\n[ 1.0] Lustre: x: Aborting recovery\n\nWhat now?\n").says(&["among others"]);
    run("LPKSHHRH\0\0").says(&["journalctl --file"]);
    // In a folder it is a note, and nothing is kept from being read.
    fs::write(&path, each(&dmesg(), |n, line| format!("#{n}={}", parts(line).1))).unwrap();
    fs::write(dir.path().join("oss01.txt"), dmesg()).unwrap();
    let run = analyze_run(&[dir.path()], &["-v"]).exits(0).says(&["seems to be a kernel log"]);
    assert_eq!(told(&run.json(), "oss01"), want());
}

#[test]
fn check_names_servers_as_analyze_does_and_tells_no_time_that_nobody_knows() {
    let log = dmesg();
    let dir = folder(["oss01", "oss02"].map(|host| (format!("{host}/dmesg.txt"), log.as_str())));
    let path = |host: &str| dir.path().join(host).join("dmesg.txt").display().to_string();
    let found = |json: &Value| {
        let evictions = rows(json, "results").iter().find(|result| result["id"] == "evictions").unwrap();
        let details = evictions["details"].as_array().unwrap().iter();
        details
            .map(|it| (it["server"].as_str().unwrap().to_owned(), it["found"].as_str().unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    let json = lioprof(&["check", "--json", "--kernel-log", &path("oss01"), &path("oss02")]).exits(1).json();
    let found_there = found(&json);
    assert_eq!(found_there.iter().map(|(server, _)| server.as_str()).collect::<Vec<_>>(), ["oss01", "oss02"]);
    // 1169.805153 and 1267.008040.
    assert!(found_there[0].1.starts_with("1 eviction, last 97.2 s before the end of the log: "), "{found_there:?}");
    let boot = ["--boot-time", "1795769332.185"];
    let json = lioprof(&["check", "--json", "--kernel-log", &path("oss01"), boot[0], boot[1]]).exits(1).json();
    assert!(found(&json)[0].1.contains("last at 2026-11-27T09:08:21.990Z: "), "{json}");
    let run = lioprof_fed(&["check", "--json", "--kernel-log", "-"], |stdin| stdin.write_all(log.as_bytes()));
    let found = found(&run.exits(1).json());
    assert_eq!(found[0].0, "stdin");
}
