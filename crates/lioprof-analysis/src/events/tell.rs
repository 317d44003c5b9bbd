//! Events of all nodes, as rows of the analysis.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use lioprof_model::units::seconds;
use lioprof_model::{Analysis, Event, EventSource, MAX_EVENTS, OtherRows, Window};
use lioprof_trace::KernelLog;
use lioprof_trace::input::{InputProblem, Severity};
use lustre_debuglog::TargetName;
use lustre_debuglog::vocab::EventKind;

use super::kernel::{NodeKernelLog, kernel_logs};
use super::pool::{Pool, Told};
use super::same::joined;
use crate::config::{Config, Selection};
use crate::interval::Interval;
use crate::node::NodeAccount;
use crate::select::TargetPattern;
use crate::warnings::repaired;

/// Fills in the events that the nodes' debug logs and the kernel logs tell, and the kernel logs that were named as inputs; what is to be
/// said of those that were not.
pub(crate) fn tell(
    nodes: &[NodeAccount],
    logs: &[KernelLog],
    config: &Config,
    analysis: &mut Analysis,
) -> Vec<InputProblem> {
    let logs = kernel_logs(logs, nodes, &analysis.markers, config);
    let mut unlisted: BTreeMap<EventKind, u64> = BTreeMap::new();
    let names: BTreeSet<&str> =
        nodes.iter().map(|node| node.name.as_str()).chain(logs.iter().map(|log| log.node.as_str())).collect();
    let mut events: Vec<(&str, Told)> = Vec::new();
    for &name in &names {
        let account = nodes.iter().find(|node| node.name == name);
        let of_node: Vec<&NodeKernelLog<'_>> = logs.iter().filter(|log| log.node == name).collect();
        let named: Vec<&NodeKernelLog<'_>> = of_node.iter().copied().filter(|log| !log.is_beside).collect();
        let mut pool = Pool::default();
        pool.add_log(account.into_iter().flat_map(of_debug_log));
        for log in &of_node {
            pool.add_log(log.told.iter().cloned());
        }
        let everything = Interval::new(config);
        let interval = account.map_or(&everything, |account| &account.interval);
        let counts = |told: &Told| {
            let in_time = told.time_us.map_or(!interval.is_limited(), |us| interval.contains(us));
            in_time && is_selected(told, &config.selection)
        };
        events.extend(joined(pool.in_order()).into_iter().filter(counts).map(|told| (name, told)));
        if !interval.is_limited() {
            count_unlisted(account, &named, &mut unlisted);
        }
    }
    // Stable: those of one node stay in order.
    events.sort_by_key(|(_, told)| (told.time_us.is_none(), told.time_us));
    let mut listed: BTreeMap<EventKind, u64> = BTreeMap::new();
    events.retain(|(_, told)| {
        let listed = listed.entry(told.kind).or_default();
        let is_listed = *listed < MAX_EVENTS as u64;
        *if is_listed { listed } else { unlisted.entry(told.kind).or_default() } += 1;
        is_listed
    });
    for (kind, rows) in unlisted.into_iter().filter(|(_, rows)| *rows > 0) {
        let kept = listed.get(&kind).copied().unwrap_or(0);
        let rest = OtherRows { kept, by: "time".to_owned(), rows, ..OtherRows::default() };
        analysis.others.insert(Event::rest_of(kind), rest);
    }
    if nodes.is_empty() {
        analysis.window = window(&events);
    }
    analysis.events = events.into_iter().map(row).collect();
    inputs(logs, analysis)
}

/// Adds how many events are not in the lists. What Lustre left out of the kernel log is in the debug log, if there is one.
fn count_unlisted(account: Option<&NodeAccount>, logs: &[&NodeKernelLog<'_>], unlisted: &mut BTreeMap<EventKind, u64>) {
    for kind in EventKind::ALL {
        let of_debug_log = account.map(|account| account.summary.events.unlisted(kind));
        let of = |counts: &BTreeMap<EventKind, u64>| counts.get(&kind).copied().unwrap_or(0);
        let of_kernel_logs =
            logs.iter().map(|log| of(log.unlisted) + if account.is_none() { of(log.skipped) } else { 0 });
        // Several kernel logs of a node hold the same lines, mostly.
        *unlisted.entry(kind).or_default() += of_debug_log.unwrap_or(0).max(of_kernel_logs.max().unwrap_or(0));
    }
}

/// Lists the kernel logs that were named; those that a search found beside debug logs only add to the events.
fn inputs(logs: Vec<NodeKernelLog<'_>>, analysis: &mut Analysis) -> Vec<InputProblem> {
    let mut problems = Vec::new();
    for NodeKernelLog { input, said, is_beside, .. } in logs {
        let path = PathBuf::from(&input.path);
        if let Some(error) = &input.error {
            let message = format!("`{}`: {error}", input.path);
            problems.push(InputProblem { path: path.clone(), severity: Severity::Error, message });
        }
        if is_beside {
            let message = format!("`{}` is a kernel log of {}: what it tells is in the events", input.path, input.node);
            problems.push(InputProblem { path: path.clone(), severity: Severity::Note, message });
            let notes = said.into_iter().chain(repaired(&input)).map(|message| InputProblem {
                path: path.clone(),
                severity: Severity::Note,
                message,
            });
            problems.extend(notes);
        } else {
            analysis.warnings.extend(said.into_iter().chain(repaired(&input)));
            analysis.inputs.push(input);
        }
    }
    analysis.inputs.sort_by(|a, b| (&a.node, &a.path).cmp(&(&b.node, &b.path)));
    problems
}

/// From the first to the last event of known time.
fn window(events: &[(&str, Told)]) -> Window {
    let times = || events.iter().filter_map(|(_, told)| told.time_us);
    let (start, end) = times().min().zip(times().max()).unwrap_or((0, 0));
    Window { start: seconds(start), end: seconds(end), duration_s: seconds(end - start), ..Window::default() }
}

fn row((node, told): (&str, Told)) -> Event {
    let Told { kind, time_us, event, source } = told;
    Event {
        time: time_us.map(seconds),
        node: node.to_owned(),
        kind,
        target: event.target,
        client: event.client,
        reason: event.reason,
        source,
    }
}

/// What a node's debug log tells.
fn of_debug_log(node: &NodeAccount) -> impl Iterator<Item = Told> {
    node.summary.events.listed().map(|(kind, event)| Told {
        kind,
        time_us: Some(event.time_us),
        event: event.clone(),
        source: EventSource::DebugLog,
    })
}

/// Whether an event is of the clients and targets that were selected, or names none.
fn is_selected(told: &Told, selection: &Selection) -> bool {
    let client = told.event.client.as_ref().is_none_or(|nid| selection.takes_nid(nid));
    let target = told.event.target.as_ref().and_then(|name| TargetName::parse_bytes(name.as_bytes()));
    client && target.is_none_or(|target| TargetPattern::takes(&selection.targets, Some(target)))
}
