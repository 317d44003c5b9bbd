//! `hung-requests`: requests that had been in the handler for very long when the log ended.

use std::collections::BTreeMap;

use lioprof_model::time::utc_of;
use lioprof_model::units::plural;
use lioprof_model::{Analysis, Confidence, Finding, Interval, Node, ObjectId, Severity, UnderWay};

use super::rule::{Case, Cost, Look, Nothing, Question, Rule, limit, real};

/// Requests told one by one.
const MAX_TOLD: usize = 10;

pub(super) const RULE: Rule = Rule {
    id: "hung-requests",
    question: Question::Failure,
    explains: &[],
    meaning: "requests were still in the handler when the log ended, far longer than any of their kind took",
    limits: &[
        limit("age_s", 5.0, "seconds in the handler when the log ends, at least"),
        limit("perhaps_s", 1.0, "the same from which it is said that a longer log would tell"),
        limit("times_slowest", 10.0, "how many times as long as the slowest one of its kind that ended, at least"),
        limit(
            "long_s",
            60.0,
            "seconds in the handler from which `times_slowest_long` counts: slow ones that ended do not hide those that hang",
        ),
        limit(
            "times_slowest_long",
            2.0,
            "how many times as long as the slowest one of its kind that ended, of those so old",
        ),
        limit(
            "left_rpcs",
            5.0,
            "requests that no thread of a server began with in the last five seconds of the log or longer, at least",
        ),
        limit("left_share", 0.02, "the same over all that it handled: a few are refused on arrival"),
    ],
    plots: &["io-timeline"],
    note: false,
    look,
};

/// The slowest request of each operation that ended, seconds in the handler.
fn slowest(analysis: &Analysis) -> BTreeMap<u32, f64> {
    let mut slowest: BTreeMap<u32, f64> = BTreeMap::new();
    for operation in &analysis.operations {
        let most = slowest.entry(operation.opcode).or_default();
        *most = most.max(operation.latency.service_us.max.map_or(0.0, |us| real(us) / 1e6));
    }
    slowest
}

fn look(case: &Case<'_>) -> Look {
    let left_lying = left_lying(case);
    match under_way(case) {
        Err(_) if !left_lying.is_empty() => Ok(left_lying),
        found => found.map(|found| [found, left_lying].concat()),
    }
}

/// Servers whose threads do not begin with what the network brings: all that could are busy for good, with requests from before the log.
fn left_lying(case: &Case<'_>) -> Vec<Finding> {
    let longest_s = real(case.analysis.longest_queue_us()) / 1e6;
    let is_left =
        |node: &&Node| real(node.left_rpcs) >= case.limit("left_rpcs").max(case.limit("left_share") * real(node.rpcs));
    let finding = |node: &Node| {
        let left = plural(node.left_rpcs, "request");
        let title = format!("{left} reached {} and no thread began with them", node.name);
        case.finding(Severity::Critical, Confidence::Medium, title)
            .explain(format!(
                "Each request that the network brings has a line (`peer:`), and another one when a thread begins with it (`Handling RPC`). {left} or \
                 more had come more than five seconds before the log ended, and no thread had begun with them; those that were handled waited \
                 {longest_s:.3} s at most. So the threads of a service hang, in requests that began before the log, or so many were refused on \
                 arrival. Who sent what, no line tells."
            ))
            .evidence("left_rpcs", real(node.left_rpcs))
            .evidence("longest_queue_s", longest_s)
            .nodes([node.name.as_str()])
            .interval(Some(Interval { start: node.first, end: node.last }))
            .remedy(
                "Look for threads that hang: `ps -eo pid,stat,wchan:32,comm | grep -E 'mdt|ll_ost|ldlm'` on the server, `cat /proc/PID/stack`, \
                 and `Service thread pid .. was inactive` in its kernel log.",
            )
            .done()
    };
    case.analysis.nodes.iter().filter(is_left).map(finding).collect()
}

