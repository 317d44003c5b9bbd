//! What logs tell in sentences for people: in debug logs of any mask, in kernel logs of all forms, and in both.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::figures::rows;
use crate::util::{analyze, analyze_run, lioprof, lioprof_fed};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernel-logs").join(name)
}

/// Kind, target and client of each event, in order.
fn told(json: &Value) -> Vec<[&str; 3]> {
    let part = |event: &'_ Value, key: &str| {
        event[key].as_str().map_or("-", |text| Box::leak(text.to_owned().into_boxed_str()))
    };
    rows(json, "events").iter().map(|event| ["kind", "target", "client"].map(|key| part(event, key))).collect()
}

fn times(json: &Value) -> Vec<Option<f64>> {
    rows(json, "events").iter().map(|event| event["time"].as_f64()).collect()
}

fn sources(json: &Value) -> Vec<&str> {
    rows(json, "events").iter().filter_map(|event| event["source"].as_str()).collect()
}

/// What `both/dmesg.txt` tells.
const OF_DMESG: [[&str; 3]; 7] = [
    ["request_timeout", "lustre-OST0002", "10.10.0.11@tcp"],
    ["request_timeout", "lustre-OST0002", "10.10.0.11@tcp"],
    ["request_timeout", "lustre-OST0002", "10.10.0.11@tcp"],
    ["slow_reply", "-", "10.10.0.12@tcp"],
    ["reconnect", "lustre-OST0002", "10.10.0.12@tcp"],
    ["eviction", "lustre-OST0002", "10.10.0.11@tcp"],
    ["request_timeout", "lustre-OST0002", "10.10.0.11@tcp"],
];

/// The node's clock when it was booted, as the debug log tells it: 1795770485.896301 is 1153.710991.
const BOOTED_S: f64 = 1_795_769_332.185;

#[test]
fn a_log_of_the_default_mask_tells_who_was_evicted_from_where_when_and_why() {
    let json = analyze(&[&fixture("default-mask/dk.txt")], &[]);
    let expected = [
        ["eviction", "site-OST0004", "10.9.8.41@o2ib"],
        ["eviction", "site-OST0005", "10.9.8.42@o2ib"],
        ["eviction", "site-MDT0000", "10.9.8.43@o2ib"],
        ["reconnect", "site-OST0004", "10.9.8.41@o2ib"],
    ];
    assert_eq!(told(&json), expected);
    assert_eq!(times(&json), [1_795_600_061.5, 1_795_600_114.5, 1_795_600_130.25, 1_795_600_141.0].map(Some));
    let why = [
        "did not answer a blocking callback for a lock (rc -110); did not give a lock back in time: lock callback timer expired \
         after 11 s",
        "not heard from for 221 s (pinger)",
        "by administrative request",
    ];
    for (event, why) in rows(&json, "events").iter().zip(why) {
        assert_eq!(event["reason"], why);
    }
    let finding = &json["findings"][0];
    assert_eq!((&finding["id"], &finding["severity"]), (&json!("evictions"), &json!("critical")));
    for part in [
        "10.9.8.41@o2ib was evicted from site-OST0004 at 2026-11-25T09:47:41Z",
        "10.9.8.42@o2ib",
        "pinger",
        "by administrative",
    ] {
        assert!(finding["title"].as_str().unwrap().contains(part), "{finding}");
    }
    // That there is no request is second to it.
    let severities: Vec<&Value> = rows(&json, "findings").iter().skip(1).map(|finding| &finding["severity"]).collect();
    assert_eq!(severities, [&json!("info")]);
}

#[test]
fn selections_and_times_choose_among_events() {
    let log = fixture("default-mask/dk.txt");
    let of = |more: &[&str]| analyze_run(&[&log], more).json();
    let clients = |json: &Value| told(json).iter().map(|row| row[2].to_owned()).collect::<Vec<_>>();
    assert_eq!(clients(&of(&["--from", "1795600114", "--to", "1795600131"])), ["10.9.8.42@o2ib", "10.9.8.43@o2ib"]);
    let run = lioprof(&["analyze", log.to_str().unwrap(), "--format", "json", "--client", "10.9.8.42@o2ib"]);
    assert_eq!(clients(&run.json()), ["10.9.8.42@o2ib"]);
    // What to do follows from why.
    for (client, remedy) in [
        ("10.9.8.41@o2ib", "A client that did not give a lock back in time"),
        ("10.9.8.42@o2ib", "A client that was not heard from"),
    ] {
        let run = lioprof(&["analyze", log.to_str().unwrap(), "--format", "json", "--client", client]).json();
        let remedies = rows(&run["findings"][0], "remedies");
        assert!(remedies.len() == 1 && remedies[0].as_str().unwrap().starts_with(remedy), "{client}: {remedies:?}");
    }
}

