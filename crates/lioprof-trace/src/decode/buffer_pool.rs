//! Buffers that wait to be used again.
//!
//! Fresh memory of a megabyte costs more than filling it: the kernel hands it out page by page.

use std::sync::{Arc, Mutex, PoisonError};

/// Buffers kept. More are only needed while many wait for their order.
const MAX_KEPT: usize = 8;

/// Emptied buffers, shared between those who fill and those who empty them.
#[derive(Debug)]
pub(crate) struct BufferPool<T>(Arc<Mutex<Vec<Vec<T>>>>);

impl<T> Clone for BufferPool<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for BufferPool<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> BufferPool<T> {
    /// A buffer that was given back, with whatever it held then.
    pub(crate) fn take(&self) -> Option<Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Somebody else may have this one.
    pub(crate) fn give_back(&self, buffer: Vec<T>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MAX_KEPT {
            kept.push(buffer);
        }
    }
}
