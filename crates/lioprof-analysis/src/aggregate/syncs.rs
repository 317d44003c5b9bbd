//! Syncs of a server against each other: the disk behind those that take far longer is slow.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::SyncTimes;
use lioprof_model::units::{real, seconds, whole};
use lioprof_stats::covered;

use super::service_parts::{Strata, against_peers, all_together};
use crate::cells::Times;
use crate::what_if::{Kind, Request, Run};

/// A sync that takes less has had nothing to wait for, and is as good as this, µs.
const LITTLE_US: i64 = 10_000;
/// A client has written about as much to each of its OSTs if none has so many times as much as another: else its syncs have more to do
/// there.
const UNLIKE: f64 = 4.0;
/// Fewer that take long may be chance.
const FEWEST: usize = 2;

/// Bytes that a client has written to a place.
type Written = BTreeMap<(usize, usize), f64>;

/// Syncs of each server's OSTs, as far as they can be told apart.
pub(super) fn of(run: &Run) -> Vec<SyncTimes> {
    let mut written = Written::new();
    for request in run.requests.iter().filter(|request| request.kind == Kind::Write) {
        *written.entry((request.client, request.place)).or_default() += f64::from(request.bytes);
    }
    let nodes = run.nodes_of_places();
    let mut syncs: BTreeMap<usize, Vec<&Request>> = BTreeMap::new();
    let is_sync = |request: &&Request| request.kind == Kind::Sync && run.places[request.place].is_ost;
    for sync in run.requests.iter().filter(is_sync) {
        syncs.entry(nodes[sync.place]).or_default().push(sync);
    }
    let of_node = |(node, syncs): (usize, Vec<&Request>)| {
        let (named, unnamed): (Vec<&Request>, Vec<&Request>) =
            syncs.into_iter().partition(|sync| run.places[sync.place].target.is_some());
        let mut rows = of_osts(run, &named, &written);
        let is_here = |place: usize| nodes[place] == node && run.places[place].target.is_some();
        rows.extend(of_one_of(run, unnamed, &written, is_here));
        rows
    };
    syncs.into_iter().flat_map(of_node).collect()
}

/// Those whose OST is known, against those of the server's other OSTs for about as many bytes.
fn of_osts(run: &Run, syncs: &[&Request], written: &Written) -> Vec<SyncTimes> {
    let mut counts: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for sync in syncs {
        *counts.entry((sync.client, sync.place)).or_default() += 1;
    }
    let mut strata: Strata<i32, usize> = Strata::new();
    for sync in syncs {
        let key = (sync.client, sync.place);
        let bytes = written.get(&key).copied().unwrap_or(0.0) / real(counts[&key]);
        strata.entry(log2(bytes)).or_default().entry(sync.place).or_default().add(service_us(sync).unsigned_abs());
    }
    let mut against = against_peers(&strata);
    all_together(&mut [against.values_mut().collect()]);
    let row = |(place, against): (usize, lioprof_model::AgainstPeers)| {
        let (own, others): (Vec<&Request>, Vec<&Request>) = syncs.iter().partition(|sync| sync.place == place);
        let targets = run.places[place].target.iter().cloned().collect();
        Some(SyncTimes { chance: Some(against.chance), ..times(run, targets, &own, &others, against.ratio?) })
    };
    against.into_iter().filter_map(row).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "a power of two of bytes")]
fn log2(bytes: f64) -> i32 {
    bytes.max(1.0).log2().round() as i32
}

/// Those that may be of several OSTs: whether some of each client's take far longer than all others. `None`: they cannot be told apart.
fn of_one_of(
    run: &Run,
    mut syncs: Vec<&Request>,
    written: &Written,
    is_here: impl Fn(usize) -> bool,
) -> Option<SyncTimes> {
    let places_of = |client: usize| {
        let of_client = written.range((client, 0)..=(client, usize::MAX));
        of_client.map(|(&(_, place), &bytes)| (place, bytes)).filter(|(place, _)| is_here(*place))
    };
    let alike = |client: usize| {
        let bytes = || places_of(client).map(|(_, bytes)| bytes);
        bytes().count() >= 2 && bytes().fold(0.0, f64::max) < UNLIKE * bytes().fold(f64::INFINITY, f64::min)
    };
    syncs.retain(|sync| alike(sync.client));
    syncs.sort_by_key(|sync| service_us(sync));
    let ratio = |at: usize| {
        real(service_us(syncs[at]).unsigned_abs()) / real(service_us(syncs[at - 1]).max(LITTLE_US).unsigned_abs())
    };
    let at = (FEWEST..(syncs.len() + 1).saturating_sub(FEWEST)).max_by(|a, b| ratio(*a).total_cmp(&ratio(*b)))?;
    let (fast, slow) = syncs.split_at(at);
    // A client all of whose syncs take long has more to write, or another way to the disk.
    let has_both = |sync: &&Request| fast.iter().any(|other| other.client == sync.client);
    if !slow.iter().all(has_both) {
        return None;
    }
    let places: BTreeSet<usize> = slow.iter().flat_map(|sync| places_of(sync.client)).map(|(place, _)| place).collect();
    let targets = places.into_iter().filter_map(|place| run.places[place].target.clone()).collect();
    Some(times(run, targets, slow, fast, ratio(at)))
}

