//! Lost records told by the request scheduler's numbers.
//!
//! Each part of a service (one per CPU partition) has a regular queue and mostly one of high priority (`service.c`,
//! `ptlrpc_service_nrs_setup`), and each queue numbers its requests 1, 2, 3, ... (`nrs_fifo.c`, `nrs_tbf.c`). A log line
//! names the number, but neither the part nor the queue. The part follows from the thread's name; the queue stays unknown,
//! so a hole in the numbers may be the distance between two counters. It is so only if two counters really explain what was
//! seen: each begins once and only goes up, and one of them has requests only that can be of high priority. That a second
//! counter begins where the first one ends for good is what an overflow of the kernel's buffer looks like, too: such a hole
//! is told apart, and whoever knows of other losses decides.
//!
//! Policies other than `fifo` and `tbf` print rounds instead (`nrs_crr.c`, `nrs_orr.c`): several requests may share one.

use std::collections::BTreeMap;
use std::ops::Add;

use lustre_debuglog::Opcode;
use lustre_debuglog::message::NrsPolicy;

/// Stretches kept per part; beyond that the smallest holes are closed and their size is remembered.
const MAX_STRETCHES: usize = 512;

/// Lines of different threads may be this far out of order.
const DISORDER_US: i64 = 1_000_000;

/// A counter of which so many numbers were seen was in use: that it ends where another one begins is no accident.
const IN_USE: u64 = 4;

/// A hole cannot be loss if its requests came this many times faster than any others.
const FASTER: u64 = 16;

/// Rounds begin anew when a policy is started again; disorder goes back less than this.
const ROUNDS_BACK: u64 = 64;

/// The numbers seen, per service part.
#[derive(Clone, Debug, Default)]
pub(crate) struct SequenceGaps {
    parts: BTreeMap<Box<[u8]>, Vec<(Counting, SeenNumbers)>>,
    told: GapSum,
}

/// A request that a scheduler handed to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    /// Its number, or the round it belongs to.
    pub(crate) number: u64,
    pub(crate) counting: Counting,
    /// When it was handed over, microseconds.
    pub(crate) time_us: i64,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Counting {
    /// Requests of the regular and of the high-priority queue: `fifo`.
    Requests,
    /// Requests of the regular queue: `tbf`.
    Regular,
    /// Rounds of the regular queue: `crrn`, `orr`, `trr`.
    Crrn,
    Orr,
    Trr,
}

impl Counting {
    /// How a policy counts; `None` if it does not.
    pub(crate) fn of(policy: NrsPolicy) -> Option<Self> {
        match policy {
            NrsPolicy::Fifo => Some(Self::Requests),
            NrsPolicy::Tbf => Some(Self::Regular),
            NrsPolicy::Crrn => Some(Self::Crrn),
            NrsPolicy::Orr => Some(Self::Orr),
            NrsPolicy::Trr => Some(Self::Trr),
            NrsPolicy::Delay => None,
        }
    }

    fn is_rounds(self) -> bool {
        matches!(self, Self::Crrn | Self::Orr | Self::Trr)
    }
}

/// What the numbers say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GapSum {
    /// Numbers seen.
    pub(crate) seen: u64,
    /// Numbers that no two counters explain away.
    pub(crate) missing: u64,
    /// Numbers in holes that are the distance between two counters only if one that was in use ended for good where the
    /// other began: lost if anything else says that records are.
    pub(crate) likely: u64,
    /// The same, where one of the two has so few requests that it may be so. With rounds: requests that were probably in them.
    pub(crate) doubtful: u64,
    /// Requests that may have been in rounds besides.
    pub(crate) possible: u64,
}

impl GapSum {
    fn with(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            seen: join(self.seen, other.seen),
            missing: join(self.missing, other.missing),
            likely: join(self.likely, other.likely),
            doubtful: join(self.doubtful, other.doubtful),
            possible: join(self.possible, other.possible),
        }
    }

    fn plus(self, other: Self) -> Self {
        self.with(other, u64::add)
    }
}

