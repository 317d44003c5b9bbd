//! Tables beside an analysis: written where lists are cut, and read back to the last digit.

use std::path::Path;

use lioprof_model::{
    Analysis, Client, Direction, Distribution, EnqueueParts, Flow, Io, Job, SentRpcs, Series, ServiceParts, SplitPart,
    TargetKindName,
};
use lioprof_testkit::files::files_under;

use super::*;

fn io(rpcs: u64, bytes: u64) -> Io {
    Io { rpcs, bytes, bytes_min: bytes, bytes_max: bytes, exact_rpcs: rpcs, ..Io::default() }
}

fn times(index: u64) -> Distribution {
    let some = Some(index);
    Distribution {
        count: 1 + index,
        mean: Some(index as f64 / 3.0),
        p50: some,
        p90: some,
        p99: some,
        p999: some,
        max: some,
    }
}

fn large() -> Analysis {
    let nid = |index: u64| format!("10.0.{}.{}@tcp", index / 200, index % 200);
    let rows = 0..12_000_u64;
    let part = |index| SplitPart { us: times(index), against_peers: None };
    let split = |index| ServiceSplit {
        direction: Direction::Write,
        rpcs: index,
        bytes: index * 4096,
        first: 0.1,
        last: 0.7,
        before: part(index),
        transfer: part(1),
        after: part(2),
    };
    Analysis {
        clients: rows
            .clone()
            .map(|index| Client {
                nid: nid(index),
                uuids: vec![format!("uuid-{index}"), "another".to_owned()],
                server: false,
                rpcs: index,
                read: io(1, index),
                write: Io { rpcs: 1, unsized_rpcs: 1, ..Io::default() },
                targets: 3,
                opcodes: [("OST_READ".to_owned(), 1), (format!("opc_{}", index % 7), index)].into(),
                service_us: [("OST_READ".to_owned(), index)].into(),
            })
            .collect(),
        flows: rows
            .clone()
            .map(|index| Flow {
                nid: nid(index),
                target: (index % 5 > 0).then(|| "fs-OST0000".to_owned()),
                node: "oss1".to_owned(),
                read: io(1, index),
                write: io(2, 3),
            })
            .collect(),
        jobs: rows
            .clone()
            .map(|index| Job {
                job: (index > 0).then(|| format!("job.{index}")),
                rpcs: index,
                read: io(1, index),
                write: io(2, 3),
                clients: 1,
                targets: 1,
                opcodes: [("OST_READ".to_owned(), index)].into(),
                service_us: [("OST_READ".to_owned(), 7 * index)].into(),
            })
            .collect(),
        sent: rows
            .clone()
            .map(|index| SentRpcs {
                node: "oss1".to_owned(),
                opcode: 104,
                name: "LDLM_BL_CALLBACK".to_owned(),
                device: "fs-OST0000_UUID".to_owned(),
                target: None,
                nid: nid(index),
                rpcs: index,
                round_trip_us: times(index),
            })
            .collect(),
        service_parts: ServiceParts {
            clients: rows
                .clone()
                .map(|index| ClientParts { nid: nid(index), targets: 2, parts: split(index) })
                .collect(),
            ..ServiceParts::default()
        },
        enqueue_parts: EnqueueParts {
            clients: rows
                .map(|index| ClientEnqueues {
                    nid: nid(index),
                    parts: EnqueueSplit { enqueues: index, ..EnqueueSplit::default() },
                })
                .collect(),
            ..EnqueueParts::default()
        },
        ..Analysis::default()
    }
}

fn tables(dir: &Path) -> usize {
    if dir.join(ANALYSIS_TABLES).exists() { files_under(dir.join(ANALYSIS_TABLES)).len() } else { 0 }
}

#[test]
fn what_the_json_lacks_is_in_tables() {
    let dir = tempfile::tempdir().unwrap();
    let complete = large();
    let bounded = complete.bounded();
    let written = write_analysis_tables(&complete, &bounded, dir.path()).unwrap();
    assert_eq!(written, ["clients", "flows", "jobs", "sent", "service_parts.clients", "enqueue_parts.clients"]);
    assert_eq!(tables(dir.path()), written.len());
    let mut read = bounded.clone();
    assert_eq!(complete_analysis(&mut read, dir.path()).unwrap(), [""; 0]);
    assert!(!read.is_cut());
    assert_eq!(read, complete);

    // A table that is gone, and one that is damaged.
    std::fs::remove_file(file(dir.path(), lists::FLOWS)).unwrap();
    let mut read = bounded.clone();
    assert_eq!(complete_analysis(&mut read, dir.path()).unwrap(), ["flows"]);
    assert_eq!((read.flows.len(), read.clients.len()), (10_000, 12_000));
    std::fs::write(file(dir.path(), lists::JOBS), "no Parquet").unwrap();
    let error = complete_analysis(&mut bounded.clone(), dir.path()).unwrap_err().to_string();
    assert!(error.contains("jobs.parquet"), "{error}");

    // A small analysis in the same place leaves no tables of the large one.
    let small = Analysis::default();
    assert_eq!(write_analysis_tables(&small, &small.bounded(), dir.path()).unwrap(), [""; 0]);
    assert_eq!(tables(dir.path()), 0);
}

#[test]
fn bins_that_are_joined_are_complete_in_a_table() {
    let dir = tempfile::tempdir().unwrap();
    let bins = 20_000;
    let target = |index: u64| TargetSeries {
        name: Some(format!("fs-OST{index:04x}")),
        node: "oss1".to_owned(),
        kind: TargetKindName::Ost,
        read_bytes: (0..bins).map(|bin| bin * index).collect(),
        write_bytes: vec![0; 20_000],
        read_bounded_bytes: vec![0; 20_000],
        write_bounded_bytes: vec![0; 20_000],
        read_rpcs: vec![0; 20_000],
        write_rpcs: vec![0; 20_000],
        rpcs: vec![0; 20_000],
        arrived: vec![0; 20_000],
        queued: vec![0.25; 20_000],
        in_process: vec![0.5; 20_000],
        in_flight: vec![0.75; 20_000],
        mean_total_us: (0..bins).map(|bin| bin.is_multiple_of(2).then_some(bin as f64)).collect(),
    };
    let targets: Vec<TargetSeries> = (0..20).map(target).collect();
    let complete =
        Analysis { series: Series { bins: 20_000, bin_s: 5.0, targets, ..Series::default() }, ..Analysis::default() };
    let bounded = complete.bounded();
    assert_eq!(bounded.series.joined, 3);
    assert_eq!(write_analysis_tables(&complete, &bounded, dir.path()).unwrap(), ["series.targets"]);
    let read: Vec<TargetSeries> = plain_rows::read(&file(dir.path(), "series.targets")).unwrap();
    assert_eq!(read, complete.series.targets);
}
