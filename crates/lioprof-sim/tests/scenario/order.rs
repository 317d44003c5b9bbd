//! What holds in every log: time, windows, numbers, and the same log from the same seed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use lioprof_sim::cluster::{Access, ClientConfig, Cluster, DiskConfig, Op, ServerConfig};
use lioprof_sim::scenario::{Options, Scenario};
use lioprof_sim::{SimRecord, Workload as _, text};
use regex::Regex;

use crate::records::{simulated, small};

static RPC: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(Handling|Handled) RPC .*:x(\d+):12345-([^ ]*@[a-z0-9]+):(\d+):").unwrap());

#[test]
fn time_windows_and_xids() {
    for scenario in Scenario::all() {
        let name = scenario.name;
        let (recs, _) = simulated(name, &small());
        let mut open: BTreeMap<u32, u64> = BTreeMap::new();
        let mut last_us = i64::MIN;
        let mut seen = BTreeSet::new();
        let mut windows = 0;
        for rec in &recs {
            assert!(rec.time_us >= last_us, "{name}: time goes back at {}", rec.text);
            last_us = rec.time_us;
            assert!(rec.text.ends_with('\n') && !rec.text.trim_end().contains('\n'), "{name}: {:?}", rec.text);
            let Some(found) = RPC.captures(&rec.text) else { continue };
            let xid: u64 = found[2].parse().unwrap();
            if &found[1] == "Handling" {
                assert_eq!(open.insert(rec.pid, xid), None, "{name}: two windows of pid {}", rec.pid);
                assert!(seen.insert((found[3].to_owned(), xid)), "{name}: x{xid} twice");
                windows += 1;
            } else if let Some(begun) = open.remove(&rec.pid) {
                assert_eq!(begun, xid, "{name}");
            } else {
                assert!(rec.text.contains("rc 0/-999"), "{name}: ended but never begun: {}", rec.text);
            }
        }
        assert_eq!(open.is_empty(), name != "hung-requests", "{name}: requests without an end");
        assert!(windows > 0, "{name}");
    }
}

fn bytes(name: &str, options: &Options) -> Vec<u8> {
    let mut simulation = Scenario::named(name, options).unwrap();
    let mut record = SimRecord::default();
    let mut out = Vec::new();
    while simulation.next(&mut record) {
        text::write_record(&mut out, &record, false).unwrap();
    }
    out
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for scenario in Scenario::all() {
        let once = bytes(scenario.name, &small());
        assert!(once == bytes(scenario.name, &small()), "{}", scenario.name);
        assert!(once != bytes(scenario.name, &Options { seed: 2, ..small() }), "{}", scenario.name);
    }
}

#[test]
fn one_server_of_many_logs_its_part_of_all() {
    let all = Options { servers: 3, ..small() };
    let lines = |options: &Options| bytes("lock-pingpong", options).iter().filter(|&&byte| byte == b'\n').count();
    let parts: Vec<usize> = (0..3).map(|node| lines(&Options { follow: Some(node), ..all })).collect();
    assert!(parts.iter().all(|&part| part > 0), "{parts:?}");
    assert_eq!(parts.iter().sum::<usize>(), lines(&all));
}

#[test]
fn masks_only_leave_out() {
    let all = small();
    let light = Options { interest: (0x10_0000, u32::MAX), ..all };
    let keep = |text: Vec<u8>| -> Vec<String> {
        let text = String::from_utf8(text).unwrap();
        text.lines().filter(|line| line.as_bytes()[11] != b'0').map(str::to_owned).collect()
    };
    let (light, all) = (keep(bytes("lock-pingpong", &light)), keep(bytes("lock-pingpong", &all)));
    assert!(light.len() > 100);
    assert!(light == all);
}

#[test]
fn an_unknown_scenario_says_which_there_are() {
    let error = Scenario::named("pong", &Options::default()).err().unwrap().to_string();
    assert!(error.contains("`pong`") && error.contains("lock-pingpong"), "{error}");
}

#[test]
fn two_mounts_of_one_machine_share_its_numbers() {
    let mut cluster = Cluster::new(3, 1_795_250_600_000_000);
    let server = cluster.server(ServerConfig::default());
    let ost = cluster.ost(server, DiskConfig::default());
    let first = cluster.client(ClientConfig::default());
    let second = cluster.mount_beside(first, ClientConfig::default());
    for mount in [first, second] {
        let file = cluster.file(1 << 20, &[ost]);
        let writes = (0..20).map(move |step| Op::Io(Access::write(file, step << 20, 1 << 20)));
        cluster.process(mount, "dd.0", Box::new(std::iter::once(Op::Mark("begin".to_owned())).chain(writes)));
    }
    let mut simulation = cluster.start();
    let mut record = SimRecord::default();
    let (mut xids, mut markers) = (BTreeSet::new(), 0);
    while simulation.next(&mut record) {
        let line = String::from_utf8_lossy(&record.text);
        markers += usize::from(line == "DEBUG MARKER: begin\n");
        if let Some(found) = RPC.captures(&line).filter(|found| &found[1] == "Handling") {
            assert!(xids.insert(found[2].to_owned()), "x{} twice", &found[2]);
        }
    }
    let counters = simulation.counters();
    let export = &counters.targets["lustre-OST0000"].exports["10.10.1.1@tcp"];
    assert_eq!((export.uuids.len(), export.traffic.write_bytes.count, markers), (2, 40, 2));
}

/// A simulation may run on another thread than the one that made it.
#[test]
fn a_simulation_can_be_sent() {
    fn sent<T: Send>(_: &T) {}
    sent(&Scenario::all()[0].start(&small()));
}
