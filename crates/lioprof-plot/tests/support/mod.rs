//! Made-up analyses: a toy simulation of RPCs, added up the way lioprof does.

pub(crate) mod locks;

use std::collections::BTreeMap;

use lioprof_model::{
    Analysis, Client, ClientParts, Direction, Distribution, Flow, FlowSeries, Heatmap, Io, Latency, NodeSeries, Object,
    Operation, RpcSize, SampledRpc, ServiceSplit, SpentOn, SplitPart, Target, TargetIo, TargetKindName, TargetParts,
    TargetSeries, TimeAccount, TimeOf, TimeSeries, TimeSpent, TimeSpentSeries, Window,
};

use locks::Fight;

/// 2026-11-21T09:30:05.250Z
pub(crate) const START: f64 = 1_795_253_405.25;

/// What to make up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) osts: usize,
    pub(crate) nodes: usize,
    pub(crate) clients: usize,
    pub(crate) rpcs: usize,
    pub(crate) bins: usize,
    pub(crate) bin_s: f64,
    /// Of 100 RPCs, so many have an estimated size, an unknown size, an unknown OST.
    pub(crate) bounded: usize,
    pub(crate) unsized_rpcs: usize,
    pub(crate) unattributed: usize,
    pub(crate) long_names: bool,
    pub(crate) fight: Fight,
}

/// Two OSTs, two clients, a minute.
pub(crate) const SMALL: Shape = Shape {
    osts: 2,
    nodes: 1,
    clients: 2,
    rpcs: 3000,
    bins: 61,
    bin_s: 1.0,
    bounded: 0,
    unsized_rpcs: 0,
    unattributed: 0,
    long_names: false,
    fight: Fight::PingPong,
};

/// 2,000 OSTs, 500 clients.
pub(crate) const LARGE: Shape = Shape {
    osts: 2000,
    nodes: 100,
    clients: 500,
    rpcs: 60_000,
    bins: 300,
    bin_s: 12.0,
    long_names: true,
    fight: Fight::Storm(2500),
    ..SMALL
};

/// 300 OSTs, 200 clients, 2,000 pairs of them in conflict.
pub(crate) const STORM: Shape =
    Shape { osts: 300, nodes: 20, clients: 200, rpcs: 5000, bins: 120, fight: Fight::Storm(2000), ..SMALL };

/// Estimated, unknown and lost things.
pub(crate) const MIXED: Shape = Shape {
    osts: 6,
    nodes: 2,
    clients: 12,
    rpcs: 9000,
    bins: 121,
    bounded: 25,
    unsized_rpcs: 3,
    unattributed: 12,
    long_names: true,
    fight: Fight::Inferred(40),
    ..SMALL
};

/// One RPC, one conflict.
pub(crate) const ONE: Shape = Shape { rpcs: 1, bins: 1, osts: 1, clients: 1, fight: Fight::One, ..SMALL };

/// Every case with its name.
pub(crate) fn cases() -> Vec<(&'static str, Analysis)> {
    let mut mixed = analysis(&MIXED);
    mixed.loss.estimated_lost_fraction = Some(0.034);
    vec![
        ("small", analysis(&SMALL)),
        ("large", analysis(&LARGE)),
        ("one", analysis(&ONE)),
        ("mixed", mixed),
        ("storm", analysis(&STORM)),
    ]
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next()).expect("a small number") % n.max(1)
    }
    fn unit(&mut self) -> f64 {
        self.next() as f64 / 2_f64.powi(31)
    }
    /// Small numbers far more often.
    fn skewed(&mut self, n: usize) -> usize {
        let at = self.unit() * self.unit() * n as f64;
        (0..n).rev().find(|i| at >= *i as f64).unwrap_or(0)
    }
}

struct Rpc {
    arrival: f64,
    queue_us: u64,
    service_us: u64,
    direction: Direction,
    client: usize,
    ost: Option<usize>,
    size: RpcSize,
    offset: u64,
    object: usize,
}