impl SequenceGaps {
    /// A request of this kind is handled by this thread.
    pub(crate) fn add(&mut self, thread: &[u8], opcode: Opcode, it: Numbered) {
        let part = service_part(thread);
        let urgent = may_be_urgent(opcode);
        if let Some(countings) = self.parts.get_mut(part)
            && let Some((_, numbers)) = countings.iter_mut().find(|(counting, _)| *counting == it.counting)
        {
            numbers.add(it, urgent);
            return;
        }
        let mut numbers = SeenNumbers::default();
        numbers.add(it, urgent);
        self.parts.entry(part.into()).or_default().push((it.counting, numbers));
    }

    /// Sum over all parts, without what has been told already.
    pub(crate) fn sum(&self) -> GapSum {
        // A number that comes late closes a gap that has been told.
        self.all().with(self.told, u64::saturating_sub)
    }

    /// The sum up to now has been told.
    pub(crate) fn told(&mut self) {
        self.told = self.all().with(self.told, u64::max);
    }

    fn all(&self) -> GapSum {
        let sums = self.parts.values().flatten().map(|(counting, numbers)| numbers.sum(*counting));
        sums.fold(GapSum::default(), GapSum::plus)
    }
}

/// `ll_ost_io00_002` belongs to part `ll_ost_io00`; the kernel cuts long names at 15 bytes.
fn service_part(thread: &[u8]) -> &[u8] {
    match thread.iter().rposition(|&b| b == b'_') {
        Some(at) if at + 1 < thread.len() && thread[at + 1..].iter().all(u8::is_ascii_digit) => &thread[..at],
        _ => thread,
    }
}

/// Whether a request may go to a queue of high priority: pings, connects and disconnects (`ptlrpc_hpreq_handler`), locks
/// given back (`ldlm_hpreq_handler`), and I/O under a lock that is called back (`tgt_hpreq_handler`).
fn may_be_urgent(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::OBD_PING
            | Opcode::OST_CONNECT
            | Opcode::OST_DISCONNECT
            | Opcode::MDS_CONNECT
            | Opcode::MDS_DISCONNECT
            | Opcode::MGS_CONNECT
            | Opcode::MGS_DISCONNECT
            | Opcode::LDLM_CANCEL
            | Opcode::LDLM_CONVERT
            | Opcode::OST_READ
            | Opcode::OST_WRITE
            | Opcode::OST_PUNCH
            | Opcode::OST_LADVISE
            | Opcode::OST_FALLOCATE
            | Opcode::OST_SEEK
    )
}

/// A set of numbers in which each may occur twice (once per queue).
#[derive(Clone, Debug, Default)]
struct SeenNumbers {
    seen: u64,
    once: Stretches,
    twice: Stretches,
    /// Holes that were closed to save memory.
    closed: u64,
    /// The round at hand, and its requests; the most that a round had.
    round: (u64, u64),
    most_in_round: u64,
    /// Of policies that were started again.
    before: GapSum,
}

impl SeenNumbers {
    fn add(&mut self, it: Numbered, urgent: bool) {
        let rounds = it.counting.is_rounds();
        let restarted = it.counting != Counting::Requests
            && self.once.last().is_some_and(|last| it.number <= 1 && last > it.number + ROUNDS_BACK);
        if restarted {
            *self = Self { before: self.sum(it.counting), ..Self::default() };
        }
        self.seen += 1;
        if rounds {
            let (round, requests) = self.round;
            self.round = (it.number, if round == it.number { requests + 1 } else { 1 });
            self.most_in_round = self.most_in_round.max(self.round.1);
        }
        if !self.once.insert(it.number, it.time_us, urgent) && !rounds {
            self.twice.insert(it.number, it.time_us, urgent);
        }
        self.closed += self.once.shrink() + self.twice.shrink();
    }

    fn sum(&self, counting: Counting) -> GapSum {
        self.before.plus(self.open_sum(counting))
    }

