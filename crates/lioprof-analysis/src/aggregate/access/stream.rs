//! One client's reads or writes of one object.

use lioprof_model::{AccessPattern, Direction, MixSum, RpcRow, Symbol};
use lustre_debuglog::Extent;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

const PAGE_BYTES: u64 = 4096;
const MIB: u64 = 1 << 20;

/// RPCs that wait for those that the client sent before them and that ended later: a client has 8 to 64 in flight.
const WAITING: usize = 64;

/// What was seen of a stream.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) pattern: AccessPattern,
    pub(super) small: Small,
    pub(super) mix: MixSum,
    pub(super) first_us: i64,
    pub(super) last_us: i64,
    pub(super) first_byte: u64,
    pub(super) last_byte: u64,
    pub(super) job: Option<Symbol>,
    /// By xid: the order in which the client sent them.
    waiting: SmallVec<[(u64, Extent); 2]>,
    last: Option<Extent>,
    last_step: Option<i128>,
}

/// Small RPCs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Small {
    pub(super) rpcs: u64,
    pub(super) first_byte: Option<u64>,
    pub(super) last_byte: Option<u64>,
}

impl Small {
    fn add(&mut self, extent: Extent) {
        self.merge(Self { rpcs: 1, first_byte: Some(extent.start), last_byte: Some(extent.end) });
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.rpcs += other.rpcs;
        self.first_byte = self.first_byte.into_iter().chain(other.first_byte).min();
        self.last_byte = self.last_byte.max(other.last_byte);
    }
}

impl Stream {
    pub(super) fn new() -> Self {
        Self {
            pattern: AccessPattern::default(),
            small: Small::default(),
            mix: MixSum::default(),
            first_us: i64::MAX,
            last_us: i64::MIN,
            first_byte: u64::MAX,
            last_byte: 0,
            job: None,
            waiting: SmallVec::new(),
            last: None,
            last_step: None,
        }
    }

    pub(super) fn add(&mut self, row: &RpcRow, extent: Extent, bytes: u64) {
        let len = extent.len_bytes();
        let pattern = &mut self.pattern;
        pattern.rpcs += 1;
        pattern.total_us += row.total_us.unwrap_or(0);
        pattern.bytes += bytes;
        pattern.extent_bytes = pattern.extent_bytes.saturating_add(len);
        pattern.unaligned_rpcs += u64::from(!extent.start.is_multiple_of(PAGE_BYTES));
        let in_pieces = if row.direction() == Some(Direction::Write) {
            len >= bytes.saturating_add(PAGE_BYTES)
        } else {
            // A read that ends with the file is shorter than its extent, too, but in one piece.
            bytes > 0 && len >= bytes.saturating_mul(2).saturating_add(MIB)
        };
        pattern.gapped_rpcs += u64::from(in_pieces);
        // Where the pieces of one lie is not known.
        let is_split = !in_pieces && extent.end / MIB - extent.start / MIB >= len.div_ceil(MIB);
        pattern.split_rpcs += u64::from(is_split);
        if bytes <= super::class::SMALL_BYTES {
            self.small.add(extent);
        }
        self.first_us = self.first_us.min(row.arrival_us().unwrap_or(row.end_us));
        self.last_us = self.last_us.max(row.end_us);
        self.first_byte = self.first_byte.min(extent.start);
        self.last_byte = self.last_byte.max(extent.end);
        self.job = row.job.or(self.job);
        self.waiting.push((row.xid.0, extent));
        if self.waiting.len() == WAITING {
            self.settle(WAITING / 2);
        }
    }

    /// Looks at the steps of the RPCs that the client sent first.
    fn settle(&mut self, count: usize) {
        self.waiting.sort_unstable_by_key(|(xid, extent)| (*xid, extent.start));
        for index in 0..count {
            self.step(self.waiting[index].1);
        }
        self.waiting.drain(..count);
    }

    fn step(&mut self, extent: Extent) {
        let last = self.last.replace(extent);
        let Some(last) = last else { return };
        let step = i128::from(extent.start) - i128::from(last.start);
        let last_step = self.last_step.replace(step);
        // Clients read and cache pages: what is left out inside one is no gap, and steps are equal that differ by less.
        let page = |byte: u64| byte / PAGE_BYTES;
        let regular = last_step.is_some_and(|last_step| (step - last_step).unsigned_abs() <= u128::from(PAGE_BYTES));
        let pattern = &mut self.pattern;
        if step >= 0 && extent.end > last.end && page(extent.start) <= page(last.end) + 1 {
            pattern.sequential_rpcs += 1;
        } else if step < 0 && (regular || page(extent.end) + 1 == page(last.start)) {
            pattern.backward_rpcs += 1;
        } else if step > 0 && extent.start > last.end && last_step.is_none_or(|last_step| last_step > 0) {
            // Stripes cut equal steps in a file into unequal ones in its objects; but chance seldom goes forward twice.
            pattern.strided_rpcs += 1;
        } else {
            pattern.jump_rpcs += 1;
        }
    }

    /// Ends the stream: nothing more is to come.
    pub(super) fn end(&mut self) {
        self.settle(self.waiting.len());
        let pattern = &mut self.pattern;
        if pattern.rpcs < super::class::SHORT_RPCS {
            pattern.short_rpcs = pattern.rpcs;
            (pattern.sequential_rpcs, pattern.strided_rpcs, pattern.backward_rpcs, pattern.jump_rpcs) = (0, 0, 0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(extents: &[(u64, u64)]) -> AccessPattern {
        let mut stream = Stream::new();
        for (xid, &(start, len)) in (0..).zip(extents) {
            stream.waiting.push((xid, Extent { start, end: start + len - 1 }));
        }
        stream.pattern.rpcs = extents.len() as u64;
        // Ended in another order than they were sent in.
        stream.waiting.reverse();
        stream.end();
        stream.pattern
    }

    #[test]
    fn steps_are_told_apart() {
        let sequential: Vec<_> = (0..20).map(|n| (n * 47_008, 47_008)).collect();
        assert_eq!(steps(&sequential).sequential_rpcs, 19);
        let strided: Vec<_> = (0..20).map(|n| (n * 65_536, 4096)).collect();
        assert_eq!((steps(&strided).strided_rpcs, steps(&strided).jump_rpcs), (19, 0));
        // 64 KiB of every 1.3 MB of a file with four stripes: in an object the steps are unequal.
        let stripes = |n: u64| (n * 1_300_000 / MIB / 4 * MIB + n * 1_300_000 % MIB) / PAGE_BYTES * PAGE_BYTES;
        let first: Vec<_> =
            (0..40).filter(|n| (n * 1_300_000 / MIB).is_multiple_of(4)).map(|n| (stripes(n), 65_536)).collect();
        assert_eq!(steps(&first).strided_rpcs, first.len() as u64 - 1);
        let backward: Vec<_> = (0..20).rev().map(|n| (n * 8192, 8192)).collect();
        assert_eq!(steps(&backward).backward_rpcs, 19);
        let random: Vec<_> = (0..20).map(|n| (n * n * 7919 % 100_000 * 4096, 4096)).collect();
        assert!(steps(&random).jump_rpcs >= 12, "{:?}", steps(&random));
        let short = steps(&[(0, 4096), (4096, 4096)]);
        assert_eq!((short.rpcs, short.short_rpcs, short.sequential_rpcs), (2, 2, 0));
    }
}
