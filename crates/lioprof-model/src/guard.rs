//! Locking what threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what a thread that panicked leaves as good as before: only what is replaced as a whole, or of which each change is complete in
/// itself, belongs behind such a lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
