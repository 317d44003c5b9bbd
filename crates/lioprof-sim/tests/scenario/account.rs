//! The truth that the simulation keeps equals what its log says.

use std::collections::BTreeMap;

use lioprof_model::Merge;
use lioprof_sim::Counters;
use lioprof_sim::counters::Samples;
use lioprof_sim::scenario::Scenario;

use crate::records::{simulated, small};
use crate::reread::reread;

type ByTargetAndNid = BTreeMap<(String, String, u16), Samples>;

fn bytes(counters: &Counters) -> ByTargetAndNid {
    let mut sums = ByTargetAndNid::new();
    for (name, target) in &counters.targets {
        for (nid, export) in &target.exports {
            for (opcode, samples) in [(3, export.traffic.read_bytes), (4, export.traffic.write_bytes)] {
                if samples.count > 0 {
                    sums.insert((name.clone(), nid.clone(), opcode), samples);
                }
            }
        }
    }
    sums
}

fn jobs(counters: &Counters) -> BTreeMap<(String, u16), Samples> {
    let mut sums: BTreeMap<(String, u16), Samples> = BTreeMap::new();
    for (job, traffic) in counters.targets.values().flat_map(|target| &target.jobs) {
        for (opcode, samples) in [(3, &traffic.read_bytes), (4, &traffic.write_bytes)] {
            if samples.count > 0 {
                sums.entry((job.clone(), opcode)).or_default().merge(samples);
            }
        }
    }
    sums
}

fn callbacks(counters: &Counters) -> BTreeMap<(String, String, u16), u64> {
    let mut sums = BTreeMap::new();
    for (name, target) in &counters.targets {
        for (nid, client) in &target.locks.clients {
            for (opcode, count) in
                [(104, client.blocking_asts), (105, client.completion_asts), (106, client.glimpse_asts)]
            {
                if count > 0 {
                    sums.insert((name.clone(), nid.clone(), opcode), count);
                }
            }
        }
    }
    sums
}

#[test]
fn the_account_equals_the_log() {
    for scenario in Scenario::all() {
        let name = scenario.name;
        let (recs, counters) = simulated(name, &small());
        let sums = reread(&recs);
        assert_eq!(sums.bytes, bytes(&counters), "{name}: bytes by OST and client");
        assert_eq!(sums.jobs, jobs(&counters), "{name}: bytes by job");
        assert_eq!(sums.callbacks, callbacks(&counters), "{name}: callbacks");
        let mut handled: BTreeMap<u16, u64> = BTreeMap::new();
        let (mut service_us, mut wait_us) = (0, 0);
        for service in counters.services.values() {
            wait_us += service.wait_us.sum;
            for (opcode, samples) in &service.operations_us {
                *handled.entry(*opcode).or_default() += samples.count;
                service_us += samples.sum;
            }
        }
        assert_eq!(sums.handled, handled, "{name}: opcodes");
        assert_eq!((sums.service_us, sums.wait_us), (service_us, wait_us), "{name}: times");
        assert_eq!(counters.rpcs(), handled.values().sum::<u64>(), "{name}");
    }
}

#[test]
fn conflicts_of_a_pingpong() {
    let (recs, counters) = simulated("lock-pingpong", &small());
    let sums = reread(&recs);
    let locks: Vec<_> = counters.targets.values().map(|target| &target.locks).collect();
    let conflicts: u64 = locks.iter().flat_map(|locks| locks.conflicts.values()).sum();
    assert_eq!(conflicts, sums.incompatible);
    let enqueues: u64 = locks.iter().flat_map(|locks| locks.clients.values()).map(|client| client.enqueues).sum();
    assert!(conflicts * 10 > enqueues * 9, "{conflicts} conflicts in {enqueues} enqueues");
    assert!(locks.iter().all(|locks| locks.wait_us.count == locks.blocked));
}