fn under_way(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    let why = "nothing was under way when the log ended";
    Nothing::not_applicable_if(analysis.under_way.is_empty() || analysis.filtered().is_some(), why)?;
    let slowest = slowest(analysis);
    let of_kind = |it: &UnderWay| slowest.get(&it.opcode).copied().unwrap_or(0.0);
    let is_old = |it: &&UnderWay| {
        let is_long = it.age_s >= case.limit("long_s");
        let times = case.limit(if is_long { "times_slowest_long" } else { "times_slowest" });
        it.age_s >= case.limit("perhaps_s") && it.age_s >= times * of_kind(it)
    };
    let old: Vec<&UnderWay> = analysis.under_way.iter().filter(is_old).collect();
    let oldest_s = old.first().ok_or(Nothing::Healthy)?.age_s;
    let hung: Vec<&UnderWay> = old.iter().copied().filter(|it| it.age_s >= case.limit("age_s")).collect();
    let (Some(first), Some(last)) = (hung.first(), hung.last()) else {
        return Err(Nothing::cannot_tell(format!(
            "{} not ended after {oldest_s:.1} s when the log ends, far longer than any of the kind took: whether it hangs, a longer log \
             would tell",
            has(old.len())
        )));
    };
    // A request whose end was lost, by a thread that had nothing to do afterwards, looks the same. Where a ring was overwritten the
    // beginning is missing, not an end.
    let loss = &analysis.loss;
    let lost = loss.lost_ends + loss.lost_starts + loss.discarded_heads + loss.kernel_overflows + loss.dropped_segments;
    Nothing::cannot_tell_if(lost > 0, format!("{} no end in the log, of which records are lost", has(hung.len())))?;
    let count = hung.len() as u64;
    let operations = names(hung.iter().map(|it| it.name.as_str()));
    let targets = names(hung.iter().filter_map(|it| it.target.as_deref()));
    let at = match targets.as_slice() {
        [] => String::new(),
        [one] => format!(" at {one}"),
        many => format!(" at {}", plural(many.len() as u64, "target")),
    };
    let [least, most] = [last, first].map(|it| format!("{:.0}", it.age_s));
    let ages = if least == most { format!("{most} s") } else { format!("{least} to {most} s") };
    let title = format!(
        "{} ({}){at} {} not ended: under way for {ages} when the log ends",
        plural(count, "request"),
        operations.join(", "),
        if count == 1 { "has" } else { "have" },
    );
    let told: Vec<String> = hung.iter().take(MAX_TOLD).map(|it| sentence(it)).collect();
    let more = if hung.len() > MAX_TOLD {
        format!(" {} more are in `under_way`.", hung.len() - MAX_TOLD)
    } else {
        String::new()
    };
    let slowest_s = hung.iter().map(|it| of_kind(it)).fold(0.0, f64::max);
    let ended = if slowest_s > 0.0 {
        format!("The slowest one of their kind that ended took {slowest_s:.3} s.")
    } else {
        "None of their kind ended.".to_owned()
    };
    let object = |it: &&UnderWay| Some(ObjectId { target: it.target.clone()?, fid: it.object.clone()? });
    let start = hung.iter().map(|it| it.start).fold(f64::INFINITY, f64::min);
    case
        .finding(Severity::Critical, Confidence::High, title)
        .explain(format!("{}{more} {ended}", told.join(" ")))
        .evidence("rpcs", real(count))
        .evidence("oldest_s", first.age_s)
        .evidence("slowest_ended_s", slowest_s)
        .targets(targets)
        .clients(hung.iter().map(|it| it.nid.as_str()))
        .jobs(hung.iter().filter_map(|it| it.job.as_deref()).filter(|job| !job.is_empty()))
        .nodes(hung.iter().map(|it| it.node.as_str()))
        .objects(hung.iter().filter_map(object))
        .interval(Some(Interval { start, end: first.start + first.age_s }))
        .cost(hung.iter().map(|it| it.age_s).sum(), Cost::RequestSeconds)
        .remedy(
            "See what these threads wait for: `cat /proc/PID/stack` on the server, or the stacks that the kernel logs of hung threads \
             (`Service thread pid .. was inactive`, `echo t > /proc/sysrq-trigger`).",
        )
        .remedy("If they wait for the disk: the device of the target (RAID, multipath). If for a lock: who holds it, `events` and `locks`.")
        .alone()
}

