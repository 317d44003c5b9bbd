//! End to end: what lioprof finds in a simulated log is what happened.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};

use lioprof_analysis::{Analysis, Config, analyze};
use lioprof_sim::scenario::{Options, Scenario};
use lioprof_sim::{Counters, SimRecord, Workload as _, text};
use lustre_debuglog::vocab::KernelJob;

use crate::records::small;

fn analyzed(name: &str, options: &Options) -> (Analysis, Counters) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rpc.txt");
    let mut out = BufWriter::new(File::create(&path).unwrap());
    let mut simulation = Scenario::named(name, options).unwrap();
    let mut record = SimRecord::default();
    while simulation.next(&mut record) {
        text::write_record(&mut out, &record, false).unwrap();
    }
    out.flush().unwrap();
    drop(out);
    let outcome = analyze(&[path], &Config::default(), None).unwrap();
    assert!(outcome.problems.is_empty(), "{name}: {:?}", outcome.problems);
    (outcome.analysis, simulation.counters())
}

/// Scenarios in which requests fail: they count for clients and jobs, and the servers' counters do not have them.
const FAILURES: [&str; 4] = ["evictions", "eviction-storm", "over-quota", "full-ost"];

/// (RPCs, bytes) of reads and of writes.
type Moved = ((u64, u64), (u64, u64));

#[test]
fn bytes_rpcs_and_callbacks_are_the_truth() {
    for scenario in Scenario::all() {
        let name = scenario.name;
        let (analysis, truth) = analyzed(name, &small());
        let failures = FAILURES.contains(&name);

        let mut targets = BTreeMap::new();
        for target in analysis.targets.iter().filter(|target| target.name.contains("OST")) {
            let (read, write) = (&target.read.io, &target.write.io);
            assert!(read.is_exact() && write.is_exact(), "{name}: {} is not exact", target.name);
            let good = |io: &lioprof_model::Io| (io.rpcs - io.errors, io.bytes);
            targets.insert(target.name.clone(), (good(read), good(write)));
        }
        let moved = |traffic: &lioprof_sim::counters::Traffic| -> Moved {
            let (read, write) = (traffic.read_bytes, traffic.write_bytes);
            ((read.count, read.sum), (write.count, write.sum))
        };
        for (ost, counters) in truth.targets.iter().filter(|(name, _)| name.contains("OST")) {
            let found = targets.get(ost).copied().unwrap_or_default();
            assert_eq!(found, moved(&counters.traffic), "{name}: {ost}");
        }

        let mut clients: BTreeMap<String, Moved> = BTreeMap::new();
        for (nid, export) in truth.targets.values().flat_map(|target| &target.exports) {
            let (one, sum) = (moved(&export.traffic), clients.entry(nid.clone()).or_default());
            sum.0 = (sum.0.0 + one.0.0, sum.0.1 + one.0.1);
            sum.1 = (sum.1.0 + one.1.0, sum.1.1 + one.1.1);
        }
        for client in &analysis.clients {
            let found = ((client.read.rpcs, client.read.bytes), (client.write.rpcs, client.write.bytes));
            if !failures {
                assert_eq!(found, clients[&client.nid], "{name}: {}", client.nid);
            }
        }

        for job in analysis.jobs.iter().filter(|_| !failures) {
            let Some(job_name) = job.job.as_ref().filter(|job| !job.is_empty()) else { continue };
            let is_it = |job: &str| match KernelJob::of(job.as_bytes()) {
                Some(by_kernel) => by_kernel.name() == job_name.as_bytes(),
                None => job == job_name,
            };
            let traffic = truth.targets.values().flat_map(|target| &target.jobs).filter(|(job, _)| is_it(job));
            let traffic = traffic.map(|(_, traffic)| traffic);
            let (read, write) =
                traffic.fold((0, 0), |sum, traffic| (sum.0 + traffic.read_bytes.sum, sum.1 + traffic.write_bytes.sum));
            assert_eq!((job.read.bytes, job.write.bytes), (read, write), "{name}: job {job_name}");
        }

        assert_eq!(analysis.totals.rpcs, truth.rpcs() + analysis.totals.dropped_rpcs, "{name}");
        let dropped: u64 = truth.services.values().map(|service| service.dropped).sum();
        assert_eq!(analysis.totals.dropped_rpcs, dropped, "{name}");
        assert_eq!(analysis.under_way.is_empty(), name != "hung-requests", "{name}");
        assert_eq!(analysis.loss.missing_handled, analysis.under_way.len() as u64, "{name}");
        // A request that was dropped ends without ever having begun: that is no loss.
        assert_eq!(analysis.loss.missing_handling, 0, "{name}");
        assert_eq!(analysis.loss.nrs_sequence_gaps, 0, "{name}");
    }
}

#[test]
fn locks_are_the_truth() {
    for name in ["lock-pingpong", "false-sharing", "many-writers", "shared-aligned", "file-per-process", "metadata"] {
        let (analysis, truth) = analyzed(name, &small());
        let locks = analysis.locks.unwrap_or_else(|| panic!("{name}: no locks"));
        let all = || truth.targets.values().map(|target| &target.locks);
        let clients = || all().flat_map(|locks| locks.clients.values());
        let found = &locks.totals;
        assert_eq!(found.blocked, all().map(|locks| locks.blocked).sum::<u64>(), "{name}: blocked");
        let asts: u64 = clients().map(|client| client.blocking_asts).sum();
        assert_eq!(found.blocking_asts, asts, "{name}: blocking ASTs");
        let asts: u64 = clients().map(|client| client.completion_asts).sum();
        assert_eq!(found.completion_asts, asts, "{name}: completion ASTs");
        let cancels: u64 = clients().map(|client| client.cancels).sum();
        assert_eq!(found.cancels, Some(cancels), "{name}: cancels");
        let conflicts: u64 = all()
            .flat_map(|locks| &locks.conflicts)
            .filter(|((asks, holds), _)| asks != holds)
            .map(|(_, count)| count)
            .sum();
        assert_eq!(found.kinds.client, conflicts, "{name}: conflicts between clients");
        if name == "metadata" {
            // Its waits are the MDT's, for its unlinks: no client waits.
            assert_eq!((found.kinds.client, found.wait_s), (0, 0.0));
            continue;
        }
        let wait_us: u64 = all().map(|locks| locks.wait_us.sum).sum();
        let wait_s = std::time::Duration::from_micros(wait_us).as_secs_f64();
        assert!((found.wait_s - wait_s).abs() <= 0.02 * wait_s + 1e-6, "{name}: {} instead of {wait_s}", found.wait_s);
    }
}

#[test]
fn kinds_of_conflicts_are_told_apart() {
    let totals = |name: &str| analyzed(name, &small()).0.locks.unwrap().totals;
    let pingpong = totals("lock-pingpong");
    assert_eq!(pingpong.true_conflicts, Some(pingpong.conflicts));
    let sharing = totals("false-sharing");
    assert_eq!(sharing.expansion_conflicts, Some(sharing.conflicts));
}
