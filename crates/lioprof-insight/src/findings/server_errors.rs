//! `server-errors`: Lustre itself says in the logs that something broke.

use std::collections::BTreeSet;

use lioprof_model::time::utc_of;
use lioprof_model::units::{few, plural};
use lioprof_model::{Confidence, Event, Interval, Severity};
use lustre_debuglog::vocab::EventKind;

use super::evicted;
use super::rule::{Case, Look, Nothing, Question, Rule, limit, real};

/// Events told one by one.
const MAX_TOLD: usize = 10;
/// Kinds that are one, the worst first.
const KINDS: [EventKind; 5] =
    [EventKind::Lbug, EventKind::TargetFailed, EventKind::HungThread, EventKind::BulkError, EventKind::SlowReply];

pub(super) const RULE: Rule = Rule {
    id: "server-errors",
    question: Question::Failure,
    explains: &[],
    meaning: "Lustre says in the logs that something broke: a bug, a device, a thread that hangs, data that did not arrive",
    limits: &[
        limit("events", 1.0, "bugs, failed devices, hung threads and failed transfers from which it is a finding"),
        limit("slow_replies", 3.0, "requests that took longer than clients wait, from which it is a finding"),
    ],
    plots: &["io-timeline"],
    note: false,
    look,
};

fn look(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    Nothing::not_applicable_if(analysis.totals.rpcs == 0 && analysis.events.is_empty(), "the logs tell of no events")?;
    let of = |kind: EventKind| evicted::of(case, kind).collect::<Vec<&Event>>();
    let least = |kind| case.limit(if kind == EventKind::SlowReply { "slow_replies" } else { "events" });
    let kinds: Vec<(EventKind, Vec<&Event>)> = KINDS
        .into_iter()
        .map(|kind| (kind, of(kind)))
        .filter(|(kind, events)| !events.is_empty() && real(events.len() as u64) >= least(*kind))
        .collect();
    let (worst, first) =
        kinds.first().and_then(|(kind, events)| Some((*kind, *events.first()?))).ok_or(Nothing::Healthy)?;
    let all = || kinds.iter().flat_map(|(_, events)| events.iter().copied());
    let count = all().count();
    let nodes: BTreeSet<&str> = all().map(|event| event.node.as_str()).collect();
    let counts: Vec<String> = kinds.iter().map(|(kind, events)| plural(events.len() as u64, kind.noun())).collect();
    let title = if count == 1 {
        let mut noun = worst.noun().to_owned();
        if let Some(first) = noun.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        format!("{noun} on {}: {}", first.node, first.reason.trim_end_matches('.'))
    } else {
        format!("{} on {}", counts.join(", "), few(&nodes.iter().copied().collect::<Vec<_>>()))
    };
    let severity = match worst {
        EventKind::Lbug | EventKind::TargetFailed => Severity::Critical,
        _ => Severity::Warning,
    };
    let mut told: Vec<String> = all().take(MAX_TOLD).map(sentence).collect();
    if count > MAX_TOLD {
        told.push(format!("{} more are in `events`.", count - MAX_TOLD));
    }
    let times = || all().filter_map(|event| event.time);
    let interval = times().reduce(f64::min).zip(times().reduce(f64::max)).map(|(start, end)| Interval { start, end });
    let mut draft = case
        .finding(severity, Confidence::High, title)
        .explain(told.join(" "))
        .targets(all().filter_map(|event| event.target.as_deref()))
        .clients(all().filter_map(|event| event.client.as_deref()))
        .nodes(nodes)
        .interval(interval);
    for (kind, events) in &kinds {
        draft =
            draft.evidence(&format!("{}s", kind.noun().replace(' ', "_").to_lowercase()), real(events.len() as u64));
    }
    draft
        .remedy(remedy(worst))
        .remedy("Read the kernel log around the first of them: what failed first is the cause, the rest follows.")
        .alone()
}

fn remedy(worst: EventKind) -> &'static str {
    match worst {
        EventKind::Lbug => {
            "The server has to be restarted (a thread stands still, or the node panicked): keep its dump for whoever maintains Lustre."
        }
        EventKind::TargetFailed => {
            "Look at the target's device (SMART, RAID, multipath) before it is mounted again, then check the file system (`e2fsck -fp`, `zpool status`)."
        }
        EventKind::HungThread => {
            "See what the thread waits for in the stack that the kernel logged with it: the disk, a lock, or the network."
        }
        EventKind::BulkError => {
            "Look at the network between these clients and servers: `lnetctl stats show` (drops, errors), `lnetctl net show -v`."
        }
        _ => {
            "See where these requests spend their time: `lioprof analyze --tables`, queue and service of each operation."
        }
    }
}

/// `2026-11-27T09:08:21Z on oss2: LBUG.`
fn sentence(event: &Event) -> String {
    let at = event.time.map(|time| format!("{} ", utc_of(time))).unwrap_or_default();
    let target = event.target.as_deref().map(|target| format!(", {target}")).unwrap_or_default();
    let client = event.client.as_deref().map(|client| format!(", {client}")).unwrap_or_default();
    format!("{at}on {}{target}{client}: {}.", event.node, event.reason.trim_end_matches('.'))
}
