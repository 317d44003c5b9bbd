//! Parts of the time of lock requests, summed up.

use lioprof_model::Symbol;
use lustre_debuglog::TargetName;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::cells::Times;
use crate::renumber::renumber_fields;

/// The parts of one request's time, µs. They add up to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) queue_us: u64,
    pub(super) service_us: u64,
    pub(super) lock_wait_us: u64,
    pub(super) other_wait_us: u64,
}

/// Requests, and the times of those whose parts are known.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EnqueueSum {
    pub(super) unknown: u64,
    pub(super) total: Times,
    pub(super) queue: Times,
    pub(super) service: Times,
    pub(super) lock_wait: Times,
    pub(super) other_wait: Times,
}

lioprof_model::merge_fields!(EnqueueSum { unknown, total, queue, service, lock_wait, other_wait });

impl EnqueueSum {
    fn add(&mut self, split: Option<Split>) {
        let Some(Split { queue_us, service_us, lock_wait_us, other_wait_us }) = split else {
            self.unknown += 1;
            return;
        };
        self.total.add(queue_us + service_us + lock_wait_us + other_wait_us);
        self.queue.add(queue_us);
        self.service.add(service_us);
        self.lock_wait.add(lock_wait_us);
        self.other_wait.add(other_wait_us);
    }
}

/// Lock requests by target and by client.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EnqueueSums {
    /// By node and target; the target is `None` if no lock line of a request is in the log.
    pub(super) targets: FxHashMap<(Symbol, Option<TargetName>), EnqueueSum>,
    /// By client.
    pub(super) clients: FxHashMap<Symbol, EnqueueSum>,
}

lioprof_model::merge_fields!(EnqueueSums { targets, clients });
renumber_fields!(EnqueueSums {} keys { targets, clients });

impl EnqueueSums {
    pub(super) fn add(&mut self, node: Symbol, target: Option<TargetName>, nid: Symbol, split: Option<Split>) {
        self.targets.entry((node, target)).or_default().add(split);
        self.clients.entry(nid).or_default().add(split);
    }
}
