//! What is summed up for one target, client, job, operation or node.

use std::collections::BTreeMap;

use lioprof_model::merge::{all_of, earliest, latest};
use lioprof_model::parts::sums::{NodeRpcs, OpcodeSums};
use lioprof_model::{Io, ReadWrite, SizeHistogram, Symbol};
use lustre_debuglog::{Opcode, TargetKind, TargetName};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::services::ServiceSums;
use crate::cells::{QuarterOctaves, RpcTimes, Times};
use crate::renumber::renumber_fields;

/// A target of a node; without a name, its reads and writes of unknown target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct TargetKey {
    pub(super) node: Symbol,
    pub(super) kind: TargetKind,
    pub(super) name: Option<TargetName>,
}

renumber_fields!(TargetKey { node } without { kind, name });

impl TargetKey {
    pub(super) fn mdt(&self) -> bool {
        self.kind == TargetKind::Mdt
    }

    pub(super) fn target(&self) -> Option<String> {
        self.name.map(|name| name.to_string())
    }
}

/// Reads or writes of a target.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TargetDirection {
    pub(super) io: Io,
    pub(super) sizes: SizeHistogram,
    pub(super) times: RpcTimes,
}

lioprof_model::merge_fields!(TargetDirection { io, sizes, times });

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TargetSum {
    pub(super) moved: ReadWrite<TargetDirection>,
    pub(super) opcodes: BTreeMap<u32, u64>,
}

lioprof_model::merge_fields!(TargetSum { moved, opcodes });

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct NodeSum {
    pub(super) sums: NodeRpcs,
    pub(super) first_us: Option<i64>,
    pub(super) last_us: Option<i64>,
    pub(super) traced_us: Vec<[i64; 2]>,
    /// No server: of its RPCs only numbers are told.
    pub(super) client: bool,
    /// What services did, by the thread that stands for all of theirs.
    pub(super) services: FxHashMap<Symbol, ServiceSums>,
}

lioprof_model::merge_fields!(NodeSum { sums } by {
    first_us: earliest, last_us: latest, traced_us: all_of, client: either, services: all_services,
});

renumber_fields!(NodeSum {} keys { services } without { sums, first_us, last_us, traced_us, client });

impl NodeSum {
    pub(super) fn count_sent(&mut self, opcode: Opcode, rpcs: u64) {
        self.sums.sent_rpcs += rpcs;
        match opcode {
            Opcode::OST_READ => self.sums.sent_reads += rpcs,
            Opcode::OST_WRITE => self.sums.sent_writes += rpcs,
            _ => {}
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct OwnerKey {
    pub(super) uid: u32,
    pub(super) gid: Option<u32>,
    pub(super) projid: Option<u32>,
}

/// What a client, by NID, did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ClientSum {
    pub(super) uuids: FxHashSet<Symbol>,
    pub(super) server: bool,
    pub(super) rpcs: u64,
    pub(super) io: ReadWrite,
    pub(super) opcodes: BTreeMap<u32, OpcodeSums>,
}

lioprof_model::merge_fields!(ClientSum { uuids, rpcs, io, opcodes } by { server: either });
renumber_fields!(ClientSum { uuids } without { server, rpcs, io, opcodes });

/// What a job did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct JobSum {
    pub(super) rpcs: u64,
    pub(super) io: ReadWrite,
    pub(super) clients: FxHashSet<Symbol>,
    pub(super) targets: FxHashSet<TargetName>,
    pub(super) opcodes: BTreeMap<u32, OpcodeSums>,
}

lioprof_model::merge_fields!(JobSum { rpcs, io, clients, targets, opcodes });
renumber_fields!(JobSum { clients } without { rpcs, io, targets, opcodes });

/// The RPCs of an opcode at a service.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct OperationSum {
    pub(super) rpcs: u64,
    pub(super) errors: u64,
    pub(super) times: RpcTimes,
    pub(super) total_histogram: QuarterOctaves,
}

lioprof_model::merge_fields!(OperationSum { rpcs, errors, times, total_histogram });

/// The node that sent RPCs, their opcode, the device and the NID that they went to.
pub(super) type SentKey = (Symbol, Opcode, Symbol, Symbol);

/// RPCs that a node sent, and their round trips.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SentSum {
    pub(super) rpcs: u64,
    pub(super) round_trip: Times,
}

lioprof_model::merge_fields!(SentSum { rpcs, round_trip });

fn either(mine: &mut bool, theirs: &bool) {
    *mine |= theirs;
}

/// Each thread is one of one node.
fn all_services(mine: &mut FxHashMap<Symbol, ServiceSums>, theirs: &FxHashMap<Symbol, ServiceSums>) {
    mine.extend(theirs);
}
