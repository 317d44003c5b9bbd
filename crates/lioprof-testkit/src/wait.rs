//! Waiting for something to be so.

use std::thread;
use std::time::{Duration, Instant};

/// Longest wait for anything: far more than a busy machine needs.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks.
const NAP: Duration = Duration::from_millis(5);

/// A long wait, for who has more to say when it was in vain than [`until`].
#[derive(Debug)]
pub struct Patience(Instant);

impl Patience {
    /// As much as there is.
    #[expect(clippy::new_without_default, reason = "it begins now")]
    #[must_use]
    pub fn new() -> Self {
        Self(Instant::now() + PATIENCE)
    }

    /// Sleeps a moment; false if that has been too often.
    #[must_use]
    pub fn nap(&self) -> bool {
        thread::sleep(NAP);
        Instant::now() < self.0
    }
}

/// Waits until `look` finds something; panics with `what` when that does not come.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let patience = Patience::new();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(patience.nap(), "waited {PATIENCE:?} in vain for {what}");
    }
}

/// Waits until a condition holds; panics with `what` when it does not come.
#[track_caller]
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    until(what, || condition().then_some(()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_until_it_finds() {
        let mut looks = 0;
        let found = until("the third look", || {
            looks += 1;
            (looks == 3).then_some("found")
        });
        assert_eq!((found, looks), ("found", 3));
    }
}
