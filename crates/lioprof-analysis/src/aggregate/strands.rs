//! Rows that are alike in everything they are counted by, counted together first.
//!
//! A row adds to its node, client, job, owner, flow and target: six look-ups and more. Clients ask for the same
//! things over and over, so rows are counted per combination of all of these, which takes one, and combinations are
//! taken apart once in a while.

use lioprof_model::parts::sums::StrandSums;
use lioprof_model::{RpcRow, Symbol};
use lustre_debuglog::Opcode;
use rustc_hash::FxHashMap;

use super::cells::{OwnerKey, TargetKey};

/// Combinations kept before they are taken apart.
const MAX_STRANDS: usize = 1 << 14;

/// All that a row is counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StrandKey {
    pub(super) nid: Symbol,
    pub(super) client_uuid: Symbol,
    pub(super) job: Option<Symbol>,
    pub(super) opcode: Opcode,
    pub(super) target: TargetKey,
    pub(super) owner: Option<OwnerKey>,
}

/// Combinations and their sums.
#[derive(Clone, Debug, Default)]
pub(super) struct Strands {
    strands: FxHashMap<StrandKey, StrandSums>,
}

impl Strands {
    /// Counts a row of this target. Returns whether it is time to take the combinations apart.
    pub(super) fn add(&mut self, row: &RpcRow, target: TargetKey) -> bool {
        let owner = row.uid.map(|uid| OwnerKey { uid, gid: row.gid, projid: row.projid });
        let RpcRow { nid, client_uuid, job, opcode, .. } = *row;
        let strand = self.strands.entry(StrandKey { nid, client_uuid, job, opcode, target, owner }).or_default();
        strand.rpcs += 1;
        strand.resent += u64::from(row.resent);
        strand.replayed += u64::from(row.replay);
        if row.direction().is_some() {
            strand.io.add(row.size, row.failed());
        }
        self.strands.len() >= MAX_STRANDS
    }

    /// Adds what was counted before. Returns whether it is time to take the combinations apart.
    pub(super) fn put(&mut self, key: StrandKey, theirs: &StrandSums) -> bool {
        self.strands.entry(key).or_default().merge(theirs);
        self.strands.len() >= MAX_STRANDS
    }

    /// Takes all combinations out.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (StrandKey, StrandSums)> {
        std::mem::take(&mut self.strands).into_iter()
    }
}
