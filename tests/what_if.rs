//! What a remedy saves: predictions from runs of a real cluster that were sick, against the same work once it was cured.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use lioprof_testkit::blessed_table;
use serde_json::Value;

use crate::figures::{number, rows, text};
use crate::pairs::{dir, runs};
use crate::util::{Run, analyze, lioprof};

const PAGE: &str = "docs/what-if.md";
const MARKS: (&str, &str) = ("<!-- pairs -->\n", "<!-- end -->");

/// Sick runs whose cured one has another name than usual: own halves in step are no cure.
const CURES: [(&str, &str); 1] = [("pair_lock_pingpong_paced_sick", "pair_lock_pingpong_ownfile_cured")];

/// How far off a prediction may be ..
const WITHIN: f64 = 0.25;
/// .. but for so many, whose interval holds what was real: two runs of the same work differ by as much.
const MOST_BEYOND: usize = 1;

/// A sick run with its cure.
struct Pair {
    sick: String,
    what: String,
    elapsed_s: f64,
    cured_s: f64,
}

fn pairs() -> Vec<Pair> {
    let runs = runs();
    let elapsed = |name: &str| {
        let run = runs.iter().find(|run| run["capture"] == name)?;
        Some(run["elapsed_s"].parse::<f64>().unwrap())
    };
    let pair = |sick: &str, what: &str| {
        let other = CURES.iter().find(|(of, _)| *of == sick).map(|(_, cured)| (*cured).to_owned());
        let cured = other.unwrap_or_else(|| sick.replace("_sick", "_cured"));
        Some(Pair {
            sick: sick.to_owned(),
            what: what.to_owned(),
            elapsed_s: elapsed(sick)?,
            cured_s: elapsed(&cured)?,
        })
    };
    let sick = runs.iter().filter(|run| run["capture"].ends_with("_sick") && !run["finding"].is_empty());
    sick.filter_map(|run| pair(&run["capture"], &run["what"])).collect()
}

/// The run itself says how long it took; the log begins before it and ends after it. So what is saved counts.
#[test]
fn cured_runs_take_as_long_as_predicted() {
    let mut table = String::from(
        "\n| what was done | finding | sick s | predicted s | real s | off |\n|---|---|---|---|---|---|\n",
    );
    let (mut wrong, mut predicted, mut within) = (Vec::new(), 0, 0);
    for Pair { sick, what, elapsed_s, cured_s } in pairs() {
        let json = analyze(&[&dir(&sick)], &[]);
        let first = rows(&json, "findings").first().unwrap_or_else(|| panic!("{sick}: no finding"));
        let id = text(first, "id").unwrap_or_default();
        let Some(saves_s) = first["saves_s"].as_f64() else {
            writeln!(table, "| {what} | `{id}` | {elapsed_s:.1} | | {cured_s:.1} | |").unwrap();
            continue;
        };
        predicted += 1;
        let [min_s, max_s] = ["saves_s_min", "saves_s_max"].map(|key| elapsed_s - first[key].as_f64().unwrap());
        let (now_s, least_s, most_s) = (elapsed_s - saves_s, max_s.max(0.0), min_s);
        let off = now_s / cured_s - 1.0;
        writeln!(
            table,
            "| {what} | `{id}` | {elapsed_s:.1} | {now_s:.1} ({least_s:.1} to {most_s:.1}) | {cured_s:.1} | {:+.0} % |",
            100.0 * off
        )
        .unwrap();
        within += usize::from(off.abs() <= WITHIN);
        if off.abs() > WITHIN && !(least_s..=most_s).contains(&cured_s) {
            wrong.push(format!("{sick}: {now_s:.1} s predicted, {cured_s:.1} s real"));
        }
    }
    table.push('\n');
    assert!(
        predicted >= 10 && predicted - within <= MOST_BEYOND,
        "{within} of {predicted} are within {WITHIN}\n{table}"
    );
    assert!(wrong.is_empty(), "{}\n{table}", wrong.join("\n"));
    blessed_table(PAGE, MARKS, &table);
}

fn what_if(input: &Path, more: &[&str]) -> Run {
    let mut args: Vec<&OsStr> = vec!["what-if".as_ref(), input.as_os_str()];
    args.extend(more.iter().map(OsStr::new));
    lioprof(&args)
}

fn slow_ost() -> PathBuf {
    dir("pair_slow_ost_sick")
}

fn first(json: &Value) -> &Value {
    &rows(json, "predictions")[0]
}

#[test]
fn changes_are_predicted_together() {
    let asked = ["--ost", "lustre-OST0002=peers", "--no-lock-waits", "--format", "json"];
    let both = what_if(&slow_ost(), &asked).exits(0).json();
    let changes: Vec<_> = rows(first(&both), "changes").iter().filter_map(|it| text(it, "change")).collect();
    assert_eq!(changes, ["target_as_peers", "no_lock_waits"]);
    assert!(first(&both)["saves_s"].as_f64().unwrap() > 20.0, "{both}");
    let slower = what_if(&slow_ost(), &["--ost", "lustre-OST0002=x0.5", "--format", "json"]).exits(0).json();
    assert!(first(&slower)["saves_s"].as_f64().unwrap() < -10.0, "{slower}");
    let table = what_if(&slow_ost(), &["--ost", "lustre-OST0002=x0.5"]).exits(0);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("lustre-OST0002 0.5 times as fast"), "{table}");
}

#[test]
fn unknown_names_are_errors_that_say_which_there_are() {
    what_if(&slow_ost(), &["--ost", "lustre-OST0009=peers"]).exits(2).says(&["lustre-OST0009", "lustre-OST0002"]);
    what_if(&slow_ost(), &["--client", "10.9.9.9@tcp=peers"]).exits(2).says(&["10.9.9.9@tcp", "10.10.0.11@tcp"]);
    what_if(&slow_ost(), &["--server", "oss9=peers"]).exits(2).says(&["oss9", "server2"]);
    what_if(&slow_ost(), &["--ost", "lustre-OST0002=fast"]).exits(2).says(&["lustre-OST0002=peers"]);
}

#[cfg(feature = "export")]
#[test]
fn rows_and_threads_give_the_same() {
    let out = tempfile::TempDir::new().unwrap();
    let kept = out.path().join("rows");
    let capture = slow_ost();
    let args: [&OsStr; 4] = ["export".as_ref(), capture.as_os_str(), "--parquet".as_ref(), kept.as_os_str()];
    lioprof(&args).exits(0);
    let of = |input: &Path, threads: &str| what_if(input, &["--format", "json", "--threads", threads]).exits(0).json();
    let from_log = of(&slow_ost(), "1");
    assert_eq!(from_log, of(&slow_ost(), "4"));
    assert_eq!(from_log, of(&kept, "2"));
    assert!(number(&from_log, "requests") > 50);
}