#[test]
fn what_stands_in_both_logs_counts_once() {
    let alone = analyze(&[&fixture("both/dk.txt")], &[]);
    let logs = [fixture("both/dk.txt"), fixture("both/dmesg.txt"), fixture("both/dmesg-T.txt")];
    let both = analyze(&[&logs[0], &logs[1], &logs[2]], &["--node", "server2"]);
    assert_eq!(told(&both), told(&alone));
    assert_eq!(times(&both), times(&alone));
    assert_eq!(sources(&both).iter().filter(|source| **source == "both").count(), OF_DMESG.len());
    assert!(sources(&alone).iter().all(|source| *source == "debug_log"));
    let formats: Vec<&Value> = rows(&both, "inputs").iter().map(|input| &input["format"]).collect();
    assert_eq!(formats, [&json!("text"), &json!("kernel_log"), &json!("kernel_log")]);
    assert_eq!(rows(&both, "warnings").len(), rows(&alone, "warnings").len(), "{}", both["warnings"]);
    // A search finds them beside the debug log, which is what the directory is for.
    let found = analyze(&[&fixture("both")], &[]);
    assert_eq!(told(&found), told(&alone));
    assert_eq!(sources(&found), sources(&both));
    assert_eq!(rows(&found, "inputs").len(), 1);
}

/// What Lustre says of itself counts, whatever the requests show.
#[test]
fn what_broke_by_a_servers_own_words_is_the_verdict() {
    let capture = lioprof_testkit::files::capture("file_per_process");
    let dir = TempDir::new().unwrap();
    let log = dir.path().join("messages");
    let verdict = |text: &str| {
        // Half a minute before the capture, and within it.
        let before = "2026-11-21T08:44:15+00:00 server1 kernel: LustreError: 449:0:(osd_io.c:10:osd_read()) LBUG";
        fs::write(&log, format!("{before}\n2026-11-21T08:44:55+00:00 server1 kernel: {text}\n")).unwrap();
        let json = analyze(&[&capture.join("server1"), &capture.join("server2"), &log], &[]);
        let first = rows(&json, "findings").first().map(|finding| finding["title"].as_str().unwrap().to_owned());
        (json["verdict"]["state"].as_str().unwrap().to_owned(), json["verdict"]["findings"].clone(), first)
    };
    for (text, title) in [
        ("LustreError: 449:0:(ofd_io.c:10:ofd_read()) LBUG", "LBUG on server1: "),
        ("LDISKFS-fs (vdb): Remounting filesystem read-only", "Device failure on server1: "),
        ("Lustre: ll_ost_io00_002: service thread pid 617 was inactive for 200.1 seconds.", "Hung thread on server1: "),
    ] {
        let (state, findings, first) = verdict(text);
        assert_eq!((state.as_str(), &findings[0]), ("failed", &json!("server-errors")), "{text}");
        assert!(first.as_deref().unwrap_or_default().starts_with(title), "{first:?}");
    }
    let (state, _, _) = verdict("Lustre: lustre-OST0000: Client c1 (at 10.10.0.11@tcp) reconnecting");
    assert_eq!(state, "no_problem");
}

