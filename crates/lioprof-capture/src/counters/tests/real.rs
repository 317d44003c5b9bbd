//! What real servers' counters said, against the same servers' logs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lioprof_analysis::{Config, analyze};
use lioprof_model::{Ledger, Mark, RowSink, RpcRow, Symbols};
use lioprof_testkit::files::{self, folders_in};

use super::tree::{LAYOUTS, Layout, Parameter, cleared, parameters, write};
use crate::counters::compare::{Row, Scope, Verdict};
use crate::counters::rows::{Source, Value};
use crate::counters::{Comparison, Sample, Sampler, SamplerOptions};

/// Folders of servers in `fixtures/captures` (or in `LIOPROF_CAPTURES`) that hold counters and a log.
fn servers() -> Vec<PathBuf> {
    let root = files::captures();
    let servers = folders_in(&root)
        .into_iter()
        .flat_map(folders_in)
        .filter(|dir| log(dir).is_some() && dir.join("truth.txt").exists());
    let servers: Vec<PathBuf> = servers.collect();
    assert!(servers.len() > 20, "captures of `{}`", root.display());
    servers
}

fn log(server: &Path) -> Option<PathBuf> {
    let names = ["rpc.bin", "rpc.txt", "dk.txt"].iter().flat_map(|name| [format!("{name}.zst"), (*name).to_owned()]);
    names.map(|name| server.join(name)).find(|path| path.exists())
}

fn truth(server: &Path) -> Vec<Parameter> {
    parameters(&fs::read_to_string(server.join("truth.txt")).unwrap())
}

/// A sample of these files alone, in a layout.
fn sample(layout: Layout, parameters: &[Parameter]) -> Sample {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), layout, parameters, |parameter| parameter.text.clone());
    Sampler::new(root.path(), SamplerOptions::default()).sample(0)
}

/// The rows of a log, and when its marks say that the capture began and ended.
#[derive(Default)]
struct Rows {
    rows: Vec<RpcRow>,
    symbols: Symbols,
    began_us: Option<i64>,
    ended_us: Option<i64>,
}

impl Rows {
    fn of(server: &Path) -> Self {
        let mut rows = Self::default();
        analyze(&[log(server).unwrap()], &Config::default(), Some(&mut rows)).unwrap();
        rows
    }
}

impl RowSink for Rows {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        // Symbols are only added.
        for text in symbols.since(self.symbols.len()) {
            self.symbols.intern(text);
        }
        self.rows.push(row.clone());
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        let text = symbols.text(mark.text);
        if text.starts_with("CAPTURE-START") {
            self.began_us.get_or_insert(mark.time_us);
        } else if text.starts_with("CAPTURE-STOP") {
            self.ended_us.get_or_insert(mark.time_us);
        }
    }
}

/// What the counters right after clearing and at the end of the capture say of the rows between.
fn compared(parameters: &[Parameter], end: impl Fn(&Parameter) -> String, rows: &Rows) -> Comparison {
    let root = tempfile::tempdir().unwrap();
    let mut sampler = Sampler::new(root.path(), SamplerOptions::default());
    let mut ledger = Ledger::default();
    let mut enter = |at_us: i64, text: &dyn Fn(&Parameter) -> String| {
        write(root.path(), Layout::New, parameters, text);
        let mut totals = sampler.sample_all(at_us).totals;
        totals.at.ended_us = at_us;
        ledger.sample(&totals);
    };
    enter(rows.began_us.unwrap_or(0), &cleared);
    enter(rows.ended_us.unwrap_or(i64::MAX / 2), &end);
    ledger.end();
    rows.rows.iter().for_each(|row| ledger.rpc(row, &rows.symbols));
    Comparison::new(&ledger)
}

#[test]
fn the_trace_of_every_capture_agrees_with_the_counters() {
    let (mut equal, mut within, mut wrapped) = (BTreeMap::new(), 0, 0);
    for server in servers() {
        let rows = Rows::of(&server);
        let comparison = compared(&truth(&server), |it| it.text.clone(), &rows);
        let name = server.display();
        if rows.began_us.is_none() {
            // The log lost its head: what is missing must show.
            wrapped += 1;
            let differs = |row: &&Row| matches!(row.verdict, Verdict::Differs { rpcs, .. } if rpcs > 0);
            assert!(comparison.differing().all(|row| differs(&row)), "{name}:\n{comparison}");
            assert!(comparison.differing().any(|row| row.scope == Scope::Node), "{name}:\n{comparison}");
            continue;
        }
        assert_eq!(comparison.differing().count(), 0, "{name}:\n{comparison}");
        let no_io = "jobs: no read or write was traced, so none names its job";
        let not_compared: &[&str] = if comparison.rows.is_empty() { &[no_io] } else { &[] };
        assert_eq!(comparison.not_compared, not_compared, "{name}");
        for row in &comparison.rows {
            match row.verdict {
                Verdict::Equal => *equal.entry(row.scope).or_insert(0) += 1,
                _ => within += 1,
            }
        }
    }
    assert!(wrapped > 0);
    // Most are exact; small buffered writes and direct I/O with rpctrace alone are not.
    for scope in [Scope::Node, Scope::Target, Scope::Client, Scope::Job] {
        assert!(equal.get(&scope).is_some_and(|&rows| rows >= 10), "{equal:?}");
    }
    assert!(within > 0 && within < equal.values().sum::<i32>(), "{within} within bounds, {equal:?}");
}

