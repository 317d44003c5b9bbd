//! Requests of one client for locks on one target that wait for a holder.

use std::collections::VecDeque;

use lioprof_model::Symbol;

/// A wait without completion is given up after this time: lock callbacks time out earlier (`ldlm_enqueue_min`
/// and adaptive timeouts, 600 s at most).
pub(super) const GIVE_UP_US: i64 = 600_000_000;

/// A client that has to wait again so much later has probably got what it waited for before.
const APART_US: i64 = 2_000_000;

/// A request that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) since_us: i64,
    pub(super) job: Option<Symbol>,
    /// For whom; `None`: for several, or nobody knows.
    pub(super) holder: Option<Symbol>,
    /// When the client first sent a read or write to the target after that: it had a lock then, probably this one.
    pub(super) went_on_us: Option<i64>,
}

impl Waiting {
    pub(super) fn new(since_us: i64, job: Option<Symbol>, holder: Option<Symbol>) -> Self {
        Self { since_us, job, holder, went_on_us: None }
    }

    /// When it ended: with the completion that answers it, unless there are signs that the lock had been granted before. Then the server granted
    /// it in the request itself, without a completion, or the completion is missing in the log, and this one is another's.
    ///
    /// `from`: whose request let the server send the completion; `last_us`: when the holder last used the target.
    pub(super) fn ended(&self, completion_us: i64, from: Option<Symbol>, last_us: Option<i64>) -> i64 {
        // A holder that sends nothing after it was called back may be dead, and is waited for until it is evicted. One that does takes a
        // while to write back what it had.
        let is_over = |us: &i64| *us > self.since_us && completion_us - us > APART_US;
        let released_us = last_us.filter(is_over).filter(|_| self.holder.is_some() && from != self.holder);
        self.went_on_us.into_iter().chain(released_us).fold(completion_us, i64::min)
    }
}

/// Those that wait, the oldest first.
///
/// A completion names no request. Which of several it belongs to does not matter for the sum of their waits, but if one completion is
/// missing in the log, all later ones must not be taken for the one before. A client that is called back has been given a lock, probably
/// the one that it waited for, and so has one that waits again much later. What it has waited for since before that is answered last, and the
/// latest of them first: the older one is, the less likely is it that it still waits.
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

    /// The one that waits since a moment ago waits for another holder, too.
    pub(super) fn for_several(&mut self) {
        if let Some(waiting) = self.queue.back_mut() {
            waiting.holder = None;
        }
    }

    /// The client sent a read or write to the target.
    pub(super) fn went_on(&mut self, arrival_us: i64) {
        for waiting in &mut self.queue {
            if waiting.went_on_us.is_none() && waiting.since_us < arrival_us {
                waiting.went_on_us = Some(arrival_us);
            }
        }
    }

    /// The client has to give back a lock on this target, which it asked for before.
    pub(super) fn called_back(&mut self, time_us: i64) {
        self.called_back_us = Some(time_us);
    }

    /// How many have waited for too long; they are forgotten.
    pub(super) fn give_up(&mut self, now_us: i64) -> u64 {
        let before = self.queue.len();
        self.queue.retain(|waiting| now_us - waiting.since_us <= GIVE_UP_US);
        (before - self.queue.len()) as u64
    }

    /// The one that a completion answers, of those since the last callback that began about when the last one did.
    pub(super) fn answer_recent(&mut self) -> Option<Waiting> {
        let oldest_us = self.queue.back()?.since_us - APART_US;
        let is_recent = |waiting: &Waiting| waiting.since_us >= oldest_us && self.is_recent(waiting.since_us);
        let at = self.queue.iter().position(is_recent)?;
        self.queue.remove(at)
    }

    /// The one that a completion answers if it is none of those.
    pub(super) fn answer_latest(&mut self) -> Option<Waiting> {
        self.queue.pop_back()
    }

    /// Whether a request since then may be the one that a completion answers.
    pub(super) fn is_recent(&self, since_us: i64) -> bool {
        self.called_back_us.is_none_or(|us| since_us >= us)
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
        Waiting::new(since_us, None, None)
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
    fn who_waits_again_much_later_has_got_the_lock_before() {
        let mut waits = Waits::default();
        for us in [0, 10, APART_US + 5] {
            waits.begin(since(us));
        }
        let answered = [waits.answer_recent(), waits.answer_recent(), waits.answer_recent()];
        assert_eq!(answered, [10, APART_US + 5, 0].map(|us| Some(since(us))));
    }

    #[test]
    fn a_wait_ends_with_the_last_sign_of_it() {
        let [since_us, late_us] = [1_000, APART_US + 100_000];
        let waiting = Waiting::new(since_us, None, Some(Symbol(7)));
        let mut waits = Waits::default();
        waits.begin(waiting);
        // Sent before it waited, after, and after that.
        for us in [900, 50_000, 60_000] {
            waits.went_on(us);
        }
        let went_on = waits.answer_recent().unwrap();
        assert_eq!([40_000, 60_000, late_us].map(|us| went_on.ended(us, None, None)), [40_000, 50_000, 50_000]);
        // The holder wrote after the callback, and the completion is due to somebody else.
        let [holder, other] = [Some(Symbol(7)), Some(Symbol(8))];
        let ended = |from, last_us| waiting.ended(late_us, from, last_us);
        assert_eq!([ended(other, Some(80_000)), ended(holder, Some(80_000))], [80_000, late_us]);
        assert_eq!([ended(other, Some(500)), ended(other, None)], [late_us, late_us]);
        assert_eq!(Waiting::new(since_us, None, None).ended(late_us, other, Some(80_000)), late_us);
    }

    #[test]
    fn who_waits_for_two_objects_gets_both() {
        let mut waits = Waits::default();
        for us in [10, 15] {
            waits.begin(since(us));
        }
        waits.called_back(20);
        for us in [30, 40] {
            waits.begin(since(us));
        }
        let recent = [waits.answer_recent(), waits.answer_recent(), waits.answer_recent()];
        assert_eq!(recent, [Some(since(30)), Some(since(40)), None]);
        // All together they are as without the callback.
        let others = [waits.answer_latest(), waits.answer_latest(), waits.answer_latest()];
        assert_eq!(others, [Some(since(15)), Some(since(10)), None]);
    }
}
