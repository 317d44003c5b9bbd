//! From handlers that write a burst of lines ahead of time to one log in time order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Clock, Effect};
use crate::record::SimRecord;
use crate::wording::Site;

/// Who writes, where and when. Each line takes a few microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pen {
    pub(crate) node: usize,
    pub(crate) cpu: u16,
    pub(crate) pid: u32,
    pub(crate) now_us: u64,
}

/// Records to a time that has not come yet, and what they do to the account.
///
/// A handler writes its lines when it decides, each with its own time. They leave the log only when no event before
/// that time is left.
pub(crate) struct Log {
    heap: BinaryHeap<Reverse<(u64, u64, usize)>>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    sequence: u64,
    jitter: u32,
    masks: u32,
    subsystems: u32,
    node: Option<usize>,
    /// By node; those without one are right.
    clocks: Vec<Clock>,
    start_us: u64,
}

struct Slot {
    node: usize,
    record: SimRecord,
    effect: Option<Effect>,
}

/// What comes out of the log.
pub(crate) enum Entry {
    /// The record was swapped into the caller's; the node that logs it.
    Record(usize),
    Effect(Effect),
}

impl Log {
    /// A log of all nodes or of one, with the records of these masks and subsystems.
    pub(crate) fn new(node: Option<usize>, interest: (u32, u32), clocks: Vec<Clock>, start_us: u64) -> Self {
        let (masks, subsystems) = interest;
        Self {
            heap: BinaryHeap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            sequence: 0,
            jitter: 0x9e37_79b9,
            masks,
            subsystems,
            node,
            clocks,
            start_us,
        }
    }

    /// The text of a new record at the pen's time, or `None` if nobody wants it. Moves the pen on in either case, unless
    /// the release has no such message.
    pub(crate) fn line(&mut self, pen: &mut Pen, site: &Site) -> Option<&mut Vec<u8>> {
        if site.line == 0 {
            return None;
        }
        let time_us = pen.now_us;
        self.jitter ^= self.jitter << 13;
        self.jitter ^= self.jitter >> 17;
        self.jitter ^= self.jitter << 5;
        pen.now_us += 1 + u64::from(self.jitter & 7);
        let wanted = site.mask & crate::bits::ALWAYS != 0
            || (site.mask & self.masks != 0 && site.subsystem & self.subsystems != 0);
        if !wanted || self.node.is_some_and(|node| node != pen.node) {
            return None;
        }
        let slot = self.slot(pen.node, time_us, None);
        let clock = self.clocks.get(pen.node).copied().unwrap_or_default();
        let record = &mut self.slots[slot].record;
        record.time_us = clock.shows(self.start_us, time_us);
        record.cpu = pen.cpu;
        record.context = 0;
        record.subsystem = site.subsystem;
        record.mask = site.mask;
        record.pid = pen.pid;
        record.line = site.line;
        record.file.clear();
        record.file.extend_from_slice(site.file.as_bytes());
        record.function.clear();
        record.function.extend_from_slice(site.function.as_bytes());
        record.text.clear();
        Some(&mut record.text)
    }

    /// Puts something into the account at the pen's time.
    pub(crate) fn effect(&mut self, pen: &Pen, effect: Effect) {
        self.slot(pen.node, pen.now_us, Some(effect));
    }

    fn slot(&mut self, node: usize, time_us: u64, effect: Option<Effect>) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { node, record: SimRecord::default(), effect: None });
            self.slots.len() - 1
        });
        self.slots[slot].node = node;
        self.slots[slot].effect = effect;
        self.sequence += 1;
        self.heap.push(Reverse((time_us, self.sequence, slot)));
        slot
    }

    /// The next entry not after `limit_us`.
    pub(crate) fn pop(&mut self, limit_us: u64, record: &mut SimRecord) -> Option<Entry> {
        let Reverse((time_us, _, slot)) = *self.heap.peek()?;
        if time_us > limit_us {
            return None;
        }
        self.heap.pop();
        self.free.push(slot);
        let slot = &mut self.slots[slot];
        if let Some(effect) = slot.effect.take() {
            return Some(Entry::Effect(effect));
        }
        std::mem::swap(record, &mut slot.record);
        Some(Entry::Record(slot.node))
    }
}
