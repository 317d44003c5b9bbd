//! Findings on the command line, and those of the real captures.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::captures::captures;
use crate::figures::{rows, text};
use crate::util::{analyze, lioprof};

fn capture(name: &str) -> String {
    lioprof_testkit::files::capture(name).to_str().unwrap().to_owned()
}

/// Kinds of findings above `info`.
fn kinds(json: &Value) -> Vec<&str> {
    let above = rows(json, "findings").iter().filter(|finding| text(finding, "severity") != Some("info"));
    above.filter_map(|finding| text(finding, "id")).collect()
}

#[test]
fn healthy_captures_have_no_finding_above_info() {
    let mut seen = 0;
    for capture in captures() {
        if ["file_per_process", "shared_striped_write", "v215_file_per_process", "metadata"].contains(&&*capture.name) {
            let json = analyze(&[&capture.dir], &[]);
            assert!(kinds(&json).is_empty(), "{}: {:?}", capture.name, kinds(&json));
            seen += 1;
        }
    }
    assert!(seen > 0, "none of the healthy captures is there");
}

#[test]
fn fights_rank_first() {
    for capture in captures().iter().filter(|capture| capture.name.contains("lock_pingpong")) {
        let json = analyze(&[&capture.dir], &[]);
        assert_eq!(kinds(&json).first(), Some(&"lock-ping-pong"), "{}: {:?}", capture.name, kinds(&json));
    }
}

/// Two clients and four OSTs, of which one thing was throttled, or nothing.
#[test]
fn a_slow_disk_and_a_slow_link_are_told_apart() {
    let found = |name: &str| {
        let json = analyze(&[Path::new(&capture(name))], &[]);
        let above = rows(&json, "findings").iter().filter(|finding| text(finding, "severity") != Some("info")).cloned();
        above.collect::<Vec<Value>>()
    };
    let disk = found("pair_slow_ost_sick");
    assert_eq!((disk.len(), text(&disk[0], "id")), (1, Some("sluggish-ost")), "{disk:?}");
    assert_eq!((&disk[0]["targets"][0], &disk[0]["nodes"][0]), (&json!("lustre-OST0002"), &json!("server2")));
    assert!(text(&disk[0], "title").unwrap().contains("disk"), "{disk:?}");
    let link = found("pair_slow_client_sick");
    assert_eq!((link.len(), text(&link[0], "id")), (1, Some("slow-client-link")), "{link:?}");
    assert_eq!(link[0]["clients"], json!(["10.10.0.12@tcp"]));
    assert_eq!(found("pair_healthy_run1"), [] as [Value; 0]);
}

