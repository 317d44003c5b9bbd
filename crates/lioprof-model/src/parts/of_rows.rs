//! What a `GROUP BY` over the rows gives. Rows of clients' logs are left out.

use serde::{Deserialize, Serialize};

use super::sums::{CombinationSums, FailureSums, FaultSums, ObjectsSums, ThrottleSums};
use super::{Bucket, Keyed};
use crate::io::Io;

/// What RPCs of a [`Combination`] have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CombinationKey {
    /// Node.
    pub node: String,
    /// Client.
    pub nid: String,
    /// Its uuid.
    pub client_uuid: String,
    /// Job.
    pub job: Option<String>,
    /// Opcode.
    pub opcode: u32,
    /// Target.
    pub target: Option<String>,
    /// Handled by a service of an MDS, or of an MDT: its data are Data-on-MDT.
    pub mdt: bool,
    /// User.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Project.
    pub projid: Option<u32>,
}

/// RPCs grouped by every counting key.
pub type Combination = Keyed<CombinationKey, CombinationSums>;

/// How targets and sizes of reads and writes are known. Key: both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// How the sizes are known.
    pub size_evidence: String,
    /// How the targets are known.
    pub target_evidence: String,
    /// Reads and writes.
    pub rpcs: u64,
}

/// A span of an RPC's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Span {
    /// Arrival to start.
    Queue,
    /// Start to end.
    Service,
    /// Arrival to end.
    #[default]
    Total,
}

/// Times of a target's reads or writes. Key: everything up to the bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetTimes {
    /// Node.
    pub node: String,
    /// Target.
    pub target: Option<String>,
    /// See [`CombinationKey::mdt`].
    pub mdt: bool,
    /// Opcode: read or write.
    pub opcode: u32,
    /// Span.
    pub span: Span,
    /// Times.
    pub times: Bucket,
}

/// Sizes of a target's reads or writes that did not fail. Key: everything up to `log2_bytes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetSizes {
    /// Node.
    pub node: String,
    /// Target.
    pub target: Option<String>,
    /// See [`CombinationKey::mdt`].
    pub mdt: bool,
    /// Opcode: read or write.
    pub opcode: u32,
    /// The smallest power of two not below the bytes, as its exponent.
    pub log2_bytes: u32,
    /// RPCs.
    pub rpcs: u64,
    /// Of these, with an estimated size.
    pub bounded_rpcs: u64,
}

/// A part of the service time of a read or write, see [`crate::ServiceParts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServicePart {
    /// Before the bulk transfer.
    Before,
    /// The transfer.
    #[default]
    Transfer,
    /// After it.
    After,
}

/// Parts of the service times of a client's reads or writes on a target. Key: everything up to the bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartTimes {
    /// Node.
    pub node: String,
    /// Target.
    pub target: Option<String>,
    /// See [`CombinationKey::mdt`].
    pub mdt: bool,
    /// Client.
    pub nid: String,
    /// Opcode: read or write.
    pub opcode: u32,
    /// See [`TargetSizes::log2_bytes`].
    pub log2_bytes: u32,
    /// Part.
    pub part: ServicePart,
    /// Times.
    pub times: Bucket,
    /// Bytes of these RPCs.
    pub bytes: u64,
    /// When the first of them ended, on the node's own clock.
    pub first_us: i64,
    /// When the last of them ended.
    pub last_us: i64,
}

/// RPCs of an operation at a service. Key: opcode and service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Opcode.
    pub opcode: u32,
    /// Service: name of its threads without numbers.
    pub service: String,
    /// RPCs.
    pub rpcs: u64,
    /// Failed ones.
    pub errors: u64,
}

/// Times of an operation at a service. Key: everything up to the bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationTimes {
    /// Opcode.
    pub opcode: u32,
    /// Service.
    pub service: String,
    /// Span.
    pub span: Span,
    /// Times.
    pub times: Bucket,
}

/// An object: those with most bytes. Key: target and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Target.
    pub target: String,
    /// First word of the FID; `None`: named by a resource.
    pub fid_seq: Option<u64>,
    /// Second word.
    pub fid_oid: Option<u32>,
    /// Third word.
    pub fid_ver: Option<u32>,
    /// First word of the resource.
    pub resource_0: Option<u64>,
    /// Second word.
    pub resource_1: Option<u64>,
    /// Reads.
    #[serde(with = "Io")]
    pub read: Io,
    /// Writes.
    #[serde(with = "Io")]
    pub write: Io,
    /// Clients.
    pub clients: u64,
    /// Clients that wrote.
    pub writers: u64,
    /// Lowest byte.
    pub first_byte: Option<u64>,
    /// Highest byte.
    pub last_byte: Option<u64>,
}

/// RPCs that nodes sent. Key: everything up to the NID.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Node.
    pub node: String,
    /// Opcode.
    pub opcode: u32,
    /// Sending device.
    pub device: String,
    /// Destination.
    pub nid: String,
    /// RPCs sent.
    pub rpcs: u64,
}

/// Round trips of RPCs that nodes sent. Key: everything but the times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentTimes {
    /// Node.
    pub node: String,
    /// Opcode.
    pub opcode: u32,
    /// Sending device.
    pub device: String,
    /// Destination.
    pub nid: String,
    /// Times.
    pub times: Vec<Bucket>,
}

/// What [`Failures`] are of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailuresKey {
    /// Node.
    pub node: String,
    /// Client.
    pub nid: String,
    /// Job.
    pub job: Option<String>,
    /// Opcode.
    pub opcode: u32,
    /// Target.
    pub target: Option<String>,
    /// As in [`CombinationKey::mdt`].
    pub mdt: bool,
    /// Status, negative.
    pub rc: i32,
}

/// Requests that ended with an error. Times are on the node's own clock.
pub type Failures = Keyed<FailuresKey, FailureSums>;

/// What [`Throttles`] are of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThrottlesKey {
    /// Node.
    pub node: String,
    /// Service.
    pub service: String,
    /// Requests a second that the rule allows.
    pub tbf_rate: u32,
    /// Client.
    pub nid: String,
    /// Job.
    pub job: Option<String>,
}

/// Requests that a rule of a token bucket filter let through. Times are on the node's own clock.
pub type Throttles = Keyed<ThrottlesKey, ThrottleSums>;

/// What [`Faults`] are of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultsKey {
    /// Node.
    pub node: String,
    /// Client.
    pub nid: String,
}

/// What else went wrong with a client's requests. Times are on the node's own clock.
pub type Faults = Keyed<FaultsKey, FaultSums>;

/// All of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfRows {
    /// RPCs.
    pub combinations: Vec<Combination>,
    /// Evidence.
    pub evidence: Vec<Evidence>,
    /// Times of targets.
    pub target_times: Vec<TargetTimes>,
    /// Sizes of targets' reads and writes.
    pub target_sizes: Vec<TargetSizes>,
    /// Parts of service times.
    pub part_times: Vec<PartTimes>,
    /// Operations.
    pub operations: Vec<Operation>,
    /// Their times.
    pub operation_times: Vec<OperationTimes>,
    /// The busiest objects, busiest first.
    pub objects: Vec<Object>,
    /// All objects.
    pub all_objects: ObjectsSums,
    /// RPCs sent.
    pub sent: Vec<Sent>,
    /// Their round trips.
    pub sent_times: Vec<SentTimes>,
    /// Requests that ended with an error.
    pub failures: Vec<Failures>,
    /// Requests that rules of token bucket filters let through.
    pub throttles: Vec<Throttles>,
    /// Faults.
    pub faults: Vec<Faults>,
}
