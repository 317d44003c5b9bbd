//! What kernel logs, and console lines of debug logs, tell: evictions, timeouts, failures.

use std::collections::BTreeMap;

use lustre_debuglog::message::ConsoleEvent;
pub use lustre_debuglog::vocab::EventKind;
use serde::{Deserialize, Serialize};

use crate::merge::Merge;
use crate::symbol::escape;

/// Events of a kind that are listed of each node, and of each kind in an analysis: the earliest. Further ones are counted.
pub const MAX_EVENTS: usize = 500;

/// What stands before the kind in keys of what is not listed.
const REST: &str = "events.";

/// Bytes of a sentence that tell it from others: a kernel log cuts long ones.
const KEY_BYTES: usize = 200;

named! {
    /// Which logs an event stands in.
    pub enum EventSource {
        /// A debug log.
        DebugLog = "debug_log",
        /// A kernel log: `dmesg`, syslog, journal.
        KernelLog = "kernel_log",
        /// Both.
        Both = "both",
    }
}

/// An event: a row of `events[]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When it was logged, Unix seconds; `null` if only its place among the node's other events is known.
    pub time: Option<f64>,
    /// Node that logged it.
    pub node: String,
    /// What happened.
    pub kind: EventKind,
    /// Target, if the sentence names one.
    pub target: Option<String>,
    /// NID of the client, if it names one; for errors of LNet that of the peer.
    pub client: Option<String>,
    /// Why, or what else the sentence says.
    pub reason: String,
    /// Which logs it stands in.
    pub source: EventSource,
}

impl Event {
    /// Key of [`Analysis::others`](crate::Analysis::others) that tells how many events of a kind `events[]` leaves out.
    #[must_use]
    pub fn rest_of(kind: EventKind) -> String {
        format!("{REST}{kind}")
    }

    /// Whether this is such a key.
    #[must_use]
    pub fn is_rest(key: &str) -> bool {
        key.starts_with(REST)
    }
}

/// A sentence of a log that tells of an event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LoggedEvent {
    /// When, microseconds since the epoch; of a kernel log whose clock is not known yet, on that clock.
    pub time_us: i64,
    /// Tells the sentence from others; the same in a debug log and in a kernel log.
    pub key: u64,
    /// Target, if the sentence names one.
    pub target: Option<String>,
    /// NID of the client.
    pub client: Option<String>,
    /// Why, or what else the sentence says.
    pub reason: String,
    /// Another sentence tells of the same event, and says more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_echo: bool,
}

impl LoggedEvent {
    /// The event that the sentence `text` tells.
    #[must_use]
    pub fn new(time_us: i64, text: &[u8], event: &ConsoleEvent<'_>) -> Self {
        Self {
            time_us,
            key: key(text),
            target: event.target.map(escape),
            client: event.client.map(escape),
            reason: event.reason.to_string(),
            is_echo: event.is_echo,
        }
    }
}