fn rpcs(shape: &Shape) -> Vec<Rpc> {
    let mut random = Random(20_261_121);
    let span = shape.bins as f64 * shape.bin_s;
    (0..shape.rpcs)
        .map(|i| {
            let at = (i as f64 + 0.5) / shape.rpcs as f64;
            let wave = (at * 25.0).sin() * 0.5 + 0.5;
            let direction = if (at * 4.0).fract() < 0.55 { Direction::Write } else { Direction::Read };
            let client = random.skewed(shape.clients);
            let ost = (client + random.skewed(shape.osts)) % shape.osts;
            let cached = direction == Direction::Read && random.unit() < 0.5;
            let base = if cached { 120.0 } else { 2500.0 };
            let tail = if random.below(300) == 0 { 60.0 } else { 1.0 };
            let time = |r: &mut Random, us: f64| us * (r.unit() + r.unit() + r.unit()).powi(2) * 0.5;
            let service = time(&mut random, base * tail) + 20.0;
            let queue = time(&mut random, 40.0 + 9000.0 * wave * wave * wave);
            let pages = 1_u64 << [0, 4, 6, 8, 8, 8, 10].get(random.below(7)).copied().unwrap_or(0);
            let bytes = pages * 4096;
            let percent = random.below(100);
            let size = match percent {
                p if p < shape.bounded => RpcSize::Bounded { best: bytes / 2 + 1, min: 4096, max: bytes * 4 },
                p if p < shape.bounded + shape.unsized_rpcs => RpcSize::Unknown,
                _ => RpcSize::Exact(bytes),
            };
            let known = random.below(100) >= shape.unattributed;
            Rpc {
                arrival: START + at * span * 0.99 + 0.003 * random.unit(),
                queue_us: index(queue),
                service_us: index(service),
                direction,
                client,
                ost: known.then_some(ost),
                size,
                offset: index(at * 2e3) * 1_048_576 / 2 + client as u64 * 600_000_000 % 4_000_000_000,
                object: random.skewed(4),
            }
        })
        .collect()
}

fn index(value: f64) -> u64 {
    format!("{value:.0}").parse().expect("a small number")
}

fn distribution(times: &mut [u64]) -> Distribution {
    times.sort_unstable();
    let at = |share: usize| times.get((times.len() * share / 1000).min(times.len().saturating_sub(1))).copied();
    Distribution {
        count: times.len() as u64,
        mean: (!times.is_empty()).then(|| times.iter().sum::<u64>() as f64 / times.len() as f64),
        p50: at(500),
        p90: at(900),
        p99: at(990),
        p999: at(999),
        max: times.last().copied(),
    }
}

fn latency(rpcs: &[&Rpc]) -> Latency {
    let by = |f: fn(&Rpc) -> u64| distribution(&mut rpcs.iter().map(|r| f(r)).collect::<Vec<_>>());
    Latency {
        queue_us: by(|r| r.queue_us),
        service_us: by(|r| r.service_us),
        total_us: by(|r| r.queue_us + r.service_us),
    }
}

/// Lower edges, four per factor of two.
fn edges() -> Vec<u64> {
    let mut edges = vec![0, 1, 2, 3];
    for power in 2..26_u32 {
        edges.extend((4..8).map(|quarter| quarter << (power - 2)));
    }
    edges
}

fn zeros(n: usize) -> Vec<u64> {
    vec![0; n]
}

/// An analysis of this shape.
/// Parts of 5 to 45 ms, whoever's they are.
fn parts(direction: Direction, seed: u64) -> ServiceSplit {
    let part = |ms: u64| {
        let us = Distribution { count: 10 + seed, mean: Some(ms as f64 * 1e3), ..Distribution::default() };
        SplitPart { us, against_peers: None }
    };
    ServiceSplit {
        direction,
        rpcs: 10 + seed,
        bytes: (10 + seed) << 20,
        first: START,
        last: START + 1.0,
        before: part(5 + seed % 7),
        transfer: part(20 + seed % 11),
        after: part(1 + seed % 3),
    }
}