    fn open_sum(&self, counting: Counting) -> GapSum {
        let mut sum = match counting {
            Counting::Requests => self.of_two_counters(),
            Counting::Regular => GapSum { missing: self.once.holes(), ..GapSum::default() },
            Counting::Crrn | Counting::Orr | Counting::Trr => self.of_rounds(),
        };
        sum.seen = self.seen;
        sum.missing += self.closed;
        sum
    }

    /// A round that is missing had one request at least, as many as others on average at best guess, and as many as the
    /// largest at most. The rounds on both sides may lack as many.
    fn of_rounds(&self) -> GapSum {
        let (missing, present) = (self.once.holes(), self.once.count().max(1));
        if missing == 0 {
            return GapSum::default();
        }
        let times =
            |a: u64, b: u64, by: u64| u64::try_from(u128::from(a) * u128::from(b) / u128::from(by)).unwrap_or(u64::MAX);
        let likely = times(missing, self.seen, present).max(missing);
        let edges = 2 * self.once.number_of_holes();
        let most = times(missing.saturating_add(edges), self.most_in_round.max(1), 1).max(likely);
        GapSum { missing, doubtful: likely - missing, possible: most - likely, ..GapSum::default() }
    }

    fn of_two_counters(&self) -> GapSum {
        if !self.twice.is_empty() {
            // Both counters passed through this stretch; whatever they skipped in it or around it is missing.
            return GapSum { missing: self.once.holes() + self.twice.holes(), ..GapSum::default() };
        }
        let stretches = self.once.all();
        let holes = self.once.holes();
        if holes == 0 {
            return GapSum::default();
        }
        let Some(Split { missing, second }) = split(&stretches) else {
            // The clock was set, and times say nothing.
            return GapSum { missing: holes - self.once.largest_hole(), ..GapSum::default() };
        };
        if second == 0 || !in_one_row(&stretches) {
            // Two counters at work, or one that skipped numbers.
            return GapSum { missing, ..GapSum::default() };
        }
        let excused = holes.saturating_sub(missing);
        let (first, then) = stretches.split_at(second);
        if !self.may_be_lost(first, then) {
            return GapSum { missing, ..GapSum::default() };
        }
        let used = |stretches: &[Stretch]| stretches.iter().map(Stretch::count).sum::<u64>() >= IN_USE;
        if used(first) && used(then) {
            GapSum { missing, likely: excused, ..GapSum::default() }
        } else {
            GapSum { missing, doubtful: excused, ..GapSum::default() }
        }
    }

    /// Whether so many requests can have been handled in the time between the two.
    fn may_be_lost(&self, first: &[Stretch], then: &[Stretch]) -> bool {
        let (Some(before), Some(after)) = (first.last(), then.first()) else { return false };
        let lost = u128::from(after.first - before.last - 1);
        let time_us = u128::try_from((after.from_us - before.to_us).max(0)).unwrap_or(0);
        let all = self.once.all();
        let rates = all.iter().filter(|it| it.count() >= IN_USE && it.to_us > it.from_us);
        // As a fraction, so that nothing is rounded.
        let fastest = rates
            .map(|it| (u128::from(it.count()), u128::try_from(it.to_us - it.from_us).unwrap_or(1)))
            .max_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)));
        fastest.is_none_or(|(count, us)| lost * us <= u128::from(FASTER) * count * time_us)
    }
}

/// Whether one counter alone may have passed through all stretches, one after the other.
fn in_one_row(stretches: &[Stretch]) -> bool {
    stretches.windows(2).all(|pair| follows(&pair[0], &pair[1]))
}

/// Whether a counter that was in the first stretch may be in the second one afterwards.
fn follows(before: &Stretch, after: &Stretch) -> bool {
    before.to_us <= after.from_us.saturating_add(DISORDER_US)
}

/// The best way to explain stretches by two counters.
struct Split {
    /// Numbers that are missing all the same.
    missing: u64,
    /// The second counter, in the order of numbers, begins with this stretch; 0 if one counter explains all.
    second: usize,
}

/// Where the counters are after some stretches: which one the last of them belongs to, and the last stretch of the other.
#[derive(Clone, Copy, Debug)]
struct CountersSoFar {
    missing: u64,
    /// First stretch that is not of the counter of the very first one.
    second: usize,
}

