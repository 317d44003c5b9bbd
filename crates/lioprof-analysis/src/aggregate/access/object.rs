//! Streams summed up by object.

use lioprof_model::{AccessPattern, Direction, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::class::StreamKey;
use super::stream::{Small, Stream};
use crate::aggregate::objects::ObjectKey;
use crate::cells::limits::ACCESS_OBJECTS;
use crate::few::keep_heaviest;
use crate::renumber::{Renumber, renumber_fields};

/// Clients followed per object.
const MAX_CLIENTS: usize = 64;
/// Jobs kept per object.
const MAX_JOBS: usize = 4;

/// What a client wrote of an object, and when.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Span {
    pub(super) first_us: i64,
    pub(super) last_us: i64,
    pub(super) first_byte: u64,
    pub(super) last_byte: u64,
}

impl Span {
    fn merge(&mut self, other: Self) {
        self.first_us = self.first_us.min(other.first_us);
        self.last_us = self.last_us.max(other.last_us);
        self.first_byte = self.first_byte.min(other.first_byte);
        self.last_byte = self.last_byte.max(other.last_byte);
    }

    pub(super) fn meets(&self, other: &Self) -> bool {
        self.first_us <= other.last_us
            && other.first_us <= self.last_us
            && self.first_byte <= other.last_byte
            && other.first_byte <= self.last_byte
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ObjectSum {
    pub(super) read: AccessPattern,
    pub(super) write: AccessPattern,
    pub(super) clients: Vec<Symbol>,
    pub(super) jobs: Vec<Symbol>,
    pub(super) writers: FxHashMap<Symbol, Span>,
    pub(super) first_byte: u64,
    pub(super) last_byte: u64,
    pub(super) small: Small,
    pub(super) small_clients: FxHashSet<Symbol>,
}

impl Default for ObjectSum {
    fn default() -> Self {
        Self {
            read: AccessPattern::default(),
            write: AccessPattern::default(),
            clients: Vec::new(),
            jobs: Vec::new(),
            writers: FxHashMap::default(),
            first_byte: u64::MAX,
            last_byte: 0,
            small: Small::default(),
            small_clients: FxHashSet::default(),
        }
    }
}

renumber_fields!(ObjectSum { clients, jobs, small_clients } keys { writers } without {
    read, write, first_byte, last_byte, small
});

impl ObjectSum {
    pub(super) fn rpcs(&self) -> u64 {
        self.read.rpcs + self.write.rpcs
    }

    fn writer(&mut self, nid: Symbol, span: Span) {
        if let Some(mine) = self.writers.get_mut(&nid) {
            mine.merge(span);
        } else if self.writers.len() < MAX_CLIENTS {
            self.writers.insert(nid, span);
        }
    }

    fn merge(&mut self, other: Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        add(&mut self.clients, other.clients, MAX_CLIENTS);
        add(&mut self.jobs, other.jobs, MAX_JOBS);
        for (nid, span) in other.writers {
            self.writer(nid, span);
        }
        self.first_byte = self.first_byte.min(other.first_byte);
        self.last_byte = self.last_byte.max(other.last_byte);
        self.small.merge(other.small);
        self.small_clients.extend(other.small_clients);
    }
}

/// Adds what is not there yet, while there is room.
fn add(mine: &mut Vec<Symbol>, more: impl IntoIterator<Item = Symbol>, room: usize) {
    for symbol in more {
        if mine.len() < room && !mine.contains(&symbol) {
            mine.push(symbol);
        }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Objects {
    pub(super) kept: FxHashMap<ObjectKey, ObjectSum>,
    pub(super) other_reads: AccessPattern,
    pub(super) other_writes: AccessPattern,
}

impl Renumber for Objects {
    fn renumber(&mut self, to: &[Symbol]) {
        self.kept.values_mut().for_each(|sum| sum.renumber(to));
    }
}

impl Objects {
    pub(super) fn add(&mut self, key: StreamKey, mut ended: Stream) {
        ended.end();
        let sum = self.kept.entry(key.object).or_default();
        let span = Span {
            first_us: ended.first_us,
            last_us: ended.last_us,
            first_byte: ended.first_byte,
            last_byte: ended.last_byte,
        };
        match key.direction {
            Direction::Read => sum.read.merge(&ended.pattern),
            Direction::Write => {
                sum.write.merge(&ended.pattern);
                sum.writer(key.nid, span);
            }
        }
        add(&mut sum.clients, [key.nid], MAX_CLIENTS);
        add(&mut sum.jobs, ended.job, MAX_JOBS);
        sum.first_byte = sum.first_byte.min(span.first_byte);
        sum.last_byte = sum.last_byte.max(span.last_byte);
        sum.small.merge(ended.small);
        if ended.small.rpcs > 0 && sum.small_clients.len() < MAX_CLIENTS {
            sum.small_clients.insert(key.nid);
        }
        if self.kept.len() >= 2 * ACCESS_OBJECTS {
            self.keep(ACCESS_OBJECTS);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (key, theirs) in other.kept {
            self.kept.entry(key).or_default().merge(theirs);
        }
        self.other_reads.merge(&other.other_reads);
        self.other_writes.merge(&other.other_writes);
        if self.kept.len() >= 2 * ACCESS_OBJECTS {
            self.keep(ACCESS_OBJECTS);
        }
    }

    /// No more rows of the node will come: keeps as many as can be told of, and no spare room.
    pub(super) fn keep_little(&mut self) {
        if self.kept.len() > ACCESS_OBJECTS {
            self.keep(ACCESS_OBJECTS);
        }
        self.kept.shrink_to_fit();
    }

    /// Keeps those with most RPCs, then by name.
    pub(super) fn keep(&mut self, count: usize) {
        for sum in keep_heaviest(&mut self.kept, count, ObjectSum::rpcs) {
            self.other_reads.merge(&sum.read);
            self.other_writes.merge(&sum.write);
        }
    }
}
