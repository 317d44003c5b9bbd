//! Clocks of real servers: no message arrives before it was sent.
//!
//! The RPCs of which two servers tell are found here anew, in the text of their logs, with a parser of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lioprof_testkit::files::unpacked;
use serde_json::Value;

use crate::captures::{Capture, Server, captures};
use crate::figures::{number, rows, text};
use crate::util::{analyze_run, lioprof, lioprof_fed};

/// xid, opcode, uuid of the sender.
type Key = (u64, u64, String);

/// What one log says; microseconds on its own clock.
#[derive(Default)]
struct Log {
    /// Sent, answered.
    sent: BTreeMap<Key, (i64, i64)>,
    /// Arrival, start of handling.
    handled: BTreeMap<Key, (i64, i64)>,
}

impl Log {
    fn parse(log: &str) -> Self {
        let (mut out, mut open) = (Self::default(), BTreeMap::new());
        for line in log.lines() {
            let Some(time_us) = time_us(line) else { continue };
            if let Some(rest) = after(line, "Sending RPC ") {
                open.extend(sent_key(rest).map(|key| (key, time_us)));
            } else if let Some(rest) = after(line, "Completed RPC ") {
                let key = sent_key(rest);
                let sent = key.and_then(|key| open.remove(&key).map(|sent_us| (key, (sent_us, time_us))));
                out.sent.extend(sent);
            } else if let Some(rest) = after(line, "Handled RPC ") {
                out.handled.extend(handled(rest, time_us));
            }
        }
        out
    }
}

/// The text after a word, and after the description of fields that follows it.
fn after<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let (_, fields) = line.split_once(word)?.1.split_once("pname:cluuid")?;
    Some(fields.split_once(' ')?.1)
}

fn time_us(line: &str) -> Option<i64> {
    let (s, us) = line.split(':').nth(3)?.split_once('.')?;
    Some(s.parse::<i64>().ok()? * 1_000_000 + us.parse::<i64>().ok()?)
}

/// `ptlrpcd_00_01:lustre-MDT0000-mdtlov_UUID:318:1882455779964928:10.10.0.2@tcp:13:`; what a node says to itself is left out.
fn sent_key(rest: &str) -> Option<Key> {
    let fields: Vec<&str> = rest.split(':').collect();
    let [_, uuid, _, xid, nid, opcode, ..] = fields[..] else { return None };
    (nid != "0@lo").then_some(())?;
    Some((xid.parse().ok()?, opcode.parse().ok()?, uuid.to_owned()))
}

/// `ll_ost00_003:UUID+5:318:x1882455779964928:12345-10.10.0.1@tcp:13: Request processed in 123us (234us total) trans ..`
fn handled(rest: &str, end_us: i64) -> Option<(Key, (i64, i64))> {
    let (fields, outcome) = rest.split_once(" Request proces")?;
    let fields: Vec<&str> = fields.split(':').collect();
    let [_, client, _, xid, nid, opcode, ..] = fields[..] else { return None };
    (nid != "12345-0@lo").then_some(())?;
    let uuid = client.split('+').next()?.to_owned();
    let (service, total) = outcome.split_once(" in ")?.1.split_once("us (")?;
    let (service_us, total_us): (i64, i64) = (service.parse().ok()?, total.split_once("us")?.0.parse().ok()?);
    let key = (xid.strip_prefix('x')?.parse().ok()?, opcode.parse().ok()?, uuid);
    Some((key, (end_us - total_us, end_us - service_us)))
}

/// A node's clock as the analysis tells of it.
struct Clock {
    mid_us: f64,
    offset_us: f64,
    drift: f64,
    error_us: f64,
    pairs: u64,
}

impl Clock {
    fn of(json: &Value, name: &str) -> Self {
        let node = rows(json, "nodes").iter().find(|node| text(node, "name") == Some(name)).unwrap();
        let input = rows(json, "inputs").iter().find(|input| text(input, "node") == Some(name)).unwrap();
        let float = |row: &Value, key: &str| row[key].as_f64().unwrap_or_else(|| panic!("no `{key}` in {row}"));
        Self {
            mid_us: f64::midpoint(float(input, "first"), float(input, "last")) * 1e6,
            offset_us: float(node, "clock_offset_us"),
            drift: float(node, "clock_drift_ppm") * 1e-6,
            error_us: float(node, "clock_error_us"),
            pairs: number(node, "pairs").unwrap(),
        }
    }

    /// On the reference's clock, as far after the middle of the log as differences of such times need it.
    fn on_reference(&self, us: i64) -> f64 {
        let since_us = us as f64 - self.mid_us;
        us as f64 - self.offset_us - self.drift * since_us
    }
}

/// Logs of a capture's servers, by their names.
fn logs(capture: &Capture) -> Vec<(String, PathBuf)> {
    let log = |server: &Server| server.text().or_else(|| server.binary()).unwrap();
    capture.servers.iter().map(|server| (server.name.clone(), log(server))).collect()
}

