//! Exact sums over what was written, counted on the way: what engines have to find.

use std::collections::BTreeMap;

use lioprof_model::{LockEvent, LockHappening, ReadWrite, RpcRow};
use lustre_debuglog::{Opcode, TargetName};
use serde::Serialize;

/// Sums over a node, or all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Truth {
    /// Number of RPCs in the rows.
    pub rpcs: u64,
    /// Number of lock events in the rows.
    pub lock_events: u64,
    /// Sent RPCs, and answers to them.
    pub sent_rpcs: u64,
    /// Parts of the dataset.
    pub parts: u64,
    /// Bytes of all files.
    pub disk_bytes: u64,
    /// Sum of service times.
    pub service_us: u64,
    /// Sum of the times from arrival to end.
    pub total_us: u64,
    /// What was read and written.
    #[serde(flatten)]
    pub moved: ReadWrite,
    /// RPCs by opcode.
    pub opcodes: BTreeMap<String, u64>,
    /// By target; `unknown` is what names none.
    pub targets: BTreeMap<String, TargetTruth>,
    /// How often each capture was played.
    pub plays: BTreeMap<String, u64>,
}

/// Sums over a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TargetTruth {
    /// Number of RPCs in the rows.
    pub rpcs: u64,
    /// What was read and written.
    #[serde(flatten)]
    pub moved: ReadWrite,
    /// Number of lock events in the rows.
    pub lock_events: u64,
}

lioprof_model::merge_fields!(TargetTruth { rpcs, moved, lock_events });

lioprof_model::merge_fields!(Truth {
    rpcs,
    lock_events,
    sent_rpcs,
    parts,
    disk_bytes,
    service_us,
    total_us,
    moved,
    opcodes,
    targets,
    plays
});

/// Sums while rows are written: by number, names come last.
#[derive(Debug, Default)]
pub(super) struct Counting {
    truth: Truth,
    opcodes: BTreeMap<Opcode, u64>,
    targets: BTreeMap<Option<TargetName>, TargetTruth>,
}

impl Counting {
    pub(super) fn rpc(&mut self, row: &RpcRow) {
        self.truth.rpcs += 1;
        self.truth.service_us += row.service_us.unwrap_or(0);
        self.truth.total_us += row.total_us.unwrap_or(0);
        *self.opcodes.entry(row.opcode).or_default() += 1;
        let target = self.targets.entry(row.target).or_default();
        target.rpcs += 1;
        if let Some(direction) = row.direction() {
            self.truth.moved.add(row, direction);
            target.moved.add(row, direction);
        }
    }

    pub(super) fn lock_event(&mut self, event: &LockEvent) {
        self.truth.lock_events += 1;
        let target = match event.happening {
            LockHappening::Lock(_, lock) => Some(lock.target),
            LockHappening::CallbackTimedOut { target, .. } => Some(target),
            LockHappening::SilentEvicted { target, .. } => target,
            _ => None,
        };
        self.targets.entry(target).or_default().lock_events += 1;
    }

    pub(super) fn sent_rpc(&mut self) {
        self.truth.sent_rpcs += 1;
    }

    pub(super) fn part(&mut self, bytes: u64) {
        self.truth.parts += 1;
        self.truth.disk_bytes += bytes;
    }

    /// The targets that were named so far.
    pub(super) fn targets(&self) -> impl Iterator<Item = TargetName> {
        self.targets.keys().copied().flatten()
    }

    pub(super) fn finish(self) -> Truth {
        let name = |target: Option<TargetName>| target.map_or("unknown".to_owned(), |it| it.to_string());
        Truth {
            opcodes: self.opcodes.into_iter().map(|(opcode, rpcs)| (opcode.to_string(), rpcs)).collect(),
            targets: self.targets.into_iter().map(|(target, sums)| (name(target), sums)).collect(),
            ..self.truth
        }
    }
}
