//! What a remedy saves: predictions from runs of a real cluster that were sick, against the same work once it was cured.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use lioprof_testkit::blessed_table;
use serde_json::Value;

use crate::figures::{number, rows, text};
use crate::pairs::{dir, runs};
use crate::util::{Run, analyze, lioprof};

const PAGE: &str = "docs/what-if.md";
const MARKS: (&str, &str) = ("<!-- pairs -->\n", "<!-- end -->");
const HELD_OUT_MARKS: (&str, &str) = ("<!-- held out -->\n", "<!-- end of the held out -->");

/// Sick runs, the run in which that was cured, and the option that asks for the cure. (Own halves in step are no cure for clients in step.)
type Pair = (&'static str, &'static str, [&'static str; 2]);
const PAIRS: [Pair; 14] = [
    ("pair_slow_ost_sick", "pair_slow_ost_cured", ["--ost", "lustre-OST0002=peers"]),
    ("pair_slow_ost_mild_sick", "pair_slow_ost_mild_cured", ["--ost", "lustre-OST0003=peers"]),
    ("pair_slow_ost_read_sick", "pair_slow_ost_read_cured", ["--ost", "lustre-OST0001=peers"]),
    ("pair_slow_net_sick", "pair_slow_net_cured", ["--server", "server2=peers"]),
    ("pair_slow_client_sick", "pair_slow_client_cured", ["--client", "10.10.0.12@tcp=peers"]),
    ("pair_slow_client_read_sick", "pair_slow_client_read_cured", ["--client", "10.10.0.12@tcp=peers"]),
    ("pair_one_ost_sick", "pair_one_ost_cured", ["--spread-evenly", ""]),
    ("pair_imbalance_sick", "pair_imbalance_cured", ["--spread-evenly", ""]),
    ("pair_single_writer_sick", "pair_single_writer_cured", ["--writers", "10.10.0.11@tcp=2"]),
    ("pair_small_sync_sick", "pair_small_sync_cured", ["--full-size", ""]),
    ("pair_strided_read_nora_sick", "pair_strided_read_nora_cured", ["--full-size", ""]),
    ("pair_lock_pingpong_sick", "pair_lock_pingpong_cured", ["--no-lock-waits", ""]),
    ("pair_lock_pingpong_paced_sick", "pair_lock_pingpong_ownfile_cured", ["--no-lock-waits", ""]),
    ("pair_hdf5_like_sick", "pair_hdf5_like_cured", ["--no-small", ""]),
];

/// Pairs that were made once the models stood. Since then the second, third, fourth and last have shown what these lacked (`docs/what-if.md`).
const HELD_OUT: [Pair; 7] = [
    ("blind_slow_ost_sick", "blind_slow_ost_cured", ["--ost", "lustre-OST0002=peers"]),
    ("blind_slow_net_sick", "blind_slow_net_cured", ["--server", "server1=peers"]),
    ("blind_one_ost_sick", "blind_one_ost_cured", ["--spread-evenly", ""]),
    ("blind_fight_sick", "blind_fight_cured", ["--no-lock-waits", ""]),
    ("blind_sync_sick", "blind_sync_cured", ["--full-size", ""]),
    ("blind_single_writer_sick", "blind_single_writer_cured", ["--writers", "10.10.0.12@tcp=2"]),
    ("blind_small_among_large_sick", "blind_small_among_large_cured", ["--no-small", ""]),
];
/// So many of these are not in the interval: a fight that also cut the requests small.
const HELD_OUT_BEYOND: usize = 1;

/// How far off a prediction may be ..
const WITHIN: f64 = 0.25;
/// .. but for so many, whose interval holds what was real: two runs of the same work differ by as much.
const MOST_BEYOND: usize = 1;

/// A pair, predicted and real.
struct Predicted {
    /// The pair's row in the table.
    row: String,
    off: f64,
    in_interval: bool,
}

/// The run itself says how long it took; the log begins before it and ends after it. So what is saved counts.
fn predicted((sick, cured, option): Pair) -> Predicted {
    let runs = runs();
    let run = |name: &str| runs.iter().find(|run| run["capture"] == name).unwrap_or_else(|| panic!("no run {name}"));
    let elapsed_s = |name: &str| run(name)["elapsed_s"].parse::<f64>().unwrap();
    let option: Vec<&str> = option.into_iter().filter(|part| !part.is_empty()).collect();
    let json = what_if(&dir(sick), &[&option[..], &["--format", "json"]].concat()).exits(0).json();
    let (sick_s, cured_s) = (elapsed_s(sick), elapsed_s(cured));
    let now_s = |key: &str| (sick_s - first(&json)[key].as_f64().unwrap()).max(0.0);
    let (likely_s, least_s, most_s) = (now_s("saves_s"), now_s("saves_s_max"), now_s("saves_s_min"));
    let off = likely_s / cured_s - 1.0;
    let (what, option) = (&run(sick)["what"], option.join(" "));
    let row = format!(
        "| {what} | `{option}` | {sick_s:.1} | {likely_s:.1} ({least_s:.1} to {most_s:.1}) | {cured_s:.1} | {:+.0} % |\n",
        100.0 * off
    );
    Predicted { row, off, in_interval: (least_s..=most_s).contains(&cured_s) }
}

fn table(pairs: &[Predicted]) -> String {
    let head = "\n| what was done | option | sick s | predicted s | real s | off |\n|---|---|---|---|---|---|\n";
    pairs.iter().fold(head.to_owned(), |table, pair| table + &pair.row) + "\n"
}

#[test]
fn cured_runs_take_as_long_as_predicted() {
    let pairs = PAIRS.map(predicted);
    let table = table(&pairs);
    assert!(pairs.iter().all(|pair| pair.in_interval), "{table}");
    let beyond = pairs.iter().filter(|pair| pair.off.abs() > WITHIN).count();
    assert!(beyond <= MOST_BEYOND, "{beyond} are off by more than {WITHIN}\n{table}");
    blessed_table(PAGE, MARKS, &table);
}

#[test]
fn pairs_that_the_models_had_not_seen() {
    let pairs = HELD_OUT.map(predicted);
    let table = table(&pairs);
    let beyond = pairs.iter().filter(|pair| !pair.in_interval).count();
    assert!(beyond <= HELD_OUT_BEYOND, "{table}");
    blessed_table(PAGE, HELD_OUT_MARKS, &table);
}

#[test]
fn the_finding_says_what_its_remedy_saves() {
    let json = analyze(&[&slow_ost()], &[]);
    let finding = &rows(&json, "findings")[0];
    let [saves_s, min_s, max_s] = ["saves_s", "saves_s_min", "saves_s_max"].map(|key| finding[key].as_f64().unwrap());
    assert!(min_s <= saves_s && saves_s <= max_s && min_s > 15.0, "{finding}");
    let summary = lioprof(&["analyze".as_ref(), slow_ost().as_os_str(), "-q".as_ref()]).exits(0);
    let summary = String::from_utf8(summary.stdout).unwrap();
    assert!(summary.contains("A remedy "), "{summary}");
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
    assert!(number(&from_log, "requests").unwrap() > 50);
}