pub(crate) fn analysis(shape: &Shape) -> Analysis {
    let rpcs = rpcs(shape);
    let n = shape.bins;
    let series_start = (START / shape.bin_s).floor() * shape.bin_s;
    let end = |r: &Rpc| r.arrival + (r.queue_us + r.service_us) as f64 / 1e6;
    let bin = |t: f64| {
        let at = ((t - series_start) / shape.bin_s).clamp(0.0, (n - 1) as f64);
        usize::try_from(index(at.floor())).expect("a small number")
    };
    let node = |ost: usize| format!("oss{:03}", ost % shape.nodes);
    let nid = |client: usize| match (shape.long_names, client % 3) {
        (true, 0) => format!("fe80:2001:db8:85a3:1319:8a2e:370:{client:04x}@tcp12"),
        (true, _) => format!("10.{}.{}.{}@o2ib4", client % 7, client / 250, client % 250),
        _ => format!("10.10.0.{}@tcp", 11 + client),
    };
    let ost_name = |ost: usize| {
        if shape.long_names { format!("scratch-OST{ost:04x}") } else { format!("lustre-OST{ost:04x}") }
    };

    let mut a = Analysis { schema: lioprof_model::SCHEMA.to_owned(), ..Analysis::default() };
    let last = rpcs.iter().map(end).fold(START, f64::max);
    a.window = Window { start: START, end: last, duration_s: last - START, ..Window::default() };
    a.series.bin_s = shape.bin_s;
    a.series.start = series_start;
    a.series.bins = n;
    a.sample.one_in = if shape.rpcs > 20_000 { 16 } else { 1 };

    let empty_target = |name: Option<String>, node: String| TargetSeries {
        name,
        node,
        kind: TargetKindName::Ost,
        read_bytes: zeros(n),
        write_bytes: zeros(n),
        read_bounded_bytes: zeros(n),
        write_bounded_bytes: zeros(n),
        read_rpcs: zeros(n),
        write_rpcs: zeros(n),
        rpcs: zeros(n),
        arrived: zeros(n),
        queued: vec![0.0; n],
        in_process: vec![0.0; n],
        in_flight: vec![0.0; n],
        mean_total_us: vec![None; n],
    };
    let mut series: Vec<TargetSeries> = (0..shape.osts).map(|o| empty_target(Some(ost_name(o)), node(o))).collect();
    let mut targets: Vec<Target> = (0..shape.osts)
        .map(|o| Target {
            name: ost_name(o),
            node: node(o),
            kind: TargetKindName::Ost,
            read: TargetIo::default(),
            write: TargetIo::default(),
            opcodes: BTreeMap::new(),
        })
        .collect();
    if shape.unattributed > 0 {
        series.insert(0, empty_target(None, node(0)));
    }
    let base = usize::from(shape.unattributed > 0);
    let mut clients: Vec<Client> = (0..shape.clients)
        .map(|c| Client {
            nid: nid(c),
            uuids: Vec::new(),
            server: false,
            rpcs: 0,
            read: Io::default(),
            write: Io::default(),
            targets: 0,
            ..Client::default()
        })
        .collect();
    let mut nodes: Vec<NodeSeries> = (0..shape.nodes)
        .map(|i| NodeSeries {
            node: node(i),
            rpcs: zeros(n),
            arrived: zeros(n),
            queued: vec![0.0; n],
            in_process: vec![0.0; n],
            in_flight: vec![0.0; n],
            mean_total_us: vec![None; n],
        })
        .collect();
    let mut flows: BTreeMap<(String, Option<String>), Flow> = BTreeMap::new();
    let mut flow_series: BTreeMap<(Option<String>, Option<String>), FlowSeries> = BTreeMap::new();
    let mut heat = Direction::ALL.map(|d| (d, BTreeMap::<(u32, u32), u64>::new()));
    let edges = edges();

    for r in &rpcs {
        let b = bin(end(r));
        let write = r.direction == Direction::Write;
        let (best, bounded) = match r.size {
            RpcSize::Exact(bytes) => (bytes, 0),
            RpcSize::Bounded { best, .. } => (best, best),
            RpcSize::Unknown => (0, 0),
        };
        let s = &mut series[r.ost.map_or(0, |o| o + base)];
        let (bytes, unsure, count) = if write {
            (&mut s.write_bytes, &mut s.write_bounded_bytes, &mut s.write_rpcs)
        } else {
            (&mut s.read_bytes, &mut s.read_bounded_bytes, &mut s.read_rpcs)
        };
        bytes[b] += best;
        unsure[b] += bounded;
        count[b] += 1;
        let pick = |read: &mut Io, other: &mut Io| {
            if write { other.add(r.size, false) } else { read.add(r.size, false) }
        };
        pick(&mut a.totals.read, &mut a.totals.write);
        let c = &mut clients[r.client];
        c.rpcs += 1;
        pick(&mut c.read, &mut c.write);
        match r.ost {
            Some(o) => {
                let io = if write { &mut targets[o].write } else { &mut targets[o].read };
                io.io.add(r.size, false);
                io.size_hist.add(r.size);
            }
            None => pick(&mut a.totals.unattributed.read, &mut a.totals.unattributed.write),
        }
        let target = r.ost.map(&ost_name);
        let flow = flows.entry((nid(r.client), target.clone())).or_insert_with(|| Flow {
            nid: nid(r.client),
            target: target.clone(),
            node: node(r.ost.unwrap_or(0)),
            read: Io::default(),
            write: Io::default(),
        });
        pick(&mut flow.read, &mut flow.write);
        // Only the first clients have a row of their own.
        let own = (r.client < 9).then(|| nid(r.client));
        let row = flow_series.entry((own.clone(), target.clone())).or_insert_with(|| FlowSeries {
            nid: own,
            target,
            node: node(r.ost.unwrap_or(0)),
            read_rpcs: zeros(n),
            write_rpcs: zeros(n),
        });
        if write {
            row.write_rpcs[b] += 1
        } else {
            row.read_rpcs[b] += 1
        }
        let bucket = edges.partition_point(|e| *e <= r.queue_us + r.service_us) - 1;
        *heat[usize::from(write)]
            .1
            .entry((u32::try_from(b).expect("a small number"), u32::try_from(bucket).expect("a small number")))
            .or_default() += 1;
        let at = &mut nodes[r.ost.unwrap_or(0) % shape.nodes];
        at.queued[b] += r.queue_us as f64 / 1e6 / shape.bin_s;
        at.in_process[b] += r.service_us as f64 / 1e6 / shape.bin_s;
        at.rpcs[b] += 1;
    }

    for (i, r) in rpcs.iter().enumerate().filter(|(i, _)| (*i as u64).is_multiple_of(a.sample.one_in)) {
        a.sample.rpcs.push(SampledRpc {
            arrival: r.arrival,
            start: r.arrival + r.queue_us as f64 / 1e6,
            end: end(r),
            direction: r.direction,
            client: u32::try_from(r.client).expect("a small number"),
            target: r.ost.map(|o| u32::try_from(o).expect("a small number")),
            object: (i % 50 != 0).then(|| format!("[0x2000{:05x}:0x{:x}:0x0]", 0x401, r.object + 12)),
            offset: Some(r.offset),
            last: match r.size {
                RpcSize::Exact(bytes) => Some(r.offset + bytes - 1),
                _ => None,
            },
            bytes: match r.size {
                RpcSize::Exact(bytes) | RpcSize::Bounded { best: bytes, .. } => Some(bytes),
                RpcSize::Unknown => None,
            },
            job: None,
            before_us: None,
            transfer_us: None,
        });
    }
    a.series.targets = series;
    a.series.nodes = nodes;
    a.series.flows = flow_series.into_values().collect();
    a.series.latency = heat
        .into_iter()
        .map(|(direction, cells)| Heatmap {
            direction,
            edges_us: edges.clone(),
            cells: cells.into_iter().map(|((b, bucket), rpcs)| (b, bucket, rpcs)).collect(),
        })
        .collect();
    a.targets = targets;
    a.clients = clients;
    a.flows = flows.into_values().collect();
    a.totals.rpcs = rpcs.len() as u64;
    a.objects = vec![Object {
        target: None,
        fid: None,
        objects: 4,
        read: Io::default(),
        write: Io::default(),
        clients: None,
        writers: None,
        first_byte: None,
        last_byte: None,
    }];
    a.operations = operations(&rpcs, &edges);
    let both = |seed: usize| Direction::ALL.map(|direction| parts(direction, seed as u64));
    let of_ost =
        |ost: usize| both(ost).map(|parts| TargetParts { target: Some(ost_name(ost)), node: node(ost), parts });
    a.service_parts.targets = (0..shape.osts).flat_map(of_ost).collect();
    let of_client = |client: usize| both(client).map(|parts| ClientParts { nid: nid(client), targets: 1, parts });
    a.service_parts.clients = (0..shape.clients).flat_map(of_client).collect();
    a.time_account = time_account(shape, &a);
    locks::add(&mut a, shape.fight);
    a
}

