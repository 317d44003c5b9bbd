//! Chunks that the pool works on, in the order of the input.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::Duration;

use super::reader::RawChunk;

/// Results that are on their way.
pub(crate) struct ChunkTasks<T>(VecDeque<ChunkTask<Receiver<T>>>);

/// What becomes of a chunk.
pub(crate) struct ChunkTask<R> {
    /// Where the chunk started in the input.
    pub(crate) offset: u64,
    /// Binary: the records before it are missing or damaged.
    pub(crate) after_gap: bool,
    pub(crate) result: R,
}

impl<T> Default for ChunkTasks<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T: Send + 'static> ChunkTasks<T> {
    /// How many results have not been taken.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Has a thread of the pool work on a chunk.
    pub(crate) fn launch(&mut self, chunk: RawChunk, work: impl FnOnce(&RawChunk) -> T + Send + 'static) {
        let (sender, result) = sync_channel(1);
        self.0.push_back(ChunkTask { offset: chunk.offset, after_gap: chunk.after_gap, result });
        // The oldest first: it is waited for.
        rayon::spawn_fifo(move || {
            // The receiver is gone only when all was given up.
            drop(sender.send(work(&chunk)));
        });
    }

    /// Waits for the result of the first chunk; `None` if there is no chunk.
    ///
    /// Must be called on a thread of the pool.
    pub(crate) fn next(&mut self) -> Option<ChunkTask<T>> {
        let ChunkTask { offset, after_gap, result } = self.0.pop_front()?;
        let result = loop {
            match result.try_recv() {
                Ok(result) => break result,
                Err(TryRecvError::Disconnected) => unreachable!("a task always sends its result"),
                Err(TryRecvError::Empty) => {}
            }
            // Do on this thread what nobody else has begun; else wait a little.
            if rayon::yield_now() != Some(rayon::Yield::Executed)
                && let Ok(result) = result.recv_timeout(Duration::from_micros(50))
            {
                break result;
            }
        };
        Some(ChunkTask { offset, after_gap, result })
    }
}
