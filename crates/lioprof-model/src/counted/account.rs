//! A counter and the requests of the same time.
//!
//! **The rule for the edges.** Two samples bound what a counter has counted, and two things are unknown: at which moment between
//! the sample's first and last reading this counter was read, and at which moment of its handling a request was counted
//! (`ofd_io.c`: a read after its pages were read from disk, a write before its pages arrive). So a request that was in service
//! while the first or the last sample was taken may be counted or not, and is told apart from those that certainly are: what lay
//! wholly between the two. What was counted lies between the certain ones and both together. To take such requests by their end,
//! or by their start, would guess what nothing shows.
//!
//! **What breaks a count.** Administrators clear counters, targets fail over, jobs expire, clients leave. What a counter had
//! counted since the sample before is gone then, so a run of samples ends at that sample and another begins at the next one.
//! Requests between the two are compared with nothing: a bound that took them in could hide as many lost ones. Samples in
//! between are no edges: one run of a thousand samples has two.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::counters::{Counter, SampleTime};
use crate::merge::Merge;

/// Most runs kept of a counter: a capture that is switched on and off every minute reaches this in six weeks.
const MAX_RUNS: usize = 1 << 16;
/// Runs that are kept although requests have been handed over that ended long after them.
const LATE_RUNS: usize = 4;
/// Longest time that a request may be handed over after later ones.
const LATE_US: i64 = 60_000_000;
/// Clients or jobs that requests may name before a counter does.
const MAX_KEYS: usize = 50_000;

/// Why not all of the time could be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// The counters were cleared between two samples.
    Reset,
    /// They vanished between two samples (a job expired, a target or client left).
    Vanished,
    /// They were seen late, and had counted before that time began.
    SeenLate,
}

/// What a counter consists of: the same counter of each target.
type Parts<C> = BTreeMap<Arc<str>, C>;

/// A time from one sample to another in which the counter only went up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    from: SampleTime,
    to: SampleTime,
}

/// Where a request lies in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Between its samples.
    Inside,
    /// In service at its first or last sample.
    Edge,
    /// In service at the last one so far, which is an edge only if no other follows.
    AtLast,
    /// After the last one so far: inside once another follows.
    AfterLast,
}

/// A counter's samples, and sums of the requests that it should have counted.
///
/// Samples come in their order, and before the requests that end after them. Requests may come before or after the samples that follow
/// them, those of long ago excepted. Sums are complete after [`Self::end`].
#[derive(Clone, Debug, Default)]
pub struct Account<C: Counter, S> {
    /// What the counter counted over its runs.
    pub counted: C::Figure,
    /// Requests that it certainly counted in that time.
    pub inside: S,
    /// Requests that it may have counted in that time, or before or after it.
    pub edge: S,
    /// Why its runs do not cover all of the time.
    pub doubt: Option<Doubt>,
    /// A sample showed it. One that was never shown is 0, or nobody knew where to look.
    pub is_shown: bool,
    runs: Vec<Run>,
    /// What the last sample of the last run showed; `None`: that run is over.
    open: Option<Parts<C>>,
    at_last: S,
    after_last: S,
}

/// How a sample follows on the one before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    /// When it was taken.
    pub at: SampleTime,
    /// Everything is traced from this sample on; before it, not everything was.
    pub begins: bool,
    /// Some of what is counted may have come and gone unseen since the sample before.
    pub gone: bool,
    /// Latest end of a request that was handed over, microseconds since the epoch.
    pub latest_us: i64,
}

impl<C: Counter, S: Merge + Default> Account<C, S> {
    /// Enters a sample. A counter that it does not show is 0, unless it was shown before.
    pub fn sample(&mut self, step: Step, parts: Parts<C>) {
        if step.begins {
            self.begin(step, parts);
        } else {
            self.go_on(step, parts);
        }
    }

    fn begin(&mut self, step: Step, parts: Parts<C>) {
        self.end();
        self.forget(step.latest_us);
        self.is_shown |= !parts.is_empty();
        if self.runs.len() < MAX_RUNS {
            self.runs.push(Run { from: step.at, to: step.at });
            self.open = Some(parts);
        }
    }

    fn go_on(&mut self, step: Step, parts: Parts<C>) {
        let (Some(earlier), Some(run)) = (&self.open, self.runs.last_mut()) else { return };
        let grown = if step.gone { Err(Doubt::Vanished) } else { grown(earlier, &parts, run.from.begun_us) };
        match grown {
            Ok(grown) => {
                // Whatever met the first sample stays at an edge. The last one so far is none any more.
                let was_last = if run.from == run.to { &mut self.edge } else { &mut self.inside };
                was_last.merge(&std::mem::take(&mut self.at_last));
                self.inside.merge(&std::mem::take(&mut self.after_last));
                self.counted.merge(&grown);
                self.is_shown |= !parts.is_empty();
                run.to = step.at;
                self.open = Some(parts);
            }
            Err(doubt) => {
                self.doubt = self.doubt.max(Some(doubt));
                self.begin(step, parts);
            }
        }
    }

    /// Ends the run at its last sample.
    pub fn end(&mut self) {
        if self.open.take().is_none() {
            return;
        }
        let at_last = std::mem::take(&mut self.at_last);
        self.after_last = S::default();
        // One sample alone compares nothing.
        if self.runs.pop_if(|run| run.from == run.to).is_none() {
            self.edge.merge(&at_last);
        }
    }