fn service_us(sync: &Request) -> i64 {
    (sync.end_us - sync.start_us).max(0)
}

fn times(run: &Run, targets: Vec<String>, own: &[&Request], others: &[&Request], ratio: f64) -> SyncTimes {
    let distribution = |syncs: &[&Request]| {
        let mut times = Times::default();
        syncs.iter().for_each(|sync| times.add(service_us(sync).unsigned_abs()));
        times.distribution()
    };
    let spans = own.iter().map(|sync| (run.since_first(sync.start_us), run.since_first(sync.end_us))).collect();
    SyncTimes {
        node: own.first().map(|sync| run.places[sync.place].node.clone()).unwrap_or_default(),
        targets,
        rpcs: own.len() as u64,
        service_us: distribution(own),
        others: others.len() as u64,
        others_service_us: distribution(others),
        ratio,
        chance: None,
        covered_us: whole(covered(spans)),
        first: seconds(own.iter().map(|sync| sync.start_us).min().unwrap_or(0)),
        last: seconds(own.iter().map(|sync| sync.end_us).max().unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::what_if::Place;

    /// A server with two OSTs; each client writes to both as many bytes, and its syncs, of which no OST is known, take so long.
    fn run(bytes: [u32; 2], syncs_ms: &[&[i64]]) -> Run {
        let place =
            |target: Option<&str>| Place { node: "oss1".to_owned(), target: target.map(str::to_owned), is_ost: true };
        let mut run =
            Run { places: vec![place(None), place(Some("a-OST0000")), place(Some("a-OST0001"))], ..Run::default() };
        run.first_us = Some(0);
        let request = |kind, client, place, bytes, end_us| Request {
            arrival_us: 0,
            start_us: 0,
            end_us,
            client,
            place,
            kind,
            bytes,
            object: 0,
            gapped: false,
            parts: None,
        };
        for (client, syncs) in syncs_ms.iter().enumerate() {
            run.clients.push(client.to_string());
            for (place, bytes) in bytes.into_iter().enumerate() {
                run.requests.push(request(Kind::Write, client, place + 1, bytes, 10));
            }
            run.requests.extend(syncs.iter().map(|ms| request(Kind::Sync, client, 0, 0, ms * 1000)));
        }
        run
    }

    #[test]
    fn syncs_of_one_of_two_disks_are_told_by_their_times() {
        let both: [&[i64]; 2] = [&[906, 594, 504, 63966, 63901, 64279], &[1224, 1158, 1115, 64599, 64490, 64537]];
        let [found] = &of(&run([1 << 20, 1 << 20], &both))[..] else { panic!("one row") };
        assert_eq!((found.rpcs, found.others, found.targets.len()), (6, 6, 2));
        assert!((found.ratio - 63901.0 / 1224.0).abs() < 0.01 && found.covered_us == 64_599_000, "{found:?}");
        // Healthy: they differ by half.
        let both: [&[i64]; 2] = [&[899, 1392, 995, 1748, 1451, 2012], &[673, 611, 744, 1060, 1138, 1200]];
        assert!(of(&run([1 << 20, 1 << 20], &both)).iter().all(|found| found.ratio < 2.0));
    }

    #[test]
    fn who_has_more_to_write_takes_longer() {
        let one: [&[i64]; 2] = [&[10, 11], &[6000, 6100]];
        assert_eq!(of(&run([1 << 20, 1 << 20], &one)), []);
        let uneven: [&[i64]; 1] = [&[10, 11, 6000, 6100]];
        assert_eq!(of(&run([1 << 20, 1 << 24], &uneven)), []);
        assert_eq!(of(&run([1 << 20, 1 << 20], &uneven)).len(), 1);
    }
}