/// The text of a capture's server, its lines one by one.
fn lines(server: &str) -> Vec<String> {
    let run = lioprof(&["decode", &format!("{}/rpc.bin.zst", capture(server))]).exits(0);
    String::from_utf8(run.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The lines that a thread of this name has logged, or others.
fn of_threads(lines: &[String], name: &str, wanted: bool) -> String {
    let pid = |line: &str| line.split(':').nth(5).map(str::to_owned);
    let has_name = |line: &&String| line.contains("Handling RPC") && line.contains(&format!(" {name}"));
    let pids: Vec<Option<String>> = lines.iter().filter(has_name).map(|line| pid(line)).collect();
    assert!(!pids.is_empty());
    let own = lines.iter().filter(|line| pids.contains(&pid(line)) == wanted);
    own.fold(String::new(), |out, line| out + line + "\n")
}

/// All threads of the MDT hang in requests from before the log: the network brings requests, and no line of their threads is there.
#[test]
fn requests_that_no_thread_takes_up_are_told() {
    let dir = TempDir::new().unwrap();
    let log = dir.path().join("mds01.txt");
    let all = lines("v215_masks/server1");
    fs::write(&log, of_threads(&all, "mdt", false)).unwrap();
    let json = analyze(&[&log], &[]);
    // Those of the MDT that came more than five seconds before the end; some less, because others came at the same time.
    let time = |line: &&String| line.split(':').nth(3).unwrap().parse::<f64>().unwrap();
    let end = time(&all.last().unwrap());
    let begun = all.iter().filter(|line| line.contains("Handling RPC") && line.contains(" mdt"));
    let lying = begun.filter(|line| time(line) < end - 5.0).count() as u64;
    let told = json["nodes"][0]["left_rpcs"].as_u64().unwrap();
    assert!((lying / 2..=lying).contains(&told), "{told} of {lying}");
    assert_eq!((kinds(&json)[0], &json["verdict"]["state"]), ("hung-requests", &json!("failed")), "{json}");
    // As it was, all were begun.
    fs::write(&log, of_threads(&all, "mdt", false) + &of_threads(&all, "mdt", true)).unwrap();
    assert_eq!(analyze(&[&log], &[])["nodes"][0].get("left_rpcs"), None);
}

/// Of one thread's lines nothing can be said of the others, least of all that they are lost.
#[test]
fn the_lines_of_one_thread_are_no_loss() {
    let dir = TempDir::new().unwrap();
    let log = dir.path().join("oss01.txt");
    fs::write(&log, of_threads(&lines("v215_masks/server1"), "ll_ost_io00_002", true)).unwrap();
    let run = lioprof(&["analyze".as_ref(), log.as_os_str()]).exits(0);
    let shown = format!("{}{}", run.stderr, String::from_utf8_lossy(&run.stdout));
    assert!(shown.contains("no line of a request's arrival") && !shown.contains("debug_mb"), "{shown}");
}

#[test]
fn findings_decide_the_exit_code() {
    let fight = capture("lock_pingpong_dlm");
    let run = |more: &[&str]| lioprof(&[&["analyze", &fight, "--format", "none", "-q"][..], more].concat());
    run(&[]).exits(0);
    run(&["--fail-on", "warning"]).exits(1);
    run(&["--fail-on", "critical"]).exits(0);
    run(&["--fail-on", "critical", "--threshold", "lock-ping-pong.critical_wait_share=0.1"]).exits(1);
    run(&[
        "--fail-on",
        "warning",
        "--threshold",
        "lock-ping-pong.wait_share=1",
        "--threshold",
        "many-writers.wait_share=1",
    ])
    .exits(0);
    let healthy = capture("file_per_process");
    lioprof(&["analyze", &healthy, "--format", "none", "-q", "--fail-on", "warning"]).exits(0);
}

#[test]
fn thresholds_come_from_a_file() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("thresholds.toml");
    let listed = lioprof(&["findings"]).exits(0).stdout;
    fs::write(&path, &listed).unwrap();
    let fight = capture("lock_pingpong_dlm");
    let file = path.to_str().unwrap();
    let args = ["analyze", &fight, "--format", "json", "--thresholds", file];
    assert_eq!(
        lioprof(&args).exits(0).json(),
        lioprof(&args[..4]).exits(0).json(),
        "the listed values are the defaults"
    );
    fs::write(&path, "[lock-ping-pong]\ncritical_wait_share = 0.1\n").unwrap();
    let fail = ["--fail-on", "critical"];
    lioprof(&[&args[..], &fail].concat()).exits(1);
    let single = ["--threshold", "lock-ping-pong.critical_wait_share=0.9"];
    lioprof(&[&args[..], &fail, &single].concat()).exits(0);
    fs::write(&path, "[lock-ping-pong]\nno_such = 0.1\n").unwrap();
    lioprof(&args).exits(2).says(&["thresholds.toml", "`lock-ping-pong.no_such`", "lock-ping-pong.wait_share"]);
    lioprof(&["analyze", &fight, "--threshold", "wait_share"]).exits(2).says(&["RULE.NAME=VALUE"]);
    lioprof(&["findings", "no-such"]).exits(2).says(&["`no-such`", "lock-ping-pong"]);
}

#[test]
fn the_summary_says_first_what_is_wrong() {
    let fight = capture("lock_pingpong_dlm");
    let shown = |more: &[&str]| {
        let run = lioprof(&[&["analyze", &fight][..], more].concat()).exits(0);
        String::from_utf8(run.stdout).unwrap()
    };
    let (short, long) = (shown(&[]), shown(&["-v"]));
    assert!(short.starts_with("2 clients keep taking the lock of an object on lustre-OST0001"), "{short}");
    let before_tables = short.split(" from server").next().unwrap();
    assert!(before_tables.contains("warning lock-ping-pong (confidence high)") && before_tables.contains("  -> "));
    for part in ["thresholds:", "more: lioprof explain lock-ping-pong", "clients: 10.10.0.1", "Does not apply: "] {
        assert!(long.contains(part) && !short.contains(part), "{part}: {long}");
    }
    let of_findings = |text: &str| text.split(" from server").next().unwrap_or_default().to_owned();
    for line in of_findings(&short).lines().chain(of_findings(&long).lines()) {
        assert!(line.chars().count() <= 80, "{line}");
        assert!(!line.contains('\x1b'), "{line:?}");
    }
}

#[test]
fn findings_are_a_table_too() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().to_str().unwrap();
    lioprof(&["analyze", &capture("lock_pingpong_dlm"), "--format", "none", "--plots", "none", "-o", out]).exits(0);
    let table = fs::read_to_string(dir.path().join("findings.csv")).unwrap();
    let mut lines = table.lines();
    assert!(lines.next().unwrap().starts_with("id,severity,confidence,title,"));
    assert!(lines.next().unwrap().starts_with("lock-ping-pong,warning,high,"), "{table}");
}

