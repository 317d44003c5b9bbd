//! Small RPCs between large ones, by client.

use lioprof_model::{MixSum, RpcRow, Symbol};
use lustre_debuglog::TargetName;
use rustc_hash::FxHashMap;

use super::Class;

/// What a client sent.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientSum {
    pub(super) sum: MixSum,
    pub(super) targets: FxHashMap<TargetName, MixSum>,
    last: Option<Class>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Mixes {
    pub(super) clients: FxHashMap<Symbol, ClientSum>,
}

impl Mixes {
    pub(super) fn add(&mut self, row: &RpcRow, class: Option<Class>) {
        let Some(class) = class else { return };
        let client = self.clients.entry(row.nid).or_default();
        let turned = client.last.replace(class).is_some_and(|last| last != class);
        let us = row.total_us.unwrap_or(0);
        let one = match class {
            Class::Small => MixSum { small_rpcs: 1, small_us: us, ..MixSum::default() },
            Class::Large => MixSum { large_rpcs: 1, large_us: us, ..MixSum::default() },
        };
        merge(&mut client.sum, &MixSum { turns: u64::from(turned), ..one });
        if let Some(target) = row.target {
            merge(client.targets.entry(target).or_default(), &one);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (nid, theirs) in other.clients {
            let mine = self.clients.entry(nid).or_default();
            merge(&mut mine.sum, &theirs.sum);
            for (target, sum) in theirs.targets {
                merge(mine.targets.entry(target).or_default(), &sum);
            }
        }
    }
}

pub(super) fn merge(mine: &mut MixSum, theirs: &MixSum) {
    mine.small_rpcs += theirs.small_rpcs;
    mine.small_us += theirs.small_us;
    mine.large_rpcs += theirs.large_rpcs;
    mine.large_us += theirs.large_us;
    mine.turns += theirs.turns;
}
