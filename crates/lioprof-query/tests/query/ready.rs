//! The ready queries: what their heads say is true, their answers are the analysis's, their parameters are safe.

use std::collections::BTreeMap;

use lioprof_model::Io;
use lioprof_query::ready::{self, Ready};
use lioprof_query::{Bound, Session};
use serde_json::Value;

use crate::support::{PING_PONG, Rows, number, table, try_ask, wait};

fn values(query: &Ready, set: &[(&str, &str)], days: &[String]) -> Result<Bound, String> {
    let set: Vec<(String, String)> =
        set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Bound::new(query, &set, days).map_err(|err| err.to_string())
}

fn run(session: &Session, name: &str, set: &[(&str, &str)]) -> Vec<Value> {
    let query = ready::find(name).unwrap();
    let dataset = session.dataset().clone();
    let days = wait(async move { dataset.dates().await.unwrap() });
    let values = values(query, set, &days).unwrap();
    try_ask(session, query.sql, &values).unwrap_or_else(|err| panic!("{name}: {err}"))
}

#[test]
fn heads_tell_the_columns_and_the_parameters() {
    let rows = Rows::of("eviction_clean");
    for query in ready::all() {
        assert!(query.question.ends_with('?'), "{}", query.name);
        for parameter in &query.parameters {
            assert!(query.sql.contains(&format!("${}", parameter.name)), "{}: {}", query.name, parameter.name);
        }
        for placeholder in query.sql.split('$').skip(1) {
            let name: String = placeholder.chars().take_while(char::is_ascii_lowercase).collect();
            assert!(query.parameters.iter().any(|it| it.name == name), "{}: {name}", query.name);
        }
        let declared: Vec<&str> = query.columns.iter().map(|column| column.name.as_str()).collect();
        let defaults = values(query, &[], &[]).unwrap();
        let answers = [&rows, &PING_PONG].map(|rows| table(&rows.session(), query.sql, &defaults));
        assert!(answers.iter().any(|answer| answer.len() > 1), "{}: no rows", query.name);
        assert_eq!(answers[0][0], declared, "{}", query.name);
    }
}

/// RPCs and known bytes, as JSON shows them.
fn io(read: &Io, write: &Io) -> [String; 4] {
    let known = |io: &Io| io.known_bytes().map_or_else(|| "null".to_owned(), |bytes| bytes.to_string());
    [read.rpcs.to_string(), known(read), write.rpcs.to_string(), known(write)]
}

#[test]
fn bytes_are_those_of_the_analysis() {
    // The second one has Data-on-MDT, which neither counts as what a client or job did with OSTs; the third one clients' logs, which
    // have callbacks of servers.
    for capture in ["shared_striped_write", "ops_mix", "op_anatomy"] {
        bytes_are_those_of(&Rows::of(capture));
    }
}

#[test]
fn bytes_of_targets_are_those_of_the_analysis() {
    let rows = Rows::of("shared_striped_write");
    let session = rows.session();
    let rows_by_target = run(&session, "bytes-per-target", &[]);
    for target in &rows.analysis.targets {
        let row = rows_by_target.iter().find(|row| row["target"] == target.name.as_str()).unwrap();
        let found = ["reads", "read_bytes", "writes", "write_bytes"].map(|column| row[column].to_string());
        assert_eq!(found, io(&target.read.io, &target.write.io), "{}", target.name);
        // One target, named by its end, is that row's sum.
        let end = target.name.split_once('-').unwrap().1;
        let users = run(&session, "who-used-target", &[("target", end), ("limit", "1000000")]);
        let sum: u64 = users.iter().map(|user| user["write_bytes"].as_u64().unwrap()).sum();
        assert_eq!(number(Some(sum)), row["write_bytes"].to_string(), "{end}");
        assert!(users.iter().all(|user| user["target"] == target.name.as_str()));
    }
}

