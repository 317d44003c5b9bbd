//! `sluggish-ost`: an OST, or all OSTs of a server, that take far longer than their peers for the same work.
//!
//! Compared is what happened at the same time: only intervals count in which the OST and its peers were busy. Long
//! service alone is no sign: an OST with more requests at a time, or larger ones, takes longer for each. So it has to
//! take longer per request and per byte, and to deliver less while it is busy; and its single requests have to take longer than
//! their like by more than chance and the usual differences between OSTs explain.
//!
//! Where the log shows the parts of service times, these come first: they take fewer requests, and say what is slow.

use lioprof_model::units::plural;
use lioprof_model::{Analysis, Confidence, Finding, Severity, SpentOn, Target, TargetKindName};

use super::busy_together::{AllWorks, Works, by_interval, per_byte, per_rpc, rate};
use super::load::{Ost, Work, alone_s, alone_together_s, goes_on, interval, osts, seconds, span};
use super::peers::{self, Against};
use super::rule::{Case, Cost, Look, Nothing, Question, Rule, limit, median, real, share};
use super::slow_part::{CHANCE, PART_RATIO, PART_SHARE, times_usual};
use super::sluggish_parts::{ByParts, by_parts};
use super::sluggish_syncs;

pub(super) const RULE: Rule = Rule {
    id: "sluggish-ost",
    question: Question::Time,
    explains: &[SpentOn::Bulk, SpentOn::Sync, SpentOn::Queue],
    meaning: "an OST or OSS takes far longer than its peers for the same work at the same time",
    limits: &[
        limit(
            "service_ratio",
            1.8,
            "service time per request and per byte, as a multiple of the peers' median, from which an OST is sluggish",
        ),
        limit("rate_ratio", 1.4, "how many times the bytes per busy second of an OST its peers' median must be"),
        limit(
            "part_rate_ratio",
            1.2,
            "the same where the log shows the parts of service times and one of them is slow",
        ),
        limit(
            "critical_share",
            0.2,
            "share of the time with I/O in which only this OST worked, from which it is critical",
        ),
        limit("sync_ratio", 5.0, "how many times as long syncs take as others of the same server, at least"),
        limit("sync_share", 0.1, "what they take longer, as a share of the clients' time, at least"),
        PART_RATIO,
        PART_SHARE,
        CHANCE,
    ],
    plots: &["bandwidth-per-ost", "service-parts", "latency", "queue-depth"],
    note: false,
    look,
};

/// An OST against others in the intervals in which both were busy.
struct Comparison {
    own: Work,
    /// Own service time over the peers' median: the lesser of per request and per byte.
    service_ratio: f64,
    /// The peers' median of bytes per busy second over its own.
    rate_ratio: f64,
    peers: usize,
    /// The peers' median service time per request.
    peers_service_s: f64,
}

