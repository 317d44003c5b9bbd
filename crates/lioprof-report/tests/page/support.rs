//! A made-up analysis of a system as large as they come.

use std::collections::BTreeMap;

use lioprof_model::{
    Analysis, Check, CheckResult, Client, Confidence, Direction, Distribution, Finding, Flow, Generator, Heatmap, Io,
    Job, Latency, LockEvidence, LockObject, LockPair, LockSeries, LockTarget, LockTotals, Locks, LocksOverTime, Loss,
    Marker, Node, NodeRole, NodeSeries, Object, ObjectId, Operation, ReadWrite, RpcSample, RpcSize, SampledRpc, Series,
    Severity, Target, TargetIo, TargetKindName, TargetSeries, Timeline, Wait, Window,
};

/// 2026-11-21T09:30:05Z
const START: f64 = 1_795_253_405.0;
const BINS: usize = 600;
const BIN_S: f64 = 6.0;
/// OSTs that a client uses.
const FLOWS: usize = 4;
/// The one that is slow.
const SLUGGISH: usize = 700;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % n.max(1)
    }

    fn amount(&mut self, n: usize) -> u64 {
        self.below(n) as u64
    }
}

/// So many OSTs and clients, an hour of writing and then reading.
pub(crate) fn large(osts: usize, clients: usize) -> Analysis {
    let mut random = Random(42);
    let mut a = Analysis {
        schema: lioprof_model::SCHEMA.to_owned(),
        generator: Generator { name: "lioprof".to_owned(), version: "0.0.0".to_owned() },
        window: Window {
            start: START,
            end: START + BINS as f64 * BIN_S,
            duration_s: BINS as f64 * BIN_S,
            traced_s: None,
            under_way_rpcs: None,
            limited: false,
        },
        warnings: vec!["made up".to_owned()],
        markers: vec![Marker { time: START + 10.0, node: "oss0000".to_owned(), text: "run <b>1</b>".to_owned() }],
        loss: Loss { estimated_lost_fraction: Some(0.034), estimate: "made up".to_owned(), ..Loss::default() },
        ..Analysis::default()
    };
    let mut read_of = vec![Io::default(); osts];
    let mut write_of = vec![Io::default(); osts];
    for client in 0..clients {
        let nid = nid(client);
        let (mut read, mut write) = (Io::default(), Io::default());
        for flow in 0..FLOWS {
            let ost = (client * 7 + flow * 311) % osts;
            let (mut flow_read, mut flow_write) = (Io::default(), Io::default());
            for _ in 0..=random.below(3) {
                flow_write.add(RpcSize::Exact(4 << 20), false);
                flow_read.add(RpcSize::Bounded { best: 1 << 20, min: 4096, max: 4 << 20 }, false);
            }
            read.merge(&flow_read);
            write.merge(&flow_write);
            read_of[ost].merge(&flow_read);
            write_of[ost].merge(&flow_write);
            a.flows.push(Flow {
                nid: nid.clone(),
                target: Some(ost_name(ost)),
                node: node_name(ost),
                read: flow_read,
                write: flow_write,
            });
        }
        a.totals.read.merge(&read);
        a.totals.write.merge(&write);
        a.clients.push(Client {
            nid,
            uuids: vec![format!("{client:08x}-0000-0000-0000-000000000000")],
            server: false,
            rpcs: read.rpcs + write.rpcs,
            read,
            write,
            targets: FLOWS as u64,
            ..Client::default()
        });
    }
    a.totals.rpcs = a.totals.read.rpcs + a.totals.write.rpcs;
    a.clients.sort_by_key(|it| std::cmp::Reverse(it.read.bytes + it.write.bytes));
    a.jobs = vec![Job {
        job: Some("<script>alert(\"no\")</script>".to_owned()),
        rpcs: a.totals.rpcs,
        read: a.totals.read.clone(),
        write: a.totals.write.clone(),
        clients: clients as u64,
        targets: osts as u64,
        ..Job::default()
    }];
    for ost in 0..osts {
        let time = if ost == SLUGGISH { 900_000 } else { 40_000 };
        let io = |io: &Io, scale: u64| TargetIo {
            io: io.clone(),
            latency: latency(io.rpcs, time * scale),
            ..TargetIo::default()
        };
        a.targets.push(Target {
            name: ost_name(ost),
            node: node_name(ost),
            kind: TargetKindName::Ost,
            read: io(&read_of[ost], 1),
            write: io(&write_of[ost], 2),
            opcodes: BTreeMap::new(),
        });
        a.series.targets.push(series(ost, &read_of[ost], &write_of[ost], &mut random));
    }
    for node in 0..osts.div_ceil(8) {
        let name = node_name(node * 8);
        a.nodes.push(Node {
            name: name.clone(),
            rpcs: 0,
            sent_rpcs: 0,
            left_rpcs: 0,
            sent_reads: 0,
            sent_writes: 0,
            read: Io::default(),
            write: Io::default(),
            unattributed: ReadWrite::default(),
            first: START,
            last: a.window.end,
            sampled: None,
            role: Some(NodeRole::Oss),
            targets: Vec::new(),
            clock_reference: None,
            clock_offset_us: None,
            clock_error_us: None,
            clock_drift_ppm: None,
            clock_drift_error_ppm: None,
            clock_aligned: false,
            pairs: 0,
            same_server_as: Vec::new(),
        });
        let busy: Vec<f64> = (0..BINS).map(|_| random.below(40) as f64).collect();
        a.series.nodes.push(NodeSeries {
            node: name,
            rpcs: vec![5; BINS],
            arrived: vec![5; BINS],
            queued: busy.iter().map(|it| it / 3.0).collect(),
            in_flight: busy.iter().map(|it| it * 4.0 / 3.0).collect(),
            in_process: busy,
            mean_total_us: vec![None; BINS],
        });
    }
    a.series = Series { bin_s: BIN_S, start: START, bins: BINS, latency: heat(&mut random), ..a.series };
    a.objects = objects(&mut random, osts);
    a.operations = vec![operation("OST_WRITE", 4, a.totals.write.rpcs), operation("OST_READ", 3, a.totals.read.rpcs)];
    a.sample = sample(&mut random, osts, clients);
    a.locks = Some(locks(&mut random, osts, clients));
    a.findings = vec![finding()];
    a.checks = vec![
        Check { id: "sluggish-ost".to_owned(), result: CheckResult::Found, reason: None, note: false },
        Check {
            id: "other".to_owned(),
            result: CheckResult::NotEnoughEvidence,
            reason: Some("made up".to_owned()),
            note: false,
        },
    ];
    a
}

