//! Clocks of several nodes: what the analysis says of them is what was put in.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use lioprof_analysis::{Analysis, Config, analyze, analyze_with_stores};
use lioprof_model::{
    NodeRole, OpenStores, RowSink, RowSource, RowStores, RpcRow, SentRpc, Symbol, Symbols, TraceSummary,
};
use lioprof_sim::cluster::{
    Access, ClientConfig, Clock, Cluster, DiskConfig, MDS, Op, Program, ServerConfig, Simulation, opcode,
};
use lioprof_sim::{SimRecord, text};
use tempfile::TempDir;

const START_US: u64 = 1_795_250_000_000_000;
const MASKS: u32 = 0x0010_0000 | 0x0200_0400;

/// Numbers that depend on the seed only.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn between(&mut self, from: i64, to: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        from + i64::try_from((self.0 >> 11) % u64::try_from(to - from).unwrap()).unwrap()
    }
}

/// What is put in.
struct Setup {
    seed: u64,
    /// The MDS, then the OSSes.
    clocks: Vec<Clock>,
    /// Seconds between two statfs and two pings; 0: servers do not talk.
    talk_s: u64,
    duration_s: u64,
    /// How much longer it takes from the MDS to the others, and from them to the MDS.
    extra_us: [u64; 2],
    /// The client logs, too, with this clock.
    client_clock: Option<Clock>,
    client_rtt_us: u64,
}

impl Setup {
    fn new(seed: u64, clocks: &[Clock]) -> Self {
        Self {
            seed,
            clocks: clocks.to_vec(),
            talk_s: 1,
            duration_s: 20,
            extra_us: [0, 0],
            client_clock: None,
            client_rtt_us: 60,
        }
    }

    fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut clock =
            || Clock { offset_us: random.between(-900_000, 900_000), drift_ppb: random.between(-60_000, 60_000) };
        let clocks: Vec<Clock> = (0..3).map(|_| clock()).collect();
        let mut setup = Self::new(seed, &clocks);
        setup.duration_s = u64::try_from(random.between(5, 60)).unwrap();
        setup.extra_us = [0, 1].map(|_| u64::try_from(random.between(0, 400)).unwrap());
        setup
    }

    fn start(&self) -> Simulation {
        let mut cluster = Cluster::new(self.seed, START_US);
        cluster.interest = (MASKS, u32::MAX);
        (cluster.ping_s, cluster.statfs_s) = (self.talk_s, self.talk_s);
        let mds = cluster.server(ServerConfig::default());
        cluster.mdt(mds);
        let mut osts = Vec::new();
        for _ in 1..self.clocks.len() {
            let oss = cluster.server(ServerConfig::default());
            osts.push(cluster.ost(oss, DiskConfig::default()));
        }
        let [from_us, to_us] = self.extra_us;
        let way =
            |extra_there_us, extra_back_us| ClientConfig { extra_there_us, extra_back_us, ..ClientConfig::default() };
        if self.talk_s > 0 {
            cluster.mds_on(mds, way(from_us, to_us));
            for &ost in &osts {
                cluster.light_weight(ost, way(to_us, from_us));
            }
            let creates: Vec<Op> = (0..self.duration_s)
                .flat_map(|s| {
                    let creates = osts.iter().map(|&target| Op::Plain { opcode: opcode::OST_CREATE, target });
                    [Op::Until(s * 1_000_000 + 500_000)].into_iter().chain(creates).collect::<Vec<_>>()
                })
                .collect();
            cluster.process(MDS, "", program(creates));
        }
        let client = cluster.client(ClientConfig { rtt_us: self.client_rtt_us, ..ClientConfig::default() });
        let file = cluster.file(1 << 20, &osts);
        // A write to every OST at the same time, each half second.
        let stripes = osts.len() as u64;
        let writes: Vec<Op> = (0..2 * self.duration_s)
            .flat_map(|n| {
                let stripe = move |at| Op::Io(Access::write(file, (n * stripes + at) << 20, 65_536).ahead());
                [Op::Until(n * 500_000)].into_iter().chain((0..stripes).map(stripe)).chain([Op::Drain])
            })
            .collect();
        cluster.process(client, "ior.1000", program(writes));
        for (node, clock) in self.clocks.iter().enumerate() {
            cluster.clock(node, *clock);
        }
        if let Some(clock) = self.client_clock {
            let node = cluster.log_of(client);
            cluster.clock(node, clock);
        }
        cluster.start()
    }

    /// Simulates; the logs are in folders `mds`, `oss1`, ... and `client`.
    fn simulated(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut simulation = self.start();
        let mut logs: BTreeMap<usize, BufWriter<File>> = BTreeMap::new();
        let mut record = SimRecord::default();
        while let Some(node) = simulation.next_of_any(&mut record) {
            if record.mask & MASKS == 0 {
                continue;
            }
            let log = logs.entry(node).or_insert_with(|| {
                let dir = folder.path().join(self.name(node));
                fs::create_dir(&dir).unwrap();
                BufWriter::new(File::create(dir.join("rpc.txt")).unwrap())
            });
            text::write_record(log, &record, false).unwrap();
        }
        logs.into_values().for_each(|mut log| log.flush().unwrap());
        folder
    }

    fn analyzed(&self, config: &Config) -> Analysis {
        analysis(&[self.simulated().path().to_owned()], config)
    }

    fn name(&self, node: usize) -> String {
        match node {
            0 => "mds".to_owned(),
            node if node < self.clocks.len() => format!("oss{node}"),
            _ => "client".to_owned(),
        }
    }

    /// How much more a node's clock shows than the MDS's, in the middle of the run.
    fn offset_us(&self, node: usize) -> f64 {
        let at_us = START_US + self.duration_s * 500_000;
        let shows = |clock: &Clock| clock.shows(START_US, at_us);
        (shows(&self.clocks[node]) - shows(&self.clocks[0])) as f64
    }
}

