//! What a kernel log tells of each node that it names.

use std::collections::BTreeMap;

use lioprof_model::{LoggedEvent, event_key};
use lustre_debuglog::kernel_log::{Sentence, Stamp};
use lustre_debuglog::message::ConsoleEvent;
use lustre_debuglog::vocab::EventKind;

/// Events of one log that are kept, of all kinds together: some 20 MB.
const MAX_KEPT: usize = 100_000;
/// Marks that are kept, to compare clocks by them.
const MAX_MARKS: usize = 10_000;

/// An event that a kernel log tells.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelEvent {
    /// When, by the log's clock.
    pub stamp: Option<Stamp>,
    /// What happened.
    pub kind: EventKind,
    /// The event; its time is not filled in.
    pub event: LoggedEvent,
}

/// What a kernel log tells of one node.
#[derive(Clone, Debug, Default)]
pub struct HostLog {
    /// Name of the node, up to its first dot, as the lines have it; `None` if they name none.
    pub host: Option<String>,
    /// Lines of the kernel.
    pub lines: u64,
    /// Sentences of Lustre and LNet, and of the kernel that tell of events.
    pub sentences: u64,
    /// Events, as they stand in the log.
    pub events: Vec<KernelEvent>,
    /// Events beyond those, but for echoes.
    pub unlisted: BTreeMap<EventKind, u64>,
    /// Sentences that Lustre has left out because the one before repeated.
    pub skipped: BTreeMap<EventKind, u64>,
    /// `lctl mark` lines: their stamps, and the keys of the texts ([`event_key`]).
    pub marks: Vec<(Stamp, u64)>,
    /// Kind of the last event, for what was left out behind it.
    pub last: Option<EventKind>,
    /// Stamp of the last line, for those that count from it.
    pub before: Option<Stamp>,
}

impl HostLog {
    pub(super) fn new(host: Option<String>) -> Self {
        Self { host, ..Self::default() }
    }

    /// Takes the kernel's text of one line, or of a message of several.
    pub(super) fn line(&mut self, stamp: Option<Stamp>, text: &[u8]) {
        self.lines += 1;
        let stamp = stamp.and_then(|stamp| stamp.behind(self.before));
        self.before = stamp.or(self.before);
        let sentence = Sentence::of(text);
        if let (Some(skipped), Some(kind)) = (sentence.skipped(), self.last) {
            // Of these there are several sentences: how many of those left out are of others is not known.
            if !matches!(kind, EventKind::Eviction | EventKind::BulkError) {
                *self.skipped.entry(kind).or_default() += skipped;
            }
            self.sentences += 1;
            return;
        }
        let event = sentence.event();
        self.sentences += u64::from(sentence.voice.is_some() || event.is_some());
        if sentence.voice.is_some() {
            self.last = event.map(|event| event.kind);
        }
        match event {
            Some(event) => self.event(stamp, sentence.text, &event),
            None if sentence.voice.is_some() && sentence.text.starts_with(b"DEBUG MARKER: ") => {
                let room = self.marks.len() < MAX_MARKS;
                self.marks.extend(stamp.filter(|_| room).map(|stamp| (stamp, event_key(sentence.text))));
            }
            None => {}
        }
    }

    fn event(&mut self, stamp: Option<Stamp>, text: &[u8], event: &ConsoleEvent<'_>) {
        if self.events.len() < MAX_KEPT {
            self.events.push(KernelEvent { stamp, kind: event.kind, event: LoggedEvent::new(0, text, event) });
        } else if !event.is_echo {
            *self.unlisted.entry(event.kind).or_default() += 1;
        }
    }
}