/// Explains stretches by two counters, each of which goes up with time, and one of which holds requests only that may be of
/// high priority; with as few missing numbers as possible. `None` if two counters cannot do it.
fn split(stretches: &[Stretch]) -> Option<Split> {
    let n = stretches.len();
    if n == 0 {
        return None;
    }
    // `places[urgent][j]`: the last stretch belongs to the urgent (1) or regular (0) queue, and the last one of the other
    // queue is `j - 1` (0: none yet).
    let mut places: [Vec<Option<CountersSoFar>>; 2] = [vec![None; n + 1], vec![None; n + 1]];
    places[0][0] = Some(CountersSoFar { missing: 0, second: 0 });
    places[1][0] = stretches[0].urgent.then_some(CountersSoFar { missing: 0, second: 0 });
    for at in 1..n {
        let (last, next) = (&stretches[at - 1], &stretches[at]);
        let mut after: [Vec<Option<CountersSoFar>>; 2] = [vec![None; n + 1], vec![None; n + 1]];
        for queue in 0..2 {
            for other in 0..=at {
                let Some(place) = places[queue][other] else { continue };
                let same = follows(last, next) && (queue == 0 || next.urgent);
                if same {
                    let missing = place.missing + (next.first - last.last - 1);
                    better(&mut after[queue][other], CountersSoFar { missing, ..place });
                }
                if queue == 1 || next.urgent {
                    let begins = other == 0;
                    let fits = begins || follows(&stretches[other - 1], next);
                    if fits {
                        let gap = if begins { 0 } else { next.first - stretches[other - 1].last - 1 };
                        let second = if begins { at } else { place.second };
                        better(&mut after[1 - queue][at], CountersSoFar { missing: place.missing + gap, second });
                    }
                }
            }
        }
        places = after;
    }
    let best = places.iter().flatten().flatten().min_by_key(|place| place.missing)?;
    Some(Split { missing: best.missing, second: best.second })
}

fn better(place: &mut Option<CountersSoFar>, new: CountersSoFar) {
    if place.is_none_or(|old| new.missing < old.missing) {
        *place = Some(new);
    }
}

/// Numbers without a hole, and when they were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    first: u64,
    last: u64,
    from_us: i64,
    to_us: i64,
    /// All of them are requests that may be of high priority.
    urgent: bool,
}

impl Stretch {
    fn count(&self) -> u64 {
        self.last - self.first + 1
    }

    /// Takes on what another one, or one of its numbers, has.
    fn take_on(&mut self, from_us: i64, to_us: i64, urgent: bool) {
        self.from_us = self.from_us.min(from_us);
        self.to_us = self.to_us.max(to_us);
        self.urgent &= urgent;
    }
}

/// Disjoint stretches of numbers, by first number.
#[derive(Clone, Debug, Default)]
struct Stretches(BTreeMap<u64, Stretch>);

