//! `slow-tail`: a few requests take many times as long as comparable ones. Whoever waits for many requests waits for the
//! slowest of them.

use std::collections::BTreeMap;

use lioprof_model::units::percent;
use lioprof_model::{Confidence, Severity, SpentOn};
use lioprof_stats::{Interval, Share, Stands};

use super::alike::{Alike, alike};
use super::rule::{Case, Cost, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "slow-tail",
    question: Question::Time,
    explains: &[SpentOn::Bulk],
    meaning: "a few reads or writes take many times as long as others of the same size on the same OST",
    limits: &[
        limit(
            "gap",
            1.6,
            "factor between the slowest of the usual and the fastest of the slow requests: without a gap it is no tail of its own",
        ),
        limit("tail_ratio", 4.0, "service time of the slow requests over the median of comparable ones, at least"),
        limit("tail_share", 0.05, "share of all requests that are slow, at most: more are no exception"),
        limit("tail_rpcs", 2.0, "slow requests, at least: one is no group"),
        limit("spread", 30.0, "or: the slowest thousandth over the median, without a gap"),
        limit(
            "slowdown",
            1.1,
            "how much longer a step of one request per client and OST takes because of them, at least, from which it is a warning",
        ),
    ],
    plots: &["io-time-distribution", "latency-heatmap"],
    note: false,
    look,
};

fn look(case: &Case<'_>) -> Look {
    let all = alike(case.analysis);
    let count = real(all.len() as u64);
    let slow = all.iter().filter(|alike| alike.ratio >= case.limit("tail_ratio")).count();
    Nothing::not_applicable_if(all.is_empty(), "no read or write has enough of its like to be compared with")?;
    let Some(first_slow) = first_slow(case, &all) else {
        let unclear = share_of(slow, all.len()).against(case.limit("tail_share")) == Stands::Undecided;
        Nothing::healthy_if(slow == 0 || !unclear)?;
        let all = all.len();
        return Err(Nothing::cannot_tell(format!(
            "{slow} of {all} comparable reads and writes are slow: a tail, or accidents"
        )));
    };
    let tail = &all[first_slow..];
    // One request of each client to each OST at a time: a step of a synchronous program.
    let step = parallel(&all);
    let ratios: Vec<f64> = all.iter().map(|alike| alike.ratio).collect();
    let cut: Vec<f64> = ratios.iter().map(|ratio| ratio.min(ratios[first_slow - 1])).collect();
    let slowdown = share(expected_max(&ratios, step), expected_max(&cut, step));
    // As few slow ones as there may be in the long run make a step that much longer at least.
    let sure = share_of(tail.len(), all.len()).low;
    let slowdown_min =
        1.0 + (slowdown - 1.0).max(0.0) * share(among(sure, step), among(share(real(tail.len() as u64), count), step));
    let excess_s: f64 = tail.iter().map(|alike| (alike.ratio - 1.0) * alike.median_s).sum();
    let all_s: f64 = all.iter().map(|alike| alike.rpc.end - alike.rpc.start).sum();
    let last_percent = &all[all.len() - (all.len() / 100).max(1)..];
    let last_percent_s: f64 = last_percent.iter().map(|alike| alike.rpc.end - alike.rpc.start).sum();
    let tail_ratio = super::stats::median(tail.iter().map(|alike| alike.ratio)).unwrap_or(0.0);
    let severity = if slowdown_min >= case.limit("slowdown") { Severity::Warning } else { Severity::Info };
    let one_in = real(case.analysis.sample.one_in);
    let (targets, clients) = (most(case, tail, true), most(case, tail, false));
    let title = format!(
        "{} of {} reads and writes took {tail_ratio:.0} times as long as comparable ones",
        tail.len(),
        all.len()
    );
    case
        .finding(severity, Confidence::High, title)
        .explain(format!(
            "Compared are requests of like size on the same OST. The slowest 1 % make up {} of the service time. A \
             step that waits for one request of each client to each OST ({step} at a time) takes {slowdown:.1} times as long \
             as without the slow ones: the slowest decides.{}",
            percent(share(last_percent_s, all_s), 0),
            if one_in > 1.0 { format!(" From a sample of one in {one_in}.") } else { String::new() },
        ))
        .evidence("tail_rpcs", real(tail.len() as u64))
        .evidence("rpcs", count)
        .evidence("tail_ratio", tail_ratio)
        .evidence("slowest_ratio", ratios.last().copied().unwrap_or(0.0))
        .evidence("slowest_percent_share_of_time", share(last_percent_s, all_s))
        .evidence("step_slowdown", slowdown)
        .evidence("step_slowdown_min", slowdown_min)
        .evidence("requests_per_step", real(step as u64))
        .targets(targets)
        .clients(clients)
        .cost(excess_s * one_in, Cost::RequestSeconds)
        .remedy(
            "See when and where they are: latency heat map, `targets` and `clients`. All at one time: journal commits, a full \
             cache, another job. On one OST: its disks (`smartctl`, RAID events). On all: the server (memory, CPU).",
        )
        .remedy(
            "Make the program wait less often for all: fewer barriers between I/O phases, asynchronous or collective I/O with \
             fewer writers (`cb_nodes`).",
        )
        .alone()
}