fn analysis(inputs: &[PathBuf], config: &Config) -> Analysis {
    let outcome = analyze(inputs, config, None).unwrap();
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    outcome.analysis
}

fn program(ops: Vec<Op>) -> Program {
    Box::new(ops.into_iter())
}

fn coarse() -> Config {
    Config { bin_us: Some(100_000), ..Config::default() }
}

#[test]
fn offsets_are_within_their_errors() {
    for seed in 0..24 {
        let setup = Setup::random(seed);
        let analysis = setup.analyzed(&coarse());
        assert_eq!(analysis.nodes.len(), 3);
        for (node, clock) in analysis.nodes.iter().enumerate() {
            let (offset_us, error_us) = (clock.clock_offset_us.unwrap() as f64, clock.clock_error_us.unwrap() as f64);
            let miss_us = (offset_us - setup.offset_us(node)).abs();
            assert!(miss_us <= error_us, "{seed}: {} is {offset_us}, off by {miss_us} > {error_us}", clock.name);
            // Two ways of 30 us, up to 400 more, a queue, and what the drift may be in some seconds.
            assert!(error_us < 500.0, "{seed}: {error_us}");
            assert_eq!(clock.clock_reference.as_deref(), Some("mds"));
            assert!(clock.pairs >= 2 * setup.duration_s, "{seed}: {}", clock.pairs);
            let drift_ppm = (setup.clocks[node].drift_ppb - setup.clocks[0].drift_ppb) as f64 / 1e3;
            let (found_ppm, error_ppm) = (clock.clock_drift_ppm.unwrap(), clock.clock_drift_error_ppm.unwrap());
            assert!((found_ppm - drift_ppm).abs() <= error_ppm + 0.01, "{seed}: {found_ppm} {drift_ppm} {error_ppm}");
        }
        assert!(analysis.warnings.iter().all(|warning| !warning.contains("clock")), "{:?}", analysis.warnings);
    }
}

