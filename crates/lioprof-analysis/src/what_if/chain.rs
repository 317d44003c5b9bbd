//! Which completion let each request go out.
//!
//! A client sends the next request because earlier ones are over: as many as were over when it arrived. If it paused and all other
//! clients were quiet at the end of the pause, it may have waited for them, at a barrier: then all requests of all clients count.

use super::order::{before, quantile, sorted};
use super::run::{Request, Run};

/// What a request waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    /// The number of the client's request that was over last before it arrived; `None`: it is among the first.
    pub(super) enabler: Option<usize>,
    /// When all clients' requests were over for which it waited; `None`: it waited for its client's only.
    pub(super) barrier_us: Option<f64>,
    /// Time from what it waited for to its arrival, µs; of the first ones since the first arrival of all.
    pub(super) think_us: f64,
}

/// Candidates for barriers from which their spread can be told.
const FEW: usize = 5;

/// The link of each request.
pub(super) fn chain(run: &Run) -> Vec<Link> {
    let arrivals: Vec<f64> = run.requests.iter().map(|request| run.since_first(request.arrival_us)).collect();
    let ends: Vec<f64> = run.requests.iter().map(|request| run.since_first(request.end_us)).collect();
    let mut by_client: Vec<Vec<usize>> = vec![Vec::new(); run.clients.len()];
    for (number, request) in run.requests.iter().enumerate() {
        by_client[request.client].push(number);
    }
    let quiet = quiet_moments(run, &arrivals, &ends);
    let nothing = Link { enabler: None, barrier_us: None, think_us: 0.0 };
    let mut links = vec![nothing; run.requests.len()];
    for numbers in &by_client {
        let mut own: Vec<usize> = numbers.iter().copied().filter(|&n| is_waited_for(&run.requests[n])).collect();
        own.sort_by(|&a, &b| ends[a].total_cmp(&ends[b]));
        let own_ends: Vec<f64> = own.iter().map(|&number| ends[number]).collect();
        for &number in numbers {
            let arrival_us = arrivals[number];
            let enabler = before(&own_ends, arrival_us).checked_sub(1).map(|place| own[place]);
            let since_us = enabler.map_or(0.0, |enabler| ends[enabler]);
            links[number] = Link { enabler, barrier_us: None, think_us: (arrival_us - since_us).max(0.0) };
        }
        find_barriers(&mut links, numbers, &arrivals, &quiet, run);
    }
    links
}

fn is_waited_for(request: &Request) -> bool {
    request.kind.is_waited_for()
}

/// Moments from which on no request that somebody waits for was under way.
fn quiet_moments(run: &Run, arrivals: &[f64], ends: &[f64]) -> Vec<f64> {
    let waited_for = |times: &[f64]| {
        let of_request = |(number, request): (usize, &Request)| is_waited_for(request).then(|| times[number]);
        sorted(run.requests.iter().enumerate().filter_map(of_request))
    };
    let (arrivals, ends) = (waited_for(arrivals), waited_for(ends));
    let is_quiet = |&(over, &end_us): &(usize, &f64)| arrivals.partition_point(|&us| us <= end_us) == over + 1;
    ends.iter().enumerate().filter(is_quiet).map(|(_, &end_us)| end_us).collect()
}

/// Finds the requests of a client that waited for all clients.
///
/// What a client waits for shows in its pauses: they are alike from there on. So a client with many candidates waits at barriers if its
/// pauses since the others' quiet vary much less than those since its own requests. With few, it does if the pause is longer than all
/// its others by far and most of it was before the quiet.
fn find_barriers(links: &mut [Link], numbers: &[usize], arrivals: &[f64], quiet: &[f64], run: &Run) {
    let mut candidates: Vec<(usize, f64)> = Vec::new();
    let mut longest_us: f64 = 0.0;
    for &number in numbers.iter().filter(|&&number| is_waited_for(&run.requests[number])) {
        let link = links[number];
        let own_us = arrivals[number] - link.think_us;
        match before(quiet, arrivals[number]).checked_sub(1).map(|place| quiet[place]) {
            Some(quiet_us) if quiet_us > own_us => candidates.push((number, quiet_us)),
            _ if link.enabler.is_some() => longest_us = longest_us.max(link.think_us),
            _ => {}
        }
    }
    let all = candidates.len() >= FEW && {
        let since_quiet = spread(candidates.iter().map(|&(number, quiet_us)| arrivals[number] - quiet_us));
        since_quiet < 0.5 * spread(candidates.iter().map(|&(number, _)| links[number].think_us))
    };
    for (number, quiet_us) in candidates {
        let (pause_us, since_quiet_us) = (links[number].think_us, arrivals[number] - quiet_us);
        if all || (pause_us > 2.0 * longest_us && since_quiet_us < 0.5 * pause_us) {
            links[number].barrier_us = Some(quiet_us);
            links[number].think_us = since_quiet_us;
        }
    }
}

/// How much times differ: the middle half of them, as a ratio. Independent of what is usual.
fn spread(times_us: impl Iterator<Item = f64>) -> f64 {
    let times_us = sorted(times_us.map(|us| us.max(1.0)));
    (quantile(&times_us, 75) / quantile(&times_us, 25).max(1.0)).ln()
}
