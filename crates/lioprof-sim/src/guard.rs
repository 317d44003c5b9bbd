//! A lock that outlives a panic of its holder.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic of another thread leaves what is locked here as good as before.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
