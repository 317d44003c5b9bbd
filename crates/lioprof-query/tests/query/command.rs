//! The command itself.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use lioprof_analysis::Config;
use lioprof_query::analyze;
use lioprof_text::{Color, Format, Style};

use crate::rollups::roll_up_all;
use crate::support::{PING_PONG, Rows, open, wait};

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lioprof-query"));
    // Nobody's history but the test's own.
    command.env("XDG_STATE_HOME", PING_PONG.path().join("state")).env_remove("HOME");
    command
}

fn run(arguments: &[&str]) -> Output {
    command().args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

fn typed(arguments: &[&str], input: &str) -> (String, String) {
    let pipes = command().args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = pipes.unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn sql_from_an_argument_a_file_and_stdin() {
    let rows = PING_PONG.name();
    let sql = "SELECT count(*) AS n FROM rpcs";
    let expected = format!("n\n{}\n", PING_PONG.analysis.totals.rpcs);
    assert_eq!(stdout(&["sql", rows, sql, "--format", "csv"]), expected);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("question.sql");
    fs::write(&file, format!("-- why\nCREATE VIEW mine AS SELECT * FROM rpcs;\n{};\n", sql.replace("rpcs", "mine")))
        .unwrap();
    assert_eq!(stdout(&["sql", rows, "-f", file.to_str().unwrap(), "--format", "csv"]), expected);
    assert_eq!(typed(&["sql", rows, "-f", "-", "--format", "csv"], sql).0, expected);
}

#[test]
fn an_analysis_is_printed_as_lioprof_prints_it() {
    let rows = Rows::of("masks");
    roll_up_all(rows.path());
    let session = open(rows.name());
    let analysis = wait(async move { analyze(&session, &Config::default()).await }).unwrap().analysis;
    let style = Style { color: Color::No, all: false, tables: false, more: "--tables for all figures" };
    for (name, format) in [("summary", Format::Summary), ("json", Format::Json), ("csv", Format::Csv)] {
        let mut expected = Vec::new();
        lioprof_text::write(&analysis, format, style, &mut expected).unwrap();
        assert_eq!(stdout(&["analyze", rows.name(), "--format", name]), String::from_utf8(expected).unwrap());
    }
    let out = tempfile::tempdir().unwrap();
    assert_eq!(stdout(&["analyze", rows.name(), "--format", "none", "-o", out.path().to_str().unwrap()]), "");
    for file in ["analysis.json", "report.html", "flows.csv", "targets.csv"] {
        assert!(out.path().join(file).metadata().unwrap().len() > 0, "{file}");
    }
}

#[test]
fn a_file_is_complete_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answer.csv");
    let name = file.to_str().unwrap();
    assert_eq!(stdout(&["sql", PING_PONG.name(), "SELECT 1 AS n", "-o", name]), "");
    assert_eq!(fs::read_to_string(&file).unwrap(), "n\n1\n");
    // Rows come before the division fails.
    let sql = "SELECT 1 AS n; SELECT 1 / (seq - seq) AS n FROM rpcs";
    let error = refused(&["sql", PING_PONG.name(), sql, "--format", "json", "-o", name]);
    assert!(error.contains("ivide by zero"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "n\n1\n");
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answer.csv");
    let sql = "SELECT count(*) FROM rpcs AS a, rpcs AS b, rpcs AS c, rpcs AS d WHERE a.xid + b.xid + c.xid + d.xid = 1";
    let mut child =
        command().args(["sql", PING_PONG.name(), sql, "-o"]).arg(&file).stderr(Stdio::piped()).spawn().unwrap();
    while folder.path().read_dir().unwrap().next().is_none() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.as_str()), (Some(130), ""));
    assert!(folder.path().read_dir().unwrap().next().is_none());
}

#[test]
fn options_without_effect_are_refused() {
    let sql = ["sql", PING_PONG.name(), "SELECT 1"];
    let said = refused(&[&sql[..], &["--partitions", "3"]].concat());
    assert!(said.contains("use --threads for the embedded engine"), "{said}");
    let said = refused(&[&sql[..], &["--engine", "ballista://nowhere:1", "--memory-mib", "3"]].concat());
    assert!(said.contains("executors have"), "{said}");
    let said = refused(&["prompt", PING_PONG.name(), "--format", "parquet"]);
    assert!(said.contains("cannot be printed on a terminal"), "{said}");
}

#[test]
fn memory_that_is_too_little_is_told_by_the_option() {
    let said = refused(&["sql", PING_PONG.name(), "SELECT * FROM rpcs ORDER BY nid, end_time", "--memory-mib", "1"]);
    assert!(said.contains("the query needs more memory than --memory-mib allows (it wanted "), "{said}");
    assert!(!said.contains("datafusion"), "{said}");
}

