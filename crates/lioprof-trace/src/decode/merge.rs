//! The inputs of one node as one stream of events.

use std::collections::VecDeque;

use lioprof_model::Symbols;

use super::event::Event;
use super::source::Source;

/// Inputs are opened this long before their first record's time comes up: a binary log's first record
/// need not be its oldest (flush passes are a second or so apart).
const LEAD_US: i64 = 10_000_000;

/// An input that has not been opened yet.
pub(crate) struct Waiting {
    /// Time of its first record.
    pub(crate) first_us: i64,
    /// Opens the input; gives `None` if it cannot be read.
    pub(crate) open: Box<dyn FnOnce() -> Option<Source>>,
    /// Index of the input, for the account.
    pub(crate) input: usize,
    /// The folder that it is in, as a number.
    pub(crate) folder: usize,
}

/// An input that is being read.
struct Active {
    input: usize,
    folder: usize,
    source: Source,
}

/// Merges inputs by time.
pub(crate) struct Merge {
    waiting: VecDeque<Waiting>,
    active: Vec<Active>,
    /// Inputs that are used up.
    pub(crate) done: Vec<(usize, Source)>,
    /// The folder of the last event.
    folder: Option<usize>,
    /// More than one input: records may be in two of them.
    several: bool,
    /// Events of the current time that other inputs must not bring again.
    recent: Vec<(usize, Event)>,
    /// Events dropped because two inputs hold the same record.
    pub(crate) duplicates: u64,
}

impl Merge {
    pub(crate) fn new(mut inputs: Vec<Waiting>) -> Self {
        inputs.sort_by_key(|input| (input.first_us, input.input));
        Self {
            several: inputs.len() > 1,
            waiting: inputs.into(),
            active: Vec::new(),
            done: Vec::new(),
            folder: None,
            recent: Vec::new(),
            duplicates: 0,
        }
    }

    /// The next event in time order, and whether another capture begins with it. Its symbols belong to `symbols`.
    pub(crate) fn next(&mut self, symbols: &mut Symbols) -> Option<(&Event, bool)> {
        let at = loop {
            let at = self.next_source(symbols)?;
            if !self.several || self.is_new(at, symbols) {
                break at;
            }
            self.duplicates += 1;
        };
        let is_another = self.several && self.is_another_capture(at);
        self.active[at].source.next(symbols).map(|event| (event, is_another))
    }

    /// Whether all inputs of the folder of the last event are used up, and this one is in another folder. Pieces of one capture are in one
    /// folder; what servers did between two captures is in neither, and not missing.
    fn is_another_capture(&mut self, at: usize) -> bool {
        let folder = self.active[at].folder;
        let Some(last) = self.folder.replace(folder).filter(|last| *last != folder) else { return false };
        let waiting = self.waiting.iter().map(|input| input.folder);
        !self.active.iter().map(|active| active.folder).chain(waiting).any(|other| other == last)
    }

    /// Which of the active inputs has the next event.
    fn next_source(&mut self, symbols: &mut Symbols) -> Option<usize> {
        loop {
            let mut best: Option<(i64, u32, usize)> = None;
            let mut at = 0;
            while at < self.active.len() {
                match self.active[at].source.peek(symbols) {
                    Some(key) => {
                        let key = (key.time_us, key.stream, at);
                        if best.is_none_or(|best| key < best) {
                            best = Some(key);
                        }
                        at += 1;
                    }
                    None => {
                        let Active { input, source, .. } = self.active.remove(at);
                        self.done.push((input, source));
                    }
                }
            }
            let due = match (&best, self.waiting.front()) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some((time, ..)), Some(next)) => *time >= next.first_us.saturating_sub(LEAD_US),
            };
            if due {
                if let Some(next) = self.waiting.pop_front()
                    && let Some(source) = (next.open)()
                {
                    self.active.push(Active { input: next.input, folder: next.folder, source });
                }
                continue;
            }
            return best.map(|(.., at)| at);
        }
    }

    /// Whether no other input has brought the next record of this one: a dump taken while a daemon runs holds what
    /// the daemon's file holds, too. One that is not new is skipped.
    fn is_new(&mut self, at: usize, symbols: &mut Symbols) -> bool {
        let Active { input, source, .. } = &mut self.active[at];
        let Some(event) = source.peek_event(symbols) else { return false };
        self.recent.retain(|(_, recent)| recent.time_us == event.time_us);
        let known = self.recent.iter().any(|(other, recent)| *other != *input && recent.is_copy_of(event));
        self.recent.push((*input, *event));
        if known {
            source.next(symbols);
        }
        !known
    }
}