#[test]
fn a_long_run_shows_the_drift() {
    let clocks = [(0, 0), (300, 25_000), (-200, -40_000)].map(|(offset_us, drift_ppb)| Clock { offset_us, drift_ppb });
    let setup = Setup { duration_s: 600, ..Setup::new(11, &clocks) };
    let analysis = setup.analyzed(&coarse());
    for (node, want) in [(1, 25.0), (2, -40.0)] {
        let drift_ppm = analysis.nodes[node].clock_drift_ppm.unwrap();
        assert!((drift_ppm - want).abs() < 1.0, "{node}: {drift_ppm}");
        assert!(analysis.nodes[node].clock_drift_error_ppm.unwrap() < 0.2);
        assert!(analysis.nodes[node].clock_error_us.unwrap() < 50);
    }
}

#[test]
fn a_long_way_in_one_direction_only_is_in_the_error() {
    let clocks = [0, 40_000].map(|offset_us| Clock { offset_us, drift_ppb: 0 });
    let setup = Setup { extra_us: [0, 3000], ..Setup::new(4, &clocks) };
    let analysis = setup.analyzed(&coarse());
    let oss = &analysis.nodes[1];
    let miss_us = (oss.clock_offset_us.unwrap() - 40_000).abs();
    assert!((1400..1600).contains(&miss_us), "half of the difference cannot be seen: {miss_us}");
    assert!(miss_us <= i64::try_from(oss.clock_error_us.unwrap()).unwrap(), "{miss_us} {:?}", oss.clock_error_us);
}

#[test]
fn series_are_on_one_clock() {
    let clocks = [0, 730_000, -410_000].map(|offset_us| Clock { offset_us, drift_ppb: 20_000 });
    let off = Setup::new(5, &clocks);
    let right = Setup::new(5, &[Clock { offset_us: 0, drift_ppb: 20_000 }; 3]);
    let (off, right) = (off.analyzed(&coarse()), right.analyzed(&coarse()));
    assert_eq!(off.nodes.iter().map(|node| node.clock_aligned).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(right.nodes.iter().map(|node| node.clock_aligned).collect::<Vec<_>>(), [false; 3]);
    // Sums know no clock; bins do. What is nearer to a bin's border than the error may fall on either side.
    assert_eq!(off.totals, right.totals);
    assert_eq!(off.series.bins, right.series.bins);
    for (off, right) in off.series.targets.iter().zip(&right.series.targets) {
        assert_eq!(off.write_rpcs.iter().sum::<u64>(), right.write_rpcs.iter().sum::<u64>());
        let moved: u64 = off.write_rpcs.iter().zip(&right.write_rpcs).map(|(a, b)| a.abs_diff(*b)).sum();
        assert!(moved <= 2, "{:?}: {moved} of 40 writes moved", off.name);
    }
    // Each write of the client reaches both OSTs at the same time.
    let ends = |ost: &str| -> Vec<f64> {
        let is_ost = |target: Option<u32>| target.is_some_and(|at| off.targets[at as usize].name.ends_with(ost));
        off.sample.rpcs.iter().filter(|rpc| is_ost(rpc.target)).map(|rpc| rpc.arrival).collect()
    };
    for (a, b) in ends("OST0000").iter().zip(ends("OST0001")) {
        assert!((a - b).abs() < 0.01, "{a} {b}");
    }
    assert!((off.window.duration_s - right.window.duration_s).abs() < 0.01);
    let firsts: Vec<f64> = off.nodes.iter().map(|node| node.first).collect();
    assert!(firsts.iter().all(|first| (first - firsts[0]).abs() < 0.6), "{firsts:?}");
}

/// Rows of all nodes, as a store would keep them.
#[derive(Clone, Default)]
struct Rows {
    symbols: Symbols,
    nodes: BTreeMap<String, (Vec<Item>, TraceSummary)>,
}

#[derive(Clone)]
enum Item {
    Rpc(RpcRow),
    Sent(SentRpc),
}

impl Rows {
    fn keep(&mut self, node: Symbol, item: Item, symbols: &Symbols) {
        self.nodes.entry(symbols.text(node)).or_default().0.push(item);
        if self.symbols.len() != symbols.len() {
            self.symbols.clone_from(symbols);
        }
    }
}

impl RowSink for Rows {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.keep(row.node, Item::Rpc(row.clone()), symbols);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.keep(sent.node, Item::Sent(sent.clone()), symbols);
    }
}

