//! Small RPCs between large ones, by client.

use lioprof_model::{Merge, MixSum, Symbol};
use lustre_debuglog::TargetName;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::class::Class;
use crate::renumber::renumber_fields;

/// What a client sent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ClientSum {
    pub(super) sum: MixSum,
    last: Option<Class>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Mixes {
    pub(super) clients: FxHashMap<Symbol, ClientSum>,
    /// What each client sent to each target, as far as the objects are known.
    pub(super) targets: FxHashMap<(Symbol, TargetName), MixSum>,
}

renumber_fields!(Mixes {} keys { clients, targets });

impl Mixes {
    /// A client's next RPC.
    pub(super) fn add(&mut self, nid: Symbol, class: Class, us: u64) {
        let client = self.clients.entry(nid).or_default();
        client.sum.turns += u64::from(client.last.replace(class).is_some_and(|last| last != class));
        add(&mut client.sum, class, us);
    }

    /// What a client sent to a target, as far as the objects are known.
    pub(super) fn target(&mut self, nid: Symbol, target: TargetName, sum: &MixSum) {
        self.targets.entry((nid, target)).or_default().merge(sum);
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (nid, theirs) in other.clients {
            self.clients.entry(nid).or_default().sum.merge(&theirs.sum);
        }
        self.targets.merge(&other.targets);
    }
}

/// Counts an RPC.
pub(super) fn add(sum: &mut MixSum, class: Class, us: u64) {
    match class {
        Class::Small => {
            sum.small_rpcs += 1;
            sum.small_us += us;
        }
        Class::Large => {
            sum.large_rpcs += 1;
            sum.large_us += us;
        }
    }
}