/// `dmesg.txt` in other forms: name, text, options that tell the clock, and whether the times are those of whole seconds.
fn forms() -> Vec<(&'static str, String, Vec<String>, bool)> {
    let dmesg = fs::read_to_string(fixture("both/dmesg.txt")).unwrap();
    let lines = || {
        dmesg.lines().map(|line| {
            let (stamp, text) = line.strip_prefix('[').unwrap().split_once("] ").unwrap();
            (BOOTED_S + stamp.trim().parse::<f64>().unwrap(), stamp, text)
        })
    };
    // All within one hour: 2026-11-27T09:07 to 09:10 UTC.
    let clock = |time: f64, zone_h: u32| {
        // Since 2026-11-27T00:00:00Z.
        let since = time.floor() - 1_795_737_600.0;
        let second = (0..86_400_u32).find(|second| f64::from(*second) >= since).unwrap() + zone_h * 3600;
        format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
    };
    let joined = |line: &dyn Fn(f64, &str, &str) -> String| {
        lines().map(|(time, stamp, text)| line(time, stamp, text) + "\n").collect::<String>()
    };
    let boot = vec!["--boot-time".to_owned(), format!("{BOOTED_S}")];
    let zone = vec!["--timezone".to_owned(), "+02:00".to_owned()];
    vec![
        ("dmesg", dmesg.clone(), boot.clone(), false),
        ("dmesg -x", joined(&|_, stamp, text| format!("kern  :warn  : [{stamp}] {text}")), boot, false),
        (
            "dmesg -T",
            joined(&|time, _, text| format!("[Fri Nov 27 {} 2026] {text}", clock(time, 2))),
            zone.clone(),
            true,
        ),
        (
            "dmesg --time-format iso",
            joined(&|time, _, text| format!("2026-11-27T{},{:06.0}+02:00 {text}", clock(time, 2), time.fract() * 1e6)),
            vec![],
            false,
        ),
        (
            "BSD syslog",
            joined(&|time, _, text| format!("Nov 27 {} server2 kernel: {text}", clock(time, 2))),
            zone.clone(),
            true,
        ),
        (
            "BSD syslog with the kernel's stamps",
            joined(&|time, stamp, text| format!("Nov 27 {} server2 kernel: [{stamp}] {text}", clock(time, 2))),
            zone,
            true,
        ),
        (
            "ISO syslog",
            joined(&|time, _, text| format!("2026-11-27T{}+02:00 server2 kernel: {text}", clock(time, 2))),
            vec![],
            true,
        ),
        (
            "ISO syslog with facility",
            joined(&|time, _, text| {
                format!("2026-11-27T{}+00:00 server2.site kern.warn kernel: {text}", clock(time, 0))
            }),
            vec![],
            true,
        ),
        (
            "journal",
            joined(&|time, _, text| {
                json!({"__REALTIME_TIMESTAMP": format!("{:.0}", time * 1e6), "_HOSTNAME": "server2", "_TRANSPORT": "kernel", "MESSAGE": text}).to_string()
            }),
            vec![],
            false,
        ),
        (
            "journal of bytes",
            joined(&|time, _, text| {
                json!({"__REALTIME_TIMESTAMP": format!("{:.0}", time * 1e6), "_HOSTNAME": "server2", "SYSLOG_IDENTIFIER": "kernel", "MESSAGE": text.as_bytes()}).to_string()
            }),
            vec![],
            false,
        ),
    ]
}

#[test]
fn kernel_logs_of_all_forms_tell_the_same() {
    let dir = TempDir::new().unwrap();
    for (form, text, options, seconds) in forms() {
        let path = dir.path().join("server2.log");
        // Lines of other programs and of the kernel, which tell of nothing.
        fs::write(&path, text).unwrap();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let json = analyze(&[&path], &options);
        assert_eq!(told(&json), OF_DMESG, "{form}");
        let input = &json["inputs"][0];
        assert_eq!(
            (&input["format"], &input["node"], &input["records"]),
            (&json!("kernel_log"), &json!("server2"), &json!(9)),
            "{form}"
        );
        let eviction = times(&json)[5].unwrap();
        let error = eviction - 1_795_770_501.990;
        assert!(if seconds { (-1.0..=0.01).contains(&error) } else { error.abs() < 0.01 }, "{form}: {error}");
        assert_eq!(json["findings"][0]["id"], "evictions", "{form}");
        assert!(rows(&json, "findings").iter().all(|finding| finding["id"] != "trace-quality"), "{form}");
        assert_eq!(json["totals"]["rpcs"], 0, "{form}");
    }
}

#[test]
fn the_debug_log_beside_a_kernel_log_tells_its_clock() {
    let dir = TempDir::new().unwrap();
    let reference = analyze(&[&fixture("both/dk.txt")], &[]);
    for (form, text, _, _) in forms() {
        let path = dir.path().join("server2.log");
        fs::write(&path, text).unwrap();
        // No option: lines that are in both logs tell it.
        let json = analyze(&[&fixture("both/dk.txt"), &path], &["--node", "server2"]);
        assert_eq!((told(&json), times(&json)), (told(&reference), times(&reference)), "{form}");
    }
}

