//! What is worth a replay: whatever may be the reason for some of the elapsed time.

use std::collections::BTreeMap;

use lioprof_model::Change;

use super::run::{Kind, Request, Run};
use super::sizes::{FULL_BYTES, LARGE_BYTES, SMALL_BYTES};

/// Targets, servers and clients that are tried, each.
const MOST: usize = 3;
/// Something is slow if its requests take so many times as long as those of the same size elsewhere.
const SLOW: f64 = 1.2;
/// Shares of the time below this are not worth it.
const SHARE: f64 = 0.02;
/// The load is uneven if an OST has so many times its part.
const UNEVEN: f64 = 1.5;
/// One client does the work if it moves this share of the bytes.
const ALONE: f64 = 0.8;

/// Changes to be tried.
pub(super) fn candidates(run: &Run) -> Vec<Change> {
    let mut changes = Vec::new();
    let elapsed_us = run.elapsed_us();
    if elapsed_us <= 0.0 {
        return changes;
    }
    let nodes = run.nodes_of_places();
    let ost = |request: &Request| run.places[request.place].is_ost.then_some(request.place);
    for place in slow(run, elapsed_us, |request| ost(request).filter(|&place| run.places[place].target.is_some())) {
        changes.extend(run.places[place].target.clone().map(|target| Change::TargetAsPeers { target }));
    }
    for node in slow(run, elapsed_us, |request| ost(request).map(|place| nodes[place])) {
        let place = nodes.iter().position(|&of_place| of_place == node);
        changes.extend(place.map(|place| Change::NodeAsPeers { node: run.places[place].node.clone() }));
    }
    for client in slow(run, elapsed_us, |request| ost(request).map(|_| request.client)) {
        changes.push(Change::ClientAsPeers { client: run.clients[client].clone() });
    }
    let bulk = Bulk::of(run);
    if bulk.is_uneven(run) {
        changes.push(Change::SpreadEvenly);
    }
    let waited_us: f64 = run.waits.iter().map(|wait| run.since_first(wait.to_us) - run.since_first(wait.from_us)).sum();
    if waited_us > SHARE * elapsed_us {
        changes.push(Change::NoLockWaits);
    }
    if bulk.mergeable_us > SHARE * bulk.time_us {
        changes.push(Change::FullSize);
    }
    if bulk.between_us > SHARE * bulk.time_us {
        changes.push(Change::NoSmall);
    }
    changes.extend(bulk.lone_client(run).map(|client| Change::Writers { client, writers: 2 }));
    changes
}

/// Kind, size as a power of two, and whether of an OST of another kind: what requests that can be compared have in common.
type Alike = (Kind, u32, bool);

/// Those of a kind (targets, servers, clients) whose reads and writes take longer than those of the same direction and size elsewhere,
/// the worst first.
fn slow(run: &Run, elapsed_us: f64, of: impl Fn(&Request) -> Option<usize>) -> Vec<usize> {
    let mut sums: BTreeMap<Alike, BTreeMap<usize, (f64, f64)>> = BTreeMap::new();
    for request in run.requests.iter().filter(|request| request.kind.is_bulk()) {
        let Some(number) = of(request) else { continue };
        let alike = sums.entry((request.kind, request.log2_bytes(), run.is_apart(request.place))).or_default();
        let (requests, us) = alike.entry(number).or_default();
        *requests += 1.0;
        *us += total_us(run, request);
    }
    // What each took, and what the others would have taken for the same.
    let mut times: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for alike in sums.values() {
        let (all, all_us) = alike.values().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        for (&number, &(requests, us)) in alike.iter().filter(|(_, (requests, _))| *requests < all) {
            let (own_us, theirs_us) = times.entry(number).or_default();
            *own_us += us;
            *theirs_us += (all_us - us) / (all - requests) * requests;
        }
    }
    let is_slow =
        |(own_us, theirs_us): &(f64, f64)| *own_us > SLOW * theirs_us && own_us - theirs_us > SHARE * elapsed_us;
    let mut slow: Vec<(usize, f64)> = times
        .into_iter()
        .filter(|(_, times)| is_slow(times))
        .map(|(number, times)| (number, times.0 - times.1))
        .collect();
    slow.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    slow.truncate(MOST);
    slow.into_iter().map(|(number, _)| number).collect()
}

fn total_us(run: &Run, request: &Request) -> f64 {
    (run.since_first(request.end_us) - run.since_first(request.arrival_us)).max(0.0)
}

/// Sums over reads and writes.
#[derive(Default)]
struct Bulk {
    time_us: f64,
    /// Of those that follow on another small one of the same client and object.
    mergeable_us: f64,
    /// Of small ones of clients that send large ones as well.
    between_us: f64,
    by_place: BTreeMap<usize, f64>,
    by_client: BTreeMap<usize, f64>,
}

impl Bulk {
    fn of(run: &Run) -> Self {
        let mut bulk = Self::default();
        let mut seen: BTreeMap<(usize, usize, Kind, u32), ()> = BTreeMap::new();
        let sends_large: Vec<bool> = sends_large(run);
        for request in run.requests.iter().filter(|request| request.kind.is_bulk()) {
            let (us, bytes) = (total_us(run, request), f64::from(request.bytes));
            bulk.time_us += us;
            if bytes > 0.0 && bytes <= FULL_BYTES / 2.0 {
                let object = (request.client, request.place, request.kind, request.object);
                if seen.insert(object, ()).is_some() {
                    bulk.mergeable_us += us;
                }
            }
            if bytes <= SMALL_BYTES && sends_large[request.client] {
                bulk.between_us += us;
            }
            if run.places[request.place].is_ost {
                *bulk.by_place.entry(request.place).or_default() += bytes;
                *bulk.by_client.entry(request.client).or_default() += bytes;
            }
        }
        bulk
    }

    fn is_uneven(&self, run: &Run) -> bool {
        let osts = run.osts();
        let all: f64 = self.by_place.values().sum();
        let most = self.by_place.values().copied().fold(0.0, f64::max);
        osts.len() > 1 && most * lioprof_model::units::real(osts.len() as u64) > UNEVEN * all
    }

    /// The client that moves nearly all, if there are others.
    fn lone_client(&self, run: &Run) -> Option<String> {
        let all: f64 = self.by_client.values().sum();
        let (&client, _) = self.by_client.iter().find(|(_, bytes)| **bytes > ALONE * all)?;
        (run.clients.len() > 1).then(|| run.clients[client].clone())
    }
}

fn sends_large(run: &Run) -> Vec<bool> {
    let mut large = vec![false; run.clients.len()];
    for request in &run.requests {
        large[request.client] |= request.kind.is_bulk() && f64::from(request.bytes) >= LARGE_BYTES;
    }
    large
}
