//! Decoded events that wait for their turn. They stay where they were decoded; what is sorted and handed about are
//! small keys, because an event is ten times as large as its time.

use std::collections::VecDeque;

use lioprof_model::Symbol;

use super::event::Event;
use super::spare::Spare;

/// Where an event is, and what its place in the order depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// Its time.
    pub(crate) time_us: i64,
    /// Its stream.
    pub(crate) stream: u32,
    /// Its chunk's number; numbers wrap.
    chunk: u32,
    /// Its index in the chunk.
    index: u32,
}

impl Key {
    /// What the order depends on, as one number: comparing that takes no branch.
    pub(crate) fn order(&self) -> i128 {
        i128::from(self.time_us) << 32 | i128::from(self.stream)
    }
}

/// The events of one chunk.
#[derive(Debug)]
struct Chunk {
    events: Vec<Event>,
    /// Events not taken yet.
    left: usize,
}

/// Chunks of which not all events have been taken.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Number of the first chunk.
    first: u32,
    chunks: VecDeque<Chunk>,
    spare: Spare<Event>,
}

impl Held {
    /// Keeps the events of a chunk; returns the chunk's number for [`Self::keys`].
    pub(crate) fn push(&mut self, events: Vec<Event>) -> u32 {
        let left = events.len();
        self.chunks.push_back(Chunk { events, left });
        self.first.wrapping_add(u32::try_from(self.chunks.len() - 1).expect("a chunk has at least one byte of memory"))
    }

    /// Where the buffers of events that were taken wait for those of other chunks.
    pub(crate) fn spare(&self) -> Spare<Event> {
        self.spare.clone()
    }

    /// Keys of a stretch of a chunk's events.
    pub(crate) fn keys(&self, chunk: u32, from: usize, to: usize) -> impl Iterator<Item = Key> {
        let first = u32::try_from(from).expect("a chunk has fewer than 2^32 events");
        let events = self.chunks[self.place(chunk)].events[from..to].iter().zip(first..);
        events.map(move |(event, index)| Key { time_us: event.time_us, stream: event.stream, chunk, index })
    }

    /// The event.
    pub(crate) fn get(&self, key: Key) -> &Event {
        &self.chunks[self.place(key.chunk)].events[key.index as usize]
    }

    /// The event, for the last time.
    pub(crate) fn take(&mut self, key: Key) -> &Event {
        self.forget_taken();
        let place = self.place(key.chunk);
        let chunk = &mut self.chunks[place];
        chunk.left -= 1;
        &chunk.events[key.index as usize]
    }

    /// An event that nobody will take.
    pub(crate) fn drop(&mut self, key: Key) {
        let place = self.place(key.chunk);
        self.chunks[place].left -= 1;
    }

    /// Shows the symbols of all events held to `visit`, which may replace them.
    pub(crate) fn symbols(&mut self, visit: &mut impl FnMut(&mut Symbol)) {
        self.forget_taken();
        for event in self.chunks.iter_mut().flat_map(|chunk| &mut chunk.events) {
            event.symbols(visit);
        }
    }

    /// Frees chunks from the front: events are taken about in the order in which they came.
    fn forget_taken(&mut self) {
        while self.chunks.front().is_some_and(|chunk| chunk.left == 0) {
            if let Some(Chunk { mut events, .. }) = self.chunks.pop_front() {
                events.clear();
                self.spare.give_back(events);
            }
            self.first = self.first.wrapping_add(1);
        }
    }

    fn place(&self, chunk: u32) -> usize {
        chunk.wrapping_sub(self.first) as usize
    }
}
