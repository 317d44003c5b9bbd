//! Rows that are alike in everything they are counted by, counted together first.
//!
//! A row adds to its node, client, job, owner, flow and target: six look-ups and more. Clients ask for the same
//! things over and over, so rows are counted per combination of all of these, which takes one, and combinations are
//! taken apart once in a while.

use lioprof_model::parts::sums::CombinationSums;
use lioprof_model::{RpcRow, Symbol};
use lustre_debuglog::Opcode;
use rustc_hash::FxHashMap;

use super::entries::{OwnerKey, TargetKey};

/// Combinations kept before they are taken apart.
const MAX_COMBINATIONS: usize = 1 << 14;

/// All that a row is counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CombinationKey {
    pub(super) nid: Symbol,
    pub(super) client_uuid: Symbol,
    pub(super) job: Option<Symbol>,
    pub(super) opcode: Opcode,
    pub(super) target: TargetKey,
    pub(super) owner: Option<OwnerKey>,
}

/// Combinations and their sums.
#[derive(Clone, Debug, Default)]
pub(super) struct Combinations {
    combinations: FxHashMap<CombinationKey, CombinationSums>,
}

impl Combinations {
    /// Counts a row of this target. Returns whether it is time to take the combinations apart.
    pub(super) fn add(&mut self, row: &RpcRow, target: TargetKey) -> bool {
        let owner = row.uid.map(|uid| OwnerKey { uid, gid: row.gid, projid: row.projid });
        let RpcRow { nid, client_uuid, job, opcode, .. } = *row;
        let combination =
            self.combinations.entry(CombinationKey { nid, client_uuid, job, opcode, target, owner }).or_default();
        combination.rpcs += 1;
        combination.resent += u64::from(row.resent);
        combination.replayed += u64::from(row.replay);
        combination.service_us += row.service_us.unwrap_or(0);
        if row.direction().is_some() {
            combination.io.add(row.size, row.failed());
        }
        self.combinations.len() >= MAX_COMBINATIONS
    }

    /// Takes all combinations out.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (CombinationKey, CombinationSums)> + use<> {
        std::mem::take(&mut self.combinations).into_iter()
    }
}