impl RowStores for Rows {
    fn is_store(&self, _: &Path) -> bool {
        true
    }

    fn open(&self, _: &[PathBuf]) -> OpenStores {
        let source = |node: &String| Box::new(Source { node: node.clone(), rows: self.clone() }) as Box<dyn RowSource>;
        OpenStores { sources: self.nodes.keys().map(source).collect(), ..OpenStores::default() }
    }
}

struct Source {
    node: String,
    rows: Rows,
}

impl RowSource for Source {
    fn node(&self) -> &str {
        &self.node
    }

    fn read(&mut self, symbols: &mut Symbols, sink: &mut dyn RowSink) -> Result<(), String> {
        let renamed: Vec<Symbol> = self.rows.symbols.iter().map(|(_, text)| symbols.intern(text)).collect();
        let of = |symbol: Symbol| renamed[symbol.0 as usize];
        for item in &self.rows.nodes[&self.node].0 {
            match item {
                Item::Rpc(row) => {
                    let [node, nid, client_uuid, thread] = [row.node, row.nid, row.client_uuid, row.thread].map(of);
                    sink.rpc(&RpcRow { node, nid, client_uuid, thread, job: row.job.map(of), ..row.clone() }, symbols);
                }
                Item::Sent(row) => {
                    let [node, device, nid] = [row.node, row.device, row.nid].map(of);
                    sink.sent_rpc(&SentRpc { node, device, nid, window: None, ..row.clone() }, symbols);
                }
            }
        }
        Ok(())
    }

    fn summary(&self) -> TraceSummary {
        self.rows.nodes[&self.node].1.clone()
    }

    fn path(&self) -> &Path {
        Path::new("rows")
    }
}

#[test]
#[expect(clippy::cast_possible_truncation, reason = "times have 51 bits")]
fn rows_that_were_kept_give_the_same_clocks() {
    let clocks = [0, 730_000, -410_000].map(|offset_us| Clock { offset_us, drift_ppb: 20_000 });
    let folder = Setup::new(12, &clocks).simulated();
    let inputs = [folder.path().to_owned()];
    let mut rows = Rows::default();
    let logs = analyze(&inputs, &coarse(), Some(&mut rows)).unwrap().analysis;
    // What the sink got are the nodes' own times: the summary has them, too.
    for input in &logs.inputs {
        let us = |s: Option<f64>| s.map(|s| (s * 1e6).round() as i64);
        let targets = logs.targets.iter().filter(|target| target.node == input.node);
        let targets = targets.map(|target| target.name.parse().unwrap()).collect();
        let summary = &mut rows.nodes.get_mut(&input.node).unwrap().1;
        *summary =
            TraceSummary { first_us: us(input.first), last_us: us(input.last), targets, ..TraceSummary::default() };
    }
    let again = analyze_with_stores(&inputs, &rows, &coarse(), None).unwrap().analysis;
    assert!(logs.nodes.iter().filter(|node| node.clock_aligned).count() == 2);
    assert_eq!(again.nodes, logs.nodes);
    assert_eq!(again.series, logs.series);
    assert_eq!(again.window, logs.window);
}

#[test]
fn nothing_is_told_of_clocks_that_nobody_compared() {
    let clocks = [0, 730_000, -410_000].map(|offset_us| Clock { offset_us, drift_ppb: 0 });
    let setup = Setup { talk_s: 0, ..Setup::new(6, &clocks) };
    let analysis = setup.analyzed(&coarse());
    for node in &analysis.nodes {
        assert_eq!((node.clock_offset_us, node.clock_error_us, node.clock_drift_ppm), (None, None, None));
        assert_eq!((node.pairs, node.clock_aligned, &node.clock_reference), (0, false, &None));
    }
    let said = analysis.warnings.iter().filter(|warning| warning.contains("taken as they are")).count();
    assert_eq!(said, 1, "{:?}", analysis.warnings);
}

