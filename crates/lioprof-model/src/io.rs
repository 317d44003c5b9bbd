//! Counts and bytes of reads or writes, with how exact they are.

use lustre_debuglog::Opcode;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::merge::Merge;

named! {
    /// Direction in which an RPC moves data.
    pub enum Direction {
        /// From the server to the client.
        Read = "read",
        /// From the client to the server.
        Write = "write",
    }
}

impl Direction {
    /// The direction in which an opcode moves bulk data; `None` if it moves none.
    #[must_use]
    pub fn of(opcode: Opcode) -> Option<Self> {
        match opcode {
            Opcode::OST_READ => Some(Self::Read),
            Opcode::OST_WRITE => Some(Self::Write),
            _ => None,
        }
    }

    /// Write or read.
    #[must_use]
    pub fn new(write: bool) -> Self {
        if write { Self::Write } else { Self::Read }
    }

    /// Whether it is a write.
    #[must_use]
    pub fn is_write(self) -> bool {
        self == Self::Write
    }

    /// What its requests are called.
    #[must_use]
    pub fn requests(self) -> &'static str {
        self.pick("reads", "writes")
    }

    /// What goes with this direction.
    #[inline]
    pub fn pick<T>(self, read: T, write: T) -> T {
        match self {
            Self::Read => read,
            Self::Write => write,
        }
    }
}

/// Number of bytes that one RPC read or wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcSize {
    /// The log shows the exact number.
    Exact(u64),
    /// The log only bounds the number.
    Bounded {
        /// Best estimate, in bytes.
        best: u64,
        /// Fewest bytes possible.
        min: u64,
        /// Most bytes possible.
        max: u64,
    },
    /// The number is unknown, or the RPC is neither a read nor a write.
    Unknown,
}

impl RpcSize {
    /// The number, or its best estimate; `None` if it is unknown.
    #[must_use]
    pub fn best_bytes(self) -> Option<u64> {
        match self {
            Self::Exact(bytes) | Self::Bounded { best: bytes, .. } => Some(bytes),
            Self::Unknown => None,
        }
    }
}

crate::sums! {
    /// Reads or writes: RPCs and bytes.
    ///
    /// `bytes_min <= truth <= bytes_max` over the sized RPCs, and `bytes` is the best estimate; all three are
    /// equal when nothing is bounded. An unsized RPC adds to no byte count, it is only counted.
    ///
    /// In JSON bytes are `null` when no RPC could be sized. `#[serde(with = "Io")]` has the fields as they are, as tables have them.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(remote = "Self")]
    pub struct Io {
        /// RPCs handled.
        pub rpcs: u64,
        /// RPCs of these that failed (negative status); they move no bytes.
        pub errors: u64,
        /// Best estimate of the bytes moved.
        pub bytes: u64,
        /// Lower bound.
        pub bytes_min: u64,
        /// Upper bound.
        pub bytes_max: u64,
        /// RPCs whose bytes are exact.
        pub exact_rpcs: u64,
        /// RPCs whose bytes are only bounded.
        pub bounded_rpcs: u64,
        /// RPCs of unknown size.
        pub unsized_rpcs: u64,
    }
}

impl Io {
    /// Counts one RPC.
    pub fn add(&mut self, size: RpcSize, failed: bool) {
        self.rpcs += 1;
        self.errors += u64::from(failed);
        match size {
            RpcSize::Exact(bytes) => {
                self.exact_rpcs += 1;
                self.bytes += bytes;
                self.bytes_min += bytes;
                self.bytes_max += bytes;
            }
            RpcSize::Bounded { best, min, max } => {
                self.bounded_rpcs += 1;
                self.bytes += best;
                self.bytes_min += min;
                self.bytes_max += max;
            }
            RpcSize::Unknown => self.unsized_rpcs += 1,
        }
    }

    /// Whether every byte is exact: nothing bounded, nothing unsized.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.bounded_rpcs == 0 && self.unsized_rpcs == 0
    }

    /// The best estimate, or `None` if there were RPCs but none could be sized.
    #[must_use]
    pub fn known_bytes(&self) -> Option<u64> {
        (self.rpcs == 0 || self.unsized_rpcs < self.rpcs).then_some(self.bytes)
    }
}

/// The same of reads and of writes: RPCs and bytes, or whatever is told of either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadWrite<T = Io> {
    /// Successful and failed reads: `OST_READ`.
    pub read: T,
    /// Successful and failed writes: `OST_WRITE`.
    pub write: T,
}

impl<T> ReadWrite<T> {
    /// One of them.
    #[inline]
    pub fn direction(&mut self, direction: Direction) -> &mut T {
        direction.pick(&mut self.read, &mut self.write)
    }
}

impl<T: Merge> Merge for ReadWrite<T> {
    #[inline]
    fn merge(&mut self, other: &Self) {
        let Self { read, write } = other;
        self.read.merge(read);
        self.write.merge(write);
    }
}

impl<T: Merge + Clone> ReadWrite<T> {
    /// Both together.
    #[must_use]
    pub fn both(&self) -> T {
        let mut both = self.read.clone();
        both.merge(&self.write);
        both
    }
}

impl<T: Merge> ReadWrite<T> {
    /// Adds what another part has.
    #[inline]
    pub fn merge(&mut self, other: &Self) {
        Merge::merge(self, other);
    }
}

