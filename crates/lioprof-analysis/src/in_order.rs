//! Work on several nodes at once, handed on in their order.

use std::collections::BTreeMap;
use std::iter::Enumerate;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::vec::IntoIter;

/// Results, and items that are worked on, that may be ahead of the one that is handed on next: so many per thread.
const AHEAD: usize = 2;

/// Works on items, each with a weight, on so many threads of the pool at once, and hands the results on in the order of the items.
///
/// `work` also gets the number of threads that the item's weight among all that is left entitles it to. Threads that have no item any
/// more help with whatever the others give to the pool. Must run on a thread of the pool.
pub(crate) fn in_order<T: Send, R: Send>(
    items: Vec<(u64, T)>,
    at_once: usize,
    work: impl Fn(T, usize) -> R + Sync,
    mut hand_on: impl FnMut(R) + Send,
) {
    let threads = rayon::current_num_threads();
    let at_once = at_once.min(items.len()).min(threads);
    if at_once < 2 {
        items.into_iter().for_each(|(_, item)| hand_on(work(item, threads)));
        return;
    }
    let left = items.iter().map(|(weight, _)| u128::from(*weight)).sum();
    let line = Line {
        state: Mutex::new(State {
            items: items.into_iter().enumerate(),
            left,
            done: BTreeMap::new(),
            next: 0,
            hand_on: Some(hand_on),
        }),
        is_broken: AtomicBool::new(false),
    };
    // Each thread of the pool gets this once, and nobody takes it from another one: what a thread does while it waits within its item is
    // never another item.
    rayon::broadcast(|thread| {
        let _watch = Watch(&line.is_broken);
        while thread.index() < at_once
            && let Some((number, weight, item, share)) = line.item(threads)
        {
            line.wait_for(number, AHEAD * at_once);
            let result = work(item, share);
            line.finished(number, weight, result);
        }
    });
}

struct Line<T, R, F> {
    state: Mutex<State<T, R, F>>,
    /// A thread has panicked: nobody is to wait for it.
    is_broken: AtomicBool,
}

struct State<T, R, F> {
    items: Enumerate<IntoIter<(u64, T)>>,
    /// Weight of all that is not finished.
    left: u128,
    /// Results that wait for those before them.
    done: BTreeMap<usize, R>,
    /// The one that is handed on next.
    next: usize,
    /// Taken out while somebody hands on.
    hand_on: Option<F>,
}

impl<T, R, F: FnMut(R)> Line<T, R, F> {
    fn state(&self) -> MutexGuard<'_, State<T, R, F>> {
        // Nothing that can panic is done under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next item, and how many of the threads it may have.
    fn item(&self, threads: usize) -> Option<(usize, u64, T, usize)> {
        let mut state = self.state();
        let (number, (weight, item)) = state.items.next()?;
        Some((number, weight, item, share(weight, state.left, threads)))
    }

    /// Does other work until an item is not too far ahead. The one that is handed on next never waits.
    fn wait_for(&self, number: usize, ahead: usize) {
        while number > self.state().next + ahead && !self.is_broken.load(Ordering::Relaxed) {
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                std::thread::sleep(Duration::from_micros(50));
            }
        }
    }

    /// Hands on all that is due, unless another thread does so.
    fn finished(&self, number: usize, weight: u64, result: R) {
        let mut state = self.state();
        state.left -= u128::from(weight);
        state.done.insert(number, result);
        while let Some(mut hand_on) = state.hand_on.take() {
            let next = state.next;
            let due = state.done.remove(&next);
            let Some(due) = due else {
                state.hand_on = Some(hand_on);
                return;
            };
            state.next += 1;
            drop(state);
            hand_on(due);
            state = self.state();
            state.hand_on = Some(hand_on);
        }
    }
}

/// Threads of an item with this weight, if so much is left, itself among it. Twice its share: not all items take as long as they weigh, and
/// the heaviest is not to be alone at the end with one thread.
fn share(weight: u64, left: u128, threads: usize) -> usize {
    let share = (2 * threads as u128 * u128::from(weight)).checked_div(left).unwrap_or(1);
    usize::try_from(share).unwrap_or(threads).clamp(1, threads)
}

/// Notices that a thread panics.
struct Watch<'a>(&'a AtomicBool);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    fn in_pool<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(run)
    }

    /// Pauses that are longest for the first of every ten, and work for the pool meanwhile.
    fn pause(number: u64) {
        rayon::join(
            || (),
            || std::thread::sleep(Duration::from_micros(if number.is_multiple_of(10) { 3_000 } else { 50 })),
        );
    }

    #[test]
    fn results_come_in_order_and_few_are_ahead() {
        for (threads, at_once) in [(1, 1), (2, 1), (2, 2), (3, 2), (4, 9)] {
            let (begun, most_ahead, most_at_once) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            let running = AtomicUsize::new(0);
            let mut handed_on: Vec<u64> = Vec::new();
            let work = |number: u64, share: usize| {
                assert!((1..=threads).contains(&share));
                most_at_once.fetch_max(1 + running.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
                begun.fetch_add(1, Ordering::SeqCst);
                pause(number);
                running.fetch_sub(1, Ordering::SeqCst);
                number
            };
            in_pool(threads, || {
                in_order((0..60).map(|number| (1 + number % 3, number)).collect(), at_once, work, |number| {
                    most_ahead.fetch_max(begun.load(Ordering::SeqCst) - handed_on.len(), Ordering::SeqCst);
                    handed_on.push(number);
                });
            });
            assert!(handed_on.into_iter().eq(0..60), "{threads} {at_once}");
            let may_be_at_once = at_once.min(threads);
            assert!(most_at_once.into_inner() <= may_be_at_once);
            assert!(most_ahead.into_inner() <= (AHEAD + 1) * may_be_at_once, "{threads} {at_once}");
        }
    }

    #[test]
    #[should_panic(expected = "the third one")]
    fn a_panic_is_passed_on_and_nobody_waits() {
        let work = |number: u64, _| {
            pause(number);
            assert!(number != 3, "the third one");
        };
        in_pool(2, || in_order((0..60).map(|number| (1, number)).collect(), 2, work, |()| {}));
    }

    #[test]
    fn shares_go_by_weight() {
        assert_eq!([share(0, 0, 2), share(1, 16, 2), share(1, 4, 2), share(1, 2, 2), share(9, 10, 8)], [1, 1, 1, 2, 8]);
        assert_eq!([share(1, 2, 64), share(1, 100, 64), share(u64::MAX, 1, 64)], [64, 1, 64]);
    }
}
