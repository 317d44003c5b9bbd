//! `unfair-sharing`: one client fills the OSTs' queues, and the requests of all others wait behind its.

use std::collections::BTreeMap;

use lioprof_model::units::plural;
use lioprof_model::{Confidence, SampledRpc, Severity, SpentOn};
use lioprof_stats::Share;

use super::rule::{Case, Cost, Look, Nothing, Question, Rule, limit, median, real, share};

pub(super) const RULE: Rule = Rule {
    id: "unfair-sharing",
    question: Question::Time,
    explains: &[SpentOn::Bulk, SpentOn::Queue],
    meaning: "one client keeps far more requests in flight than the others, which wait behind them",
    limits: &[
        limit("in_flight_ratio", 5.0, "requests in flight of the greediest client over the median of the others"),
        limit("in_flight", 8.0, "requests in flight of the greediest client on an OST, at least"),
        limit(
            "wait_ratio",
            3.0,
            "time of the others' requests beside it, over the fastest twentieth of requests of their size",
        ),
        limit("hindered_share", 0.2, "share of the other clients that wait so long, at least"),
    ],
    plots: &["requests-per-client", "io-timeline"],
    note: false,
    look,
};

/// What one client had in flight.
#[derive(Clone, Copy, Default)]
struct InFlight {
    first: f64,
    last: f64,
    request_s: f64,
    rpcs: f64,
}

fn total(rpc: &SampledRpc) -> f64 {
    rpc.end - rpc.arrival
}

