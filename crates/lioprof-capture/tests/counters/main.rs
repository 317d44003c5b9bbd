//! The sampler and the comparison on what real servers' counters said, against the same servers' logs.

mod tree;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lioprof_analysis::{Bound, Config, analyze};
use lioprof_capture::counters::{
    Comparison, Edges, Ledger, Sample, Sampler, SamplerOptions, Scope, Source, TraceSums, Verdict,
};

use tree::{LAYOUTS, Layout, Parameter, cleared, parameters, write};

/// Folders of servers in `fixtures/captures` (or in `LIOPROF_CAPTURES`) that hold counters and a log.
fn servers() -> Vec<PathBuf> {
    let root = std::env::var_os("LIOPROF_CAPTURES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/captures"), PathBuf::from);
    let folders = |dir: &Path| {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
        folders.sort();
        folders
    };
    let servers = folders(&root).into_iter().flat_map(|capture| folders(&capture)).filter(|dir| log(dir).is_some());
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

/// lioprof's sums between the markers of the capture, and whether the first marker is there.
fn traced(server: &Path) -> (TraceSums, bool) {
    let input = [log(server).unwrap()];
    let whole = analyze(&input, &Config::default(), None).unwrap().analysis;
    let marker = |word: &str| whole.markers.iter().find(|marker| marker.text.starts_with(word));
    let bound = |word: &str| marker(word).map(|marker| Bound::Marker(marker.text.clone()));
    let config = Config { from: bound("CAPTURE-START"), to: bound("CAPTURE-STOP"), ..Config::default() };
    let analysis = analyze(&input, &config, None).unwrap().analysis;
    (TraceSums::of(&analysis, Edges::default()), config.from.is_some())
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
            let differs = |row: &&lioprof_capture::counters::Row| matches!(row.verdict, Verdict::Differs { rpcs, .. } if rpcs > 0);
            assert!(comparison.differing().all(|row| differs(&row)), "{name}:\n{comparison}");
            assert!(comparison.differing().any(|row| row.scope == Scope::Node), "{name}:\n{comparison}");
            continue;
        }
        assert_eq!(comparison.differing().count(), 0, "{name}:\n{comparison}");
        assert_eq!(comparison.not_compared, [String::new(); 0], "{name}");
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
    let one = Verdict::Differs { rpcs: 1, bytes: 4096 };
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

/// The rest of the node: disks, CPUs, memory, network; and clients in numbers.
#[test]
fn many_clients_cost_little() {
    const CLIENTS: u64 = 3000;
    let root = tempfile::tempdir().unwrap();
    let exports = root.path().join("sys/kernel/debug/lustre/obdfilter/fs-OST0000/exports");
    let nid = |at: u64| format!("10.0.{}.{}@o2ib", at / 256, at % 256);
    let set = |at: u64, bytes: u64| {
        fs::create_dir_all(exports.join(nid(at))).unwrap();
        let stats = format!("snapshot_time 9.0 secs.nsecs\nread_bytes 1 samples [bytes] {bytes} {bytes} {bytes}\n");
        fs::write(exports.join(nid(at)).join("stats"), stats).unwrap();
        fs::write(exports.join(nid(at)).join("ldlm_stats"), "ldlm_cancel 3 samples [reqs]\n").unwrap();
        fs::write(exports.join(nid(at)).join("uuid"), format!("uuid-{at}\nsecond-{at}\n")).unwrap();
    };
    (0..CLIENTS).for_each(|at| set(at, 1000 + at));
    fs::write(exports.join("clear"), "").unwrap();

    let options = SamplerOptions { clients_every: 3, top_clients: 5, ..SamplerOptions::default() };
    let mut sampler = Sampler::new(root.path(), options);
    let mut busiest = Vec::new();
    for round in 0..4 {
        // Client 7 becomes busy after the first sample.
        if round == 1 {
            set(7, 50_000);
        }
        let sample = sampler.sample(round);
        let files = sample.cost.files;
        if round % 3 == 0 {
            assert!((CLIENTS..CLIENTS + 30).contains(&files), "one file for each client and few more: {files}");
            assert_eq!(sample.cost.reads, 2 * files, "one call for the text, one to see its end");
            assert_eq!(sample.totals.clients.as_ref().unwrap().len(), 3000);
        } else {
            assert!(files < 10, "{files}");
            assert_eq!(sample.totals.clients, None);
        }
        let named =
            sample.values.iter().filter(|it| it.source == Source::ExportStats && it.counter == "read_bytes.sum");
        let rows: Vec<_> = named.map(|it| (it.entity.to_string(), it.value)).collect();
        if round % 3 == 0 {
            assert_eq!(rows.len(), 6, "five and the others: {rows:?}");
            let all: u64 = (0..CLIENTS).map(|at| if round > 0 && at == 7 { 50_000 } else { 1000 + at }).sum();
            assert_eq!(rows.iter().map(|(_, sum)| sum).sum::<u64>(), all);
            busiest.push(rows[0].0.clone());
        }
    }
    assert_eq!(busiest, [nid(CLIENTS - 1), nid(7)]);
    let table = sampler.client_table();
    assert_eq!(table.len(), 3000);
    assert!(table.iter().any(|it| it.nid == nid(256) && it.uuids == ["uuid-256", "second-256"]));

    let cut = SamplerOptions { max_exports: 100, ..options };
    let sample = Sampler::new(root.path(), cut).sample(0);
    assert!(sample.totals.clients_cut.contains("fs-OST0000") && sample.cost.files < 130);
    let count = sample.values.iter().find(|it| it.counter == "export_nids");
    assert_eq!(count.map(|it| it.value), Some(3000));
}