/// These names, each once.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn has(count: usize) -> String {
    format!("{} {}", plural(count as u64, "request"), if count == 1 { "has" } else { "have" })
}

/// `OST_WRITE of 10.0.0.1@tcp, job a.1, at fs-OST0005 ([0x..]): 271 s, since .., thread ll_ost_io00_003, pid 4103 on oss1.`
fn sentence(it: &UnderWay) -> String {
    let job = it.job.as_deref().filter(|job| !job.is_empty()).map(|job| format!(", job {job}")).unwrap_or_default();
    let target = it.target.as_deref().map(|target| format!(", at {target}")).unwrap_or_default();
    let object = it.object.as_deref().map(|object| format!(" ({object})")).unwrap_or_default();
    format!(
        "{} of {}{job}{target}{object}: {:.1} s, since {}, thread {}, pid {} on {}.",
        it.name,
        it.nid,
        it.age_s,
        utc_of(it.start),
        it.thread,
        it.pid,
        it.node
    )
}

#[cfg(test)]
mod tests {
    use lioprof_model::{Distribution, Operation};

    use super::super::case::Shared;
    use super::super::limits::Limits;
    use super::*;

    fn look(ages_s: &[f64], slowest_us: u64, lost_ends: u64) -> Look {
        let rpc = |&age_s: &f64| UnderWay {
            opcode: 4,
            name: "OST_WRITE".to_owned(),
            nid: "10.0.0.1@tcp".to_owned(),
            target: Some("fs-OST0005".to_owned()),
            age_s,
            ..UnderWay::default()
        };
        let mut analysis = Analysis { under_way: ages_s.iter().map(rpc).collect(), ..Analysis::default() };
        analysis.totals.rpcs = 10;
        analysis.loss.lost_ends = lost_ends;
        let mut operation = Operation { opcode: 4, ..Operation::default() };
        operation.latency.service_us = Distribution { max: Some(slowest_us), ..Distribution::default() };
        analysis.operations = vec![operation];
        super::look(&Case { analysis: &analysis, rule: &RULE, limits: &Limits::default(), shared: &Shared::default() })
    }

    #[test]
    fn only_what_takes_far_longer_than_its_kind_hangs() {
        let found = look(&[271.0, 260.4, 0.003], 3_000, 0).expect("two hang");
        assert_eq!(
            found[0].title,
            "2 requests (OST_WRITE) at fs-OST0005 have not ended: under way for 260 to 271 s when the log ends"
        );
        // Less than 5 s, less than 1 s; less than ten times the slowest; nothing.
        assert!(matches!(look(&[4.9], 3_000, 0), Err(Nothing::CannotTell(_))));
        assert_eq!(look(&[0.9], 3_000, 0), Err(Nothing::Healthy));
        assert_eq!(look(&[50.0], 6_000_000, 0), Err(Nothing::Healthy));
        // Of long ones twice the slowest is enough.
        assert_eq!(look(&[271.0, 69.0], 31_000_000, 0).expect("hangs").len(), 1);
        assert_eq!(look(&[60.0], 31_000_000, 0), Err(Nothing::Healthy));
        assert!(matches!(look(&[], 3_000, 0), Err(Nothing::NotApplicable(_))));
    }

    #[test]
    fn a_lost_end_is_no_hang() {
        assert!(matches!(look(&[271.0], 3_000, 1), Err(Nothing::CannotTell(_))));
    }
}