#[test]
fn plans() {
    let sql = "SELECT count(*) FROM rpcs WHERE end_time > TIMESTAMP '2026-11-21 08:00:00'";
    let plan = stdout(&["sql", PING_PONG.name(), sql, "--explain"]);
    // Row groups are skipped by time, since the view's cast is taken off.
    assert!(plan.contains("-- physical_plan") && plan.contains("end_us_max"), "{plan}");
    let measured = stdout(&["sql", PING_PONG.name(), sql, "--explain=run"]);
    assert!(measured.contains("output_rows"), "{measured}");
}

#[test]
fn wrong_arguments() {
    let rows = PING_PONG.name();
    for (arguments, expected) in [
        (&["sql", rows, "SELECT 1", "--format", "xml"][..], "expected one of table, csv, json, parquet; found `xml`"),
        (&["sql", rows], "SQL"),
        (&["sql", rows, ""], "expected SQL, found none"),
        (
            &["sql", rows, "SELECT 1; SELECT 2", "--format", "csv", "-o", "/dev/null"],
            "more than one statement returns rows",
        ),
        (&["sql", rows, "-f", "/nonexistent.sql"], "failed to read SQL from `/nonexistent.sql`"),
        (&["sql", rows, "SELECT 1", "-o", "/nonexistent/x.csv"], "failed to create `/nonexistent/.x.csv.tmp`"),
        (&["ready", "nosuch", rows], "there is no ready query `nosuch`"),
        (&["ready", "evictions", rows, "--set", "target"], "expected PARAMETER=VALUE"),
        (&["sql", "/nonexistent", "SELECT 1"], "`/nonexistent` is not a valid dataset location"),
    ] {
        let error = refused(arguments);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn ready_queries_are_listed_shown_and_run() {
    let list = stdout(&["ready"]);
    assert!(list.contains("jobs-by-lock-wait"), "{list}");
    assert!(stdout(&["ready", "evictions"]).starts_with("-- Which clients were evicted"));
    let answer = stdout(&["ready", "lock-fights", PING_PONG.name(), "--format", "csv", "--set", "limit=1"]);
    assert_eq!(answer.lines().count(), 2);
}

#[test]
fn an_empty_answer_says_so() {
    let rows = PING_PONG.name();
    for (set, expected) in [
        ("target=OST0001", ""),
        ("target=OST0099", &*format!("no rows: `{rows}` has no target `OST0099`; it has lustre-OST0001\n")),
        ("from=2027-01-01T00:00:00Z", "no rows\n"),
    ] {
        let output = run(&["ready", "who-used-target", rows, "--format", "json", "--set", set]);
        assert!(output.status.success());
        assert_eq!(output.stdout.is_empty(), !expected.is_empty(), "{set}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected, "{set}");
    }
}

#[test]
fn the_prompt() {
    let input = "\\d\n\\d flows\nSELECT count(*) AS n\nFROM rpcs;\nSELECT nothing;\n\\ready lock-fights limit=1\n\
                 \\format csv\n\\timing\nSELECT 7 AS seven;\n\\nosuch\n\\format parquet\n\\q\nSELECT 8 AS eight;\n";
    let (out, notes) = typed(&["prompt", PING_PONG.name()], input);
    for expected in
        ["lock_waits", "read_bytes_min", &PING_PONG.analysis.totals.rpcs.to_string(), "holder_nid", "seven\n7\n"]
    {
        assert!(out.contains(expected), "{expected}:\n{out}");
    }
    assert!(!out.contains("eight"), "{out}");
    for expected in ["nothing", "`\\nosuch` is no command", "Parquet cannot be printed on a terminal", " s\n"] {
        assert!(notes.contains(expected), "{expected}:\n{notes}");
    }
}

#[test]
fn whoever_closes_the_pipe_has_seen_enough() {
    let mut child = command()
        .args(["sql", PING_PONG.name(), "SELECT * FROM rpcs CROSS JOIN rpcs AS again", "--format", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn views_are_printed_as_sql() {
    let views = stdout(&["views"]);
    assert_eq!(views.matches("CREATE VIEW").count(), lioprof_query::VIEWS.len());
    assert!(Path::new(PING_PONG.name()).is_absolute());
}

#[test]
fn the_long_version_says_commit_features_and_schemas() {
    let short = stdout(&["-V"]);
    assert_eq!(short, concat!("lioprof-query ", env!("CARGO_PKG_VERSION"), "\n"));
    let long = stdout(&["--version"]);
    assert!(long.starts_with(&short) && long.contains("\ncommit: ") && long.contains(" lioprof.rollup/"), "{long}");
    let features = if cfg!(feature = "cluster") { "\nfeatures: cluster\n" } else { "\nfeatures: none\n" };
    assert!(long.contains(features), "{long}");
}

#[test]
fn every_command_has_a_manual_page() {
    let dir = tempfile::tempdir().unwrap();
    stdout(&["generate", dir.path().to_str().unwrap()]);
    for name in ["", "-sql", "-prompt", "-ready", "-analyze", "-views"] {
        let page = dir.path().join(format!("man/man1/lioprof-query{name}.1"));
        assert!(page.exists(), "{}", page.display());
    }
    assert!(dir.path().join("bash-completion/completions/lioprof-query").exists());
}