    /// The sum to which a request belongs that is counted at some moment between these times; `None` if it is compared with nothing.
    pub fn request(&mut self, first_us: i64, last_us: i64) -> Option<&mut S> {
        // The last run that began before it, or the one before that. At the edges of both it is one request.
        let next = self.runs.partition_point(|run| run.from.begun_us <= last_us);
        let mut places = (0..next).rev().take(2).filter_map(|at| self.place(at, first_us, last_us));
        let place = places.next()?;
        // A run of one sample so far may come to nothing.
        Some(match places.next().filter(|it| *it == Place::Edge).unwrap_or(place) {
            Place::Inside => &mut self.inside,
            Place::Edge => &mut self.edge,
            Place::AtLast => &mut self.at_last,
            Place::AfterLast => &mut self.after_last,
        })
    }

    /// Where a request lies in a run.
    fn place(&self, at: usize, first_us: i64, last_us: i64) -> Option<Place> {
        let Run { from, to } = *self.runs.get(at)?;
        let goes_on = self.open.is_some() && at + 1 == self.runs.len();
        let meets = |sample: SampleTime| first_us <= sample.ended_us && sample.begun_us <= last_us;
        if from != to && meets(from) {
            Some(Place::Edge)
        } else if meets(to) {
            Some(if goes_on { Place::AtLast } else { Place::Edge })
        } else if first_us > to.ended_us {
            goes_on.then_some(Place::AfterLast)
        } else {
            (first_us > from.ended_us).then_some(Place::Inside)
        }
    }

    /// Forgets runs that ended long before `us`: no more requests of them come.
    fn forget(&mut self, us: i64) {
        let late = self.runs.len().saturating_sub(LATE_RUNS);
        let past = self.runs[..late].partition_point(|run| run.to.ended_us < us.saturating_sub(LATE_US));
        self.runs.drain(..past);
    }

    /// Whether there is a run to compare.
    pub fn is_compared(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Microseconds between two times that lie in its runs, the last of which may go on.
    pub fn covered_us(&self, from_us: i64, to_us: i64) -> i64 {
        let inside = |(at, run): (usize, &Run)| {
            let goes_on = self.open.is_some() && at + 1 == self.runs.len();
            let end_us = if goes_on { to_us } else { run.to.begun_us.min(to_us) };
            (end_us - run.from.ended_us.max(from_us)).max(0)
        };
        self.runs.iter().enumerate().map(inside).sum()
    }
}

/// What the parts have counted since `earlier`, in a run that began at `from_us`. The kernel shows no counter of a service that is 0.
fn grown<C: Counter>(earlier: &Parts<C>, now: &Parts<C>, from_us: i64) -> Result<C::Figure, Doubt> {
    let mut sum = C::Figure::default();
    for (part, then) in earlier {
        // One that was 0 at its last sample may have counted since.
        let now = now.get(part).ok_or(Doubt::Vanished)?;
        sum.merge(&now.since(then).ok_or(Doubt::Reset)?);
    }
    for now in now.iter().filter(|(part, _)| !earlier.contains_key(*part)).map(|(_, now)| now) {
        if now.start_us().is_some_and(|start_us| start_us < from_us) {
            return Err(Doubt::SeenLate);
        }
        sum.merge(&now.figure());
    }
    Ok(sum)
}

/// Accounts of a kind, by key.
#[derive(Clone, Debug)]
pub struct Accounts<K, C: Counter, S> {
    /// Of each key that a sample has shown or a request named.
    pub by_key: FxHashMap<K, Account<C, S>>,
    /// Of all others: the times that are compared at all.
    pub of_nobody: Account<C, S>,
}

impl<K, C: Counter, S: Default> Default for Accounts<K, C, S> {
    fn default() -> Self {
        Self { by_key: FxHashMap::default(), of_nobody: Account::default() }
    }
}

impl<K: Clone + Eq + Hash, C: Counter, S: Merge + Default + Clone> Accounts<K, C, S> {
    /// Enters a sample: of each counter its key, the target that it is a part of, and what it shows.
    pub fn sample(&mut self, step: Step, shown: impl Iterator<Item = (K, Arc<str>, C)>) {
        let mut parts: FxHashMap<K, Parts<C>> = FxHashMap::default();
        for (key, part, counter) in shown {
            if !self.by_key.contains_key(&key) {
                self.by_key.insert(key.clone(), self.of_nobody.clone());
            }
            parts.entry(key).or_default().insert(part, counter);
        }
        for (key, account) in &mut self.by_key {
            account.sample(step, parts.remove(key).unwrap_or_default());
        }
        self.of_nobody.sample(step, Parts::default());
    }

    /// Ends all runs.
    pub fn end(&mut self) {
        self.by_key.values_mut().for_each(Account::end);
        self.of_nobody.end();
    }

    /// The sum of `key` to which a request belongs; see [`Account::request`].
    pub fn request<Q>(&mut self, key: &Q, first_us: i64, last_us: i64) -> Option<&mut S>
    where
        K: Borrow<Q>,
        Q: ?Sized + Eq + Hash + ToOwned<Owned = K>,
    {
        if !self.by_key.contains_key(key) {
            self.of_nobody.request(first_us, last_us).filter(|_| self.by_key.len() < MAX_KEYS)?;
            self.by_key.insert(key.to_owned(), self.of_nobody.clone());
        }
        self.by_key.get_mut(key)?.request(first_us, last_us)
    }
}

#[cfg(test)]
#[path = "account_tests.rs"]
mod tests;
