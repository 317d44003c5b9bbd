//! Sums of how objects are read and written.

use lioprof_model::{Direction, RpcRow};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::class::{Class, StreamKey};
use super::mix;
use super::mix::Mixes;
use super::object::Objects;
use super::spread::Pictures;
use super::stream::Stream;
use crate::renumber::renumber_fields;

/// Streams followed at a time. When there are more all of them end, and begin anew.
pub(super) const MAX_STREAMS: usize = 16_384;

/// Sums over reads and writes of OSTs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AccessSums {
    /// In the order in which they began.
    #[serde(skip)]
    pub(super) streams: Vec<(StreamKey, Stream)>,
    /// Where each is.
    #[serde(skip)]
    pub(super) numbers: FxHashMap<StreamKey, usize>,
    pub(super) objects: Objects,
    pub(super) mixes: Mixes,
    pub(super) reads: Pictures,
    pub(super) writes: Pictures,
}

// Of a node that has ended there are no streams.
renumber_fields!(AccessSums { objects, mixes } without { streams, numbers, reads, writes });

impl AccessSums {
    /// Adds a read or write of an OST.
    pub(crate) fn add(&mut self, row: &RpcRow, direction: Direction) {
        if let Some((target, arrival_us)) = row.target.zip(row.arrival_us()) {
            match direction {
                Direction::Read => self.reads.add(target, arrival_us, row.end_us),
                Direction::Write => self.writes.add(target, arrival_us, row.end_us),
            }
        }
        let Some(bytes) = row.size.best_bytes() else { return };
        if row.failed() || bytes == 0 {
            return;
        }
        let class = Class::of(bytes);
        let total_us = row.total_us.unwrap_or(0);
        if let Some(class) = class {
            self.mixes.add(row.nid, class, total_us);
        }
        let (Some(target), Some(object), Some(extent)) = (row.target, row.object, row.extent) else { return };
        let key = StreamKey { object: (target, object), nid: row.nid, direction };
        let number = *self.numbers.entry(key).or_insert(self.streams.len());
        if number == self.streams.len() {
            self.streams.push((key, Stream::new()));
        }
        let (_, stream) = &mut self.streams[number];
        stream.add(row, extent, bytes);
        if let Some(class) = class {
            mix::add(&mut stream.mix, class, total_us);
        }
        if self.streams.len() >= MAX_STREAMS {
            self.end_streams();
        }
    }

    /// No more rows of the node will come: streams are as large as all the rest.
    pub(crate) fn keep_little(&mut self) {
        self.end_streams();
        self.streams = Vec::new();
        self.numbers = FxHashMap::default();
        self.objects.keep_little();
    }

    /// Adds another node's sums.
    pub(crate) fn merge(&mut self, mut other: Self) {
        self.end_streams();
        other.end_streams();
        self.objects.merge(other.objects);
        self.mixes.merge(other.mixes);
        self.reads.merge(other.reads);
        self.writes.merge(other.writes);
    }

    /// Sums up all streams, in the order in which they began: where sums are bounded the first ones count.
    pub(super) fn end_streams(&mut self) {
        self.numbers.clear();
        for (key, stream) in self.streams.drain(..) {
            self.mixes.target(key.nid, key.object.0, &stream.mix);
            self.objects.add(key, stream);
        }
    }
}