impl ReadWrite {
    /// Bytes read and written, best estimate.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read.bytes + self.write.bytes
    }

    /// Reads and writes together.
    #[must_use]
    pub fn together(&self) -> Io {
        let mut all = self.read.clone();
        all.merge(&self.write);
        all
    }
}

/// [`Io`] in JSON: bytes are `null` when no RPC could be sized.
#[derive(Serialize, Deserialize)]
struct IoJson {
    rpcs: u64,
    #[serde(default)]
    errors: u64,
    bytes: Option<u64>,
    bytes_min: Option<u64>,
    bytes_max: Option<u64>,
    exact_rpcs: u64,
    bounded_rpcs: u64,
    unsized_rpcs: u64,
}

impl From<Io> for IoJson {
    fn from(io: Io) -> Self {
        let known = io.known_bytes().is_some();
        Self {
            rpcs: io.rpcs,
            errors: io.errors,
            bytes: known.then_some(io.bytes),
            bytes_min: known.then_some(io.bytes_min),
            bytes_max: known.then_some(io.bytes_max),
            exact_rpcs: io.exact_rpcs,
            bounded_rpcs: io.bounded_rpcs,
            unsized_rpcs: io.unsized_rpcs,
        }
    }
}

impl Serialize for Io {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        IoJson::from(self.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Io {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IoJson::deserialize(deserializer).map(Self::from)
    }
}

impl From<IoJson> for Io {
    fn from(io: IoJson) -> Self {
        Self {
            rpcs: io.rpcs,
            errors: io.errors,
            bytes: io.bytes.unwrap_or(0),
            bytes_min: io.bytes_min.unwrap_or(0),
            bytes_max: io.bytes_max.unwrap_or(0),
            exact_rpcs: io.exact_rpcs,
            bounded_rpcs: io.bounded_rpcs,
            unsized_rpcs: io.unsized_rpcs,
        }
    }
}

/// RPC sizes in power-of-two buckets, as `job_stats` `hist{}` counts them: the smallest power of two
/// not below the bytes. RPCs of unknown size and failed ones are not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SizeHistogram {
    buckets: Vec<SizeBucket>,
}

/// One bucket of a [`SizeHistogram`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeBucket {
    /// Upper bound, inclusive, a power of two.
    pub le_bytes: u64,
    /// RPCs.
    pub rpcs: u64,
    /// RPCs of these whose size is an estimate.
    pub bounded_rpcs: u64,
}

impl Merge for SizeHistogram {
    fn merge(&mut self, other: &Self) {
        Self::merge(self, other);
    }
}

impl SizeHistogram {
    /// Counts one RPC by its best size.
    pub fn add(&mut self, size: RpcSize) {
        let (bytes, bounded) = match size {
            RpcSize::Exact(bytes) => (bytes, 0),
            RpcSize::Bounded { best, .. } => (best, 1),
            RpcSize::Unknown => return,
        };
        self.add_bucket(SizeBucket {
            le_bytes: bytes.checked_next_power_of_two().unwrap_or(1 << 63),
            rpcs: 1,
            bounded_rpcs: bounded,
        });
    }

    /// Adds what was counted in a bucket.
    pub fn add_bucket(&mut self, bucket: SizeBucket) {
        match self.buckets.binary_search_by_key(&bucket.le_bytes, |b| b.le_bytes) {
            Ok(at) => {
                self.buckets[at].rpcs += bucket.rpcs;
                self.buckets[at].bounded_rpcs += bucket.bounded_rpcs;
            }
            Err(at) => self.buckets.insert(at, bucket),
        }
    }

    /// Adds what another part counted.
    pub fn merge(&mut self, other: &Self) {
        for &bucket in &other.buckets {
            self.add_bucket(bucket);
        }
    }

    /// Non-empty buckets, ascending.
    #[must_use]
    pub fn buckets(&self) -> &[SizeBucket] {
        &self.buckets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_after_merging() {
        let mut a = Io::default();
        a.add(RpcSize::Exact(4096), false);
        a.add(RpcSize::Bounded { best: 8192, min: 2, max: 1 << 20 }, false);
        let mut b = Io::default();
        b.add(RpcSize::Unknown, false);
        a.merge(&b);
        assert_eq!((a.rpcs, a.exact_rpcs, a.bounded_rpcs, a.unsized_rpcs), (3, 1, 1, 1));
        assert_eq!((a.bytes_min, a.bytes, a.bytes_max), (4098, 12288, 4096 + (1 << 20)));
    }

    #[test]
    fn unknown_bytes_are_null_not_zero() {
        let mut io = Io::default();
        io.add(RpcSize::Unknown, false);
        let json = serde_json::to_value(&io).unwrap();
        assert!(json["bytes"].is_null());
        assert_eq!(serde_json::to_value(Io::default()).unwrap()["bytes"], 0);
    }

    #[test]
    fn size_buckets_are_smallest_power_of_two_not_below() {
        let mut hist = SizeHistogram::default();
        for bytes in [4096, 4097, 1 << 20, 1] {
            hist.add(RpcSize::Exact(bytes));
        }
        let got: Vec<_> = hist.buckets().iter().map(|b| (b.le_bytes, b.rpcs)).collect();
        assert_eq!(got, [(1, 1), (4096, 1), (8192, 1), (1 << 20, 1)]);
    }
}
