//! Requests of one client for locks on one target that wait for a holder.

use std::collections::VecDeque;

use lioprof_model::Symbol;

/// A wait without completion is given up after this time: lock callbacks time out earlier (`ldlm_enqueue_min`
/// and adaptive timeouts, 600 s at most).
pub(super) const GIVE_UP_US: i64 = 600_000_000;

/// A request that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) since_us: i64,
    pub(super) job: Option<Symbol>,
}

/// Those that wait, the oldest first.
///
/// A completion names no request. Which of several it belongs to does not matter for the sum of their waits, but if one completion is
/// missing in the log, all later ones must not be taken for the one before. A client that is called back has been given a lock, probably
/// the one that it waited for; so what it has waited for since before that is answered last.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    queue: VecDeque<Waiting>,
    called_back_us: Option<i64>,
}

impl Waits {
    /// One more waits.
    pub(super) fn begin(&mut self, waiting: Waiting) {
        self.queue.push_back(waiting);
    }

    /// The client has to give back a lock on this target.
    pub(super) fn called_back(&mut self, time_us: i64) {
        self.called_back_us = Some(time_us);
    }

    /// How many have waited for too long; they are forgotten.
    pub(super) fn give_up(&mut self, now_us: i64) -> u64 {
        let before = self.queue.len();
        self.queue.retain(|waiting| now_us - waiting.since_us <= GIVE_UP_US);
        (before - self.queue.len()) as u64
    }

    /// The one that a completion answers, of those since the last callback.
    pub(super) fn answer_recent(&mut self) -> Option<Waiting> {
        let is_recent = |waiting: &Waiting| self.called_back_us.is_none_or(|us| waiting.since_us >= us);
        let at = self.queue.iter().position(is_recent)?;
        self.queue.remove(at)
    }

    /// The one that a completion answers if it is none of those.
    pub(super) fn answer_oldest(&mut self) -> Option<Waiting> {
        self.queue.pop_front()
    }

    /// How many wait.
    pub(super) fn len(&self) -> u64 {
        self.queue.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(since_us: i64) -> Waiting {
        Waiting { since_us, job: None }
    }

    #[test]
    fn a_missing_completion_is_not_the_next_ones() {
        let mut waits = Waits::default();
        waits.begin(since(10));
        // The client has the lock, and must give it back: its completion is missing.
        waits.called_back(20);
        waits.begin(since(30));
        assert_eq!(waits.answer_recent(), Some(since(30)));
        assert_eq!((waits.answer_recent(), waits.len()), (None, 1));
        assert_eq!((waits.give_up(10 + GIVE_UP_US), waits.give_up(11 + GIVE_UP_US), waits.len()), (0, 1, 0));
    }

    #[test]
    fn who_waits_for_two_objects_gets_both() {
        let mut waits = Waits::default();
        waits.begin(since(10));
        waits.called_back(20);
        waits.begin(since(30));
        waits.begin(since(40));
        let mut answered = [waits.answer_recent(), waits.answer_recent(), waits.answer_oldest()].map(Option::unwrap);
        assert_eq!(answered, [30, 40, 10].map(since));
        answered.sort_by_key(|waiting| waiting.since_us);
        // As without the callback, all together.
        assert_eq!(answered, [10, 30, 40].map(since));
        assert_eq!((waits.answer_recent(), waits.answer_oldest()), (None, None));
    }
}