#[test]
fn a_clock_that_is_not_known_is_said_and_no_time_is_made_up() {
    let run = analyze_run(&[&fixture("both/dmesg.txt")], &[]).exits(0).says(&["only their order", "--boot-time"]);
    let json = run.json();
    assert_eq!(told(&json), OF_DMESG);
    assert!(times(&json).iter().all(Option::is_none));
    let run = analyze_run(&[&fixture("both/dmesg-T.txt")], &[]).exits(0).says(&["only their order", "--timezone"]);
    assert_eq!(told(&run.json()), OF_DMESG);
    assert!(times(&run.json()).iter().all(Option::is_none));
}

#[test]
fn a_kernel_log_alone_is_told_as_what_it_is() {
    let path = fixture("both/dmesg.txt");
    let run = lioprof(&["analyze", path.to_str().unwrap()]).exits(0);
    let text = String::from_utf8(run.stdout.clone()).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["1 kernel log from", "1 eviction", "lustre-OST0002", "10.10.0.11@tcp", "give a debug log"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Through a pipe, too.
    let log = fs::read(&path).unwrap();
    let run =
        lioprof_fed(&["analyze", "-", "--format", "json"], |stdin| std::io::Write::write_all(stdin, &log)).exits(0);
    assert_eq!(told(&run.json()), OF_DMESG);
    // It has no records to decode.
    lioprof(&["decode", path.to_str().unwrap()]).exits(2).says(&["is a kernel log"]);
}

#[test]
fn files_of_a_report_have_the_events() {
    let dir = TempDir::new().unwrap();
    let log = fixture("default-mask/dk.txt");
    lioprof(&["analyze", log.to_str().unwrap(), "-o", dir.path().to_str().unwrap(), "--plots", "none"]).exits(0);
    let table = fs::read_to_string(dir.path().join("events.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "time,node,kind,target,client,reason,source");
    assert_eq!(lines.len(), 5);
    assert!(lines[2].starts_with("1795600114.500000,") && lines[2].ends_with(",debug_log"), "{}", lines[2]);
    let page = fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(page.contains("not heard from for 221 s (pinger)"));
}

#[test]
fn a_kernel_log_is_checked_as_the_live_one() {
    let path = fixture("both/dmesg.txt");
    let run = lioprof(&["check", "--json", "--kernel-log", path.to_str().unwrap()]).exits(1);
    let json = run.json();
    let of = |id: &str| rows(&json, "results").iter().find(|result| result["id"] == id).unwrap().clone();
    assert_eq!(of("evictions")["status"], "warning");
    assert!(of("evictions")["details"][0]["found"].as_str().unwrap().starts_with("1 eviction"), "{}", of("evictions"));
    assert_eq!(of("kernel_severe")["status"], "ok");
    assert_eq!(rows(&json, "results").len(), 3);
    let log = fixture("both/dk.txt");
    lioprof(&["check", "--kernel-log", log.to_str().unwrap()]).exits(2).says(&["is a debug log"]);
}

#[test]
fn a_storm_of_events_is_listed_up_to_a_limit_and_counts() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("oss01.txt");
    let line = |n: u32| {
        format!(
            "00010000:02000400:0.0:{}.000000:0:2253:0:(ldlm_lib.c:1:f()) site-OST0004: Client u (at 10.9.{}.{}@o2ib) reconnecting\n",
            1_795_600_000 + n,
            n / 250,
            n % 250
        )
    };
    let eviction = line(900)
        .replace("Client u (at", "haven't heard from client u (at")
        .replace(") reconnecting", ") in 9 seconds. I think it's dead, and I am evicting it.");
    fs::write(&path, (0..800).map(line).chain([eviction]).collect::<String>()).unwrap();
    for more in [&[][..], &["--threads", "4", "--chunk-bytes", "4096"]] {
        let json = analyze(&[&path], more);
        assert_eq!(rows(&json, "events").len(), 501);
        assert_eq!(json["events"][499]["time"], 1_795_600_499.0);
        assert_eq!(json["events"][500]["kind"], "eviction");
        assert_eq!(
            json["others"]["events.reconnect"],
            json!({"kept": 500, "by": "time", "rows": 300, "rpcs": null, "enqueues": null, "bytes": null, "read": null, "write": null})
        );
    }
    let run = lioprof(&["analyze", path.to_str().unwrap()]).exits(0);
    assert!(String::from_utf8(run.stdout).unwrap().contains("800 reconnects"));
}
