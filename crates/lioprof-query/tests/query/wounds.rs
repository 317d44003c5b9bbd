//! What is wrong is said, with the name of what is at fault.

use std::fs;
use std::path::{Path, PathBuf};

use lioprof_query::{Bound, Dataset};

use crate::support::{PING_PONG, Rows, ask, repository, try_ask, wait};

fn problem(sql: &str) -> String {
    try_ask(&PING_PONG.session(), sql, &Bound::default()).unwrap_err()
}

fn opening(dataset: &Path) -> String {
    let name = dataset.to_str().unwrap().to_owned();
    wait(async move { Dataset::open(&name).await.unwrap_err().to_string() })
}

#[test]
fn bad_sql() {
    for (sql, expected) in [
        ("SELEC 1", "the SQL cannot be parsed"),
        ("SELECT * FROM", "the SQL cannot be parsed"),
        ("SELECT 'x", "the SQL cannot be parsed: Unterminated string literal"),
        ("SELECT ☃ FROM rpcs", "the SQL cannot be parsed"),
        ("SELECT nidd FROM rpcs", "nidd"),
        ("SELECT * FROM rpc", "rpc"),
        ("SELECT nosuch(nid) FROM rpcs", "nosuch"),
        ("SELECT $target", "target"),
    ] {
        let problem = problem(sql);
        assert!(problem.contains(expected), "{sql}: {problem}");
        assert!(!problem.contains("bug") && !problem.contains('\n'), "{sql}: {problem}");
    }
}

#[test]
fn sql_cannot_write() {
    let rows = Rows::of("dk_plain");
    let before = files(rows.path());
    for sql in [
        "INSERT INTO raw.counters SELECT * FROM raw.counters",
        "COPY (SELECT 1) TO 'stolen.csv'",
        "DELETE FROM raw.rpcs",
        "UPDATE raw.rpcs SET rc = 0",
    ] {
        let problem = try_ask(&rows.session(), sql, &Bound::default()).unwrap_err();
        assert!(problem.contains("SQL can only read a dataset"), "{sql}: {problem}");
    }
    assert_eq!(files(rows.path()), before);
}

#[test]
fn what_the_dataset_has_cannot_be_dropped() {
    let session = PING_PONG.session();
    for (sql, name) in [
        ("DROP TABLE rpcs", "rpcs"),
        ("DROP VIEW IF EXISTS flows", "flows"),
        ("DROP TABLE raw.rpcs", "raw.rpcs"),
        ("DROP TABLE rollup.seconds", "rollup.seconds"),
    ] {
        let problem = try_ask(&session, sql, &Bound::default()).unwrap_err();
        let expected = format!("`{name}` belongs to the dataset, which SQL can only read");
        assert!(problem.starts_with(&expected), "{sql}: {problem}");
    }
    ask(&session, "CREATE VIEW mine AS SELECT 1 AS one; DROP VIEW mine");
    assert!(problem("DROP TABLE nosuch").contains("nosuch"));
}

#[test]
fn a_view_of_ones_own() {
    let session = PING_PONG.session();
    ask(&session, "CREATE VIEW mine AS SELECT * FROM rpcs WHERE opcode_name = 'OST_WRITE'");
    let writes = PING_PONG.analysis.totals.write.rpcs;
    assert_eq!(ask(&session, "SELECT count(*) AS n FROM mine")[0]["n"], writes);
}

#[test]
fn what_is_no_dataset() {
    let empty = tempfile::tempdir().unwrap();
    assert!(opening(empty.path()).contains("is not a dataset: neither it nor a folder below has `manifests/fs=...`"));
    assert!(opening(&empty.path().join("missing")).contains("No such file or directory"));
    let file = repository().join("Cargo.toml");
    assert!(opening(&file).contains("it is a file; expected a folder, or s3://BUCKET/PREFIX"));
    for (place, expected) in
        [("ftp://host/rows", "`ftp://` is not supported"), ("s3:///rows", "it names no bucket"), ("://", "")]
    {
        let problem = opening(Path::new(place));
        assert!(problem.contains("is not a valid dataset location") && problem.contains(expected), "{problem}");
    }
    // A folder of that name alone makes no dataset.
    fs::create_dir(empty.path().join("manifests")).unwrap();
    assert!(opening(empty.path()).contains("is not a dataset"));
}

#[test]
fn a_file_that_was_cut_is_named() {
    let rows = Rows::of("masks");
    let victim = files(&rows.path().join("rpcs")).remove(0);
    let bytes = fs::read(&victim).unwrap();
    for length in [bytes.len() / 2, 3] {
        fs::write(&victim, &bytes[..length]).unwrap();
        let problem = try_ask(&rows.session(), "SELECT sum(bytes) AS bytes FROM rpcs", &Bound::default()).unwrap_err();
        assert!(problem.contains(victim.file_name().unwrap().to_str().unwrap()), "{length}: {problem}");
        assert!(problem.contains("is damaged"), "{length}: {problem}");
        // Other tables are as they were.
        assert!(!ask(&rows.session(), "SELECT * FROM lock_events LIMIT 1").is_empty());
    }
}

#[test]
fn a_file_that_lacks_a_column_is_named() {
    let rows = Rows::of("masks");
    let victim = files(&rows.path().join("rpcs")).pop().unwrap();
    let without = victim.with_extension("without");
    let (session, to) = (rows.session(), without.to_str().unwrap().to_owned());
    wait(async move {
        let rows = "SELECT * EXCEPT (nid, fs, node, date) FROM raw.rpcs WHERE node = 'server2'";
        let copy = format!("COPY ({rows}) TO '{to}' STORED AS PARQUET");
        session.context().sql(&copy).await.unwrap().collect().await.unwrap();
    });
    fs::rename(without, &victim).unwrap();
    let problem = try_ask(&rows.session(), "SELECT nid FROM rpcs", &Bound::default()).unwrap_err();
    assert!(problem.contains(victim.file_name().unwrap().to_str().unwrap()), "{problem}");
    assert!(problem.contains("it has no column `nid`"), "{problem}");
}

#[test]
fn a_file_that_is_damaged_inside_is_told() {
    let rows = Rows::of("masks");
    for file in files(&rows.path().join("rpcs")) {
        let mut bytes = fs::read(&file).unwrap();
        bytes[4..2000].fill(0x5a);
        fs::write(&file, bytes).unwrap();
    }
    let problem = try_ask(&rows.session(), "SELECT * FROM rpcs", &Bound::default()).unwrap_err();
    assert!(problem.contains(&format!("a file of `{}` is damaged", rows.name())), "{problem}");
}

#[test]
fn parts_that_are_being_written_are_not_seen() {
    let rows = Rows::of("masks");
    let file = files(&rows.path().join("rpcs")).remove(0);
    fs::copy(&file, file.with_file_name(".20261121T085122.123456Z-x-000009.tmp")).unwrap();
    assert_eq!(ask(&rows.session(), "SELECT count(*) AS n FROM rpcs")[0]["n"], rows.analysis.totals.rpcs);
}

#[test]
fn a_part_that_comes_later_is_seen() {
    let rows = Rows::of("masks");
    let session = rows.session();
    let rpcs = || ask(&session, "SELECT count(*) AS n FROM rpcs WHERE node = 'server2'")[0]["n"].as_u64().unwrap();
    let before = rpcs();
    let file = files(&rows.path().join("rpcs")).pop().unwrap();
    fs::copy(&file, file.with_file_name("20261121T235959.000000Z-later-000002.parquet")).unwrap();
    assert_eq!(rpcs(), 2 * before);
}

/// All files below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
