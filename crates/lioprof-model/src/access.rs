//! How reads and writes lie in their objects and in time.
//!
//! Of RPCs whose object and extent are known. What one client reads or writes in one object is a *stream*; its RPCs
//! are taken in the order in which the client sent them.

use serde::{Deserialize, Serialize};

/// How objects are read and written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// What the words below mean in bytes and RPCs.
    pub rules: AccessRules,
    /// Reads.
    pub read: AccessPattern,
    /// Writes.
    pub write: AccessPattern,
    /// The objects with most RPCs, at most 100.
    pub objects: Vec<ObjectAccess>,
    /// Small and large RPCs.
    pub mix: Mix,
    /// How reads are spread over the OSTs at any moment.
    pub read_spread: Spread,
    /// How writes are spread over the OSTs at any moment.
    pub write_spread: Spread,
}

/// Fixed when the log is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessRules {
    /// RPCs of so many bytes at most are small.
    pub small_bytes: u64,
    /// RPCs of so many bytes at least are large.
    pub large_bytes: u64,
    /// Streams of fewer RPCs are short: they say nothing about the order in which a file is accessed.
    pub short_rpcs: u64,
}

crate::sums! {
    /// Shape and order of reads or writes.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct AccessPattern {
        /// Successful RPCs of known object and extent.
        pub rpcs: u64,
        /// Of these, in short streams: sequential, strided, backward and jump do not count them.
        pub short_rpcs: u64,
        /// Time from arrival to end, added up, microseconds.
        pub total_us: u64,
        /// Bytes moved, best estimate.
        pub bytes: u64,
        /// Bytes from the first to the last one of each RPC.
        pub extent_bytes: u64,
        /// RPCs that begin inside a page of 4 KiB.
        pub unaligned_rpcs: u64,
        /// RPCs in one piece that touch one MiB of the object more than their bytes need.
        pub split_rpcs: u64,
        /// RPCs that are in pieces: writes whose extent is longer than their bytes by a page or more, reads whose extent is more than twice as
        /// long, and longer by a MiB than that.
        pub gapped_rpcs: u64,
        /// RPCs that begin where the stream's last one ended.
        pub sequential_rpcs: u64,
        /// RPCs that go forward and leave a gap, as the one before did if that had a step: equal steps in a file are unequal ones in the
        /// objects of its stripes.
        pub strided_rpcs: u64,
        /// RPCs that end where the last one began, or go back as far as that did within a page.
        pub backward_rpcs: u64,
        /// Any other step.
        pub jump_rpcs: u64,
    }
}

/// One object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectAccess {
    /// Target.
    pub target: String,
    /// FID, or `seq/oid` as old versions print.
    pub fid: String,
    /// Reads.
    pub read: AccessPattern,
    /// Writes.
    pub write: AccessPattern,
    /// Clients that used it, by NID; at most 20.
    pub clients: Vec<String>,
    /// Jobs that used it; at most 4.
    pub jobs: Vec<String>,
    /// Clients that wrote it, as far as they were followed (64).
    pub writers: u64,
    /// Largest number of them between whose first and last write there is a common moment.
    pub concurrent_writers: u64,
    /// Writers that wrote between another one's lowest and highest byte, between its first and last write.
    pub interleaved_writers: u64,
    /// Lowest byte touched.
    pub first_byte: u64,
    /// Highest byte touched.
    pub last_byte: u64,
    /// Small RPCs, read or write.
    pub small_rpcs: u64,
    /// Clients that sent them, as far as they were followed (64).
    pub small_clients: u64,
    /// Lowest byte of small RPCs.
    pub small_first_byte: Option<u64>,
    /// Highest byte of small RPCs.
    pub small_last_byte: Option<u64>,
}

/// Small RPCs between large ones: reads and writes together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mix {
    /// Everything.
    pub all: MixSum,
    /// Clients that sent large ones.
    pub large_clients: u64,
    /// Of these, clients that went from large to small ones and back again and again (3 changes or more, and half as many as it has RPCs of the kind of which there are fewer).
    pub mixing_clients: u64,
    /// Mixing clients by the time of their small RPCs, at most 20.
    pub clients: Vec<ClientMix>,
    /// Targets with small RPCs of mixing clients, by their time; RPCs of known object only.
    pub targets: Vec<TargetMix>,
}

crate::sums! {
    /// Counts and times.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct MixSum {
        /// Small RPCs.
        pub small_rpcs: u64,
        /// Their total time, microseconds.
        pub small_us: u64,
        /// Large RPCs.
        pub large_rpcs: u64,
        /// Their total time, microseconds.
        pub large_us: u64,
        /// Changes from large to small or back, of one client.
        pub turns: u64,
    }
}

/// One client's mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientMix {
    /// Client.
    pub nid: String,
    /// What it sent.
    #[serde(flatten)]
    pub sum: MixSum,
}

/// One target's mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetMix {
    /// Target.
    pub target: String,
    /// What it got; it has no turns.
    #[serde(flatten)]
    pub sum: MixSum,
}

/// How requests between arrival and end are spread over OSTs, from momentary pictures at equal distances.
///
/// A spread is an effective number of targets, (sum of q)^2 / (sum of q^2) over the requests q of each: 4 if four
/// targets have the same number of requests, 1 if all requests are on one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Distance of the pictures, seconds.
    pub step_s: f64,
    /// Pictures with a request.
    pub pictures: u64,
    /// Pictures with at least two.
    pub loaded_pictures: u64,
    /// Targets that had requests in any of them.
    pub targets: u64,
    /// Mean number of requests, over the loaded pictures like all below; `null` without any.
    pub mean_in_flight: Option<f64>,
    /// Mean number of targets with a request.
    pub mean_busy_targets: Option<f64>,
    /// Mean of the spread.
    pub mean_spread: Option<f64>,
    /// Mean of the spread that as many requests would have if each chose its target by chance.
    pub chance_spread: Option<f64>,
    /// Spread of the mean number of requests: how even the targets are used in the long run.
    pub long_run_spread: Option<f64>,
}
