//! Samples of RPCs merge to the same in any order and grouping.

use lioprof_model::{Direction, Symbol};
use lioprof_testkit::fuzz::for_each_seed;
use lioprof_testkit::same_every_way;
use lustre_debuglog::TargetKind;

use super::sample::{Sample, SampledRpc};
use crate::cells::limits::SAMPLE_RPCS;

/// A sample that is full, and thinned out, is that of all RPCs together.
#[test]
fn samples_merge() {
    for_each_seed(60, |rng| {
        let rpc = |hash| SampledRpc {
            hash,
            node: Symbol(0),
            nid: Symbol(0),
            xid: 1,
            kind: TargetKind::Ost,
            direction: Direction::Read,
            arrival_us: 0,
            start_us: 0,
            end_us: 0,
            target: None,
            object: None,
            extent: None,
            bytes: None,
            job: None,
            bulk_us: None,
        };
        let mut rpcs = || (0..rng.below(2 * SAMPLE_RPCS)).map(|_| rpc(rng.next())).collect::<Vec<_>>();
        let parts = [rpcs(), rpcs(), rpcs()];
        let merge = |mut mine: Sample, theirs: Sample| {
            mine.merge(theirs);
            mine
        };
        let seen = |sample: &Sample| {
            let mut hashes: Vec<u64> = sample.kept.iter().map(|kept| kept.hash).collect();
            hashes.sort_unstable();
            (sample.one_in(), hashes)
        };
        let sample = |kept: Vec<SampledRpc>| {
            let mut sample = Sample::default();
            sample.kept = kept;
            // As many as there may be.
            merge(sample, Sample::default())
        };
        let whole = sample(parts.concat());
        assert_eq!(same_every_way(&parts.map(sample), &merge, seen), seen(&whole));
    });
}
