//! Sums stay exact, peaks stay visible, and the JSON stays small.

use crate::locks::{LockSeries, Locks};
use crate::series::{FlowSeries, Heatmap, NodeSeries, Series, TargetSeries};
use crate::time_account::{SpentOn, TimeOf, TimeSpent};
use crate::*;

fn io(rpcs: u64, bytes: u64) -> Io {
    Io { rpcs, bytes, bytes_min: bytes, bytes_max: bytes, exact_rpcs: rpcs, ..Io::default() }
}

fn target(name: String, bins: usize, value: impl Fn(usize) -> u64) -> TargetSeries {
    let all: Vec<u64> = (0..bins).map(value).collect();
    let means: Vec<f64> = all.iter().map(|&value| value as f64 / 7.0).collect();
    TargetSeries {
        name: Some(name),
        node: "oss1".to_owned(),
        kind: TargetKindName::Ost,
        read_bytes: all.clone(),
        write_bytes: all.clone(),
        read_bounded_bytes: all.clone(),
        write_bounded_bytes: all.clone(),
        read_rpcs: all.clone(),
        write_rpcs: all.clone(),
        rpcs: all.clone(),
        arrived: all.clone(),
        queued: means.clone(),
        in_process: means.clone(),
        in_flight: means.clone(),
        mean_total_us: means.into_iter().map(Some).collect(),
    }
}

fn node(bins: usize) -> NodeSeries {
    NodeSeries {
        node: "oss1".to_owned(),
        rpcs: vec![1; bins],
        arrived: vec![1; bins],
        queued: vec![0.5; bins],
        in_process: vec![0.5; bins],
        in_flight: vec![1.0; bins],
        mean_total_us: vec![None; bins],
    }
}

fn flow(client: usize, bins: usize) -> FlowSeries {
    FlowSeries {
        nid: (client > 0).then(|| format!("10.0.0.{client}@tcp")),
        target: Some("fs-OST0000".to_owned()),
        node: "oss1".to_owned(),
        read_rpcs: vec![client as u64; bins],
        write_rpcs: vec![1; bins],
    }
}

fn clients(count: u64) -> Vec<Client> {
    let client = |index| Client {
        nid: format!("10.1.{}.{}@o2ib", index / 250, index % 250),
        uuids: vec!["4d5f5bd0-98b7-4c33-b8c7-0b1f6b9a0f2e".to_owned()],
        server: false,
        rpcs: 3,
        read: io(1, count - index),
        write: io(2, 7),
        targets: 4,
        opcodes: [("OST_READ".to_owned(), 1), ("OST_WRITE".to_owned(), 2)].into(),
        service_us: [("OST_READ".to_owned(), 10), ("OST_WRITE".to_owned(), 20)].into(),
    };
    (0..count).map(client).collect()
}

fn flows(count: u64) -> Vec<Flow> {
    let flow = |index: u64| Flow {
        nid: format!("10.1.{}.{}@o2ib", index / 250 % 250, index % 250),
        target: Some(format!("lustre-OST{:04x}", index % 1350)),
        node: "oss1".to_owned(),
        // The largest are not the first.
        read: io(1, index * 7919 % 100_003),
        write: io(1, 1_000_000_000),
    };
    (0..count).map(flow).collect()
}

fn json(analysis: &Analysis) -> Vec<u8> {
    serde_json::to_vec(analysis).unwrap()
}

#[test]
fn what_is_small_stays_as_it_is() {
    let analysis = Analysis {
        clients: clients(5),
        flows: flows(10),
        series: Series { bin_s: 1.0, bins: 3, targets: vec![target("a".to_owned(), 3, |_| 1)], ..Series::default() },
        ..Analysis::default()
    };
    let bounded = analysis.bounded();
    assert_eq!(bounded, analysis);
    assert!(!bounded.is_cut() && !String::from_utf8(json(&bounded)).unwrap().contains("others"));
}