fn nid(client: usize) -> String {
    format!("10.{}.{}.{}@o2ib", client / 62_500, client / 250 % 250, client % 250)
}

fn ost_name(ost: usize) -> String {
    format!("scratch-OST{ost:04x}")
}

fn node_name(ost: usize) -> String {
    format!("oss{:04}", ost / 8)
}

fn latency(count: u64, us: u64) -> Latency {
    let times = |us: u64| Distribution {
        count,
        mean: Some(us as f64),
        p50: Some(us),
        p90: Some(us * 2),
        p99: Some(us * 5),
        p999: Some(us * 9),
        max: Some(us * 20),
    };
    Latency { queue_us: times(us / 50), service_us: times(us), total_us: times(us + us / 50) }
}

/// The bytes of an OST over the first half of the time (writes) and the second (reads); the sluggish one takes longer.
fn series(ost: usize, read: &Io, write: &Io, random: &mut Random) -> TargetSeries {
    let half = BINS / 2;
    let last = if ost == SLUGGISH { half - 2 } else { half * 3 / 4 };
    let spread = |total: u64, from: usize, bins: usize, random: &mut Random| {
        let mut row = vec![0; BINS];
        let weights: Vec<u64> = (0..bins).map(|_| 1 + random.amount(9)).collect();
        let sum: u64 = weights.iter().sum();
        let mut left = total;
        for (at, weight) in weights.iter().enumerate() {
            let part = (total / sum * weight).min(left);
            row[from + at] = part;
            left -= part;
        }
        row[from] += left;
        row
    };
    let write_bytes = spread(write.bytes, 4, last - 4, random);
    let read_bytes = spread(read.bytes, half, last, random);
    let rpcs = |bytes: &[u64]| bytes.iter().map(|it| it >> 20).collect::<Vec<u64>>();
    TargetSeries {
        name: Some(ost_name(ost)),
        node: node_name(ost),
        kind: TargetKindName::Ost,
        read_rpcs: rpcs(&read_bytes),
        write_rpcs: rpcs(&write_bytes),
        rpcs: rpcs(&write_bytes),
        arrived: vec![1; BINS],
        queued: vec![0.1; BINS],
        in_process: vec![0.7; BINS],
        in_flight: vec![0.8; BINS],
        mean_total_us: vec![None; BINS],
        read_bounded_bytes: read_bytes.clone(),
        write_bounded_bytes: vec![0; BINS],
        read_bytes,
        write_bytes,
    }
}

