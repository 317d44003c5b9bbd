//! Each scenario shows what its description promises, by its own account.

use lioprof_model::Merge;
use lioprof_sim::Counters;
use lioprof_sim::cluster::opcode;
use lioprof_sim::counters::{Samples, TargetCounters};

use crate::records::{simulated, small};

fn truth(name: &str) -> Counters {
    simulated(name, &small()).1
}

fn osts(counters: &Counters) -> Vec<&TargetCounters> {
    counters.targets.iter().filter(|(name, _)| name.contains("OST")).map(|(_, target)| target).collect()
}

fn written(counters: &Counters) -> Vec<u64> {
    osts(counters).iter().map(|target| target.traffic.write_bytes.sum).collect()
}

fn mean(samples: &Samples) -> u64 {
    samples.sum / samples.count.max(1)
}

fn service(counters: &Counters, opcode: u16) -> Samples {
    counters.services.values().filter_map(|service| service.operations_us.get(&opcode).copied()).fold(
        Samples::default(),
        |mut sum, samples| {
            sum.merge(&samples);
            sum
        },
    )
}

fn writers(target: &TargetCounters) -> usize {
    target.exports.values().filter(|export| export.traffic.write_bytes.count > 0).count()
}

fn readers(target: &TargetCounters) -> usize {
    target.exports.values().filter(|export| export.traffic.read_bytes.count > 0).count()
}

#[test]
fn placement() {
    let healthy = written(&truth("file-per-process"));
    assert!(healthy.windows(2).all(|pair| pair[0] == pair[1]), "{healthy:?}");
    let halves = written(&truth("imbalance"));
    assert!(halves.windows(2).all(|pair| pair[0] == 2 * pair[1]), "{halves:?}");
    let hot = written(&truth("hot-ost"));
    assert!(hot[0] > 0 && hot[1..].iter().all(|&bytes| bytes == 0), "{hot:?}");
    let single = truth("single-writer");
    assert!(osts(&single).iter().all(|target| writers(target) == 1));
    let slow = truth("sluggish-ost");
    let times: Vec<u64> =
        osts(&slow).iter().map(|target| mean(&target.traffic.operations_us[&opcode::OST_WRITE])).collect();
    assert!(times[3] > 5 * times[0], "{times:?}");
    let unfair = truth("unfair");
    let shares: Vec<u64> =
        osts(&unfair)[0].exports.values().map(|export| export.traffic.write_bytes.sum).filter(|&sum| sum > 0).collect();
    assert!(shares.iter().max() > shares.iter().min().map(|least| 5 * least).as_ref(), "{shares:?}");
}

#[test]
fn bottlenecks() {
    let starved = truth("thread-starved");
    let queue = mean(&starved.services["ost_io"].wait_us);
    let work = mean(&service(&starved, opcode::OST_WRITE));
    assert!(queue > 3 * work, "{queue} {work}");
    let bound = truth("disk-bound");
    let queue = mean(&bound.services["ost_io"].wait_us);
    let work = mean(&service(&bound, opcode::OST_WRITE));
    assert!(work > 50 * queue, "{queue} {work}");
    let tail = service(&truth("heavy-tail"), opcode::OST_WRITE);
    assert!(tail.max > 10 * mean(&tail), "{tail:?}");
    let storm = truth("ping-storm");
    assert!(service(&storm, opcode::OBD_PING).count * 10 > storm.rpcs() * 9);
    let storm = truth("statfs-storm");
    assert!(service(&storm, opcode::OST_STATFS).count * 10 > storm.rpcs() * 9);
    let mds = truth("metadata-bound");
    assert!(written(&mds).iter().all(|&bytes| bytes == 0));
    assert!(service(&mds, opcode::MDS_REINT).count > 100);
    let idle = truth("idle");
    assert!(idle.rpcs() > 0 && idle.rpcs() == service(&idle, opcode::OST_STATFS).count);
}

#[test]
fn case_studies() {
    let (before, after) = (truth("read-not-lustre-aware"), truth("read-lustre-aware"));
    assert!(osts(&before).iter().all(|target| readers(target) == 4));
    assert!(osts(&after).iter().all(|target| readers(target) == 1));
    let read = |counters: &Counters| osts(counters).iter().map(|target| target.traffic.read_bytes.sum).sum::<u64>();
    assert_eq!(read(&before), read(&after));
    let (before, after) = (truth("hdf5-metadata"), truth("hdf5-collective-metadata"));
    assert_eq!(written(&before), written(&after));
    assert_eq!(service(&before, opcode::OST_READ).count, 4 * service(&after, opcode::OST_READ).count);
    assert!(osts(&before)[0].traffic.read_bytes.max <= 4096);
}

#[test]
fn locks() {
    let many = truth("many-writers");
    assert!(osts(&many).iter().all(|target| writers(target) == 4));
    let unlink = truth("metadata");
    let locks = || osts(&unlink).into_iter().map(|target| &target.locks);
    assert!(locks().map(|locks| locks.blocking_asts()).sum::<u64>() > 0);
    assert!(locks().all(|locks| locks.conflicts.is_empty()));
    let faults = truth("evictions");
    let evictions: u64 = osts(&faults)[0].locks.clients.values().map(|client| client.evictions).sum();
    assert_eq!(evictions, 2);
    assert!(faults.services["ost_io"].dropped > 0);
    let direct = truth("direct-io");
    let local: u64 = osts(&direct).iter().map(|target| target.locks.local).sum();
    assert_eq!(local, service(&direct, opcode::OST_READ).count + service(&direct, opcode::OST_WRITE).count);
}

#[test]
fn shapes() {
    assert_eq!(service(&truth("small-rpcs"), opcode::OST_WRITE).count, 512);
    let small = truth("small-rpcs");
    assert!(osts(&small).iter().all(|target| target.traffic.write_bytes.max == 4096));
    let gapped = truth("gapped");
    assert!(osts(&gapped).iter().all(|target| target.traffic.write_bytes.max == (1 << 20) - 15 * 4096));
}