#[test]
fn one_rpc_more_on_the_counters_side_is_found() {
    let server = servers().into_iter().find(|dir| dir.ends_with("masks/server1")).unwrap();
    let one_more = |parameter: &Parameter| {
        let mut text = parameter.text.clone();
        if parameter.path == "obdfilter/lustre-OST0001/stats" {
            let line = text.lines().find(|line| line.starts_with("write_bytes")).unwrap().to_owned();
            let words: Vec<&str> = line.split_whitespace().collect();
            let (samples, sum): (u64, u64) = (words[1].parse().unwrap(), words[6].parse().unwrap());
            let more = line.replacen(&format!(" {samples} "), &format!(" {} ", samples + 1), 1).replacen(
                &format!(" {sum} "),
                &format!(" {} ", sum + 4096),
                1,
            );
            text = text.replace(&line, &more);
        }
        text
    };
    let comparison = compared(&truth(&server), one_more, &Rows::of(&server));
    let differing: Vec<_> = comparison.differing().map(|row| (row.scope, row.name.as_str(), row.verdict)).collect();
    let one = Verdict::Differs { rpcs: 1, bytes: 4096, unsized_rpcs: 0 };
    assert_eq!(differing, [(Scope::Node, "", one), (Scope::Target, "lustre-OST0001", one)], "{comparison}");
}

/// Every line with samples of every stats file, as the test reads it, must be in the sample.
#[test]
fn all_figures_of_all_layouts_are_in_the_sample() {
    let mut checked = 0;
    for server in servers() {
        let parameters = truth(&server);
        let samples = LAYOUTS.map(|layout| sample(layout, &parameters));
        let figures = |sample: &Sample| -> Vec<_> {
            let rows = sample.values.iter().filter(|value| value.source != Source::Sampler).cloned();
            rows.collect()
        };
        assert_eq!(figures(&samples[0]), figures(&samples[1]), "{}", server.display());
        assert_eq!(figures(&samples[0]), figures(&samples[2]), "{}", server.display());

        let found: BTreeMap<_, u64> = samples[0]
            .values
            .iter()
            .map(|value| ((value.source, &*value.target, &*value.entity, &*value.counter), value.value))
            .collect();
        for parameter in &parameters {
            let parts: Vec<&str> = parameter.path.split('/').collect();
            let (source, target, entity) = match parts[..] {
                [_, target, "exports", nid, "stats"] => (Source::ExportStats, target, nid),
                [_, target, "exports", nid, "ldlm_stats"] => (Source::ExportLdlmStats, target, nid),
                ["obdfilter", target, "stats"] | ["mdt", target, "md_stats"] => (Source::Stats, target, ""),
                ["ost" | "mds", _, service, "stats"] | ["ldlm", "services", service, "stats"] => {
                    (Source::Service, "", service)
                }
                _ => continue,
            };
            // Clients that only take locks get no rows.
            let idle = source == Source::ExportLdlmStats
                && !found.keys().any(|key| (key.0, key.1, key.2) == (Source::ExportStats, target, entity));
            for line in parameter.text.lines().filter(|line| line.contains(" samples [") && !idle) {
                let words: Vec<&str> = line.split_whitespace().collect();
                let numbers = [Some(&words[1]), words.get(4), words.get(5), words.get(6), words.get(7)];
                for (figure, number) in ["samples", "min", "max", "sum", "sumsq"].iter().zip(numbers) {
                    let Some(number) = number else { continue };
                    let counter = format!("{}.{figure}", words[0]);
                    let got = found.get(&(source, target, entity, counter.as_str()));
                    let place = (server.display(), &parameter.path, &counter);
                    assert_eq!(got, Some(&number.parse().unwrap()), "{place:?}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 2000, "{checked}");
}

#[test]
fn rubbish_in_files() {
    let server = servers().into_iter().find(|dir| dir.ends_with("ops_mix/server1")).unwrap();
    let parameters = truth(&server);
    // Every file cut at every 97th byte, and with its bytes turned around.
    for cut in (0..2000).step_by(97) {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), Layout::New, &parameters, |it| it.text.chars().take(cut).collect());
        let cut_sample = Sampler::new(root.path(), SamplerOptions::default()).sample(0);
        assert!(cut_sample.totals.targets.len() <= 2);
        write(root.path(), Layout::New, &parameters, |it| it.text.chars().rev().take(cut).collect());
        Sampler::new(root.path(), SamplerOptions::default()).sample(0);
    }
}

#[test]
fn jobs_with_histograms() {
    let server = servers().into_iter().find(|dir| dir.ends_with("captures/masks/server1")).unwrap();
    let sample = sample(Layout::New, &truth(&server));
    let value = |counter: &str| {
        let is = |it: &&Value| {
            (it.source, &*it.target, &*it.entity, &*it.counter)
                == (Source::JobStats, "lustre-OST0001", "python3.0", counter)
        };
        sample.values.iter().find(is).map(|it| it.value)
    };
    // `hist: { 4K: 40, 8K: 16, 16K: 4, 32K: 20, 1M: 2, 4M: 2 }`, 84 samples.
    assert_eq!(value("write_bytes.samples"), Some(84));
    assert_eq!(value("write_bytes.le_8192"), Some(16));
    assert_eq!(value("write_bytes.le_4194304"), Some(2));
    assert_eq!(value("write_bytes.le_65536"), None);
}