/// A number that tells a sentence from others (FNV-1a of its beginning).
#[must_use]
pub fn key(text: &[u8]) -> u64 {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.get(..KEY_BYTES).unwrap_or(line).trim_ascii();
    line.iter().fold(0xcbf2_9ce4_8422_2325, |key, byte| (key ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The events that a part of a node's log tells: the earliest of each kind, and how many more there are. Parts of one log add up; what two
/// of them list counts once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoggedEvents {
    /// At most [`MAX_EVENTS`] of each kind, in the order of time.
    listed: BTreeMap<EventKind, Vec<LoggedEvent>>,
    /// Later ones, but for echoes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unlisted: BTreeMap<EventKind, u64>,
}

impl LoggedEvents {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Adds an event; `made` is called only if it will be listed.
    pub fn add(&mut self, kind: EventKind, time_us: i64, is_echo: bool, made: impl FnOnce() -> LoggedEvent) {
        let listed = self.listed.entry(kind).or_default();
        if listed.len() >= MAX_EVENTS && listed.last().is_some_and(|last| last.time_us < time_us) {
            if !is_echo {
                *self.unlisted.entry(kind).or_default() += 1;
            }
            return;
        }
        self.list(kind, made());
    }

    fn list(&mut self, kind: EventKind, event: LoggedEvent) {
        let listed = self.listed.entry(kind).or_default();
        // Nearly always the last one.
        let at = listed.partition_point(|it| *it < event);
        if listed.get(at) == Some(&event) {
            return;
        }
        listed.insert(at, event);
        if listed.len() > MAX_EVENTS
            && let Some(last) = listed.pop()
            && !last.is_echo
        {
            *self.unlisted.entry(kind).or_default() += 1;
        }
    }

    /// The events that are listed, by kind and time.
    pub fn listed(&self) -> impl Iterator<Item = (EventKind, &LoggedEvent)> {
        self.listed.iter().flat_map(|(kind, events)| events.iter().map(move |event| (*kind, event)))
    }

    /// How many more there are of a kind.
    #[must_use]
    pub fn unlisted(&self, kind: EventKind) -> u64 {
        self.unlisted.get(&kind).copied().unwrap_or(0)
    }

    /// Those of some times. Of what is not listed the times are not known: it is left out.
    #[must_use]
    pub fn within(&self, contains: impl Fn(i64) -> bool) -> Self {
        let mut part = Self { listed: self.listed.clone(), unlisted: BTreeMap::new() };
        part.listed.values_mut().for_each(|events| events.retain(|event| contains(event.time_us)));
        part.listed.retain(|_, events| !events.is_empty());
        part
    }

    /// The same, with other words; those for which `reworded` gives none are left out.
    #[must_use]
    pub fn reworded(&self, reworded: impl Fn(&LoggedEvent) -> Option<LoggedEvent>) -> Self {
        let mut others = Self { listed: BTreeMap::new(), unlisted: self.unlisted.clone() };
        for (kind, event) in self.listed() {
            if let Some(event) = reworded(event) {
                others.list(kind, event);
            }
        }
        others
    }

    /// The same, with its times on another clock.
    #[must_use]
    pub fn on_clock(&self, there_us: impl Fn(i64) -> i64) -> Self {
        let mut shifted = self.clone();
        shifted.listed.values_mut().flatten().for_each(|event| event.time_us = there_us(event.time_us));
        shifted
    }
}

impl Merge for LoggedEvents {
    fn merge(&mut self, other: &Self) {
        Merge::merge(&mut self.unlisted, &other.unlisted);
        for (kind, events) in &other.listed {
            events.iter().for_each(|event| self.list(*kind, event.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time_us: i64) -> LoggedEvent {
        LoggedEvent { time_us, key: 7, target: None, client: None, reason: String::new(), is_echo: false }
    }

    fn added(times: impl Iterator<Item = i64>) -> LoggedEvents {
        let mut events = LoggedEvents::default();
        times.for_each(|us| events.add(EventKind::Eviction, us, false, || event(us)));
        events
    }

    #[test]
    fn the_earliest_are_listed_and_all_count() {
        let limit = i64::try_from(MAX_EVENTS).unwrap();
        let forwards = added(0..limit + 9);
        let backwards = added((0..limit + 9).rev());
        assert_eq!(forwards, backwards);
        assert_eq!(forwards.listed().count(), MAX_EVENTS);
        assert_eq!(forwards.unlisted(EventKind::Eviction), 9);
        let mut parts = added(0..3);
        parts.merge(&added(3..limit + 9));
        assert_eq!(parts, forwards);
    }

    #[test]
    fn what_two_logs_have_counts_once() {
        let mut both = added(0..7);
        both.merge(&added(3..9));
        assert_eq!(both, added(0..9));
    }

    #[test]
    fn a_part_of_the_time_has_only_its_events() {
        assert_eq!(added(0..9).within(|us| us >= 7), added(7..9));
        assert!(added(0..9).within(|_| false).is_empty());
    }

    #[test]
    fn a_sentence_that_was_cut_or_has_more_lines_has_the_same_key() {
        let long = "x".repeat(300);
        assert_eq!(key(long.as_bytes()), key(&long.as_bytes()[..210]));
        assert_eq!(key(b"a b\n req@"), key(b"a b"));
        assert_ne!(key(b"a b"), key(b"a c"));
    }
}
