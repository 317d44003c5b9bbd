//! The sentences of one node, of all its logs.

use lioprof_model::{EventSource, LoggedEvent};
use lustre_debuglog::vocab::EventKind;
use rustc_hash::FxHashMap;

/// Times of the same sentence in two logs differ by this at most: a syslog tells whole seconds.
const SAME_SENTENCE_US: i64 = 2_000_000;

/// A sentence, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) kind: EventKind,
    /// `None` if only its place among others is known.
    pub(super) time_us: Option<i64>,
    pub(super) event: LoggedEvent,
    pub(super) source: EventSource,
}

/// The sentences of a node.
#[derive(Debug, Default)]
pub(super) struct Pool {
    told: Vec<Told>,
}

impl Pool {
    /// Adds what one log tells; a sentence that is here already, of another log, counts once.
    pub(super) fn add_log(&mut self, log: impl IntoIterator<Item = Told>) {
        let known = self.told.len();
        let mut by_key: FxHashMap<(EventKind, u64), Vec<usize>> = FxHashMap::default();
        for (at, told) in self.told.iter().enumerate().rev() {
            by_key.entry((told.kind, told.event.key)).or_default().push(at);
        }
        for told in log {
            let twins = by_key.get_mut(&(told.kind, told.event.key));
            let twin = twins.and_then(|twins| {
                let at = twins.iter().rposition(|at| is_near(self.told[*at].time_us, told.time_us))?;
                Some(twins.remove(at))
            });
            let Some(twin) = twin else {
                self.told.push(told);
                continue;
            };
            debug_assert!(twin < known, "within a log every sentence counts");
            let mine = &mut self.told[twin];
            mine.time_us = mine.time_us.or(told.time_us);
            if mine.source != told.source {
                mine.source = EventSource::Both;
            }
        }
    }

    /// All sentences in the order of time; those of unknown time come last, as they were added.
    pub(super) fn in_order(mut self) -> Vec<Told> {
        self.told.sort_by(|a, b| {
            let time = |told: &Told| (told.time_us.is_none(), told.time_us);
            time(a).cmp(&time(b)).then_with(|| match a.time_us {
                Some(_) => (a.kind, &a.event).cmp(&(b.kind, &b.event)),
                None => std::cmp::Ordering::Equal,
            })
        });
        self.told
    }
}

/// Whether both may be the time of one sentence.
fn is_near(a: Option<i64>, b: Option<i64>) -> bool {
    a.zip(b).is_none_or(|(a, b)| (a - b).abs() <= SAME_SENTENCE_US)
}
