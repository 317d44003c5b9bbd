//! A scenario's counters as files: in the form of real servers' files, with the figures of the log that was played.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use lioprof_sim::kernel::LustreVersion;
use lioprof_sim::live::LiveScenario;
use lioprof_sim::scenario::{Options, Scenario};
use lioprof_sim::tree::Stats;
use lioprof_sim::{SimRecord, Stamp, Workload};
use lioprof_testkit::files::{fixture, folders_in};
use regex::Regex;

fn busy() -> Options {
    Options { rate: 400, duration_s: 3, osts: 2, clients: 3, ..Options::default() }
}

fn live(name: &str, version: LustreVersion) -> LiveScenario {
    LiveScenario::new(Scenario::named(name, &busy()).unwrap(), 0, version, Stamp::Original)
}

fn text(scenario: &LiveScenario, name: &str) -> String {
    String::from_utf8(scenario.stats().read(name).unwrap_or_else(|| panic!("no file {name}"))).unwrap()
}

/// A line without its figures: digits and blanks of any number are one.
fn shape(line: &str) -> String {
    let digits = Regex::new("[0-9]+").unwrap().replace_all(line, "0").into_owned();
    let names = Regex::new(r"\{ (0[KMG]?: 0(, )?)+ \}").unwrap().replace_all(&digits, "{ sizes }").into_owned();
    Regex::new(" +").unwrap().replace_all(&names, " ").into_owned()
}

/// Shapes of the lines of real `stats` and `job_stats` files, without the names at their beginnings.
fn real_shapes(prefix: &str) -> BTreeSet<String> {
    let mut shapes = BTreeSet::new();
    for capture in folders_in(fixture("captures")) {
        if capture.file_name().unwrap().to_string_lossy().starts_with("v215") == (prefix == "v215") {
            for server in ["server1", "server2"] {
                let truth = fs::read_to_string(capture.join(server).join("truth.txt")).unwrap_or_default();
                let lines = truth.lines().filter(|line| !line.contains('=')).map(|line| nameless(&shape(line)));
                shapes.extend(lines);
            }
        }
    }
    assert!(shapes.len() > 5, "no counters of {prefix}");
    shapes
}

fn nameless(line: &str) -> String {
    if line.starts_with("- job_id:") {
        return "job".to_owned();
    }
    let indent = if line.starts_with(' ') { " " } else { "" };
    let rest = line.trim_start().split_once(' ').map_or("", |(_, rest)| rest);
    let colon = if line.trim_start().split(' ').next().is_some_and(|name| name.ends_with(':')) { ":" } else { "" };
    format!("{indent}{colon}{rest}")
}

#[test]
fn files_look_like_those_of_real_servers() {
    for (version, prefix) in [(LustreVersion::V2_17, ""), (LustreVersion::V2_15, "v215")] {
        let known = real_shapes(prefix);
        let mut scenario = live("busy", version);
        let mut record = SimRecord::default();
        while scenario.next(&mut record) {}
        let stats = scenario.stats();
        let names = stats.names();
        assert!(names.len() > 50);
        for name in names.iter().filter(|name| name.ends_with("/stats") || name.ends_with("job_stats")) {
            // The captures were stripped of counters that counted nothing.
            let zero = |line: &&str| *line == "job_stats:" || line.contains("samples:           0,");
            for line in text(&scenario, name).lines().filter(|line| !zero(line)) {
                let shape = nameless(&shape(line));
                assert!(known.contains(&shape), "{version} {name}: {line:?} has a shape of its own: {shape:?}");
            }
        }
    }
}

/// `samples` and sum of a counter.
fn figures(text: &str, counter: &str) -> (u64, u64) {
    let line = text.lines().find(|line| line.split(' ').next() == Some(counter));
    let words: Vec<&str> = line.map(|line| line.split_whitespace().collect()).unwrap_or_default();
    let number = |at: usize| words.get(at).map_or(0, |word| word.parse().unwrap());
    (number(1), number(6))
}

#[test]
fn counters_move_with_the_log() {
    // What the log says, by the text of its lines alone.
    let handled = Regex::new(r"^Handled RPC .*:12345-([0-9.]+@tcp):([0-9]+)(:[^ ]*)? Request").unwrap();
    let mut scenario = live("busy", LustreVersion::V2_17);
    let mut record = SimRecord::default();
    let mut writes: BTreeMap<String, u64> = BTreeMap::new();
    let (mut looks, mut records) = (0, 0_u64);
    let sum = |scenario: &LiveScenario, nid: &str| -> u64 {
        let file = |ost| text(scenario, &format!("obdfilter/lustre-OST000{ost}/exports/{nid}/stats"));
        (0..2).map(|ost| figures(&file(ost), "write_bytes").0).sum()
    };
    while scenario.next(&mut record) {
        let line = String::from_utf8_lossy(&record.text).into_owned();
        if let Some(found) = handled.captures(&line).filter(|found| &found[2] == "4") {
            *writes.entry(found[1].to_owned()).or_default() += 1;
        }
        records += 1;
        if records % 1000 == 0 {
            looks += 1;
            for (nid, count) in &writes {
                assert_eq!(sum(&scenario, nid), *count, "{nid} after {records} records");
            }
        }
    }
    assert!(looks > 3 && writes.len() == 3, "{looks} looks, {writes:?}");
    for (nid, count) in &writes {
        assert_eq!(sum(&scenario, nid), *count);
    }
    let all: u64 = writes.values().sum();
    let osts = |file: &str| -> Vec<String> {
        (0..2).map(|ost| text(&scenario, &format!("obdfilter/lustre-OST000{ost}/{file}"))).collect()
    };
    let of_osts: u64 = osts("stats").iter().map(|text| figures(text, "write_bytes").0).sum();
    assert_eq!(of_osts, all);
    let job = Regex::new(r"write_bytes: +\{ samples: +([0-9]+),").unwrap();
    let of_jobs: u64 = osts("job_stats")
        .iter()
        .flat_map(|text| job.captures_iter(text).map(|found| found[1].parse::<u64>().unwrap()).collect::<Vec<_>>())
        .sum();
    assert_eq!(of_jobs, all);
    assert_eq!(figures(&text(&scenario, "ost/OSS/ost_io/stats"), "ost_write").0, all);
}
