//! What the model's types sum up is the same in any order and grouping.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Debug;

use lioprof_testkit::fuzz::{Rng, for_each_seed};
use lioprof_testkit::same_every_way;

use crate::io::{Direction, RpcSize};
use crate::parts::sums::FaultSums;
use crate::trace::{TraceLoss, TraceSummary};
use crate::{EventKind, LoggedEvent, LoggedEvents, Merge, OpenRpc, OpenRpcs, ReadWrite, RecentCount, SizeHistogram};

/// Merges random parts in every way.
fn merges<T: Merge + Clone + Debug + PartialEq>(part: impl Fn(&mut Rng) -> T) {
    let merge = |mut mine: T, theirs: T| {
        mine.merge(&theirs);
        mine
    };
    for_each_seed(3, |rng| {
        let parts: Vec<T> = (0..1 + rng.below(4)).map(|_| part(rng)).collect();
        same_every_way(&parts, &merge, T::clone);
    });
}

fn size(rng: &mut Rng) -> RpcSize {
    let bytes = 1 << rng.below(24);
    match rng.below(3) {
        0 => RpcSize::Exact(bytes + 7),
        1 => RpcSize::Bounded { best: bytes, min: bytes / 2, max: 2 * bytes },
        _ => RpcSize::Unknown,
    }
}

#[test]
fn reads_and_writes_merge() {
    merges(|rng| {
        let mut sum = <ReadWrite>::default();
        for _ in 0..rng.below(50) {
            let direction = Direction::new(rng.one_in(2));
            sum.direction(direction).add(size(rng), rng.one_in(5));
        }
        sum
    });
}

#[test]
fn sizes_merge() {
    merges(|rng| {
        let mut sizes = SizeHistogram::default();
        (0..rng.below(50)).for_each(|_| sizes.add(size(rng)));
        sizes
    });
}

/// The first and the last of something that may never have been.
#[test]
fn faults_merge() {
    merges(|rng| FaultSums {
        evictions: rng.next() % 3,
        first_us: rng.one_in(2).then(|| time_us(rng)),
        last_us: rng.one_in(2).then(|| time_us(rng)),
        ..FaultSums::default()
    });
}

#[test]
fn tables_and_sets_merge() {
    merges(|rng| (0..rng.below(9)).map(|_| (rng.below(9), rng.next() % 9)).collect::<BTreeMap<usize, u64>>());
    merges(|rng| (0..rng.below(9)).map(|_| (rng.below(9), rng.next() % 9)).collect::<HashMap<usize, u64>>());
    merges(|rng| (0..rng.below(9)).map(|_| rng.below(9)).collect::<HashSet<usize>>());
}

/// Logs without numbers of the scheduler know of no holes; with some that cannot be judged, there is no bound.
#[test]
fn losses_merge() {
    merges(|rng| {
        let seen = rng.next() % 3;
        let bounded = rng.one_in(2) && seen > 0;
        TraceLoss {
            nrs_sequence_seen: seen,
            nrs_sequence_doubtful: bounded.then(|| rng.next() % 9),
            bad_records: rng.next() % 9,
            dropped_reasons: BTreeMap::from([(["full", "late"][rng.below(2)].to_owned(), 1)]),
            ..TraceLoss::default()
        }
    });
}

/// Each event once, and the earliest of all.
#[test]
fn events_merge() {
    merges(|rng| {
        let mut events = LoggedEvents::default();
        for _ in 0..rng.below(400) {
            let (time_us, is_echo) = (time_us(rng), rng.one_in(9));
            let key = rng.next();
            let event = LoggedEvent { time_us, key, target: None, client: None, reason: String::new(), is_echo };
            events.add(EventKind::Eviction, time_us, is_echo, || event);
        }
        events
    });
}

fn under_way(rng: &mut Rng) -> OpenRpcs {
    let mut rpcs = OpenRpcs::default();
    for _ in 0..rng.below(400) {
        let (age_us, start_us) = (Reverse(time_us(rng)), time_us(rng));
        rpcs.add(OpenRpc { age_us, start_us, xid: rng.next(), ..OpenRpc::default() });
    }
    rpcs
}

#[test]
fn summaries_merge() {
    let counts = |rng: &mut Rng| {
        let mut counts = RecentCount::default();
        (0..rng.below(50)).for_each(|_| counts.add(2 * time_us(rng)));
        counts
    };
    merges(|rng| TraceSummary {
        arrivals: counts(rng),
        begun: counts(rng),
        under_way: under_way(rng),
        records: rng.next() % 9,
        first_us: rng.one_in(2).then(|| time_us(rng)),
        last_us: rng.one_in(2).then(|| time_us(rng)),
        targets: (0..rng.below(3)).filter_map(|index| format!("fs-OST{index:04x}").parse().ok()).collect(),
        ..TraceSummary::default()
    });
}

fn time_us(rng: &mut Rng) -> i64 {
    i64::try_from(rng.below(10_000_000)).expect("ten seconds")
}
