//! All goes well.

use std::collections::BTreeMap;
use std::fs;

use lioprof_testkit::until;
use rustix::process::Signal;
use serde_json::Value;

use super::site::{Site, go_on, wait_for};
use crate::util::lioprof;

#[test]
fn eight_hosts_around_a_command() {
    let site = Site::new(8);
    let done = site.path("done");
    let script = format!("{}; exit 7", wait_for(&done));
    let recorder = site.start(&["--lease", "20s", "--", "sh", "-c", &script]);
    assert!(site.hosts.iter().all(super::site::Host::is_traced));
    let output = site.output().display().to_string();
    lioprof(&["record", "mark", "half way", "-o", &output]).exits(0);
    for host in &site.hosts {
        until("every host to have something to show", || (host.node.played() > 1_000).then_some(()));
    }
    go_on(&done);
    let (code, stderr) = recorder.ends();
    // The command's own.
    assert_eq!(code, Some(7), "{stderr}");
    site.is_as_before();
    // Each has summed up its rows, and keeps them.
    assert!(!site.hosts.iter().any(super::site::Host::is_clean) && !site.output().join("rows").exists());

    let reported = site.reported();
    assert_eq!(reported.len(), 8, "{reported:?}");
    assert!(reported.iter().all(|(_, rpcs)| *rpcs > 50), "{reported:?}");
    let report = site.report();
    let marks = report["markers"].to_string();
    assert_eq!(marks.matches("half way").count(), 8, "{marks}");
    assert!(!report["warnings"].to_string().contains("lioprof record"), "{}", report["warnings"]);
    assert!(site.output().join("report/report.html").exists());
    let recording = site.recording();
    for host in recording["hosts"].as_array().unwrap() {
        let facts = (&host["state"], &host["has_sums"], host["troubles"].as_array().unwrap().len());
        assert_eq!(facts, (&"ended".into(), &true.into(), 0), "{host}");
        // One machine, one clock.
        let clocks = host["clocks"].as_array().unwrap();
        assert_eq!(clocks.len(), 2, "before and after: {host}");
        for clock in clocks {
            let [offset_us, error_us] = ["offset_us", "error_us"].map(|key| clock[key].as_i64().unwrap());
            assert!(offset_us.abs() <= error_us + 1_000, "{host}");
        }
    }
    assert_eq!((&recording["exit_code"], &recording["command"][0]), (&7.into(), &"sh".into()));

    // The rows say the same as the sums.
    let run = site.fetch().exits(7);
    assert!(site.hosts.iter().all(super::site::Host::is_clean) && !site.output().join("sums").exists());
    assert_eq!(without_inputs(site.report()), without_inputs(report), "{run}");
    for host in site.recording()["hosts"].as_array().unwrap() {
        let log = site.output().join("logs").join(format!("{}.log", host["host"].as_str().unwrap()));
        assert!(fs::read_to_string(&log).unwrap().contains("ending the capture"), "{}", log.display());
    }

    // What is here is not overwritten, and there is nothing more to fetch.
    site.record(&["--for", "1s"]).exits(2).says(&["already holds a recording"]);
    lioprof(&["record", "mark", "too late", "-o", &output]).exits(1).says(&["has ended"]);
}

#[test]
fn some_time_and_nothing_fetched_until_it_is_asked_for() {
    let site = Site::new(2);
    site.record(&["--for", "3s", "--fetch", "nothing", "--profile", "light"]).exits(0);
    site.is_as_before();
    assert!(!site.output().join("rows").exists());
    assert!(site.hosts.iter().all(|host| !host.is_clean()));
    let output = site.output().display().to_string();
    let run = lioprof(&["record", "fetch", &output, "--fetch", "rows", "--plots", "none"]).exits(0);
    assert!(site.hosts.iter().all(super::site::Host::is_clean));
    let reported = site.reported();
    assert_eq!(reported.len(), 2);
    assert_eq!(site.report()["nodes"][0]["name"], "oss1");
    // All rows are here: the table has what the report has, not what daemons told last.
    let lines = String::from_utf8_lossy(&run.stdout).into_owned();
    let rpcs = |host: &str| -> u64 {
        let line = lines.lines().find(|line| line.starts_with(host) && line.ends_with("rows are here")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let hosts = site.recording()["hosts"].clone();
    for ((node, count), host) in reported.iter().zip(hosts.as_array().unwrap()) {
        assert_eq!(
            (host["node"].as_str(), rpcs(host["host"].as_str().unwrap())),
            (Some(node.as_str()), *count),
            "{lines}"
        );
    }

    // The same rows, about one client: who else was there is told.
    let report = site.report();
    let clock = |report: &Value| report["nodes"][1]["clock_offset_us"].as_i64().unwrap();
    assert!(clock(&report).abs() < 100_000 && report["nodes"][1]["clock_aligned"] == false, "{}", report["nodes"]);
    let nid = report["clients"][0]["nid"].as_str().unwrap();
    let run = lioprof(&["record", "fetch", &output, "--plots", "none", "--client", nid]).exits(0);
    let stdout = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(stdout.contains(", by OST and job") && stdout.contains("By OST and client"), "{stdout}");
    let others = fs::read_to_string(site.output().join("report/others.csv")).unwrap();
    let own = bytes_by_target(&site.report());
    let all = bytes_by_target(&report);
    let all: u64 = own.keys().map(|target| all[target]).sum();
    let own: u64 = own.values().sum();
    let of_others: u64 = others
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            cells[4].parse::<u64>().unwrap() + cells[6].parse::<u64>().unwrap()
        })
        .sum();
    assert!(own > 0 && of_others > 0);
    assert_eq!(own + of_others, all);

    // Had one of the clocks been three seconds ahead when they were read: its rows are put on the other one.
    let mut recording = site.recording();
    for clock in recording["hosts"][1]["clocks"].as_array_mut().unwrap() {
        clock["offset_us"] = (clock["offset_us"].as_i64().unwrap() + 3_000_000).into();
    }
    fs::write(site.output().join("record.json"), recording.to_string()).unwrap();
    site.fetch().exits(0);
    let again = site.report();
    assert!((clock(&again) - clock(&report) - 3_000_000).abs() < 100_000, "{}", again["nodes"]);
    assert_eq!(
        (&again["nodes"][0]["clock_aligned"], &again["nodes"][1]["clock_aligned"]),
        (&false.into(), &true.into())
    );
}

