//! Sums of nodes apart from their rows: they answer a question as the rows do, and those of somebody who means harm do none.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use lioprof_analysis::{Bound, ClockFacts, Config, NodeSums, Question, Selection, analyze_sums, stale_clocks, sum_up};
use lioprof_insight::{Limits, find_and_predict};
use lioprof_model::units::micros;
use lioprof_store::Dataset;
use lioprof_testkit::files::fixture;
use lioprof_testkit::fuzz::{Rng, for_each_seed};
use lustre_debuglog::Opcode;
use serde_json::Value;
use tempfile::TempDir;

use crate::util::lioprof;

/// A capture's rows.
fn rows(capture: &str, dir: &TempDir) -> PathBuf {
    let (log, rows) = (fixture(format!("captures/{capture}")), dir.path().join("rows"));
    let args: [&OsStr; 4] = ["export".as_ref(), log.as_os_str(), "--parquet".as_ref(), rows.as_os_str()];
    lioprof(&args).exits(0);
    rows
}

/// Each node's sums, on one clock, after they have been bytes.
fn sums(rows: &Path, question: &Question) -> Vec<NodeSums> {
    let dataset = Dataset::open(rows).unwrap();
    let made = |node: &str, clock| {
        let sums = sum_up(dataset.node_source(node).unwrap().as_mut(), question, clock).unwrap();
        NodeSums::from_bytes(&sums.to_bytes()).unwrap()
    };
    let mut nodes: BTreeMap<String, NodeSums> =
        dataset.nodes().map(|node| (node.to_owned(), made(node, None))).collect();
    for (node, clock) in stale_clocks(nodes.values().map(ClockFacts::from).collect(), &BTreeMap::new()) {
        let before = nodes.remove(&node).unwrap();
        nodes.insert(node.clone(), made(&node, clock).compared_as(before));
    }
    nodes.into_values().collect()
}

fn analysis_of_sums(rows: &Path, config: &Config) -> Value {
    let mut outcome = analyze_sums(sums(rows, &config.question()), rows, config);
    find_and_predict(&mut outcome.analysis, &Limits::default(), &mut outcome.replay);
    serde_json::to_value(&outcome.analysis).unwrap()
}

/// `lioprof analyze` with the arguments that a question is asked with.
fn analysis_of_rows(rows: &Path, args: &[&str]) -> Value {
    let (rows, format) = (rows.display().to_string(), ["--format", "json"]);
    let run = lioprof(&[&["analyze", &rows], args, &format[..]].concat());
    serde_json::from_slice(&run.stdout).unwrap_or_else(|err| panic!("{err}: {run}"))
}

#[test]
fn sums_answer_a_question_as_the_rows_do() {
    let marker = |text: &str| Some(Bound::Marker(text.to_owned()));
    for capture in ["masks", "lock_pingpong_dlm", "file_per_process"] {
        let dir = TempDir::new().unwrap();
        let rows = rows(capture, &dir);
        let all = analysis_of_rows(&rows, &[]);
        let (nid, target) = (all["clients"][0]["nid"].as_str().unwrap(), all["targets"][0]["name"].as_str().unwrap());
        let marks: Vec<&str> =
            all["markers"].as_array().unwrap().iter().map(|mark| mark["text"].as_str().unwrap()).collect();
        let (first, last) = (*marks.first().unwrap(), *marks.last().unwrap());
        let from_us = micros(all["window"]["start"].as_f64().unwrap().floor() + 1.0);
        let from = (from_us / 1_000_000).to_string();
        let of = |selection| Config { selection, ..Config::default() };
        let questions: Vec<(Vec<&str>, Config)> = vec![
            (vec![], Config::default()),
            (vec!["--client", nid], of(Selection { clients: vec![nid.parse().unwrap()], ..Selection::default() })),
            (
                vec!["--target", target, "--opcode", "OST_WRITE"],
                of(Selection {
                    targets: vec![target.parse().unwrap()],
                    opcodes: vec![Opcode::OST_WRITE],
                    ..Selection::default()
                }),
            ),
            (
                vec!["--from", first, "--to", last],
                Config { from: marker(first), to: marker(last), ..Config::default() },
            ),
            (vec!["--from", &from], Config { from: Some(Bound::Time(from_us)), ..Config::default() }),
            (vec!["--bin", "0.05", "--no-locks"], Config { bin_us: Some(50_000), locks: false, ..Config::default() }),
        ];
        for (args, config) in questions {
            let [of_rows, of_sums] =
                [analysis_of_rows(&rows, &args), analysis_of_sums(&rows, &config)].map(|mut analysis| {
                    // Rows have a folder for each node, sums one for all.
                    for input in analysis["inputs"].as_array_mut().unwrap() {
                        input.as_object_mut().unwrap().remove("path");
                    }
                    analysis
                });
            let (of_rows, of_sums) = (of_rows.as_object().unwrap(), of_sums.as_object().unwrap());
            for (section, figures) in of_rows {
                assert_eq!(of_sums.get(section), Some(figures), "{capture} {args:?}: {section}");
            }
            assert_eq!(of_sums.len(), of_rows.len());
        }
    }
}

/// Bytes with one thing in them changed.
fn damaged(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=rng.below(3) {
        let at = rng.below(bytes.len());
        match rng.below(5) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at] = rng.pick(&[0, 1, 0x7f, 0x80, 0xff]),
            // The largest number that fits in so many bytes, as the format has it.
            2 => {
                let longest = vec![0xff; 1 + rng.below(8)];
                drop(bytes.splice(at..(at + longest.len() + 1).min(bytes.len()), longest.into_iter().chain([0x7f])));
            }
            3 => drop(bytes.drain(at..(at + 1 + rng.below(9)).min(bytes.len()))),
            _ => {
                let again = bytes[at..(at + 1 + rng.below(9)).min(bytes.len())].to_vec();
                drop(bytes.splice(at..at, again));
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

#[test]
fn damaged_sums_are_refused_or_harmless() {
    let dir = TempDir::new().unwrap();
    let rows = rows("masks", &dir);
    let whole: Vec<Vec<u8>> = sums(&rows, &Question::default()).iter().map(NodeSums::to_bytes).collect();
    for_each_seed(2, |rng| {
        let victim = rng.below(whole.len());
        let Ok(damaged) = NodeSums::from_bytes(&damaged(&whole[victim], rng)) else { return };
        let mut nodes = vec![damaged];
        nodes.extend(
            whole
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != victim)
                .map(|(_, bytes)| NodeSums::from_bytes(bytes).unwrap()),
        );
        let facts = nodes.iter().map(ClockFacts::from).collect();
        drop(stale_clocks(facts, &BTreeMap::new()));
        let outcome = analyze_sums(nodes, &rows, &Config::default());
        assert!(outcome.analysis.nodes.len() <= 2);
    });
}
