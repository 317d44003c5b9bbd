//! What real servers' counters said, against the same servers' logs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lioprof_analysis::{Bound, Config, analyze};
use lioprof_model::{Analysis, Io, ReadWrite, TargetKindName};
use lioprof_testkit::files::{self, folders_in};

use super::tree::{LAYOUTS, Layout, Parameter, cleared, parameters, write};
use crate::counters::compare::{Row, Scope, Verdict};
use crate::counters::rows::{Source, Value};
use crate::counters::{Comparison, Edges, Ledger, Sample, Sampler, SamplerOptions, TraceSums};

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

/// The samples right after clearing and at the end of the capture, entered.
fn ledger(parameters: &[Parameter], end: impl Fn(&Parameter) -> String) -> Ledger {
    let root = tempfile::tempdir().unwrap();
    let mut sampler = Sampler::new(root.path(), SamplerOptions::default());
    let mut ledger = Ledger::default();
    write(root.path(), Layout::New, parameters, cleared);
    ledger.observe(&sampler.sample(1_000_000).totals);
    write(root.path(), Layout::New, parameters, end);
    ledger.observe(&sampler.sample_all(2_000_000).totals);
    ledger
}

/// The sums of an analysis of one node.
fn sums(analysis: &Analysis) -> TraceSums {
    let totals = &analysis.totals;
    let osts = analysis.targets.iter().filter(|target| target.kind == TargetKindName::Ost);
    let targets = osts.map(|it| (it.name.clone(), both(&it.read.io, &it.write.io)));
    let clients = analysis.clients.iter().map(|it| (it.nid.clone(), both(&it.read, &it.write)));
    let named = analysis.jobs.iter().filter_map(|it| Some((it.job.clone()?, both(&it.read, &it.write))));
    let known = analysis.jobs.is_empty() || analysis.jobs.iter().any(|it| it.job.is_some());
    TraceSums {
        total: both(&totals.read, &totals.write),
        unattributed: totals.unattributed.clone(),
        targets: targets.collect(),
        clients: clients.collect(),
        jobs: known.then(|| named.filter(|(job, _)| !job.is_empty()).collect()),
        edges: Edges::default(),
    }
}

fn both(read: &Io, write: &Io) -> ReadWrite {
    ReadWrite { read: read.clone(), write: write.clone() }
}

/// lioprof's sums between the markers of the capture, and whether the first marker is there.
fn traced(server: &Path) -> (TraceSums, bool) {
    let input = [log(server).unwrap()];
    let whole = analyze(&input, &Config::default(), None).unwrap().analysis;
    let marker = |word: &str| whole.markers.iter().find(|marker| marker.text.starts_with(word));
    let bound = |word: &str| marker(word).map(|marker| Bound::Marker(marker.text.clone()));
    let config = Config { from: bound("CAPTURE-START"), to: bound("CAPTURE-STOP"), ..Config::default() };
    let analysis = analyze(&input, &config, None).unwrap().analysis;
    (sums(&analysis), config.from.is_some())
}

#[test]
fn the_trace_of_every_capture_agrees_with_the_counters() {
    let (mut equal, mut within, mut wrapped) = (BTreeMap::new(), 0, 0);
    for server in servers() {
        let (sums, whole) = traced(&server);
        let comparison = Comparison::new(&ledger(&truth(&server), |it| it.text.clone()), &sums);
        let name = server.display();
        if !whole {
            // The log lost its head: what is missing must show.
            wrapped += 1;
            let differs = |row: &&Row| matches!(row.verdict, Verdict::Differs { rpcs, .. } if rpcs > 0);
            assert!(comparison.differing().all(|row| differs(&row)), "{name}:\n{comparison}");
            assert!(comparison.differing().any(|row| row.scope == Scope::Node), "{name}:\n{comparison}");
            continue;
        }
        assert_eq!(comparison.differing().count(), 0, "{name}:\n{comparison}");
        assert_eq!(comparison.not_compared, Vec::<String>::new(), "{name}");
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
    let (sums, _) = traced(&server);
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
    let comparison = Comparison::new(&ledger(&truth(&server), one_more), &sums);
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