/// What is read is named; all else is equal.
fn without_inputs(mut report: Value) -> Value {
    report.as_object_mut().unwrap().remove("inputs");
    report
}

#[test]
fn sums_about_one_client_then_nothing_is_kept() {
    let site = Site::new(2);
    site.record(&["--for", "3s"]).exits(0);
    let output = site.output().display().to_string();
    let everybody = site.report();
    let nid = everybody["clients"][0]["nid"].as_str().unwrap();
    // Servers are asked once more.
    let of_sums = ["record", "fetch", &output, "--plots", "none", "--fetch", "sums", "--client", nid];
    lioprof(&of_sums).exits(0).says(&["told of rows only"]);
    let report = site.report();
    assert_eq!(report["clients"].as_array().unwrap().len(), 1);
    assert_eq!(report["clients"][0]["rpcs"], everybody["clients"][0]["rpcs"]);

    // One host's rows are here, the other's are not: both are in the report.
    site.hosts[1].cable(false);
    let about = ["record", "fetch", &output, "--plots", "none", "--client", nid];
    lioprof(&about).exits(1).says(&["oss2: ", "lioprof record fetch"]);
    assert!(site.hosts[0].is_clean() && !site.hosts[1].is_clean());
    assert_eq!(site.reported().len(), 2);
    assert_eq!(site.report()["clients"][0]["rpcs"], report["clients"][0]["rpcs"]);
    // Sums about one client are no answer to a question about all.
    site.fetch().exits(1).says(&["the sums of oss2 are about --client"]);
    assert_eq!(site.reported().len(), 1);
    lioprof(&["record", "forget", &output]).exits(1).says(&["oss2: "]);
    site.hosts[1].cable(true);
    let run = lioprof(&["record", "forget", &output]).exits(0);
    assert!(String::from_utf8_lossy(&run.stdout).contains("the rows of 1 host are deleted there"), "{run}");
    assert!(site.hosts[1].is_clean());
    // What is here stays.
    lioprof(&about).exits(0);
    assert_eq!(site.reported().len(), 2);
}

#[test]
fn a_server_of_another_version_sends_rows() {
    let site = Site::new(2);
    let program = env!("CARGO_BIN_EXE_lioprof");
    // The first line that its agent says is of another version's.
    let says = r#"s/"version":"[^"]*"/"version":"9.9.9"/; s/"sums":"[^"]*"/"sums":"others"/"#;
    site.hosts[1].replace_lioprof(&format!(
        "#!/bin/sh\n{program} \"$@\" | {{ IFS= read -r line; printf '%s\\n' \"$line\" | sed '{says}'; exec cat; }}\n"
    ));
    site.record(&["--for", "2s"]).exits(0);
    assert!(!site.hosts[0].is_clean() && site.hosts[1].is_clean());
    let states: Vec<_> =
        site.recording()["hosts"].as_array().unwrap().iter().map(|host| host["state"].clone()).collect();
    assert_eq!(states, ["ended", "fetched"]);
    assert!(site.reported().len() == 2 && site.reported().iter().all(|(_, rpcs)| *rpcs > 50), "{:?}", site.reported());
}

fn bytes_by_target(report: &Value) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for flow in report["flows"].as_array().unwrap() {
        let bytes = |kind: &str| flow[kind]["bytes"].as_u64().unwrap();
        *sums.entry(flow["target"].as_str().unwrap().to_owned()).or_default() += bytes("read") + bytes("write");
    }
    sums
}

#[test]
fn an_interrupt_ends_it_in_order() {
    let site = Site::new(2);
    let recorder = site.start(&[]);
    until("something to show", || (site.hosts[0].node.played() > 1_000).then_some(()));
    recorder.signal(Signal::INT);
    let (code, stderr) = recorder.ends();
    assert_eq!(code, Some(0), "{stderr}");
    site.is_as_before();
    assert_eq!(site.reported().len(), 2);
}

#[test]
fn this_program_is_lent_to_a_host_that_lacks_it() {
    let site = Site::new(2);
    site.hosts[1].remove_lioprof();
    site.record(&["--for", "1s"]).exits(2).says(&["oss2", "`lioprof` is not there", "--push"]);
    site.is_as_before();
    site.record(&["--for", "3s", "--push"]).exits(0);
    site.is_as_before();
    assert_eq!(site.reported().len(), 2);
    // It stays as long as the rows do.
    let program = site.recording()["hosts"][1]["program"].as_str().unwrap().to_owned();
    assert!(program.contains("/lioprof-") && std::path::Path::new(&program).exists(), "{program}");
    site.fetch().exits(0);
    assert!(!std::path::Path::new(&program).exists() && site.hosts[1].is_clean(), "{program}");
}
