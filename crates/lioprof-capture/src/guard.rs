//! Locking what threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. What a thread that panicked has left is as good as before: everything behind these locks is replaced as a whole, or each change
/// of it is complete in itself.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