#[test]
fn the_machine_and_the_disks_of_the_targets() {
    let root = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("proc/stat", "cpu  100 0 50 1000 25 0 5 0 0 0\ncpu0 100 0 50 1000 25 0 5 0 0 0\nintr 1 2 3\n");
    put("proc/meminfo", "MemTotal:       16384 kB\nMemFree:         1024 kB\nHugePages_Total:       0\n");
    let disk = |name: &str, sectors: u64| format!("   8 0 {name} 10 0 {sectors} 30 4 0 16 5 0 40 50 0 0 0 0 0 0\n");
    put("proc/diskstats", &(disk("sda", 8) + &disk("dm-3", 800) + &disk("loop0", 1)));
    put("proc/net/dev", "Inter-|\n face |bytes\n  ib0: 7 1 0 0 0 0 0 0 9 2 0 0 0 0 0 0\n");
    put("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "25\n");
    put("sys/fs/lustre/obdfilter/fs-OST0000/num_exports", "3\n");
    put("sys/fs/lustre/osd-ldiskfs/fs-OST0000/mntdev", "/dev/mapper/ost0\n");
    put("sys/fs/lustre/osd-ldiskfs/fs-OST0000/kbytesavail", "77\n");
    put("dev/dm-3", "");
    fs::create_dir_all(root.path().join("dev/mapper")).unwrap();
    std::os::unix::fs::symlink("../dm-3", root.path().join("dev/mapper/ost0")).unwrap();

    let figures = |root: &Path| -> BTreeMap<(String, String, String), u64> {
        let values = Sampler::new(root, SamplerOptions::default()).sample(0).values;
        let rows = values.into_iter().filter(|it| it.source != Source::Sampler);
        rows.map(|it| ((it.source.to_string(), it.entity.to_string(), it.counter.into_owned()), it.value)).collect()
    };
    let found = figures(root.path());
    let value = |source: &str, entity: &str, counter: &str| {
        found.get(&(source.to_owned(), entity.to_owned(), counter.to_owned())).copied()
    };
    // 155 ticks of 10 ms: user, system, softirq.
    assert_eq!(value("cpu", "cpu0", "busy_ms"), Some(1550));
    assert_eq!(value("cpu", "cpu", "iowait_ms"), Some(250));
    assert_eq!(value("memory", "", "total_bytes"), Some(16 << 20));
    assert_eq!(value("disk", "dm-3", "read_bytes"), Some(800 * 512));
    assert_eq!(value("disk", "dm-3", "io_ms"), Some(40));
    assert_eq!(value("disk", "sda", "reads"), None, "no disk of a target");
    assert_eq!((value("network", "ib0", "rx_bytes"), value("network", "ib0", "tx_bytes")), (Some(7), Some(9)));
    assert_eq!(value("infiniband", "mlx5_0/1", "rx_bytes"), Some(100));
    assert_eq!(value("target", "", "kbytesavail"), Some(77));

    put("sys/fs/lustre/osd-ldiskfs/fs-OST0000/mntdev", "pool/ost0\n");
    let disks: Vec<String> =
        figures(root.path()).into_keys().filter(|it| it.0 == "disk" && it.2 == "reads").map(|it| it.1).collect();
    assert_eq!(disks, ["dm-3", "sda"], "a pool does not name its disks, so all are taken");
}

#[test]
fn a_node_without_lustre_and_rubbish_in_files() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(Sampler::new(root.path(), SamplerOptions::default()).sample(0).totals.targets.len(), 0);
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
        let is = |it: &&lioprof_capture::counters::Value| {
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
