//! Each view against the analysis of the same rows.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, Distribution, Io};

use crate::support::{PING_PONG, Rows, ask, number, open, tuples};

/// Captures of both versions of Lustre, with all masks, with reads and writes on several OSTs, with an eviction.
const CAPTURES: [&str; 5] = ["masks", "v215_masks", "shared_striped_write", "eviction_clean", "v215_lock_pingpong_dlm"];

fn each(check: impl Fn(&Rows, &str)) {
    for capture in CAPTURES {
        check(&Rows::of(capture), capture);
    }
    check(&PING_PONG, "lock_pingpong_dlm");
}

fn io(io: &Io) -> [String; 4] {
    let known = |bytes| number(io.known_bytes().map(|_| bytes));
    [io.rpcs.to_string(), known(io.bytes), known(io.bytes_min), known(io.bytes_max)]
}

#[test]
fn flows_are_those_of_the_analysis() {
    each(|rows, capture| {
        let sql = "SELECT nid, target, node, sum(reads) AS reads, sum(read_bytes) AS read_bytes,
                       sum(read_bytes_min) AS read_bytes_min, sum(read_bytes_max) AS read_bytes_max, sum(writes) AS writes,
                       sum(write_bytes) AS write_bytes, sum(write_bytes_min) AS write_bytes_min,
                       sum(write_bytes_max) AS write_bytes_max
                   FROM flows WHERE reads + writes > 0 GROUP BY nid, target, node";
        let mut found = tuples(&rows.session(), sql);
        let mut expected: Vec<Vec<String>> = rows
            .analysis
            .flows
            .iter()
            .map(|flow| {
                let target = flow.target.clone().unwrap_or_default();
                [vec![flow.nid.clone(), target, flow.node.clone()], io(&flow.read).into(), io(&flow.write).into()]
                    .concat()
            })
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{capture}");
    });
}

#[test]
fn every_rpc_is_in_rpcs_and_in_bandwidth() {
    each(|rows, capture| {
        let totals = &rows.analysis.totals;
        let all = format!("{:?}", [totals.rpcs, totals.sent_rpcs]);
        let sql = "SELECT (SELECT count(*) FROM rpcs) AS rpcs,
                       (SELECT count(*) FROM sent_rpcs WHERE round_trip_us IS NULL) AS sent_rpcs";
        assert_eq!(format!("[{}]", tuples(&rows.session(), sql)[0].join(", ")), all, "{capture}");
        let sums =
            "SELECT sum(rpcs) AS rpcs, sum(reads) AS reads, sum(read_bytes) AS read_bytes, sum(writes) AS writes,
                        sum(write_bytes) AS write_bytes
                    FROM bandwidth WHERE target IS NULL OR target NOT LIKE '%MDT%'";
        let found = &tuples(&rows.session(), sums)[0];
        let (read, write) = (&totals.read, &totals.write);
        let expected =
            [read.rpcs.to_string(), number(read.known_bytes()), write.rpcs.to_string(), number(write.known_bytes())];
        assert_eq!(found[1..], expected, "{capture}");
    });
}

#[test]
fn times_of_the_bandwidth_are_those_of_the_rpcs() {
    let sql = "SELECT count(*) AS wrong FROM (
                   SELECT second, node, target, sum(read_bytes + write_bytes) AS bytes, sum(rpcs) AS rpcs
                   FROM bandwidth GROUP BY second, node, target
                   EXCEPT
                   SELECT to_timestamp_micros(end_us / 1000000 * 1000000), node, target,
                       coalesce(sum(bytes) FILTER (WHERE opcode IN (3, 4)), 0), count(*)
                   FROM raw.rpcs GROUP BY end_us / 1000000, node, target
               ) AS differences";
    assert_eq!(tuples(&PING_PONG.session(), sql), [["0"]]);
}

#[test]
fn latency_has_the_percentiles_of_the_analysis() {
    each(|rows, capture| {
        let sql = "SELECT node, target, opcode_name, phase, rpcs, p50_us, p90_us, p99_us, p999_us, max_us FROM latency
                   WHERE opcode_name IN ('OST_READ', 'OST_WRITE') AND target IS NOT NULL";
        let mut found = tuples(&rows.session(), sql);
        let mut expected = expected_latency(&rows.analysis);
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{capture}");
    });
}

fn expected_latency(analysis: &Analysis) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for target in &analysis.targets {
        for (opcode, io) in [("OST_READ", &target.read), ("OST_WRITE", &target.write)] {
            let latency = &io.latency;
            for (phase, times) in
                [("queue", &latency.queue_us), ("service", &latency.service_us), ("total", &latency.total_us)]
            {
                if times.count > 0 {
                    let key = [&target.node, &target.name, opcode, phase].map(str::to_owned);
                    rows.push([key.as_slice(), &percentiles(times)].concat());
                }
            }
        }
    }
    rows
}

fn percentiles(times: &Distribution) -> [String; 6] {
    [Some(times.count), times.p50, times.p90, times.p99, times.p999, times.max].map(number)
}