#[test]
fn lists_and_their_others_sum_up_to_the_whole() {
    let analysis = Analysis { clients: clients(5_000), flows: flows(25_000), ..Analysis::default() };
    let bounded = analysis.bounded();
    assert!(bounded.is_cut());
    let sum = |clients: &[Client]| clients.iter().fold((0, 0), |sum, it| (sum.0 + it.rpcs, sum.1 + it.read.bytes));
    let others = &bounded.others["clients"];
    let (all, kept) = (sum(&analysis.clients), sum(&bounded.clients));
    assert_eq!(kept.0 + others.rpcs.unwrap(), all.0);
    assert_eq!(kept.1 + others.read.as_ref().unwrap().bytes, all.1);
    assert_eq!((others.kept, others.rows, others.by.as_str()), (2_000, 3_000, "bytes"));
    // The sample refers to clients by their numbers.
    assert_eq!(bounded.clients, analysis.clients[..2_000]);

    let others = &bounded.others["flows"];
    let sum = |flows: &[Flow]| {
        let mut sum = (Io::default(), Io::default());
        flows.iter().for_each(|it| {
            sum.0.merge(&it.read);
            sum.1.merge(&it.write);
        });
        sum
    };
    let (mut read, mut write) = sum(&bounded.flows);
    read.merge(others.read.as_ref().unwrap());
    write.merge(others.write.as_ref().unwrap());
    assert_eq!((read, write), sum(&analysis.flows));
    assert_eq!(others.rpcs, None);
    // Those with most bytes, in the order of the list.
    let least = bounded.flows.iter().map(|it| it.read.bytes).min().unwrap();
    assert_eq!(analysis.flows.iter().filter(|it| it.read.bytes > least).count(), 9_999);
    let place = |it: &Flow| analysis.flows.iter().position(|other| other == it).unwrap();
    assert!(bounded.flows[..500].windows(2).all(|pair| place(&pair[0]) < place(&pair[1])));
    // Twice is once.
    assert_eq!(bounded.bounded(), bounded);
}

#[test]
fn the_time_of_a_job_on_many_targets_still_sums_up() {
    let spent = |index: u64| {
        let on = if index.is_multiple_of(3) { SpentOn::Queue } else { SpentOn::Bulk };
        let spent = TimeSpent::new(on, Some(format!("fs-OST{index:04x}")), "oss1".to_owned(), 1_000 - index);
        TimeSpent { excess_us: (index == 90).then_some(5), ..spent }
    };
    let spent: Vec<TimeSpent> = (0..100).map(spent).collect();
    let job =
        TimeOf { name: "job".to_owned(), span_us: spent.iter().map(|it| it.us).sum(), spent, ..TimeOf::default() };
    let account = TimeAccount { jobs: vec![job.clone()], ..TimeAccount::default() };
    let bounded = Analysis { time_account: account, ..Analysis::default() }.bounded();
    let cut = &bounded.time_account.jobs[0];
    assert_eq!(cut.spent.len(), 16 + 2);
    assert_eq!(cut.spent.iter().map(|it| it.us).sum::<u64>(), job.span_us);
    for on in [SpentOn::Queue, SpentOn::Bulk, SpentOn::Nothing] {
        assert_eq!(cut.us_on(on), job.us_on(on));
    }
    assert_eq!(cut.spent.iter().filter_map(|it| it.excess_us).sum::<u64>(), 5);
    assert_eq!(cut.spent[17].description(), "queued on all others");
}