/// An account in which the first OSTs take most of the time.
fn time_account(shape: &Shape, a: &Analysis) -> TimeAccount {
    let osts = |ost: usize| a.targets[ost].name.clone();
    let bins = 48;
    let bin_us = lioprof_model::units::whole(a.window.duration_s * 1e6) / bins as u64;
    let mut kinds: Vec<(SpentOn, Option<String>, u64)> =
        (0..shape.osts).map(|ost| (SpentOn::Bulk, Some(osts(ost)), 40 / (ost as u64 + 1))).collect();
    kinds.extend([(SpentOn::Queue, None, 9), (SpentOn::LockWait, Some(osts(0)), 7), (SpentOn::Nothing, None, 12)]);
    let whole: u64 = kinds.iter().map(|kind| kind.2).sum();
    let series: Vec<TimeSpentSeries> = kinds
        .iter()
        .map(|(on, target, weight)| TimeSpentSeries {
            on: *on,
            target: target.clone(),
            node: "oss000".to_owned(),
            us: (0..bins).map(|bin| bin_us * weight * (1 + bin as u64 % 3) / whole / 3).collect(),
        })
        .collect();
    let spent: Vec<TimeSpent> = series
        .iter()
        .map(|row| TimeSpent::new(row.on, row.target.clone(), row.node.clone(), row.us.iter().sum()))
        .collect();
    let of = |name: String| TimeOf {
        name,
        first: a.window.start,
        last: a.window.end,
        span_us: spent.iter().map(|spent| spent.us).sum(),
        spent: spent.clone(),
    };
    TimeAccount {
        resolution_us: 64,
        all: Some(of(String::new())),
        clients: a.clients.iter().map(|client| of(client.nid.clone())).collect(),
        jobs: vec![of("ior.1000".to_owned())],
        series: TimeSeries { start: a.window.start, bin_s: bin_us as f64 / 1e6, bins, spent: series },
    }
}

