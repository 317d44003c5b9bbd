//! Lost records told by the request scheduler's numbers.
//!
//! Each part of a service (one per CPU partition) has a regular queue and mostly one of high priority (`service.c`,
//! `ptlrpc_service_nrs_setup`). Each queue has a policy of its own, which may change at any time; `nrs_policies=tbf` changes both queues
//! (`lproc_ptlrpc.c`). A log line names the policy and a number, but neither the part nor the queue. The part follows from the thread's
//! name; the queue stays unknown. What a number says depends on the policy:
//!
//! * `fifo` is what every queue falls back to. It is never stopped, so its counter goes on where it was when another policy is switched
//!   off again, and requests leave in the order of their numbers. A number is missing without loss only if its request was moved to the
//!   queue of high priority while it waited (`ptlrpc_nrs_req_hp_move`): it got a number there. All other holes are either the
//!   distance between the two queues' counters or lost. That a second counter begins where the first one ends for good is what an
//!   overflow of the kernel's buffer looks like, too: such a hole is told apart, and whoever knows of other losses decides.
//! * `tbf` begins at 0 whenever it is started, numbers requests when they come and hands them over in another order, as tokens allow; the
//!   line with the number comes when the request is done. Numbers may be missing because their requests still wait.
//! * `crrn`, `orr` and `trr` print rounds, which several requests share and which are skipped when a request is moved or removed.
//! * `delay` prints no number.
//!
//! So only holes of `fifo` show loss by themselves; those of other policies count as far as something else says that records are lost.

mod split;
mod stretches;

use std::ops::Add;

use lustre_debuglog::Opcode;
use lustre_debuglog::message::NrsPolicy;

use split::{Split, split};
use stretches::{Stretch, Stretches, follows, in_one_row};

/// A counter of which so many numbers were seen was in use: that it ends where another one begins is no accident.
const IN_USE: u64 = 4;

/// A hole cannot be loss if its requests came this many times faster than any others.
const FASTER: u64 = 16;

/// The numbers seen, per service part.
#[derive(Clone, Debug, Default)]
pub(crate) struct SequenceGaps {
    parts: Vec<(Box<[u8]>, Countings)>,
    /// The part of the last request: mostly that of the next one, too.
    last: usize,
    told: GapSum,
    /// Of captures before.
    before: GapSum,
    /// Requests were handed over by a policy that does not number them, or a policy was switched in a capture before.
    has_unnumbered: bool,
}

/// The numbers of one part of a service, by what is counted.
type Countings = Vec<(Counting, SeenNumbers)>;

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
    /// Requests, on and on: `fifo`.
    Requests,
    /// Requests since the policy was started: `tbf`.
    SinceStart,
    /// Rounds since the policy was started: `crrn`, `orr`, `trr`.
    Crrn,
    Orr,
    Trr,
}