fn heat(random: &mut Random) -> Vec<Heatmap> {
    let edges_us: Vec<u64> = (0..100_u32).map(|i| (4 + u64::from(i % 4)) << (i / 4)).collect();
    let cells = |random: &mut Random| {
        let cell = |bin: u32, random: &mut Random| {
            (0..24_u32).map(|i| (bin, 40 + i, 1 + random.amount(400))).collect::<Vec<_>>()
        };
        (0..u32::try_from(BINS).unwrap_or(0)).flat_map(|bin| cell(bin, random)).collect()
    };
    Direction::ALL
        .into_iter()
        .map(|direction| Heatmap { direction, edges_us: edges_us.clone(), cells: cells(random) })
        .collect()
}

fn fid(object: usize) -> String {
    format!("[0x2c0000{:03x}:0x{object:x}:0x0]", object % 4096)
}

fn objects(random: &mut Random, osts: usize) -> Vec<Object> {
    let mut io = Io::default();
    io.add(RpcSize::Exact(1 << 30), false);
    (0..101)
        .map(|i| Object {
            target: (i < 100).then(|| ost_name(i % osts)),
            fid: (i < 100).then(|| fid(i)),
            objects: if i < 100 { 1 } else { 5_000_000_000 },
            read: io.clone(),
            write: Io::default(),
            clients: Some(random.amount(100)),
            writers: Some(1),
            first_byte: Some(0),
            last_byte: Some((1 << 60) + 1),
        })
        .collect()
}

fn operation(name: &str, opcode: u32, rpcs: u64) -> Operation {
    Operation {
        opcode,
        name: name.to_owned(),
        service: "ll_ost_io".to_owned(),
        rpcs,
        errors: 0,
        latency: latency(rpcs, 40_000),
        total_hist_us: (0..90_u32).map(|i| ((4 + u64::from(i % 4)) << (i / 4), 17)).collect(),
    }
}

fn sample(random: &mut Random, osts: usize, clients: usize) -> RpcSample {
    let rpc = |i: usize, random: &mut Random| {
        let arrival = START + i as f64 * BINS as f64 * BIN_S / 10_000.0;
        let start = arrival + random.below(50_000) as f64 / 1e6;
        SampledRpc {
            arrival,
            start,
            end: start + random.below(900_000) as f64 / 1e6,
            direction: if i < 5000 { Direction::Write } else { Direction::Read },
            client: u32::try_from(random.below(clients)).unwrap_or(0),
            target: Some(u32::try_from(random.below(osts)).unwrap_or(0)),
            object: Some(fid(random.below(1_000_000))),
            offset: Some(random.amount(1 << 40)),
            last: Some(1 << 41),
            bytes: Some(4 << 20),
            job: Some(u32::try_from(i % 7).unwrap_or(0)),
            before_us: Some(random.amount(1000)),
            transfer_us: Some(random.amount(1000)),
        }
    };
    RpcSample { one_in: 64, rpcs: (0..10_000).map(|i| rpc(i, random)).collect() }
}

