//! What was made of chunks and waits for its turn: events, or text. It stays where it was made; what is sorted and handed
//! about are small keys, because an event is ten times as large as its time.

use std::collections::VecDeque;

use lioprof_model::Symbol;

use super::buffer_pool::BufferPool;
use super::event::Event;
use super::moment::Moment;

/// Where an event is, and what its place in the order depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventKey {
    /// Time of the event, microseconds since the epoch.
    pub(crate) time_us: i64,
    /// How often the clock had been set back, see [`Moment`].
    epoch: u32,
    /// Number of the stream that it came from.
    pub(crate) stream: u32,
    /// Its chunk's number; numbers wrap.
    chunk: u32,
    /// Its index in the chunk.
    index: u32,
}

impl EventKey {
    /// When the event was logged.
    pub(crate) fn moment(&self) -> Moment {
        Moment { epoch: self.epoch, time_us: self.time_us }
    }

    /// What the order depends on, as one number: comparing that takes no branch.
    pub(crate) fn order(&self) -> u128 {
        self.moment().order() << 32 | u128::from(self.stream)
    }
}

/// What was made of one chunk.
#[derive(Debug)]
struct Chunk<T> {
    items: Vec<T>,
    /// Pieces that have not been taken yet.
    left: usize,
}

/// What was made of chunks, as long as not all pieces of it have been taken.
#[derive(Debug)]
pub(crate) struct ChunkStore<T> {
    /// Number of the first chunk.
    first: u32,
    chunks: VecDeque<Chunk<T>>,
    buffers: BufferPool<T>,
}

impl<T> Default for ChunkStore<T> {
    fn default() -> Self {
        Self { first: 0, chunks: VecDeque::new(), buffers: BufferPool::default() }
    }
}

impl<T> ChunkStore<T> {
    /// Keeps what was made of a chunk until so many pieces have been taken; returns the chunk's number.
    pub(crate) fn push(&mut self, items: Vec<T>, pieces: usize) -> u32 {
        self.chunks.push_back(Chunk { items, left: pieces });
        self.first.wrapping_add(u32::try_from(self.chunks.len() - 1).expect("a chunk has at least one byte of memory"))
    }

    /// Where buffers of which all was taken wait to be filled again.
    pub(crate) fn buffers(&self) -> BufferPool<T> {
        self.buffers.clone()
    }

    /// What was made of a chunk.
    pub(crate) fn chunk(&self, chunk: u32) -> &[T] {
        &self.chunks[self.place(chunk)].items
    }

    /// What was made of a chunk, of which one piece less is needed from now on.
    pub(crate) fn take_of(&mut self, chunk: u32) -> &[T] {
        let place = self.place(chunk);
        let chunk = &mut self.chunks[place];
        chunk.left -= 1;
        &chunk.items
    }

    /// Frees chunks from the front: pieces are taken about in the order in which they came.
    pub(crate) fn forget_taken(&mut self) {
        while self.chunks.front().is_some_and(|chunk| chunk.left == 0) {
            if let Some(Chunk { mut items, .. }) = self.chunks.pop_front() {
                items.clear();
                self.buffers.give_back(items);
            }
            self.first = self.first.wrapping_add(1);
        }
    }

    fn place(&self, chunk: u32) -> usize {
        chunk.wrapping_sub(self.first) as usize
    }
}

impl ChunkStore<Event> {
    /// Keys of a stretch of a chunk's events, all of one epoch.
    pub(crate) fn keys(&self, chunk: u32, from: usize, to: usize, epoch: u32) -> impl Iterator<Item = EventKey> {
        let first = u32::try_from(from).expect("a chunk has fewer than 2^32 events");
        let events = self.chunk(chunk)[from..to].iter().zip(first..);
        events.map(move |(event, index)| EventKey { time_us: event.time_us, epoch, stream: event.stream, chunk, index })
    }

    /// The event.
    pub(crate) fn get(&self, key: EventKey) -> &Event {
        &self.chunk(key.chunk)[key.index as usize]
    }

    /// The event, for the last time.
    pub(crate) fn take(&mut self, key: EventKey) -> &Event {
        self.forget_taken();
        &self.take_of(key.chunk)[key.index as usize]
    }

    /// An event that nobody will take.
    pub(crate) fn drop(&mut self, key: EventKey) {
        self.take_of(key.chunk);
    }

    /// Shows the symbols of all events held to `visit`, which may replace them.
    pub(crate) fn symbols(&mut self, visit: &mut impl FnMut(&mut Symbol)) {
        self.forget_taken();
        for event in self.chunks.iter_mut().flat_map(|chunk| &mut chunk.items) {
            event.symbols(visit);
        }
    }
}