impl Counting {
    /// How a policy counts; `None` if it does not.
    pub(crate) fn of(policy: NrsPolicy) -> Option<Self> {
        match policy {
            NrsPolicy::Fifo => Some(Self::Requests),
            NrsPolicy::Tbf => Some(Self::SinceStart),
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
    /// The same, where one of the two has so few requests that it may be so. Of other policies than `fifo`: numbers that are missing,
    /// requests that were probably in missing rounds.
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
        if self.parts.get(self.last).is_none_or(|(name, _)| **name != *part) {
            self.last = match self.parts.iter().position(|(name, _)| **name == *part) {
                Some(known) => known,
                // All service threads have an underscore in their names. Without, somebody's program took it for a mark of italics, and of
                // which service's counter this number is cannot be told.
                None if !thread.contains(&b'_') => return,
                None => {
                    self.parts.push((part.into(), Countings::new()));
                    self.parts.len() - 1
                }
            };
        }
        let countings = &mut self.parts[self.last].1;
        let known = countings.iter().position(|(counting, _)| *counting == it.counting);
        let at = known.unwrap_or_else(|| {
            countings.push((it.counting, SeenNumbers::default()));
            countings.len() - 1
        });
        countings[at].1.add(it, opcode);
    }

    /// A request is handled that has no number: `delay`.
    pub(crate) fn add_unnumbered(&mut self) {
        self.has_unnumbered = true;
    }

    /// Another capture begins: what was numbered since the last one is in neither.
    pub(crate) fn begin_anew(&mut self) {
        self.before = self.all();
        self.has_unnumbered = self.is_switched();
        self.parts.clear();
    }

    /// Sum over all parts, without what has been told already.
    pub(crate) fn sum(&self) -> GapSum {
        // A number that comes late closes a gap that has been told.
        self.all().with(self.told, u64::saturating_sub)
    }

    /// Whether a policy was switched: then numbers that are missing may lie at the end of one counter or the beginning of the next, or have
    /// been given again.
    pub(crate) fn is_switched(&self) -> bool {
        self.has_unnumbered || self.parts.iter().any(|(_, countings)| countings.len() > 1)
    }

    /// The sum up to now has been told.
    pub(crate) fn told(&mut self) {
        self.told = self.all().with(self.told, u64::max);
    }

    fn all(&self) -> GapSum {
        let of_part = |(_, countings): &(_, Countings)| {
            let all: u64 = countings.iter().map(|(_, numbers)| numbers.seen).sum();
            let sums = countings.iter().map(|(counting, numbers)| numbers.sum(*counting, all - numbers.seen));
            sums.fold(GapSum::default(), GapSum::plus)
        };
        self.parts.iter().map(of_part).fold(self.before, GapSum::plus)
    }
}

/// `ll_ost_io00_002` belongs to part `ll_ost_io00`; the kernel cuts long names at 15 bytes.
fn service_part(thread: &[u8]) -> &[u8] {
    let digits = thread.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    match thread.split_at(thread.len() - digits) {
        ([part @ .., b'_'], [_, ..]) => part,
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

fn requests(stretches: &[Stretch]) -> u64 {
    stretches.iter().map(Stretch::count).sum()
}

/// Whether a request may be moved to the queue of high priority while it waits: I/O under a lock that is called back
/// (`ldlm_lock_reorder_req`).
fn may_be_moved(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::OST_READ
            | Opcode::OST_WRITE
            | Opcode::OST_PUNCH
            | Opcode::OST_LADVISE
            | Opcode::OST_FALLOCATE
            | Opcode::OST_SEEK
    )
}

/// Numbers of a policy; each may occur once per queue, and again when the policy was started again.
#[derive(Clone, Debug, Default)]
struct SeenNumbers {
    seen: u64,
    /// Those that may have been moved from one queue to the other.
    movable: u64,
    once: Stretches,
    twice: Stretches,
    /// Holes that were closed to save memory.
    closed: u64,
    /// The round at hand, and its requests; the most that a round had.
    round: (u64, u64),
    most_in_round: u64,
}

impl SeenNumbers {
    fn add(&mut self, it: Numbered, opcode: Opcode) {
        let urgent = may_be_urgent(opcode);
        self.seen += 1;
        self.movable += u64::from(may_be_moved(opcode));
        if it.counting.is_rounds() {
            let (round, requests) = self.round;
            self.round = (it.number, if round == it.number { requests + 1 } else { 1 });
            self.most_in_round = self.most_in_round.max(self.round.1);
        }
        // What a number that occurs again says depends on whether counters begin anew.
        if !self.once.insert(it.number, it.time_us, urgent) && it.counting == Counting::Requests {
            self.twice.insert(it.number, it.time_us, urgent);
        }
        self.closed += self.once.shrink() + self.twice.shrink();
    }

    /// What the numbers say, beside so many requests of the same part under other policies.
    fn sum(&self, counting: Counting, others: u64) -> GapSum {
        let sum = match counting {
            Counting::Requests => self.of_two_counters(others),
            Counting::SinceStart => GapSum { doubtful: self.passed_over() + self.closed, ..GapSum::default() },
            Counting::Crrn | Counting::Orr | Counting::Trr => self.of_rounds(),
        };
        GapSum { seen: self.seen, ..sum }
    }

    /// Numbers that a counter passed over. Where the larger numbers came first it began anew in between.
    fn passed_over(&self) -> u64 {
        let stretches = self.once.all();
        let passed = stretches.windows(2).filter(|pair| follows(&pair[0], &pair[1]));
        passed.map(|pair| pair[1].first - pair[0].last - 1).sum()
    }

    /// A round that is missing had one request at least, as many as others on average at best guess, and as many as the
    /// largest at most. The rounds on both sides may lack as many.
    fn of_rounds(&self) -> GapSum {
        let (missing, present) = (self.passed_over() + self.closed, self.once.count().max(1));
        if missing == 0 {
            return GapSum::default();
        }
        let times =
            |a: u64, b: u64, by: u64| u64::try_from(u128::from(a) * u128::from(b) / u128::from(by)).unwrap_or(u64::MAX);
        let likely = times(missing, self.seen, present).max(missing);
        let edges = 2 * self.once.number_of_holes();
        let most = times(missing.saturating_add(edges), self.most_in_round.max(1), 1).max(likely);
        GapSum { doubtful: likely, possible: most - likely, ..GapSum::default() }
    }

    fn of_two_counters(&self, others: u64) -> GapSum {
        if !self.twice.is_empty() {
            // Both counters passed through this stretch; whatever they skipped in it or around it is missing.
            // How many requests either queue had is unknown where their numbers overlap.
            let missing = self.once.holes() + self.twice.holes() + self.closed;
            return self.without_moved(missing, (self.seen / 2).saturating_add(others));
        }
        let stretches = self.once.all();
        let holes = self.once.holes();
        if holes == 0 {
            return self.without_moved(self.closed, others);
        }
        let Some(Split { missing, second }) = split(&stretches) else {
            // The clock was set, and times say nothing.
            return self.without_moved(holes - self.once.largest_hole() + self.closed, others);
        };
        let excused = holes.saturating_sub(missing);
        let missing = missing + self.closed;
        if second == 0 {
            // One counter that skipped numbers.
            return self.without_moved(missing, others);
        }
        if !in_one_row(&stretches) {
            // Two counters at work.
            let (first, then) = stretches.split_at(second);
            return self.without_moved(missing, requests(first).min(requests(then)).saturating_add(others));
        }
        let (first, then) = stretches.split_at(second);
        if !self.may_be_lost(first, then) {
            return GapSum { missing, ..GapSum::default() };
        }
        if requests(first) >= IN_USE && requests(then) >= IN_USE {
            GapSum { missing, likely: excused, ..GapSum::default() }
        } else {
            GapSum { missing, doubtful: excused, ..GapSum::default() }
        }
    }

    /// Missing numbers, where so many requests at most may be of the queue of high priority: those that it got from the other one while
    /// they waited left their numbers there unused.
    fn without_moved(&self, missing: u64, urgent: u64) -> GapSum {
        let moved = missing.min(urgent).min(self.movable);
        GapSum { missing: missing - moved, doubtful: moved, ..GapSum::default() }
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
        // Of the second queue's four requests all may have been in the first one before.
        assert_eq!(sum(true, &both), (396, 0, 4));
        assert_eq!(sum(true, &[(0, 100..200), (3000, 210..300), (6000, 400..450)]), (10, 100, 0));
    }

    #[test]
    fn a_hole_that_no_server_could_fill_is_the_distance_of_two_counters() {
        assert_eq!(sum(true, &[(0, 100..200), (3000, 9_000_000..9_000_100)]), (0, 0, 0));
    }

    #[test]
    fn a_hole_in_overlapping_counters_is_loss_unless_its_requests_were_moved() {
        // Ten requests changed from the regular queue to that of high priority while they waited.
        assert_eq!(sum(true, &[(0, 100..150), (100, 160..200), (200, 180..190)]), (0, 0, 10));
        // These never do.
        assert_eq!(sum(false, &[(0, 100..150), (100, 160..200), (200, 180..190)]), (10, 0, 0));
        assert_eq!(sum(true, &[(0, 100..150), (100, 350..390), (200, 360..370)]), (150, 0, 50));
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
        (0..12).for_each(|number| add(Counting::SinceStart, 3_000_000, number));
        (10_061..10_065).for_each(|number| add(Counting::Requests, 9_000_000, number));
        assert_eq!(gaps.sum(), GapSum { seen: 4 + 6 + 12 + 4, ..GapSum::default() });
    }

    /// Numbers of a policy, each a millisecond after the one before; the last number of each run and the first of the next are seconds
    /// apart.
    fn of_policy(counting: Counting, runs: &[Vec<u64>]) -> GapSum {
        let mut gaps = SequenceGaps::default();
        let mut time_us = 0;
        for run in runs {
            time_us += 5_000_000;
            for &number in run {
                time_us += 1000;
                gaps.add(b"ll_ost_io00_007", Opcode::OST_WRITE, Numbered { number, counting, time_us });
            }
        }
        gaps.sum()
    }

    #[test]
    fn rounds_that_are_missing_show_no_loss_by_themselves() {
        let three = |round| [round; 3];
        let runs = [(0..100).flat_map(three).collect(), (150..200).flat_map(three).collect()];
        let sum = of_policy(Counting::Crrn, &runs);
        assert_eq!(sum, GapSum { seen: 450, doubtful: 150, possible: 6, ..GapSum::default() });
    }

    #[test]
    fn a_policy_that_is_started_again_counts_from_the_beginning() {
        for counting in [Counting::SinceStart, Counting::Crrn] {
            // The log begins at its 5,000th request; later it is started twice more.
            let sum = of_policy(counting, &[(5000..5300).collect(), (0..200).collect(), (0..250).collect()]);
            assert_eq!(sum, GapSum { seen: 750, ..GapSum::default() });
            let lost = of_policy(counting, &[(0..100).collect(), (110..200).collect(), (0..50).collect()]);
            assert_eq!((lost.missing, lost.likely), (0, 0));
            assert!(lost.doubtful >= 10, "{lost:?}");
        }
    }

    #[test]
    fn numbers_of_tbf_come_late_and_from_two_queues() {
        // Number 1 waits for tokens until 300 others are done; the queue of high priority begins when the regular one is at 200.
        let mut late: Vec<u64> = (0..300).filter(|number| *number != 1).collect();
        late.push(1);
        assert_eq!(of_policy(Counting::SinceStart, &[late]), GapSum { seen: 300, ..GapSum::default() });
        let both = [(0..200).collect(), vec![0, 200, 1, 201, 2, 202], (203..400).collect()];
        assert_eq!(of_policy(Counting::SinceStart, &both), GapSum { seen: 403, ..GapSum::default() });
        // Ten still wait at the end of the log.
        let waiting = of_policy(Counting::SinceStart, &[(0..90).chain(100..120).collect()]);
        assert_eq!((waiting.missing, waiting.likely), (0, 0));
    }

    #[test]
    fn memory_is_bounded_and_nothing_forgotten() {
        let mut gaps = SequenceGaps::default();
        counted(&mut gaps, Opcode::OST_WRITE, 0, (0..10_000).map(|n| 2 * n));
        let GapSum { missing, likely, doubtful, .. } = gaps.sum();
        assert_eq!(missing + likely + doubtful, 9_999);
    }
}