#[test]
fn lock_waits_are_those_of_the_analysis() {
    each(|rows, capture| {
        let locks = rows.analysis.locks.as_ref().unwrap();
        let sql = "SELECT job, sum(wait_us) / 1e6 AS wait_s, count(*) AS waits FROM lock_waits WHERE behind = 'client' GROUP BY job";
        let found: BTreeMap<String, (f64, String)> = ask(&rows.session(), sql)
            .iter()
            .map(|row| (row["job"].to_string(), (row["wait_s"].as_f64().unwrap_or(0.0), row["waits"].to_string())))
            .collect();
        let blocked = locks.jobs.iter().filter(|job| job.blocked > 0);
        let expected: BTreeMap<String, (f64, String)> = blocked
            .map(|job| (serde_json::to_string(&job.job).unwrap(), (job.wait_s, job.blocked.to_string())))
            .collect();
        // Captures without dlmtrace have no lock lines: the analysis then reckons by callbacks.
        if locks.totals.enqueues.is_some() {
            assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{capture}");
            for (job, (wait_s, waits)) in &expected {
                assert_eq!(&found[job].1, waits, "{capture}, {job}");
                // The analysis puts a node's clock right, in that of the eviction by 9 millionths.
                assert!(
                    (found[job].0 - wait_s).abs() < 1e-3 + wait_s * 2e-5,
                    "{capture}, {job}: {} {wait_s}",
                    found[job].0
                );
            }
        } else {
            assert!(found.is_empty(), "{capture}");
        }
    });
}

#[test]
fn lock_conflicts_are_those_of_the_analysis() {
    each(|rows, capture| {
        let locks = rows.analysis.locks.as_ref().unwrap();
        if locks.totals.enqueues.is_none() {
            return;
        }
        let sql = "SELECT target, kind, count(*) AS conflicts FROM lock_conflicts GROUP BY target, kind";
        let mut found = tuples(&rows.session(), sql);
        let mut expected = Vec::new();
        for target in &locks.targets {
            let kinds = &target.totals.kinds;
            for (kind, conflicts) in [("client", kinds.client), ("own", kinds.own), ("server", kinds.server)] {
                if conflicts > 0 {
                    expected.push(vec![target.target.clone(), kind.to_owned(), conflicts.to_string()]);
                }
            }
        }
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{capture}");

        let sql =
            "SELECT target, holder_nid, waiter_nid, count(*) AS conflicts FROM lock_conflicts WHERE kind = 'client'
                   GROUP BY target, holder_nid, waiter_nid";
        let mut found = tuples(&rows.session(), sql);
        let pairs = locks.pairs.iter().chain(&locks.mdt_pairs).filter(|pair| pair.conflicts > 0);
        let mut expected: Vec<Vec<String>> = pairs
            .map(|it| vec![it.target.clone(), it.holder_nid.clone(), it.waiter_nid.clone(), it.conflicts.to_string()])
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{capture}");
    });
}

#[test]
fn a_table_that_nobody_wrote_is_empty() {
    // rpctrace alone: no lock lines. An export: no counters.
    let rows = Rows::of("dk_plain");
    assert!(!rows.path().join("lock_events").exists());
    assert_eq!(tuples(&rows.session(), "SELECT count(*) AS n, max(cookie) AS c FROM raw.lock_events"), [["0", ""]]);
    for view in ["lock_events", "lock_conflicts", "lock_waits", "counters"] {
        assert_eq!(ask(&rows.session(), &format!("SELECT * FROM {view}")), Vec::<serde_json::Value>::new(), "{view}");
    }
}

#[test]
fn folders_give_their_names_back() {
    let rows = Rows::of("dk_plain");
    let fs = rows.path().join("rpcs/fs=lustre");
    // As the store writes a node called `oss/1=ä`.
    std::fs::rename(fs.join("node=server2"), fs.join("node=oss%2F1%3D%C3%A4")).unwrap();
    let sql = "SELECT DISTINCT fs, node, date FROM rpcs ORDER BY node";
    let day = "2026-11-21";
    assert_eq!(tuples(&rows.session(), sql), [["lustre", "oss/1=ä", day], ["lustre", "server1", day]]);
    let sql = "SELECT count(*) > 0 AS found FROM rpcs WHERE node = 'oss/1=ä' AND date = '2026-11-21'";
    assert_eq!(tuples(&rows.session(), sql), [["true"]]);
}

#[test]
fn several_datasets_below_one_folder_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (Rows::of("masks"), Rows::of("v215_masks"));
    for (name, rows) in [("a ä", &a), ("b%2F#?", &b)] {
        std::os::unix::fs::symlink(rows.path(), folder.path().join(name)).unwrap();
    }
    let session = open(folder.path().to_str().unwrap());
    let sum = (a.analysis.totals.rpcs + b.analysis.totals.rpcs).to_string();
    assert_eq!(tuples(&session, "SELECT count(*) AS n FROM rpcs"), [[sum]]);
}