fn bytes_are_those_of(rows: &Rows) {
    let analysis = &rows.analysis;
    let by_name = |name: &str, columns: [&str; 6]| -> BTreeMap<String, Vec<String>> {
        let rows = run(&rows.session(), name, &[("limit", "1000000")]);
        rows.iter()
            .map(|row| (row[columns[0]].to_string(), columns[1..].iter().map(|it| row[*it].to_string()).collect()))
            .collect()
    };
    let json = |name: &Option<String>| serde_json::to_string(name).unwrap();

    let found = by_name("busiest-clients", ["nid", "rpcs", "reads", "read_bytes", "writes", "write_bytes"]);
    let expected: BTreeMap<_, _> = analysis
        .clients
        .iter()
        .map(|client| {
            let row = [vec![client.rpcs.to_string()], io(&client.read, &client.write).into()].concat();
            (json(&Some(client.nid.clone())), row)
        })
        .collect();
    assert_eq!(found, expected);

    let found = by_name("busiest-jobs", ["job", "rpcs", "reads", "read_bytes", "writes", "write_bytes"]);
    let expected: BTreeMap<_, _> = analysis
        .jobs
        .iter()
        .map(|job| (json(&job.job), [vec![job.rpcs.to_string()], io(&job.read, &job.write).into()].concat()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn time_of_servers_is_that_of_the_analysis() {
    // The metadata of the second one has most requests and moves next to nothing.
    for capture in ["shared_striped_write", "metadata"] {
        let rows = Rows::of(capture);
        let found = run(&rows.session(), "who-took-time", &[("limit", "1000000")]);
        let server_ms = |row: &Value| (row["server_s"].as_f64().unwrap() * 1e3).round();
        let times: Vec<f64> = found.iter().map(server_ms).collect();
        assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
        // Each row is rounded to a millisecond.
        let is_that_of = |who: &str, name: &Value, rpcs: u64, server_us: Option<u64>| {
            let of_it = || found.iter().filter(|row| row[who] == *name);
            assert_eq!(of_it().map(|row| row["rpcs"].as_u64().unwrap()).sum::<u64>(), rpcs, "{name}");
            let off_ms = of_it().map(server_ms).sum::<f64>() - server_us.unwrap() as f64 / 1e3;
            assert!(off_ms.abs() <= 0.5 * of_it().count() as f64 + 1e-6, "{name}: {off_ms} ms");
        };
        for client in &rows.analysis.clients {
            is_that_of("nid", &Value::from(client.nid.clone()), client.rpcs, client.server_us());
        }
        for job in &rows.analysis.jobs {
            is_that_of("job", &Value::from(job.job.clone()), job.rpcs, job.server_us());
        }
    }
}

#[test]
fn writes_of_unknown_size_are_in_sight_and_counts_agree() {
    // Without dlmtrace and net most writes have no size.
    let rows = Rows::of("dk_plain");
    let session = rows.session();
    let of_job = |name: &str, job: &str| {
        let rows = run(&session, name, &[("limit", "1000000")]);
        rows.into_iter().find(|row| row["job"] == job).unwrap_or_else(|| panic!("{name}: {job}"))
    };
    let jobs = rows.analysis.jobs.iter().filter(|job| job.write.rpcs > 0);
    let mut seen = 0;
    for job in jobs {
        let name = job.job.as_deref().unwrap();
        let (busiest, small) = (of_job("busiest-jobs", name), of_job("small-writes-by-job", name));
        assert_eq!(busiest["unsized_rpcs"], job.read.unsized_rpcs + job.write.unsized_rpcs, "{name}");
        assert_eq!(small["writes"], job.write.rpcs, "{name}");
        assert_eq!(small["unsized_rpcs"], job.write.unsized_rpcs, "{name}");
        seen += job.write.unsized_rpcs;
    }
    assert!(seen > 0);
    for name in ["busiest-clients", "bytes-per-target"] {
        let rows = run(&session, name, &[]);
        let unsized_rpcs: u64 = rows.iter().map(|row| row["unsized_rpcs"].as_u64().unwrap()).sum();
        assert!(unsized_rpcs >= seen, "{name}");
    }
}

#[test]
fn locks_are_those_of_the_analysis() {
    let locks = PING_PONG.analysis.locks.as_ref().unwrap();
    let session = PING_PONG.session();
    let jobs = run(&session, "jobs-by-lock-wait", &[]);
    let expected: Vec<_> = locks.jobs.iter().filter(|job| job.blocked > 0).collect();
    assert_eq!(jobs.len(), expected.len());
    for (found, expected) in jobs.iter().zip(expected) {
        assert_eq!(
            (&found["job"], found["waits"].as_u64()),
            (&Value::from(expected.job.clone()), Some(expected.blocked))
        );
        assert!((found["wait_s"].as_f64().unwrap() - expected.wait_s).abs() < 1e-3);
    }
    let fights = run(&session, "lock-fights", &[]);
    let conflicts: u64 = fights.iter().map(|pair| pair["conflicts"].as_u64().unwrap()).sum();
    assert_eq!(conflicts, locks.totals.conflicts + locks.mdt_totals.conflicts);
    let answers = run(&session, "callback-answers", &[("limit", "1000000")]);
    let sent: u64 = answers.iter().map(|client| client["sent"].as_u64().unwrap()).sum();
    assert_eq!(sent, locks.totals.blocking_asts + locks.mdt_totals.blocking_asts);

    let evicted = Rows::of("eviction_clean");
    let locks = evicted.analysis.locks.as_ref().unwrap();
    let evictions = run(&evicted.session(), "evictions", &[]);
    assert_eq!(evictions.len() as u64, evicted.analysis.totals.evictions);
    // Those for locks name what was locked, the others are of clients that had fallen silent.
    let of_locks = evictions.iter().filter(|eviction| !eviction["resource"].is_null()).count() as u64;
    assert_eq!(of_locks, locks.totals.evictions + locks.mdt_totals.evictions);
}

#[test]
fn percentiles_of_a_minute_are_within_those_of_its_rpcs() {
    let session = PING_PONG.session();
    let rows = run(&session, "p99-per-minute", &[("opcode", "OST_WRITE")]);
    let rpcs: u64 = rows.iter().map(|row| row["rpcs"].as_u64().unwrap()).sum();
    let expected: u64 = PING_PONG.analysis.targets.iter().map(|target| target.write.latency.total_us.count).sum();
    assert_eq!(rpcs, expected);
    let longest = rows.iter().map(|row| row["max_us"].as_u64().unwrap()).max();
    assert_eq!(longest, PING_PONG.analysis.targets.iter().filter_map(|target| target.write.latency.total_us.max).max());
}

#[test]
fn from_and_to_cut_without_overlap_or_hole() {
    let session = PING_PONG.session();
    let count = |set: &[(&str, &str)]| {
        let rows = run(&session, "bytes-per-target", set);
        rows.iter().map(|row| row["rpcs"].as_u64().unwrap()).sum::<u64>()
    };
    let all = try_ask(
        &session,
        "SELECT CAST(approx_percentile_cont(end_us, 0.5) AS BIGINT) AS middle FROM rpcs",
        &Bound::default(),
    );
    let middle = all.unwrap()[0]["middle"].as_i64().unwrap();
    let middle = format!("{}.{:06}", middle / 1_000_000, middle % 1_000_000);
    let (before, after) = (count(&[("to", &middle)]), count(&[("from", &middle)]));
    assert!(before > 0 && after > 0);
    assert_eq!(before + after, PING_PONG.analysis.totals.rpcs);
}

#[test]
fn a_value_is_a_value_and_never_sql() {
    let session = PING_PONG.session();
    for evil in ["' OR '1'='1", "x'; DROP VIEW rpcs; --", "$limit", "\\", "%' --"] {
        assert!(run(&session, "who-used-target", &[("target", evil)]).is_empty(), "{evil}");
    }
    assert!(!run(&session, "who-used-target", &[]).is_empty());
}

#[test]
fn wrong_values_say_what_was_expected() {
    let query = ready::find("who-used-target").unwrap();
    let one = ["2026-11-21".to_owned()];
    for (set, message) in [
        (("limit", "ten"), "parameter `limit`: expected a whole number, found `ten`"),
        (("limit", "-1"), "parameter `limit`: expected a whole number, found `-1`"),
        (("from", "noon"), "parameter `from`: expected a time such as 2026-11-21T08:51:22Z"),
        (("tagret", "x"), "has no parameter `tagret`; it has `target`, `from`, `to`, `limit`"),
    ] {
        let error = values(query, &[set], &one).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let error = values(query, &[("from", "09:00"), ("to", "08:00")], &one).unwrap_err();
    assert_eq!(error, "parameter `to`: expected a time after that of `from`, `09:00`, found `08:00`");
    // `to` itself is excluded.
    assert!(values(query, &[("from", "09:00"), ("to", "09:00")], &one).is_err());
    let two = ["2026-11-20".to_owned(), "2026-11-21".to_owned()];
    let error = values(query, &[("from", "3:00")], &two).unwrap_err();
    assert!(error.contains("expected a time with its day"), "{error}");
    let error = ready::find("busiest-client").unwrap_err().to_string();
    assert!(error.contains("did you mean `busiest-clients`"), "{error}");
    let query = ready::find("slowest-rpcs").unwrap();
    let error = values(query, &[("opcode", "ost_wirte")], &one).unwrap_err();
    assert!(error.starts_with("parameter `opcode`: expected an operation such as OST_REPLY"), "{error}");
    assert!(error.ends_with("OST_SEEK, or a number, found `ost_wirte`"), "{error}");
    let error = values(query, &[("opcode", "x")], &one).unwrap_err();
    assert!(error.contains("such as OST_READ, OST_WRITE, MDS_REINT, LDLM_ENQUEUE"), "{error}");
}

#[test]
fn operations_are_named_in_either_case_or_by_number() {
    let session = PING_PONG.session();
    let expected = run(&session, "p99-per-minute", &[("opcode", "OST_WRITE")]);
    assert!(!expected.is_empty());
    for opcode in ["ost_write", "Ost_Write", "4"] {
        assert_eq!(run(&session, "p99-per-minute", &[("opcode", opcode)]), expected, "{opcode}");
    }
}