fn look(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    case.all_osts()?;
    let osts = osts(analysis);
    Nothing::not_applicable_if(
        osts.len() < 2,
        format!("{} moved data: there are no peers to compare with", plural(osts.len() as u64, "OST")),
    )?;
    case.osts_are_known()?;
    let mut works = Works::new(by_interval(&osts, analysis.series.bin_s));
    let alone_s = alone_s(&osts, analysis.series.bin_s);
    let everyone: Vec<usize> = (0..osts.len()).collect();
    let by_request = by_request(analysis, &osts);
    let servers = peers::servers(analysis);
    let ByParts { mut found, mut perhaps } = by_parts(case, &osts, &alone_s);
    let is_told =
        |ost: &Ost<'_>, found: &[Finding]| found.iter().any(|it| it.targets.iter().any(|name| name == ost.name));
    sluggish_syncs::look(case, &mut found, &mut perhaps);
    // Those of another kind are compared with each other by the parts of their times, and with nobody else.
    let is_apart = |ost: &Ost<'_>| analysis.service_parts.servers.iter().any(|it| it.apart && it.node == ost.node);
    let mut is_done: Vec<bool> = osts.iter().map(|ost| is_told(ost, &found) || is_apart(ost)).collect();

    let whole: Vec<Work> = osts.iter().map(|ost| ost.work(analysis.series.bin_s, 0..analysis.series.bins)).collect();
    let whole = AllWorks::of(whole);

    // A whole server first: its OSTs among themselves look alike.
    let mut nodes: Vec<&str> = osts.iter().map(|ost| ost.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    for &node in nodes.iter().filter(|_| nodes.len() > 1) {
        let own: Vec<usize> = everyone.iter().copied().filter(|&index| osts[index].node == node).collect();
        if own.len() < 2 || own.iter().any(|&index| is_done[index]) {
            continue;
        }
        let slower = |&ost: &usize| {
            let over_all = by_request[ost].and_then(|against| compare_over_all(&whole, ost, &against));
            let both = [compare(&mut works, ost, &own), over_all];
            both.into_iter().flatten().find(|comparison| is_slower(case, comparison))
        };
        let comparisons: Vec<Option<Comparison>> = own.iter().map(slower).collect();
        let comparisons: Vec<Comparison> = comparisons.into_iter().flatten().collect();
        if comparisons.len() == own.len() && servers.get(node).is_some_and(|against| is_certain(case, against)) {
            own.iter().for_each(|&index| is_done[index] = true);
            found.push(server(case, node, &own, &osts, &comparisons));
        }
    }
    let mut compared = 0;
    for &ost in &everyone {
        let in_common = compare(&mut works, ost, &[ost]);
        compared += usize::from(in_common.is_some());
        let over_all = by_request[ost].and_then(|against| compare_over_all(&whole, ost, &against));
        let slower = [in_common, over_all].into_iter().flatten().find(|comparison| is_slower(case, comparison));
        let Some(comparison) = slower.filter(|_| !is_done[ost]) else { continue };
        match by_request[ost] {
            Some(against) if is_certain(case, &against) => {
                found.push(one(case, &osts, ost, alone_s[ost], &comparison));
            }
            // Its requests take no longer than others' of the same client and size: it has larger ones, or another client's.
            Some(against) if against.ratio < case.limit("service_ratio") => {}
            against => perhaps.push(format!(
                "OST {} looks {:.1} times as slow as its peers, but with {} comparable reads and writes that may be chance",
                osts[ost].name,
                comparison.slowness(),
                against.map_or(0, |against| against.rpcs)
            )),
        }
    }
    let is_alike = || by_request.iter().flatten().all(|against| against.ratio < case.limit("service_ratio"));
    if compared == 0 && found.is_empty() && !compared_by_parts(analysis) && !is_alike() {
        perhaps.push(
            "no OST was busy while its peers were, and the log does not show parts of service times (mask net)"
                .to_owned(),
        );
    }
    perhaps.extend(hardly_ended(analysis, &osts));
    match perhaps.into_iter().next() {
        Some(why) if found.iter().all(|it| it.severity == Severity::Info) => Err(Nothing::cannot_tell(why)),
        _ => {
            found.sort_by(|a, b| b.severity.cmp(&a.severity).then(ratio(b).total_cmp(&ratio(a))));
            Ok(found)
        }
    }
}

/// An OST that has hardly ended any read or write when the capture ends in the middle of them: what takes long on it is
/// still to come.
fn hardly_ended(analysis: &Analysis, osts: &[Ost<'_>]) -> Option<String> {
    let all = analysis.totals.read.rpcs + analysis.totals.write.rpcs;
    let used: Vec<&Target> = analysis.targets.iter().filter(|target| target.kind == TargetKindName::Ost).collect();
    let least = 0.5 / used.len().max(1) as f64;
    let ended = |target: &&Target| target.read.io.rpcs + target.write.io.rpcs;
    let few = |target: &&&Target| share(real(ended(target)), real(all)) < least;
    let target = used.iter().find(few).filter(|_| goes_on(analysis, osts))?;
    Some(format!(
        "OST {} has ended {} of {all} reads and writes when the capture ends: it is slow, or hardly used",
        target.name,
        ended(target)
    ))
}

/// Whether requests take longer than their like for certain.
fn is_certain(case: &Case<'_>, against: &Against) -> bool {
    against.chance <= case.limit(CHANCE.name) && against.ratio > 1.0
}

/// Each OST's requests against their like on others.
fn by_request(analysis: &Analysis, osts: &[Ost<'_>]) -> Vec<Option<Against>> {
    let compared = peers::targets(analysis);
    let index = |ost: &Ost<'_>| analysis.targets.iter().position(|it| it.name == ost.name && it.node == ost.node);
    osts.iter().map(|ost| compared.get(&u32::try_from(index(ost)?).ok()?).copied()).collect()
}

/// Whether parts of the service times of any OST could be held against its peers'.
fn compared_by_parts(analysis: &Analysis) -> bool {
    let parts = analysis.service_parts.targets.iter().flat_map(|target| target.parts.in_order());
    parts.into_iter().any(|(_, part)| part.against_peers.is_some())
}

fn ratio(finding: &Finding) -> f64 {
    finding.evidence.get("service_ratio").copied().unwrap_or(0.0)
}

fn is_slower(case: &Case<'_>, comparison: &Comparison) -> bool {
    let usual = times_usual(share(comparison.own.bytes, comparison.own.rpcs));
    comparison.service_ratio >= usual * case.limit("service_ratio") && comparison.rate_ratio >= case.limit("rate_ratio")
}

/// An OST against those that are not on its side; `None`: too little happened at the same time.
fn compare(works: &mut Works, ost: usize, side: &[usize]) -> Option<Comparison> {
    let all = works.in_common(ost, side);
    let own = all.works[ost];
    let (peers, peers_service_s) = all.others(side, &all.per_rpc, per_rpc)?;
    if own.rpcs == 0.0 || 2 * peers < all.works.len() - side.len() {
        return None;
    }
    let by_rpc = share(per_rpc(&own), peers_service_s);
    let by_byte = share(per_byte(&own), all.others(side, &all.per_byte, per_byte)?.1);
    let rate_ratio = share(all.others(side, &all.rate, rate)?.1, rate(&own));
    Some(Comparison { own, service_ratio: by_rpc.min(by_byte), rate_ratio, peers, peers_service_s })
}

/// Over the whole run: a slow OST goes on while its peers have nothing left to do, and what its long requests move cannot be told by time.
/// Its single requests are compared with their like, so others' may be of another time.
fn compare_over_all(all: &AllWorks, ost: usize, against: &Against) -> Option<Comparison> {
    let (peers, peers_rate) = all.others(&[ost], &all.rate, rate)?;
    let own = all.works[ost];
    Some(Comparison {
        own,
        service_ratio: against.ratio,
        rate_ratio: share(peers_rate, rate(&own)),
        peers,
        peers_service_s: share(share(own.handling_s, own.rpcs), against.ratio),
    })
}

impl Comparison {
    /// The lesser of both ratios: a slow OST collects requests, and these then slow down each other.
    fn slowness(&self) -> f64 {
        self.service_ratio.min(self.rate_ratio)
    }
}

/// One peer says that the two differ, not which of them is odd.
fn confidence(comparison: &Comparison) -> Confidence {
    if comparison.peers >= 2 { Confidence::High } else { Confidence::Medium }
}

fn one(case: &Case<'_>, osts: &[Ost<'_>], ost: usize, alone_s: f64, comparison: &Comparison) -> Finding {
    let name = osts[ost].name;
    let whole_s = span(osts).map_or(0.0, |span| seconds(interval(case.analysis, span)));
    let others_end = osts.iter().enumerate().filter(|(index, _)| *index != ost).filter_map(|(_, o)| o.span());
    let others_end = others_end.map(|span| span.1).max().unwrap_or(0);
    let own_end = osts[ost].span().map_or(0, |span| span.1);
    let later_s = own_end.saturating_sub(others_end) as f64 * case.analysis.series.bin_s;
    // While the others are busy, too, nobody can say what a faster one would have saved.
    let cost_s = alone_s * (1.0 - 1.0 / comparison.slowness());
    let critical = share(alone_s, whole_s) >= case.limit("critical_share");
    let severity = if critical { Severity::Critical } else { Severity::Warning };
    let own_ms = 1000.0 * share(comparison.own.handling_s, comparison.own.rpcs);
    let peers_ms = 1000.0 * comparison.peers_service_s;
    case.finding(severity, confidence(comparison), format!("OST {name} is {:.1} times as slow as its peers", comparison.slowness()))
        .explain(format!(
            "{name} took {own_ms:.1} ms per request, its peers {peers_ms:.1} ms for comparable ones, and it moved {:.1} times fewer bytes per busy second. It worked alone for {alone_s:.2} of {whole_s:.2} s \
             and ended {later_s:.2} s after the last of the others.",
            comparison.rate_ratio,
        ))
        .evidence("service_ratio", comparison.service_ratio)
        .evidence("rate_ratio", comparison.rate_ratio)
        .evidence("service_ms", own_ms)
        .evidence("peers_median_service_ms", peers_ms)
        .evidence("rpcs_compared", comparison.own.rpcs)
        .evidence("alone_s", alone_s)
        .evidence("ended_later_s", later_s)
        .targets([name])
        .nodes([osts[ost].node])
        .interval(osts[ost].span().map(|span| interval(case.analysis, span)))
        .cost(cost_s, Cost::WallTime)
        .remedies_of_device(name)
        .done()
}

fn server(case: &Case<'_>, node: &str, own: &[usize], osts: &[Ost<'_>], comparisons: &[Comparison]) -> Finding {
    let slowness = median(comparisons.iter().map(Comparison::slowness)).unwrap_or(1.0);
    let service_ratio = median(comparisons.iter().map(|comparison| comparison.service_ratio)).unwrap_or(0.0);
    let rate_ratio = median(comparisons.iter().map(|comparison| comparison.rate_ratio)).unwrap_or(0.0);
    let alone_s = alone_together_s(osts, case.analysis.series.bin_s, own);
    let (first, last) = span(osts).unwrap_or_default();
    let whole_s = seconds(interval(case.analysis, (first, last)));
    let critical = share(alone_s, whole_s) >= case.limit("critical_share");
    let severity = if critical { Severity::Critical } else { Severity::Warning };
    let confidence = comparisons.iter().map(confidence).min().unwrap_or(Confidence::Low);
    let title = format!("All OSTs of {node} are {slowness:.1} times as slow as those of other servers");
    case.finding(severity, confidence, title)
        .explain(format!(
            "While the other servers' OSTs were busy, too, each of the {} OSTs of {node} took longer per request and per \
             byte than they. They worked alone for {alone_s:.2} of {whole_s:.2} s.",
            own.len(),
        ))
        .evidence("service_ratio", service_ratio)
        .evidence("rate_ratio", rate_ratio)
        .evidence("alone_s", alone_s)
        .evidence("osts", own.len() as f64)
        .targets(own.iter().map(|&index| osts[index].name))
        .nodes([node])
        .interval(Some(interval(case.analysis, (first, last))))
        .cost(alone_s * (1.0 - 1.0 / slowness), Cost::WallTime)
        .remedy(format!(
            "Look at what the OSTs of {node} share: network link (`lnetctl net show -v`), controller, CPU and memory; \
             is a fail-over partner's load on it?"
        ))
        .remedy("Measure its OSTs with obdfilter-survey and the network with lnet-selftest.")
        .done()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use lioprof_model::{Direction, SampledRpc, TargetIo, TargetSeries};

    use super::super::case::Shared;
    use super::super::limits::Limits;
    use super::*;

    const BINS: usize = 50;

    fn target(name: &str, node: &str) -> Target {
        Target {
            name: name.to_owned(),
            node: node.to_owned(),
            kind: TargetKindName::Ost,
            read: TargetIo::default(),
            write: TargetIo::default(),
            opcodes: BTreeMap::new(),
        }
    }

    /// An OST that handles `number` requests at a time and ends `rpcs` of `bytes` each per bin, in the first `busy` bins.
    fn ost(name: &str, node: &str, number: f64, rpcs: u64, bytes: u64, busy: usize) -> TargetSeries {
        let column = |value: u64| (0..BINS).map(|bin| if bin < busy { value } else { 0 }).collect::<Vec<u64>>();
        let depth: Vec<f64> = (0..BINS).map(|bin| if bin < busy { number } else { 0.0 }).collect();
        TargetSeries {
            name: Some(name.to_owned()),
            node: node.to_owned(),
            kind: TargetKindName::Ost,
            read_bytes: column(0),
            write_bytes: column(rpcs * bytes),
            read_bounded_bytes: column(0),
            write_bounded_bytes: column(0),
            read_rpcs: column(0),
            write_rpcs: column(rpcs),
            rpcs: column(rpcs),
            arrived: column(rpcs),
            queued: vec![0.0; BINS],
            in_process: depth.clone(),
            in_flight: depth,
            mean_total_us: vec![None; BINS],
        }
    }

    /// Requests as the series have them, of two clients.
    fn requests(analysis: &Analysis) -> Vec<SampledRpc> {
        let mut rpcs = Vec::new();
        for (target, series) in (0..).zip(&analysis.series.targets) {
            for (bin, &count) in series.rpcs.iter().enumerate() {
                let service_s = series.in_process[bin] / count.max(1) as f64;
                let rpc = |client| SampledRpc {
                    client,
                    target: Some(target),
                    direction: Direction::Write,
                    bytes: Some(series.write_bytes[bin] / count),
                    arrival: bin as f64,
                    start: bin as f64,
                    end: bin as f64 + service_s,
                    object: None,
                    offset: None,
                    last: None,
                    job: None,
                    before_us: None,
                    transfer_us: None,
                };
                rpcs.extend((0..u32::try_from(count).unwrap()).map(|number| rpc(number % 2)));
            }
        }
        rpcs
    }

    fn looked(targets: Vec<TargetSeries>) -> Look {
        let named = targets.iter().map(|series| target(series.name.as_deref().unwrap(), &series.node)).collect();
        let mut analysis = Analysis { targets: named, ..Analysis::default() };
        analysis.window.end = BINS as f64;
        analysis.totals.write.rpcs = 1000;
        analysis.series.bin_s = 1.0;
        analysis.series.bins = BINS;
        analysis.series.targets = targets;
        analysis.sample.one_in = 1;
        analysis.sample.rpcs = requests(&analysis);
        look(&Case { analysis: &analysis, rule: &RULE, limits: &Limits::default(), shared: &Shared::default() })
    }

    fn found(targets: Vec<TargetSeries>) -> Vec<Finding> {
        looked(targets).unwrap()
    }

    fn peers() -> Vec<TargetSeries> {
        ["a", "b", "c"].map(|name| ost(name, "oss1", 4.0, 40, 1 << 20, 10)).into()
    }

    #[test]
    fn one_that_takes_longer_and_delivers_less_is_sluggish() {
        let found = found(peers().into_iter().chain([ost("d", "oss1", 4.0, 4, 1 << 20, 50)]).collect());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].targets.as_slice(), found[0].severity), (["d".to_owned()].as_slice(), Severity::Critical));
        assert!((found[0].evidence["service_ratio"] - 10.0).abs() < 1e-9);
        // It worked alone for 40 s; a tenth of that would have done.
        assert!((found[0].cost_s.unwrap() - 36.0).abs() < 1e-9);
    }

    #[test]
    fn larger_requests_or_more_at_a_time_make_none() {
        for other in [ost("d", "oss1", 4.0, 4, 10 << 20, 10), ost("d", "oss1", 40.0, 40, 1 << 20, 50)] {
            assert_eq!(found(peers().into_iter().chain([other]).collect()), []);
        }
    }

    #[test]
    fn small_requests_have_to_differ_by_more() {
        let with = |bytes: u64, rpcs: u64| {
            let peers = ["a", "b", "c"].map(|name| ost(name, "oss1", 4.0, 40, bytes, 10));
            found(peers.into_iter().chain([ost("d", "oss1", 4.0, rpcs, bytes, 20)]).collect()).len()
        };
        // Twice as long each, and three times.
        assert_eq!([with(4096, 20), with(1 << 20, 20), with(4096, 13)], [0, 1, 1]);
    }

    #[test]
    fn a_server_is_told_from_its_osts() {
        let fast = ["a", "b"].map(|name| ost(name, "oss1", 4.0, 40, 1 << 20, 10));
        let slow = ["c", "d"].map(|name| ost(name, "oss2", 4.0, 8, 1 << 20, 50));
        let found = found(fast.into_iter().chain(slow).collect());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].nodes.as_slice(), found[0].targets.len()), (["oss2".to_owned()].as_slice(), 2));
    }

    #[test]
    fn without_peers_nothing_is_said() {
        let alone = vec![ost("a", "oss1", 4.0, 40, 1 << 20, 10)];
        assert!(looked(alone).is_err());
        let mut one_after_the_other = peers();
        for (index, ost) in one_after_the_other.iter_mut().enumerate() {
            ost.in_flight.rotate_right(16 * index);
            ost.in_process.rotate_right(16 * index);
            ost.rpcs.rotate_right(16 * index);
        }
        // Never busy together, but their requests took as long.
        assert_eq!(looked(one_after_the_other).unwrap(), []);
    }
}
