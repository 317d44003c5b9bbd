//! Single RPCs for plots: all of a small capture, else a sample that does not depend on order.

use lioprof_model::{Direction, RpcRow, Symbol, Symbols};
use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{Extent, TargetKind, TargetName};
use serde::{Deserialize, Serialize};

use crate::cells::limits::SAMPLE_RPCS;
use crate::renumber::renumber_fields;

/// One RPC of the sample.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SampledRpc {
    pub(crate) hash: u64,
    pub(crate) node: Symbol,
    pub(crate) nid: Symbol,
    pub(crate) xid: u64,
    /// Kind of its target, which may be unknown itself.
    pub(crate) kind: TargetKind,
    pub(crate) direction: Direction,
    pub(crate) arrival_us: i64,
    pub(crate) start_us: i64,
    pub(crate) end_us: i64,
    pub(crate) target: Option<TargetName>,
    pub(crate) object: Option<ObjectName>,
    pub(crate) extent: Option<Extent>,
    pub(crate) bytes: Option<u64>,
    pub(crate) job: Option<Symbol>,
    /// Before the bulk transfer and during it, where the log shows both without doubt.
    pub(crate) bulk_us: Option<(u64, u64)>,
}

renumber_fields!(SampledRpc { node, nid, job } without {
    hash, xid, kind, direction, arrival_us, start_us, end_us, target, object, extent, bytes, bulk_us
});

/// A sample of reads and writes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// RPCs are kept if their hash, shifted right by 64 minus this, is zero.
    halvings: u32,
    pub(crate) kept: Vec<SampledRpc>,
}

renumber_fields!(Sample { kept } without { halvings });

impl Sample {
    pub(crate) fn one_in(&self) -> u64 {
        1 << self.halvings
    }

    pub(crate) fn add(&mut self, row: &RpcRow, kind: TargetKind, symbols: &Symbols) {
        let (Some(direction), Some(arrival_us), Some(start_us)) = (row.direction(), row.arrival_us(), row.start_us())
        else {
            return;
        };
        let hash = hash(symbols.bytes(row.nid), row.xid.0);
        if !keeps(self.halvings, hash) {
            return;
        }
        self.kept.push(SampledRpc {
            hash,
            node: row.node,
            nid: row.nid,
            xid: row.xid.0,
            kind,
            direction,
            arrival_us,
            start_us,
            end_us: row.end_us,
            target: row.target,
            object: row.object,
            extent: row.extent,
            bytes: row.size.best_bytes(),
            job: row.job,
            bulk_us: row.after_bulk_us().and(row.bulk).map(|it| (it.before_us, it.transfer_us)),
        });
        self.thin();
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.halvings = self.halvings.max(other.halvings);
        self.kept.extend(other.kept);
        self.kept.retain(|kept| keeps(self.halvings, kept.hash));
        self.thin();
    }

    fn thin(&mut self) {
        while self.kept.len() > SAMPLE_RPCS && self.halvings < 63 {
            self.halvings += 1;
            self.kept.retain(|kept| keeps(self.halvings, kept.hash));
        }
    }
}

fn keeps(halvings: u32, hash: u64) -> bool {
    halvings == 0 || hash >> (64 - halvings) == 0
}

/// A hash that is the same on every machine and run (FNV-1a, mixed): it decides what is in the output.
fn hash(nid: &[u8], xid: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for &byte in nid.iter().chain(&xid.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ hash >> 29
}
