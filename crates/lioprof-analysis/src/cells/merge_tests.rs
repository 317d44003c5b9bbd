//! Every cell merges to the same in any order and grouping, and to what it would be without parts.

use lioprof_model::Merge;
use lioprof_testkit::fuzz::{Rng, for_each_seed};
use lioprof_testkit::same_every_way;

use super::*;

/// Most parts, and most entries of one.
const PARTS: usize = 4;
const ENTRIES: usize = 200;

/// Parts of random entries, and the whole that has all of them.
fn parts_and_whole<T: Clone + Default>(
    rng: &mut Rng,
    entry: impl Fn(&mut Rng) -> u64,
    mut add: impl FnMut(&mut T, u64),
) -> (Vec<T>, T) {
    let mut whole = T::default();
    let parts = (0..1 + rng.below(PARTS)).map(|_| {
        let mut part = T::default();
        for _ in 0..rng.below(ENTRIES) {
            let entry = entry(rng);
            add(&mut part, entry);
            add(&mut whole, entry);
        }
        part
    });
    (parts.collect(), whole)
}

fn merged<T: Merge>(mut mine: T, theirs: T) -> T {
    mine.merge(&theirs);
    mine
}

/// From a few µs to hours, the short ones as often as the long ones.
fn time_us(rng: &mut Rng) -> u64 {
    rng.next() >> (30 + rng.below(34))
}

#[test]
fn times_merge() {
    for_each_seed(3, |rng| {
        // Few buckets, many, and counters that are about to overflow.
        let often = [1, 1, 20_000, 3_000_000_000][rng.below(4)];
        let add = |times: &mut Times, us| times.add_often(us, if us % 7 == 0 { often } else { 1 });
        let (parts, whole) = parts_and_whole(rng, time_us, add);
        let seen = |times: &Times| (times.counts().collect::<Vec<_>>(), times.distribution());
        assert_eq!(same_every_way(&parts, &merged, seen), seen(&whole));
    });
}

#[test]
fn quarter_octaves_merge() {
    for_each_seed(3, |rng| {
        let add = |octaves: &mut QuarterOctaves, us| octaves.add(quarter_octave(us), us % 3);
        let (parts, whole) = parts_and_whole(rng, time_us, add);
        let seen = |octaves: &QuarterOctaves| octaves.filled().collect::<Vec<_>>();
        assert_eq!(same_every_way(&parts, &merged, seen), seen(&whole));
    });
}

#[test]
fn bins_merge() {
    type Binned = (BinClock, Bins<u64>);
    let add = |(clock, bins): &mut Binned, us: u64| {
        let us = i64::try_from(us).expect("hours");
        if let Some(factor) = clock.cover(us) {
            bins.join(factor);
        }
        *bins.at(clock.bin(us)) += 1;
    };
    let merge = |(mut clock, mut bins): Binned, (other, mut theirs): Binned| {
        let (factor, of_theirs) = clock.unite(&other);
        bins.join(factor);
        theirs.join(of_theirs);
        bins.merge(&theirs);
        (clock, bins)
    };
    let seen = |(clock, bins): &Binned| (clock.width_us(), clock.ends(), bins.filled().collect::<Vec<_>>());
    for_each_seed(3, |rng| {
        let (parts, whole) = parts_and_whole(rng, time_us, add);
        assert_eq!(same_every_way(&parts, &merge, seen), seen(&whole));
    });
}

/// As long as there are not so many intervals apart from each other that the older ones are given up.
#[test]
fn unions_merge() {
    for_each_seed(3, |rng| {
        let mut at_us = 0;
        let (mut parts, mut all) = (vec![Union::default(); 1 + rng.below(PARTS)], Vec::new());
        for _ in 0..rng.below(ENTRIES) {
            // In the order of their ends.
            at_us += i64::try_from(rng.below(10)).expect("a digit");
            let from_us = at_us - i64::try_from(rng.below(30)).expect("two digits");
            let part = rng.below(parts.len());
            parts[part].add(from_us, at_us);
            all.push(from_us..at_us);
        }
        let covered = (-30..at_us).filter(|us| all.iter().any(|span| span.contains(us))).count();
        let total_us = same_every_way(&parts, &merged, Union::total_us);
        assert_eq!(usize::try_from(total_us), Ok(covered));
    });
}