#[test]
fn nodes_have_roles_and_targets() {
    let setup = Setup { client_clock: Some(Clock::default()), ..Setup::new(8, &[Clock::default(); 2]) };
    let analysis = setup.analyzed(&coarse());
    let roles: Vec<_> = analysis.nodes.iter().map(|node| (node.name.as_str(), node.role.unwrap())).collect();
    assert_eq!(roles, [("client", NodeRole::Client), ("mds", NodeRole::Mds), ("oss1", NodeRole::Oss)]);
    assert_eq!(analysis.nodes[2].targets, ["lustre-OST0000"]);
}

#[test]
fn a_clients_clock_is_compared_too() {
    let client_clock = Some(Clock { offset_us: -250_000, drift_ppb: 30_000 });
    let setup = Setup { client_clock, ..Setup::new(9, &[Clock::default(); 3]) };
    let analysis = setup.analyzed(&coarse());
    let client = analysis.nodes.iter().find(|node| node.name == "client").unwrap();
    let (offset_us, error_us) = (client.clock_offset_us.unwrap(), client.clock_error_us.unwrap());
    let truth_us = -250_000 + 300;
    assert!((offset_us - truth_us).unsigned_abs() <= error_us, "{offset_us} {error_us}");
    assert!(client.pairs >= 80, "{}", client.pairs);
}

#[test]
fn a_clients_rpcs_are_split_into_phases() {
    let clocks = [0, 120_000, -70_000].map(|offset_us| Clock { offset_us, drift_ppb: 0 });
    let client_clock = Some(Clock { offset_us: 333_000, drift_ppb: 0 });
    let setup = Setup { client_clock, client_rtt_us: 1000, ..Setup::new(10, &clocks) };
    let folder = setup.simulated();
    let analysis_of =
        |nodes: &[&str]| analysis(&nodes.iter().map(|node| folder.path().join(node)).collect::<Vec<_>>(), &coarse());
    let analysis = analysis_of(&["mds", "oss1", "oss2", "client"]);
    let without = analysis_of(&["mds", "oss1", "oss2"]);
    // The client's log says nothing about servers.
    assert_eq!(
        (&analysis.totals, &analysis.sent, &analysis.clients),
        (&without.totals, &without.sent, &without.clients)
    );
    assert_eq!(without.rpc_phases, []);

    let of_writes: Vec<_> = analysis.rpc_phases.iter().filter(|row| row.target.is_some()).collect();
    assert_eq!(of_writes.len(), 2);
    for row in of_writes {
        let target = analysis.targets.iter().find(|target| Some(&target.name) == row.target.as_ref()).unwrap();
        assert_eq!((row.rpcs, row.one_in, row.client.as_str()), (target.write.io.rpcs, 1, "client"));
        // What the server measures is what the analysis says of it anyway.
        assert_eq!((row.queue_us, row.service_us), (target.write.latency.queue_us, target.write.latency.service_us));
        let mean = |phase: &lioprof_model::Distribution| phase.mean.unwrap();
        let whole_us = mean(&row.network_us) + mean(&row.queue_us) + mean(&row.service_us);
        assert!((whole_us - mean(&row.round_trip_us)).abs() < 1.0);
        // The answer leaves a little before the server's last line.
        let (out_us, back_us) = (row.network_out_us.unwrap(), row.network_back_us.unwrap());
        assert!((out_us + back_us - mean(&row.network_us)).abs() < 2.0, "{out_us} {back_us}");
        let error_us = row.clock_error_us.unwrap() as f64;
        assert!((out_us - 500.0).abs() < 100.0 + error_us, "{out_us} {error_us}");
        assert!(error_us < 1200.0, "{error_us}");
    }
}