#[test]
fn joined_bins_keep_sums_and_peaks() {
    let bins = 17_280;
    // One bin of the day stands out.
    let ost = |index: usize| target(format!("fs-OST{index:04x}"), bins, |bin| if bin == 9_001 { 1 << 30 } else { 1 });
    let cells = vec![(0, 3, 1), (9_001, 3, 10), (9_003, 3, 5)];
    let locks = LockSeries {
        target: "fs-OST0000".to_owned(),
        node: "oss1".to_owned(),
        conflicts: vec![2; bins],
        true_conflicts: vec![1; bins],
        expansion_conflicts: vec![1; bins],
        blocking_asts: vec![2; bins],
        waiting: vec![0.25; bins],
    };
    let analysis = Analysis {
        series: Series {
            bin_s: 5.0,
            bins,
            targets: (0..30).map(ost).collect(),
            nodes: vec![node(bins)],
            flows: (0..200).map(|client| flow(client, bins)).collect(),
            latency: vec![Heatmap { direction: Direction::Read, edges_us: vec![0, 10], cells }],
            ..Series::default()
        },
        locks: Some(Locks { series: locks::LocksOverTime { targets: vec![locks] }, ..Locks::default() }),
        ..Analysis::default()
    };
    let bounded = analysis.bounded();
    let (all, few) = (&analysis.series, &bounded.series);
    assert_eq!((few.joined, few.bin_s), (4, 20.0));
    assert_eq!(few.bins, 4_320);
    let at = 9_001 / 4;
    assert_eq!(few.targets[0].read_bytes[at], (1 << 30) + 3);
    assert_eq!((few.peaks[0].read_bytes[at], few.peaks[0].write_bytes[at - 1]), (1 << 30, 1));
    for (all, few) in all.targets.iter().zip(&few.targets) {
        assert_eq!(few.read_bytes.len(), 4_320);
        assert_eq!(few.read_bytes.iter().sum::<u64>(), all.read_bytes.iter().sum::<u64>());
        assert_eq!(few.rpcs.iter().sum::<u64>(), all.rpcs.iter().sum::<u64>());
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean(&few.in_flight) / mean(&all.in_flight) - 1.0).abs() < 1e-9);
        // Of RPCs, not of bins.
        let expected = ((1_u64 << 30) as f64 / 7.0) * (1_u64 << 30) as f64 / ((1_u64 << 30) + 3) as f64;
        assert!((few.mean_total_us[at].unwrap() / expected - 1.0).abs() < 1e-6);
    }
    assert_eq!(few.nodes[0].mean_total_us, vec![None; 4_320]);
    assert_eq!(few.latency[0].cells, [(0, 3, 1), (2_250, 3, 15)]);
    // Flows: the largest by name, the others as one row of their target.
    let reads = |series: &Series| series.flows.iter().flat_map(|it| &it.read_rpcs).sum::<u64>();
    assert_eq!(reads(few), reads(all));
    assert!(few.flows.len() < 60 && few.flows.iter().any(|it| it.nid.as_deref() == Some("10.0.0.199@tcp")));
    assert_eq!(few.flows.iter().filter(|it| it.nid.is_none()).count(), 1);
    let conflicts = &bounded.locks.unwrap().series.targets[0].conflicts;
    assert_eq!((conflicts.len(), conflicts[7]), (4_320, 8));
}

#[test]
fn the_json_of_the_largest_site_is_below_50_mb() {
    const OSTS: usize = 1_350;
    const BINS: usize = 600;
    let dense = |index: usize| {
        target(format!("lustre-OST{index:04x}"), BINS, |bin| ((bin + index) as u64 * 2_654_435_761) % 10_000_000_000)
    };
    let distribution = Distribution {
        count: 123_456,
        mean: Some(1_234.567_890_123),
        p50: Some(12_345),
        p90: Some(123_456),
        p99: Some(234_567),
        p999: Some(345_678),
        max: Some(456_789),
    };
    let sent = |index: u64| SentRpcs {
        node: "oss1".to_owned(),
        opcode: 104,
        name: "LDLM_BL_CALLBACK".to_owned(),
        device: format!("lustre-OST{:04x}_UUID", index % 1350),
        target: Some(format!("lustre-OST{:04x}", index % 1350)),
        nid: format!("10.1.{}.{}@o2ib", index / 250 % 250, index % 250),
        rpcs: index,
        round_trip_us: distribution,
    };
    let spent = |index: u64| {
        let target = Some(format!("lustre-OST{index:04x}"));
        let spent = TimeSpent::new(SpentOn::Bulk, target, "oss0001".to_owned(), 1_000_000 + index);
        TimeSpent { excess_us: Some(index), ..spent }
    };
    let of = |index: usize| TimeOf {
        name: format!("job.{index}"),
        spent: (0..1350).map(spent).collect(),
        ..TimeOf::default()
    };
    let of: Vec<TimeOf> = (0..1_000).map(of).collect();
    let analysis = Analysis {
        clients: clients(100_000),
        flows: flows(300_000),
        sent: (0..200_000).map(sent).collect(),
        series: Series { bin_s: 1.0, bins: BINS, targets: (0..OSTS).map(dense).collect(), ..Series::default() },
        time_account: TimeAccount { clients: of.clone(), jobs: of, ..TimeAccount::default() },
        ..Analysis::default()
    };
    let bounded = analysis.bounded();
    let bytes = json(&bounded).len();
    assert!(bytes < 50_000_000, "{bytes} bytes");
    let others = |name: &str| bounded.others[name].rows;
    assert_eq!(["clients", "flows", "sent"].map(others), [98_000, 290_000, 196_000]);
}