fn look(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    case.all_clients()?;
    let rpcs = || analysis.sample.rpcs.iter().filter(|rpc| rpc.target.is_some() && !is_server(case, rpc.client));
    let mut clients: BTreeMap<u32, InFlight> = BTreeMap::new();
    let mut targets: Vec<u32> = Vec::new();
    for rpc in rpcs() {
        let empty = InFlight { first: rpc.arrival, last: rpc.end, ..InFlight::default() };
        let sum = clients.entry(rpc.client).or_insert(empty);
        *sum = InFlight {
            first: sum.first.min(rpc.arrival),
            last: sum.last.max(rpc.end),
            request_s: sum.request_s + total(rpc),
            rpcs: sum.rpcs + 1.0,
        };
        targets.extend(rpc.target);
    }
    Nothing::not_applicable_if(
        clients.len() < 2,
        format!("{} used OSTs that are known", plural(clients.len() as u64, "client")),
    )?;
    targets.sort_unstable();
    targets.dedup();
    let one_in = real(analysis.sample.one_in);
    let scale = one_in / targets.len() as f64;
    let in_flight = |sum: &InFlight| share(sum.request_s, sum.last - sum.first) * scale;
    let most_in_flight = clients.iter().max_by(|a, b| in_flight(a.1).total_cmp(&in_flight(b.1)).then(b.0.cmp(a.0)));
    let (&greedy, greedy_sum) = most_in_flight.ok_or(Nothing::Healthy)?;
    let others = clients.iter().filter(|(client, _)| **client != greedy);
    let usual = median(others.map(|(_, sum)| in_flight(sum))).unwrap_or(0.0);
    let most = in_flight(greedy_sum);
    let beside: Vec<&SampledRpc> = rpcs()
        .filter(|rpc| rpc.client != greedy && (greedy_sum.first..=greedy_sum.last).contains(&rpc.arrival))
        .collect();
    Nothing::healthy_if(most < case.limit("in_flight") || share(most, usual) < case.limit("in_flight_ratio"))?;
    let unhindered = unhindered(rpcs());
    let mut waits: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for rpc in &beside {
        if let Some(&ideal) = octave(rpc).and_then(|size| unhindered.get(&size)) {
            waits.entry(rpc.client).or_default().push((total(rpc), ideal));
        }
    }
    // By client: those on another CPU partition of the OSS have a queue of their own.
    let ratio = |waits: &[(f64, f64)]| median(waits.iter().map(|(total, ideal)| share(*total, *ideal))).unwrap_or(0.0);
    let hindered = |waits: &&Vec<(f64, f64)>| ratio(waits) >= case.limit("wait_ratio");
    let hindered: Vec<&Vec<(f64, f64)>> = waits.values().filter(hindered).collect();
    let others = clients.len() - 1;
    Nothing::healthy_if(share(hindered.len() as f64, others as f64) < case.limit("hindered_share"))?;
    // Half of the requests of those who are chosen because they wait do so anyway.
    let long = |(total, ideal): &&(f64, f64)| share(*total, *ideal) >= case.limit("wait_ratio");
    let all: Vec<&(f64, f64)> = hindered.iter().flat_map(|waits| waits.iter()).collect();
    let waiting = all.iter().copied().filter(|wait| long(wait)).count();
    Nothing::cannot_tell_if(
        !Share::of(waiting as f64, all.len() as f64).proves(0.5),
        format!(
            "{waiting} of {} requests beside the busiest client take long: too few to say that they wait behind its",
            all.len()
        ),
    )?;
    let wait_ratio = median(hindered.iter().map(|waits| ratio(waits))).ok_or(Nothing::Healthy)?;
    let lost_s: f64 =
        hindered.iter().flat_map(|waits| waits.iter()).map(|(total, ideal)| (total - ideal).max(0.0)).sum();
    let nid = |client: u32| analysis.clients.get(client as usize).map_or("", |client| client.nid.as_str());
    let name = nid(greedy);
    let request_s: f64 = clients.values().map(|sum| sum.request_s).sum();
    let part = share(greedy_sum.request_s, request_s);
    case
        .finding(
            Severity::Warning,
            Confidence::High,
            format!("Client {name} has {:.0} times as many requests in flight as others, who wait behind them", share(most, usual)),
        )
        .explain(format!(
            "On each OST {name} had {most:.1} requests in flight, the median of the other {others} clients is {usual:.1}. Beside it \
             the requests of {} of them took {wait_ratio:.1} times as long as the fastest of that size. OSTs serve first who came \
             first: who sends more gets more.",
            hindered.len(),
        ))
        .evidence("in_flight", most)
        .evidence("others_median_in_flight", usual)
        .evidence("in_flight_ratio", share(most, usual))
        .evidence("wait_ratio", wait_ratio)
        .evidence("clients_hindered", hindered.len() as f64)
        .evidence("share_of_requests_in_flight", part)
        .evidence("others_rpcs", real(beside.len() as u64))
        .clients([name])
        .targets(targets.iter().filter_map(|&target| Some(analysis.targets.get(target as usize)?.name.as_str())))
        .interval(Some(lioprof_model::Interval { start: greedy_sum.first, end: greedy_sum.last }))
        .cost(lost_s * one_in, Cost::RequestSeconds)
        .remedy(format!(
            "Set limits on the OSS: round robin over clients (`lctl set_param ost.OSS.ost_io.nrs_policies=crrn`), or a rate for \
             one client (`nrs_policies=\"tbf nid\"`, then `nrs_tbf_rule=\"start greedy nid={{{name}}} rate=N\"`).",
        ))
        .remedy("On that client fewer in flight: `lctl set_param osc.*.max_rpcs_in_flight=8`.")
        .alone()
}

fn is_server(case: &Case<'_>, client: u32) -> bool {
    case.analysis.clients.get(client as usize).is_none_or(|client| client.server)
}

type Size = (lioprof_model::Direction, u32);

fn octave(rpc: &SampledRpc) -> Option<Size> {
    Some((rpc.direction, rpc.bytes.and_then(u64::checked_ilog2)?))
}

/// The total time of the fastest twentieth, by direction and size.
fn unhindered<'a>(rpcs: impl Iterator<Item = &'a SampledRpc>) -> BTreeMap<Size, f64> {
    let mut times: BTreeMap<Size, Vec<f64>> = BTreeMap::new();
    for rpc in rpcs {
        if let Some(size) = octave(rpc) {
            times.entry(size).or_default().push(total(rpc));
        }
    }
    let fastest = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 20]
    };
    times.into_iter().map(|(size, times)| (size, fastest(times))).collect()
}