#[test]
fn a_survey_is_the_ceiling() {
    let dir = TempDir::new().unwrap();
    let survey = dir.path().join("oss.summary");
    let line = "ost  4 sz 67108864K rsz 1024K obj    4 thr    4 write  100.00 [  20.00,  30.00] rewrite  880.00 SHORT \
                read  120.00 [  28.00,  31.00]\n";
    fs::write(&survey, format!("Fri Sep 25 11:14:03 EDT 2015 Obdfilter-survey for case=disk from oss\n{line}"))
        .unwrap();
    let survey = survey.to_str().unwrap();
    let healthy = capture("file_per_process");
    let json = analyze(&[healthy.as_ref()], &["--baseline", survey]);
    let one = &json["baseline"]["surveys"][0];
    assert_eq!((one["host"].as_str(), one["osts"].as_u64()), (Some("oss"), Some(4)));
    assert_eq!(one["write"]["bytes_per_s"].as_f64(), Some(100.0 * 1024.0 * 1024.0));
    let run = lioprof(&["analyze", &healthy, "--baseline", survey, "-q"]);
    let stdout = String::from_utf8(run.exits(0).stdout).unwrap();
    // The ceiling of four OSTs that were all in use.
    assert!(stdout.contains("% of available (120.0 MiB/s of 4 OSTs, test `read` of obdfilter-survey)"), "{stdout}");
    assert!(stdout.contains("% of available (100.0 MiB/s of 4 OSTs, test `write` of obdfilter-survey)"), "{stdout}");
    let run = lioprof(&["analyze", &healthy, "--baseline", survey, "--baseline-write", "rewrite", "-q"]);
    let stdout = String::from_utf8(run.exits(0).stdout).unwrap();
    assert!(stdout.contains("% of available (880.0 MiB/s of 4 OSTs, test `rewrite` of obdfilter-survey)"), "{stdout}");
    lioprof(&["analyze", &healthy, "--baseline-write", "rewrite"]).exits(2).says(&["--baseline"]);

    let readme = dir.path().join("other.txt");
    fs::write(&readme, "no survey").unwrap();
    lioprof(&["analyze", &healthy, "--baseline", readme.to_str().unwrap()]).exits(2);
}

/// Findings of a run of `fixtures/pairs`.
fn of_run(name: &str) -> (Value, Vec<Value>) {
    let json = analyze(&[&crate::pairs::dir(name)], &[]);
    let findings = rows(&json, "findings").to_vec();
    (json, findings)
}

