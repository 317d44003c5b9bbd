//! How far reading is, for whoever shows it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bytes read of files, as they are on disk. Clones look at the same reading; any thread may.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<WatchedInputs>);

#[derive(Debug, Default)]
struct WatchedInputs {
    total_bytes: OnceLock<Option<u64>>,
    /// Bytes of inputs that are read a second time.
    again_bytes: AtomicU64,
    reads: Mutex<Vec<WatchedRead>>,
}

/// A way through a file. One that has to be kept decompressed before it is read goes through twice.
#[derive(Debug)]
struct WatchedRead {
    read: BytesRead,
    /// Bytes that will be read; 0 if that is unknown.
    of: u64,
    /// Bytes of the file that they stand for.
    stands_for: u64,
}

impl Progress {
    /// Bytes of all inputs, those that are read twice counted twice: `None` before they are known, or if one of them has no length, such as a pipe.
    #[must_use]
    pub fn total_bytes(&self) -> Option<u64> {
        let again_bytes = self.0.again_bytes.load(Ordering::Relaxed);
        Some(self.0.total_bytes.get().copied().flatten()? + again_bytes)
    }

    /// Bytes read so far.
    #[must_use]
    pub fn done_bytes(&self) -> u64 {
        self.0.reads.lock().unwrap_or_else(PoisonError::into_inner).iter().map(WatchedRead::done_bytes).sum()
    }

    /// All inputs are known.
    pub(crate) fn expect(&self, total_bytes: Option<u64>) {
        self.0.total_bytes.get_or_init(|| total_bytes);
    }

    /// So many bytes will be read once more.
    pub(crate) fn expect_again(&self, bytes: u64) {
        self.0.again_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// So many bytes of a file are read as `of` bytes.
    pub(crate) fn watch(&self, read: BytesRead, of: u64, stands_for: u64) {
        let watched = WatchedRead { read, of, stands_for };
        self.0.reads.lock().unwrap_or_else(PoisonError::into_inner).push(watched);
    }
}

impl WatchedRead {
    fn done_bytes(&self) -> u64 {
        let read = self.read.get();
        if self.of == 0 {
            return read;
        }
        let done = u128::from(self.stands_for) * u128::from(read.min(self.of)) / u128::from(self.of);
        u64::try_from(done).unwrap_or(self.stands_for)
    }
}

/// A count of bytes that grows while they are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct BytesRead(Arc<AtomicU64>);

impl BytesRead {
    pub(crate) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_for_their_share_of_the_file() {
        let progress = Progress::default();
        assert_eq!((progress.total_bytes(), progress.done_bytes()), (None, 0));
        let (packed, kept, pipe) = (BytesRead::default(), BytesRead::default(), BytesRead::default());
        progress.watch(packed.clone(), 100, 50);
        packed.add(80);
        assert_eq!(progress.done_bytes(), 40);
        progress.watch(kept.clone(), 1000, 50);
        packed.add(20);
        kept.add(500);
        assert_eq!(progress.done_bytes(), 75);
        kept.add(1_000_000);
        assert_eq!(progress.done_bytes(), 100, "never more than there is");
        progress.watch(pipe.clone(), 0, 0);
        pipe.add(7);
        assert_eq!(progress.done_bytes(), 107);
        progress.expect(None);
        assert_eq!(progress.total_bytes(), None);
    }
}