/// The first request of a tail of its own, if there is one; the requests are in order.
fn first_slow(case: &Case<'_>, all: &[Alike<'_>]) -> Option<usize> {
    // So many that they are exceptions for certain.
    let fits = |index: &usize| {
        let slow = all.len() - index;
        slow as f64 >= case.limit("tail_rpcs")
            && share_of(slow, all.len()).against(case.limit("tail_share")) == Stands::Below
    };
    let widest = (1..all.len())
        .map(|index| (share(all[index].ratio, all[index - 1].ratio), index))
        // Few are left for the costly question.
        .filter(|&(gap, index)| {
            gap >= case.limit("gap") && all[index].ratio >= case.limit("tail_ratio") && fits(&index)
        })
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let spread = || {
        let hundredth = all.len() - (all.len() / 100).max(1);
        let thousandth = all[all.len() - (all.len() / 1000).max(1)].ratio;
        let far = thousandth >= case.limit("spread") && all[hundredth].ratio >= case.limit("tail_ratio");
        (far && hundredth > 0 && fits(&hundredth)).then_some(hundredth)
    };
    widest.map(|(_, index)| index).or_else(spread)
}

/// What the share of slow ones may be.
fn share_of(slow: usize, all: usize) -> Interval {
    Share::of(real(slow as u64), real(all as u64))
}

/// Probability that one of `step` requests is slow if this is the share of slow ones.
fn among(slow_share: f64, step: usize) -> f64 {
    1.0 - (1.0 - slow_share).powf(step as f64)
}

/// Pairs of client and OST.
fn parallel(all: &[Alike<'_>]) -> usize {
    let mut pairs: Vec<(u32, Option<u32>)> = all.iter().map(|alike| (alike.rpc.client, alike.rpc.target)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.len()
}

/// Mean of the largest of `step` values drawn from these, which are in order.
fn expected_max(values: &[f64], step: usize) -> f64 {
    let count = values.len() as f64;
    let below = |index: usize| (index as f64 / count).powf(step as f64);
    values.iter().enumerate().map(|(index, value)| value * (below(index + 1) - below(index))).sum()
}

/// Names of the targets or clients with most of the slow requests.
fn most<'a>(case: &Case<'a>, tail: &[Alike<'_>], targets: bool) -> Vec<&'a str> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for alike in tail {
        let index = if targets { alike.rpc.target } else { Some(alike.rpc.client) };
        index.into_iter().for_each(|index| *counts.entry(index).or_default() += 1);
    }
    let mut counts: Vec<(usize, u32)> = counts.into_iter().map(|(index, count)| (count, index)).collect();
    counts.sort_by_key(|&(count, index)| (std::cmp::Reverse(count), index));
    let name = |index: u32| {
        let index = index as usize;
        let analysis = case.analysis;
        if targets {
            analysis.targets.get(index).map(|target| target.name.as_str())
        } else {
            analysis.clients.get(index).map(|client| client.nid.as_str())
        }
    };
    counts.into_iter().filter_map(|(_, index)| name(index)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_many_decides() {
        let values: Vec<f64> = std::iter::repeat_n(1.0, 99).chain([10.0]).collect();
        assert!((expected_max(&values, 1) - 1.09).abs() < 1e-9);
        // One of a hundred: with 1,000 at a time nearly always one of them.
        assert!(expected_max(&values, 1000) > 9.99);
    }
}
