//! What a node is, as far as its log shows; and what of a client's log belongs into an account of servers.

use std::collections::BTreeSet;

use lioprof_model::traffic::{OperationClass, is_from_server};
use lioprof_model::{NodeRole, Symbol, Symbols};
use lustre_debuglog::{Opcode, TargetKind, TargetName};

use super::sums::Aggregate;

impl Aggregate {
    /// Targets that a node's log names as its own.
    pub(crate) fn targets_of(&self, node: Symbol) -> BTreeSet<TargetName> {
        let seen = self.targets.keys().filter(|key| key.node == node).filter_map(|key| key.name);
        let known = self.targets_known.iter().filter(|(of, _)| *of == node).map(|(_, target)| *target);
        seen.chain(known).collect()
    }

    /// What a node is, by its targets, the services that handled something, and what it sent.
    pub(crate) fn role(&self, node: Symbol, symbols: &Symbols) -> Option<NodeRole> {
        let sum = self.nodes.get(&node)?;
        if sum.client {
            return Some(NodeRole::Client);
        }
        let targets = self.targets_of(node);
        let has = |kind: TargetKind, service: &[u8]| {
            let served = sum.services.keys().any(|&thread| symbols.bytes(thread).starts_with(service));
            served || targets.iter().any(|target| target.kind() == kind)
        };
        match (has(TargetKind::Mdt, b"mdt"), has(TargetKind::Ost, b"ll_ost"), has(TargetKind::Mgs, b"ll_mgs")) {
            (true, true, _) => Some(NodeRole::MdsOss),
            (true, false, _) => Some(NodeRole::Mds),
            (false, true, _) => Some(NodeRole::Oss),
            (false, false, true) => Some(NodeRole::Mgs),
            (false, false, false) => {
                let by_client = |(of, opcode, device, _): &(Symbol, Opcode, Symbol, Symbol)| {
                    *of == node
                        && OperationClass::of(*opcode).is_file_operation()
                        && !is_from_server(symbols.bytes(*device))
                };
                self.sent.keys().any(by_client).then_some(NodeRole::Client)
            }
        }
    }

    /// For a client node keeps only per-node figures: the servers' logs count what it sent, and what it handled are lock callbacks.
    pub(crate) fn of_client(mut self, node: Symbol) -> Self {
        let mut kept = Self::new(self.series.clock.chosen_us());
        if let Some(mut sum) = self.nodes.remove(&node) {
            sum.client = true;
            sum.services.clear();
            kept.nodes.insert(node, sum);
        }
        kept.markers = self.markers;
        kept
    }
}