fn operations(rpcs: &[Rpc], edges: &[u64]) -> Vec<Operation> {
    let mut out = Vec::new();
    for (opcode, name, direction) in [(3, "OST_READ", Direction::Read), (4, "OST_WRITE", Direction::Write)] {
        let mine: Vec<&Rpc> = rpcs.iter().filter(|r| r.direction == direction).collect();
        let mut hist: BTreeMap<u64, u64> = BTreeMap::new();
        for r in &mine {
            let bucket = edges.partition_point(|e| *e <= r.queue_us + r.service_us) - 1;
            *hist.entry(edges[bucket]).or_default() += 1;
        }
        if mine.is_empty() {
            continue;
        }
        out.push(Operation {
            opcode,
            name: name.to_owned(),
            service: "ll_ost_io".to_owned(),
            rpcs: mine.len() as u64,
            errors: 0,
            latency: latency(&mine),
            total_hist_us: hist.into_iter().collect(),
        });
    }
    if rpcs.len() > 1 {
        let others = [
            (101, "LDLM_ENQUEUE", "ldlm_cn", 7),
            (103, "LDLM_CANCEL", "ldlm_cn", 11),
            (400, "OBD_PING", "ll_ost", 90),
            (13, "OST_STATFS", "ll_ost", 100),
            (16, "OST_SYNC", "ll_ost", 300),
            (6, "OST_DESTROY", "ll_ost", 60),
            (2, "OST_SETATTR", "ll_ost", 50),
            (10, "OST_PUNCH", "ll_ost_io", 80),
            (8, "OST_CONNECT", "ll_ost", 900),
            (9, "OST_DISCONNECT", "ll_ost", 950),
            (17, "OST_SET_INFO", "ll_ost", 970),
            (1, "OST_GETATTR", "ll_ost", 45),
            (5, "OST_CREATE", "ll_ost_create_with_a_very_long_name", 500),
            (99, "opc_99", "ll_ost", 1000),
        ];
        for (opcode, name, service, every) in others {
            let mine: Vec<&Rpc> = rpcs.iter().step_by(every).collect();
            let mut times = latency(&mine);
            if every > 60 {
                times.queue_us = distribution(&mut mine.iter().map(|r| r.queue_us / 900).collect::<Vec<_>>());
            }
            out.push(Operation {
                opcode,
                name: name.to_owned(),
                service: service.to_owned(),
                rpcs: mine.len() as u64,
                errors: 0,
                latency: times,
                total_hist_us: Vec::new(),
            });
        }
    }
    out
}
