//! How reads and writes lie in their objects and in time: what findings about access rest on.
//!
//! * `stream`: one client's reads or writes of one object: shape and order.
//! * `object`: streams summed up by object.
//! * `mix`: small RPCs between large ones.
//! * `spread`: over how many OSTs requests are spread at any moment.

mod finish;
mod mix;
mod object;
mod parts;
mod spread;
mod stream;

use lioprof_model::{Direction, RpcRow, RpcSize, Symbol};
use rustc_hash::FxHashMap;

use super::objects::ObjectKey;
use mix::Mixes;
use object::Objects;
use spread::Pictures;
use stream::Stream;

/// RPCs of so many bytes at most are small.
const SMALL_BYTES: u64 = 64 << 10;
/// RPCs of so many bytes at least are large.
const LARGE_BYTES: u64 = 512 << 10;
/// Streams of fewer RPCs are short.
const SHORT_RPCS: u64 = 8;
/// Streams followed at a time. When there are more all of them end, and begin anew.
const MAX_STREAMS: usize = 16_384;

/// A client's reads or writes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct StreamKey {
    object: ObjectKey,
    nid: Symbol,
    direction: Direction,
}

/// Bytes of an RPC: small, large, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Small,
    Large,
}

impl Class {
    fn of(bytes: u64) -> Option<Self> {
        match bytes {
            0 => None,
            1..=SMALL_BYTES => Some(Self::Small),
            LARGE_BYTES.. => Some(Self::Large),
            _ => None,
        }
    }
}

/// Sums over reads and writes of OSTs.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessSums {
    /// In the order in which they began.
    streams: Vec<(StreamKey, Stream)>,
    /// Where each is.
    numbers: FxHashMap<StreamKey, usize>,
    objects: Objects,
    mixes: Mixes,
    reads: Pictures,
    writes: Pictures,
}

impl AccessSums {
    /// Adds a read or write of an OST.
    pub(crate) fn add(&mut self, row: &RpcRow, direction: Direction) {
        if let Some((target, arrival_us)) = row.target.zip(row.arrival_us()) {
            match direction {
                Direction::Read => self.reads.add(target, arrival_us, row.end_us),
                Direction::Write => self.writes.add(target, arrival_us, row.end_us),
            }
        }
        let (RpcSize::Exact(bytes) | RpcSize::Bounded { best: bytes, .. }) = row.size else { return };
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
    fn end_streams(&mut self) {
        self.numbers.clear();
        for (key, stream) in self.streams.drain(..) {
            self.mixes.target(key.nid, key.object.0, &stream.mix);
            self.objects.add(key, stream);
        }
    }
}