impl Stretches {
    /// Returns whether the number was new.
    fn insert(&mut self, number: u64, time_us: i64, urgent: bool) -> bool {
        // The usual case: the next number.
        if let Some(mut last) = self.0.last_entry()
            && last.get().last.checked_add(1) == Some(number)
        {
            last.get_mut().last = number;
            last.get_mut().take_on(time_us, time_us, urgent);
            return true;
        }
        let mut new = Stretch { first: number, last: number, from_us: time_us, to_us: time_us, urgent };
        if let Some((&first, before)) = self.0.range(..=number).next_back() {
            if number <= before.last {
                return false;
            }
            if before.last + 1 == number {
                new.first = first;
                new.take_on(before.from_us, before.to_us, before.urgent);
            }
        }
        if let Some(after) = number.checked_add(1).and_then(|next| self.0.remove(&next)) {
            new.last = after.last;
            new.take_on(after.from_us, after.to_us, after.urgent);
        }
        self.0.insert(new.first, new);
        true
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn last(&self) -> Option<u64> {
        Some(self.0.last_key_value()?.1.last)
    }

    fn all(&self) -> Vec<Stretch> {
        self.0.values().copied().collect()
    }

    fn count(&self) -> u64 {
        self.0.values().map(Stretch::count).sum()
    }

    /// Numbers in all holes.
    fn holes(&self) -> u64 {
        let Some(((&first, _), last)) = self.0.first_key_value().zip(self.last()) else { return 0 };
        last - first + 1 - self.count()
    }

    fn number_of_holes(&self) -> u64 {
        (self.0.len() as u64).saturating_sub(1)
    }

    fn largest_hole(&self) -> u64 {
        self.0.values().zip(self.0.keys().skip(1)).map(|(it, next)| next - it.last - 1).max().unwrap_or(0)
    }

    /// Closes the smallest hole when there are too many; returns its size.
    fn shrink(&mut self) -> u64 {
        if self.0.len() <= MAX_STRETCHES {
            return 0;
        }
        let holes = self.0.values().zip(self.0.keys().skip(1)).map(|(it, next)| (next - it.last - 1, *next));
        let Some((len, next)) = holes.min() else { return 0 };
        let end = self.0.remove(&next);
        if let (Some(end), Some((_, before))) = (end, self.0.range_mut(..next).next_back()) {
            before.last = end.last;
            before.take_on(end.from_us, end.to_us, end.urgent);
        }
        len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers handed over one per millisecond from a time on.
    fn counted(gaps: &mut SequenceGaps, opcode: Opcode, from_ms: i64, numbers: impl IntoIterator<Item = u64>) {
        for (time_ms, number) in (from_ms..).zip(numbers) {
            let it = Numbered { number, counting: Counting::Requests, time_us: 1000 * time_ms };
            gaps.add(b"ll_ost_io00_007", opcode, it);
        }
    }

    fn sum(write: bool, stretches: &[(i64, std::ops::Range<u64>)]) -> (u64, u64, u64) {
        let mut gaps = SequenceGaps::default();
        let opcode = if write { Opcode::OST_WRITE } else { Opcode::OST_STATFS };
        for (from_ms, numbers) in stretches {
            counted(&mut gaps, opcode, *from_ms, numbers.clone());
        }
        let GapSum { missing, likely, doubtful, .. } = gaps.sum();
        (missing, likely, doubtful)
    }

    #[test]
    fn one_counter_without_holes() {
        assert_eq!(sum(true, &[(0, 100..200)]), (0, 0, 0));
        let mut gaps = SequenceGaps::default();
        counted(&mut gaps, Opcode::OST_WRITE, 0, (100..200).rev());
        assert_eq!(gaps.sum(), GapSum { seen: 100, ..GapSum::default() });
    }

    #[test]
    fn two_counters_that_interleave_lose_nothing() {
        assert_eq!(sum(true, &[(0, 5000..8000), (1500, 5..9), (6000, 8000..8100)]), (0, 0, 0));
        // The second one is ahead of the first, and begins when the first one goes on.
        assert_eq!(sum(true, &[(0, 5..9), (1500, 5000..8000), (6000, 9..12)]), (0, 0, 0));
        assert_eq!(sum(true, &[(0, 100..200), (10, 150..260)]), (0, 0, 0));
    }

    #[test]
    fn a_counter_that_goes_back_is_another_one() {
        assert_eq!(sum(true, &[(0, 100..200), (5000, 5..9)]), (0, 0, 0));
    }

    #[test]
    fn an_overflow_is_one_large_hole() {
        // As in a capture of a server whose buffer overflowed: 168 requests, 7 seconds of nothing, the others.
        assert_eq!(sum(true, &[(0, 39_203..39_371), (7000, 40_028..42_403)]), (0, 657, 0));
        // Requests of this kind are never of high priority: there is no second counter.
        assert_eq!(sum(false, &[(0, 540..543), (10_000, 545..550)]), (2, 0, 0));
        // Few requests may well have been a queue's only ones.
        assert_eq!(sum(true, &[(0, 100..102), (5000, 500..700)]), (0, 0, 398));
    }

    #[test]
    fn a_counter_begins_once_only() {
        // A second queue that works all the time, and a hole in the numbers of the first.
        let both = [(0, 1000..1100), (50, 10..12), (3000, 1500..1600), (3050, 12..14), (6000, 1600..1610)];
        assert_eq!(sum(true, &both), (400, 0, 0));
        assert_eq!(sum(true, &[(0, 100..200), (3000, 210..300), (6000, 400..450)]), (10, 100, 0));
    }

    #[test]
    fn a_hole_that_no_server_could_fill_is_the_distance_of_two_counters() {
        assert_eq!(sum(true, &[(0, 100..200), (3000, 9_000_000..9_000_100)]), (0, 0, 0));
    }

    #[test]
    fn a_hole_in_overlapping_counters_is_loss() {
        assert_eq!(sum(true, &[(0, 100..150), (100, 160..200), (200, 180..190)]).0, 10);
    }

    #[test]
    fn parts_have_counters_of_their_own() {
        assert_eq!(service_part(b"ll_ost_io00_002"), b"ll_ost_io00");
        assert_eq!(service_part(b"ll_mgs_0002"), b"ll_mgs");
        assert_eq!(service_part(b"ll_ost_create00"), b"ll_ost_create00");
        let mut gaps = SequenceGaps::default();
        for (number, thread) in [(1, "ll_ost00_001"), (2, "ll_ost00_002"), (9, "mdt00_001"), (70, "mdt01_001")] {
            let it = Numbered { number, counting: Counting::Requests, time_us: 0 };
            gaps.add(thread.as_bytes(), Opcode::OST_STATFS, it);
        }
        assert_eq!(gaps.sum(), GapSum { seen: 4, ..GapSum::default() });
    }

    #[test]
    fn policies_have_counters_of_their_own() {
        let mut gaps = SequenceGaps::default();
        let mut add = |counting, time_us, number| {
            gaps.add(b"ll_ost_io00_007", Opcode::OST_WRITE, Numbered { number, counting, time_us });
        };
        (10_057..10_061).for_each(|number| add(Counting::Requests, 0, number));
        // Two clients share a round now and then.
        [0, 0, 1, 2, 2, 3].into_iter().for_each(|round| add(Counting::Crrn, 1_000_000, round));
        (0..12).for_each(|number| add(Counting::Regular, 3_000_000, number));
        (10_061..10_065).for_each(|number| add(Counting::Requests, 9_000_000, number));
        assert_eq!(gaps.sum(), GapSum { seen: 4 + 6 + 12 + 4, ..GapSum::default() });
    }

    #[test]
    fn rounds_that_are_missing_had_requests() {
        let mut gaps = SequenceGaps::default();
        for round in (0..100).chain(150..200) {
            for _ in 0..3 {
                let it = Numbered { number: round, counting: Counting::Crrn, time_us: 0 };
                gaps.add(b"ll_ost_io00_007", Opcode::OST_WRITE, it);
            }
        }
        assert_eq!(gaps.sum(), GapSum { seen: 450, missing: 50, doubtful: 100, possible: 6, ..GapSum::default() });
    }

    #[test]
    fn a_policy_that_is_started_again_counts_from_the_beginning() {
        let mut gaps = SequenceGaps::default();
        for number in (0..100).chain(110..200).chain(0..50) {
            let it = Numbered { number, counting: Counting::Regular, time_us: 0 };
            gaps.add(b"ll_ost_io00_007", Opcode::OST_WRITE, it);
        }
        assert_eq!(gaps.sum(), GapSum { seen: 240, missing: 10, ..GapSum::default() });
    }

    #[test]
    fn memory_is_bounded_and_nothing_forgotten() {
        let mut gaps = SequenceGaps::default();
        counted(&mut gaps, Opcode::OST_WRITE, 0, (0..10_000).map(|n| 2 * n));
        let GapSum { missing, likely, doubtful, .. } = gaps.sum();
        assert_eq!(missing + likely + doubtful, 9_999);
    }
}
