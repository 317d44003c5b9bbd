//! Evictions as logs tell them, where no requests do: a debug log of the default mask, or a kernel log.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use lioprof_model::time::utc_of;
use lioprof_model::units::{few, plural};
use lioprof_model::{Confidence, Event, Format, Interval, Severity};
use lustre_debuglog::vocab::EventKind;

use super::rule::{Case, Look, Nothing, real};

/// Evictions that the explanation tells one by one.
const MAX_TOLD: usize = 10;
/// Sentences that the title has at most.
const FEW: usize = 3;

/// Who was evicted, from where, when and why.
pub(super) fn look(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    let by_targets: Vec<&Event> = of(case, EventKind::Eviction).collect();
    let evicted = if by_targets.is_empty() { of(case, EventKind::Evicted).collect() } else { by_targets };
    let unlisted = analysis.others.get(&Event::rest_of(EventKind::Eviction)).map_or(0, |others| others.rows);
    let count = evicted.len() as u64 + if evicted.is_empty() { 0 } else { unlisted };
    Nothing::not_applicable_if(analysis.totals.rpcs == 0 && count == 0, "no RPC was handled")?;
    Nothing::healthy_if(real(count) < case.limit("evictions") || count == 0)?;
    let targets: BTreeSet<&str> = evicted.iter().filter_map(|event| event.target.as_deref()).collect();
    // What a client tells of itself names no other.
    let clients: BTreeSet<&str> = evicted.iter().map(|event| event.client.as_deref().unwrap_or(&event.node)).collect();
    let alike = alike(&evicted);
    let title = if alike.len() <= FEW && count == evicted.len() as u64 {
        alike.iter().map(|alike| sentence(alike)).collect::<Vec<_>>().join("; ")
    } else {
        let (clients, targets) = (names(&clients, "client"), names(&targets, "target"));
        format!("{} of {clients} from {targets}", plural(count, "eviction"))
    };
    // The title has told of a single one.
    let one_by_one = if count > 1 { evicted.as_slice() } else { &[] };
    let mut told: Vec<String> = one_by_one.iter().take(MAX_TOLD).map(|event| sentence(&[event]) + ". ").collect();
    if count > MAX_TOLD as u64 {
        told.push(format!("{} more are in `events`. ", count - MAX_TOLD as u64));
    }
    let times = || evicted.iter().filter_map(|event| event.time);
    let interval = times().reduce(f64::min).zip(times().reduce(f64::max)).map(|(start, end)| Interval { start, end });
    let found = case
        .finding(Severity::Critical, Confidence::High, title)
        .explain(format!(
            "{}What an evicted client had not written yet is lost, and whoever wanted its locks waited until then.",
            told.concat()
        ))
        .evidence("evictions", real(count))
        .evidence("clients", real(clients.len() as u64))
        .evidence("targets", real(targets.len() as u64))
        .targets(targets)
        .clients(clients)
        .interval(interval);
    remedies(&evicted).into_iter().fold(found, |found, remedy| found.remedy(remedy)).alone()
}

/// What to do by words of the log's reason.
const REMEDIES: [(&str, &str); 2] = [
    (
        "not heard from",
        "A client that was not heard from was down, hung or cut off: look at its own kernel log at that time, at its power \
         and its network (`lnetctl stats show`, `lnetctl peer show -v`).",
    ),
    (
        "did not give a lock back",
        "A client that did not give a lock back in time was cut off, or slow to write back what it had under the lock: smaller \
         `osc.*.max_dirty_mb`, or more time: `ldlm_enqueue_min` (a parameter of module ptlrpc) on the servers.",
    ),
];

/// What to do about these evictions, that of the most first: the screen shows no more. All, if the log gives other reasons or none.
fn remedies(evicted: &[&Event]) -> Vec<&'static str> {
    let count = |words: &str| evicted.iter().filter(|event| event.reason.contains(words)).count();
    let mut counted = REMEDIES.map(|(words, remedy)| (count(words), remedy));
    counted.sort_by_key(|(count, _)| Reverse(*count));
    let most = counted[0].0;
    counted.into_iter().filter(|(count, _)| *count > 0 || most == 0).map(|(_, remedy)| remedy).collect()
}

/// Events of a kind in the time that was captured. A kernel log goes further back than the debug log beside it.
pub(super) fn of<'a>(case: &'a Case<'_>, kind: EventKind) -> impl Iterator<Item = &'a Event> {
    let window = case.analysis.window;
    let all = case.analysis.inputs.iter().all(|input| input.format == Format::KernelLog);
    let in_time =
        move |event: &&Event| all || event.time.is_none_or(|time| (window.start..=window.end).contains(&time));
    case.analysis.events.iter().filter(move |event| event.kind == kind).filter(in_time)
}

/// Evictions of one client for one reason, whatever its figures: a client that falls silent is evicted from all its targets.
fn alike<'a>(evicted: &[&'a Event]) -> Vec<Vec<&'a Event>> {
    let reason = |event: &Event| event.reason.replace(|sign: char| sign.is_ascii_digit(), "");
    let mut groups: Vec<Vec<&Event>> = Vec::new();
    for event in evicted {
        match groups.iter_mut().find(|group| who(group[0]) == who(event) && reason(group[0]) == reason(event)) {
            Some(group) => group.push(event),
            None => groups.push(vec![event]),
        }
    }
    groups
}

/// `10.0.0.1@tcp was evicted from lustre-OST0003 at 2026-11-21T08:51:22Z: not heard from for 221 s (pinger)`; of several that are
/// alike, time and figures are those of the first.
fn sentence(alike: &[&Event]) -> String {
    let Some(first) = alike.first() else { return String::new() };
    let targets: Vec<&str> = alike.iter().filter_map(|event| event.target.as_deref()).collect();
    let from = if targets.is_empty() { String::new() } else { format!(" from {}", few(&targets)) };
    let at = first.time.map(|time| format!(" at {}", utc_of(time))).unwrap_or_default();
    format!("{} was evicted{from}{at}: {}", who(first), first.reason.trim_end_matches('.'))
}

fn who(event: &Event) -> &str {
    event.client.as_deref().unwrap_or(match event.kind {
        EventKind::Evicted => &event.node,
        _ => "a client",
    })
}

/// One name, or how many there are.
fn names(names: &BTreeSet<&str>, noun: &str) -> String {
    match names.len() {
        1 => names.first().copied().unwrap_or_default().to_owned(),
        0 => format!("an unnamed {noun}"),
        many => plural(many as u64, noun),
    }
}