fn locks(random: &mut Random, osts: usize, clients: usize) -> Locks {
    let totals =
        LockTotals { conflicts: 50_000, expansion_conflicts: Some(50_000), wait_s: 1234.5, ..LockTotals::default() };
    let target = |ost: usize| LockTarget {
        target: ost_name(ost),
        node: node_name(ost),
        evidence: LockEvidence::Dlmtrace,
        totals: LockTotals { conflicts: 37, wait_s: 1.5, ..LockTotals::default() },
        contended_s: 3.0,
        contended_share: 0.01,
        bandwidth_contended: Some(1e6),
        bandwidth_uncontended: Some(2e6),
        wait_us: Distribution::default(),
        release_us: Distribution::default(),
        blocking_ast_us: Distribution::default(),
        flushed_bytes: None,
    };
    let object = |i: usize, random: &mut Random| LockObject {
        target: ost_name(i % osts),
        node: node_name(i % osts),
        resource: None,
        fid: Some(fid(i)),
        inferred: false,
        conflicts: 1000 - i as u64,
        true_conflicts: Some(0),
        expansion_conflicts: Some(1000 - i as u64),
        unclassified_conflicts: Some(0),
        alternations: 900,
        mean_run: 1.0,
        clients: (0..500).map(|_| nid(random.below(clients))).collect(),
        wait_s: 7.5,
        wait_us: Distribution::default(),
        ping_pong: true,
        episodes: Vec::new(),
        contended: Vec::new(),
        kernel: None,
        timeline: (i < 6).then(|| timeline(random, clients)),
    };
    let pair = |random: &mut Random| LockPair {
        target: ost_name(random.below(osts)),
        holder_nid: nid(random.below(clients)),
        waiter_nid: nid(random.below(clients)),
        conflicts: 1 + random.amount(30),
        true_conflicts: Some(0),
        expansion_conflicts: None,
        handovers: 1,
        wait_s: 0.5,
    };
    let row = |ost: usize, random: &mut Random| LockSeries {
        target: ost_name(ost),
        node: node_name(ost),
        conflicts: (0..BINS).map(|_| random.amount(9)).collect(),
        true_conflicts: vec![0; BINS],
        expansion_conflicts: (0..BINS).map(|_| random.amount(5)).collect(),
        blocking_asts: vec![1; BINS],
        waiting: vec![0.25; BINS],
    };
    Locks {
        evidence: LockEvidence::Dlmtrace,
        totals,
        targets: (0..osts).map(target).collect(),
        objects: (0..100).map(|i| object(i, random)).collect(),
        pairs: (0..1000).map(|_| pair(random)).collect(),
        series: LocksOverTime { targets: (0..osts).map(|ost| row(ost, random)).collect() },
        ..Locks::default()
    }
}

fn timeline(random: &mut Random, clients: usize) -> Timeline {
    let mut it = Timeline { truncated: true, ..Timeline::default() };
    for i in 0..1500 {
        let (start, nid) = (START + f64::from(i) * 2.0, nid(random.below(clients)));
        let first_byte = u64::try_from(i).unwrap_or(0) << 30;
        it.holds.push(lioprof_model::Hold {
            nid: nid.clone(),
            mode: "PW".to_owned(),
            start: Some(start),
            end: Some(start + 1.5),
            first_byte,
            last_byte: u64::MAX,
            requested_first_byte: first_byte,
            requested_last_byte: first_byte + 4095,
        });
        it.blocking_asts.push((start + 1.25, nid.clone()));
        it.waits.push(Wait { nid, start: start - 0.5, end: Some(start), first_byte, last_byte: first_byte + 4095 });
    }
    it
}

fn finding() -> Finding {
    Finding {
        id: "sluggish-ost".to_owned(),
        severity: Severity::Critical,
        confidence: Confidence::High,
        title: "OST02bc takes 22 times as long as its peers".to_owned(),
        explanation: "It wrote until 29:48, the others were ready by 22:24.".to_owned(),
        evidence: [("service_p50_us".to_owned(), 1_800_000.0), ("peers_service_p50_us".to_owned(), 80_000.0)].into(),
        thresholds: [("sluggish-ost.factor".to_owned(), 3.0)].into(),
        remedies: vec![
            "Look at its disks; until then `lctl set_param osp.scratch-OST02bc-*.max_create_count=0`.".to_owned(),
        ],
        targets: vec![ost_name(SLUGGISH)],
        clients: vec![nid(99_999)],
        objects: vec![ObjectId { target: ost_name(SLUGGISH), fid: fid(4_000_000) }],
        jobs: Vec::new(),
        nodes: vec![node_name(SLUGGISH)],
        interval: Some(lioprof_model::Interval { start: START + 1200.0, end: START + 1800.0 }),
        cost_s: Some(444.0),
        cost_of: Some("wall time".to_owned()),
        saves_s: Some(400.0),
        saves_s_min: Some(300.0),
        saves_s_max: Some(500.0),
        explained_by: None,
        plot: Some("bandwidth-per-ost".to_owned()),
        docs: "sluggish-ost".to_owned(),
    }
}