/// A log as text.
fn as_text(path: &Path) -> String {
    let bytes = if path.to_string_lossy().contains(".txt") {
        unpacked(path)
    } else {
        lioprof(&["decode".as_ref(), path.as_os_str()]).stdout
    };
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn nothing_arrives_before_it_was_sent() {
    // Rounding of offset, drift and times.
    const ROUNDING_US: f64 = 3.0;
    let mut both_ways = 0;
    for capture in captures().iter().filter(|capture| capture.servers.len() == 2) {
        let name = &capture.name;
        let logs = logs(capture);
        let paths: Vec<_> = logs.iter().map(|(_, path)| path.as_path()).collect();
        let json = analyze_run(&paths, &[]).json();
        let clocks: Vec<Clock> = logs.iter().map(|(server, _)| Clock::of(&json, server)).collect();
        let texts: Vec<Log> = logs.iter().map(|(_, path)| Log::parse(&as_text(path))).collect();
        // Of the second clock over the first one: [at least, at most], by direction.
        let mut ranges: Vec<(i64, i64)> = Vec::new();
        let mut pairs = 0;
        for (sender, receiver) in [(0, 1), (1, 0)] {
            let (mut at_least, mut at_most) = (i64::MIN, i64::MAX);
            for (key, &(sent_us, answered_us)) in &texts[sender].sent {
                let Some(&(arrival_us, start_us)) = texts[receiver].handled.get(key) else { continue };
                pairs += 1;
                let (here, there) = (&clocks[sender], &clocks[receiver]);
                let way_us = there.on_reference(arrival_us) - here.on_reference(sent_us);
                assert!(way_us > -ROUNDING_US, "{name}: {key:?} arrives {way_us} us after it was sent");
                let back_us = here.on_reference(answered_us) - there.on_reference(start_us);
                assert!(back_us > -ROUNDING_US, "{name}: {key:?} is answered {back_us} us after its handling begins");
                at_most = at_most.min(arrival_us - sent_us);
                at_least = at_least.max(start_us - answered_us);
            }
            if at_most < i64::MAX {
                ranges.push(if sender == 0 { (at_least, at_most) } else { (-at_most, -at_least) });
            }
        }
        assert!(pairs > 0, "{name}: these servers talk to each other");
        assert_eq!(clocks.iter().map(|clock| clock.pairs).collect::<BTreeSet<_>>(), BTreeSet::from([pairs]), "{name}");
        // What was measured in the one direction is possible in the other.
        if let [forth, back] = ranges[..] {
            both_ways += 1;
            assert!(forth.0.max(back.0) <= forth.1.min(back.1), "{name}: {forth:?} {back:?}");
        }
        for (at_least, at_most) in ranges {
            let (offset_us, error_us) = (clocks[1].offset_us, clocks[1].error_us);
            let possible = offset_us + error_us >= at_least as f64 && offset_us - error_us <= at_most as f64;
            assert!(possible, "{name}: {offset_us} +- {error_us} is not between {at_least} and {at_most}");
        }
        // Readings of both clocks by hand put them within a second or two.
        assert!(clocks[1].offset_us.abs() < 2e6, "{name}: {}", clocks[1].offset_us);
        assert!(clocks[1].error_us < 20_000.0, "{name}: {}", clocks[1].error_us);
        assert!((clocks[0].offset_us, clocks[0].error_us) == (0.0, 0.0), "{name}: the first one is the reference");
    }
    assert!(both_ways > 0);
}

#[test]
fn one_server_has_no_clock_to_compare() {
    let capture = captures().into_iter().find(|capture| capture.servers.len() == 2).unwrap();
    let (name, path) = &logs(&capture)[0];
    let json = analyze_run(&[path], &[]).json();
    let node = &rows(&json, "nodes")[0];
    assert_eq!(text(node, "name"), Some(name.as_str()));
    for key in ["clock_reference", "clock_offset_us", "clock_error_us", "clock_drift_ppm", "clock_drift_error_ppm"] {
        assert_eq!(node[key], Value::Null, "{key}");
    }
    assert_eq!((&node["pairs"], &node["clock_aligned"]), (&Value::from(0), &Value::from(false)));
}

#[test]
fn a_log_on_standard_input_keeps_its_clock() {
    let capture = captures().into_iter().find(|capture| capture.servers.len() == 2).unwrap();
    let logs = logs(&capture);
    let bytes = unpacked(&logs[1].1);
    let args = ["analyze", logs[0].1.to_str().unwrap(), "-", "--format", "json"];
    let json = lioprof_fed(&args, |to| std::io::Write::write_all(to, &bytes)).json();
    let fed = rows(&json, "nodes").iter().find(|node| text(node, "name") != Some("server1")).unwrap();
    assert!(fed["clock_offset_us"].as_i64().unwrap().abs() > 1000, "{fed}");
    assert_eq!(fed["clock_aligned"], Value::from(false));
    let warnings = rows(&json, "warnings");
    assert!(
        warnings
            .iter()
            .any(|it| it.as_str().unwrap().contains("standard input, pipes and texts of several hosts are read once")),
        "{warnings:?}"
    );
}