/// On ZFS a write is over before it is on disk: the disk of OST0003 was throttled.
#[test]
fn a_slow_disk_shows_in_syncs() {
    let (json, found) = of_run("v215_slow_ost_sick");
    assert_eq!((text(&found[0], "id"), text(&found[0], "severity")), (Some("sluggish-ost"), Some("critical")));
    assert_eq!(found[0]["targets"], json!(["lustre-OST0002", "lustre-OST0003"]));
    assert_eq!(found[0]["nodes"], json!(["server2"]));
    // Each client has three files on each of the two.
    let evidence = &found[0]["evidence"];
    assert_eq!((&evidence["syncs"], &evidence["other_syncs"]), (&json!(6.0), &json!(6.0)), "{evidence}");
    let slow = rows(&json, "syncs").iter().find(|syncs| text(syncs, "node") == Some("server2")).unwrap();
    assert!(
        slow["ratio"].as_f64().unwrap() > 50.0 && slow["others_service_us"]["max"].as_f64().unwrap() < 1.3e6,
        "{slow}"
    );
}

/// OST0002 is on ZFS, OST0000 on ldiskfs, and no disk is sick.
#[test]
fn osts_of_another_kind_are_no_peers() {
    for name in ["v215_tbf_sick", "v215_tbf_cured"] {
        let (json, found) = of_run(name);
        let told: Vec<_> = found.iter().filter(|it| text(it, "id") == Some("sluggish-ost")).collect();
        assert_eq!((told.len(), text(told[0], "severity")), (1, Some("info")), "{name}: {told:?}");
        assert_eq!((&told[0]["targets"], &told[0]["nodes"]), (&json!(["lustre-OST0002"]), &json!(["server2"])));
        let parts = &json["service_parts"];
        let apart = rows(parts, "servers").iter().filter(|server| server["apart"] == true);
        assert_eq!(apart.filter_map(|server| text(server, "node")).collect::<Vec<_>>(), ["server2"]);
        assert!(rows(parts, "targets").iter().all(|target| target["after"]["against_peers"].is_null()), "{parts}");
        let spent = rows(&json["time_account"]["all"], "spent");
        assert!(spent.iter().all(|spent| spent["excess_us"].is_null()), "{name}: {spent:?}");
    }
}

#[test]
fn glimpses_have_a_name_and_their_waits_are_waits_for_locks() {
    let (json, found) = of_run("v215_stat_storm_sick");
    assert_eq!(found[0]["clients"], json!(["10.10.0.12@tcp", "10.10.0.11@tcp"]));
    assert_eq!(found[0]["jobs"], json!(["ls.0"]));
    let glimpses = rows(&json["locks"], "glimpses");
    let callbacks: u64 = glimpses.iter().map(|it| it["callbacks"].as_u64().unwrap()).sum();
    assert_eq!(Some(callbacks), json["locks"]["totals"]["glimpse_asts"].as_u64());
    let wait_s: f64 = glimpses.iter().map(|it| it["wait_s"].as_f64().unwrap()).sum();
    // Statahead asks for several at a time, and such waits count once.
    let clients = rows(&json["time_account"], "clients");
    let asks = clients.iter().find(|of| text(of, "name") == Some("10.10.0.12@tcp")).unwrap();
    let waits = rows(asks, "spent").iter().filter(|spent| text(spent, "on") == Some("lock_wait"));
    let waited_s = waits.map(|spent| spent["us"].as_f64().unwrap()).sum::<f64>() / 1e6;
    assert!((0.7 * wait_s..=wait_s).contains(&waited_s), "{waited_s} of {wait_s}");
    assert!(of_run("v215_stat_storm_cured").1.iter().all(|it| text(it, "severity") == Some("info")));
}

/// Nobody waits for this writer, and two would take each other's locks: it took 8.0 s instead of 6.2 s.
#[test]
fn a_remedy_that_may_do_harm_is_not_given() {
    let (json, found) = of_run("v215_single_writer_sick");
    assert!(found.iter().all(|it| text(it, "id") != Some("single-writer")), "{found:?}");
    assert_eq!(json["what_if"]["predictions"], json!([]));
    let dir = crate::pairs::dir("v215_single_writer_sick");
    let args = ["what-if", dir.to_str().unwrap(), "--writers", "10.10.0.11@tcp=2", "--format", "json"];
    let predicted = &lioprof(&args).exits(0).json()["predictions"][0];
    assert!(predicted["saves_s_min"].as_f64().unwrap() < -1.0, "{predicted}");
}
