//! What kernel logs tell of the nodes, on the nodes' clocks.

use std::collections::BTreeMap;

use lioprof_model::time::now_us;
use lioprof_model::units::{micros, plural, seconds};
use lioprof_model::{EventSource, Format, Input, Marker, NodeFrom, event_key};
use lioprof_trace::{HostLog, KernelLog};
use lustre_debuglog::kernel_log::Stamp;
use lustre_debuglog::vocab::EventKind;

use super::clock::{Clock, ClockFrom, Known, keyed};
use super::pool::Told;
use crate::config::Config;
use crate::node::NodeAccount;

/// What a kernel log tells of one node.
pub(super) struct NodeKernelLog<'a> {
    pub(super) node: String,
    pub(super) told: Vec<Told>,
    pub(super) unlisted: &'a BTreeMap<EventKind, u64>,
    pub(super) skipped: &'a BTreeMap<EventKind, u64>,
    /// The log as an input of its own.
    pub(super) input: Input,
    /// What is to be said of its times, if anything is.
    pub(super) said: Vec<String>,
    pub(super) is_beside: bool,
}

/// All kernel logs, by node.
pub(super) fn kernel_logs<'a>(
    logs: &'a [KernelLog],
    nodes: &[NodeAccount],
    markers: &[Marker],
    config: &Config,
) -> Vec<NodeKernelLog<'a>> {
    let hosts = logs.iter().flat_map(|log| log.hosts.iter().enumerate().map(move |(at, host)| (log, at, host)));
    hosts.map(|(log, at, host)| kernel_log(log, at == 0, host, nodes, markers, config)).collect()
}

fn kernel_log<'a>(
    log: &'a KernelLog,
    is_first: bool,
    host: &'a HostLog,
    nodes: &[NodeAccount],
    markers: &[Marker],
    config: &Config,
) -> NodeKernelLog<'a> {
    let named = host.host.as_deref().filter(|_| log.node_from != NodeFrom::Option).unwrap_or(&log.node);
    let is_alike = |node: &&NodeAccount| is_short(named, &node.name) || is_short(&node.name, named);
    let account = nodes.iter().find(|node| node.name == named).or_else(|| nodes.iter().find(is_alike));
    let node = account.map_or(named, |account| &account.name).to_owned();
    let listed = account.into_iter().flat_map(|account| account.summary.events.listed().map(|(_, event)| event));
    let marks = markers.iter().filter(|marker| marker.node == node).map(mark);
    let captured_us = account
        .and_then(|account| account.summary.first_us)
        .or_else(|| nodes.iter().find_map(|it| it.summary.first_us));
    let known = Known {
        captured_us,
        latest_us: log.changed_us.unwrap_or_else(now_us),
        boot_us: config.boot_us,
        zone_us: config.zone_us,
    };
    let clock = Clock::of(host, keyed(listed).chain(marks), known);
    let told: Vec<Told> = host
        .events
        .iter()
        .map(|it| Told {
            kind: it.kind,
            time_us: clock.time_us(it.stamp),
            event: it.event.clone(),
            source: EventSource::KernelLog,
        })
        .collect();
    let times = || told.iter().filter_map(|told| told.time_us);
    let input = Input {
        path: log.path.display().to_string(),
        node: node.clone(),
        format: Format::KernelLog,
        compression: log.compression.clone(),
        // Lines of several nodes are in one file.
        bytes: if is_first { log.bytes } else { 0 },
        records: host.lines,
        messages: host.sentences,
        bad_records: 0,
        skipped_bytes: 0,
        bad_places: Vec::new(),
        malformed: BTreeMap::new(),
        other: Vec::new(),
        first: times().min().map(seconds),
        last: times().max().map(seconds),
        node_from: Some(match log.node_from {
            NodeFrom::Option => NodeFrom::Option,
            _ if host.host.is_some() => NodeFrom::Prefix,
            from => from,
        }),
        several_servers: None,
        envelope: if is_first {
            log.repaired.iter().map(|(kind, lines)| ((*kind).to_owned(), *lines)).collect()
        } else {
            BTreeMap::new()
        },
        unread: None,
        error: log.error.clone().filter(|_| is_first),
    };
    NodeKernelLog {
        said: said(log, host, &clock, known),
        node,
        told,
        unlisted: &host.unlisted,
        skipped: &host.skipped,
        input,
        is_beside: log.is_beside,
    }
}

/// Whether one is the other's name up to its first dot.
fn is_short(short: &str, long: &str) -> bool {
    long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'))
}

/// A mark as a sentence of the kernel log.
fn mark(marker: &Marker) -> (u64, i64) {
    (event_key(format!("DEBUG MARKER: {}", marker.text).as_bytes()), micros(marker.time))
}

/// What there is to say of the times of a log that tells of something.
fn said(log: &KernelLog, host: &HostLog, clock: &Clock, known: Known) -> Vec<String> {
    let path = log.path.display();
    let Some(stamp) = host.events.iter().find_map(|event| event.stamp) else {
        if host.events.is_empty() {
            return Vec::new();
        }
        return vec![format!(
            "the times of {} in `{path}` are unknown, only their order: its lines have no stamps; `dmesg -T` and `journalctl -k` print them",
            plural(host.events.len() as u64, "event"),
        )];
    };
    let mut said = Vec::new();
    match (clock.from, stamp) {
        (ClockFrom::Nothing, Stamp::Boot(_)) => said.push(format!(
            "the times of {} in `{path}` are unknown, only their order: its stamps count from the boot of the node; --boot-time says when \
             that was (`uptime -s`), or give a debug log of the same time, whose lines tell it",
            plural(host.events.len() as u64, "event"),
        )),
        (ClockFrom::Nothing, _) => said.push(format!(
            "the times of {} in `{path}` are unknown, only their order: its stamps have no time zone; --timezone says which (`date +%z`), \
             or give a debug log of the same time, whose lines tell it",
            plural(host.events.len() as u64, "event"),
        )),
        _ => {}
    }
    if let (Stamp::Local { year: None, .. }, false) = (stamp, clock.from == ClockFrom::Nothing) {
        let by = match (known.captured_us, log.changed_us) {
            (Some(_), _) => "in the year that is nearest to the debug logs",
            (None, Some(_)) => "in the last year that the file's time allows",
            (None, None) => "in the last year that is over or runs",
        };
        said.push(format!("`{path}` has no years: each line is taken to be {by}"));
    }
    said
}
