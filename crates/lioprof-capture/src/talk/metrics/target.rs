//! Figures of one target.

use lioprof_model::{Direction, RpcSize};
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper bounds of the buckets of times, seconds: from a cached read to a stuck disk, four per decade.
const SECONDS: [f64; 21] = [
    0.000_1, 0.000_25, 0.000_5, 0.000_75, 0.001, 0.002_5, 0.005, 0.007_5, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5,
    0.75, 1.0, 2.5, 5.0, 10.0, 60.0,
];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TargetLabel {
    target: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DirectionLabels {
    target: String,
    direction: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallbackLabels {
    target: String,
    kind: Callback,
}

/// What a server tells the holder of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callback {
    /// LDLM_BL_CALLBACK: give it back.
    Blocking,
    /// LDLM_CP_CALLBACK: it is yours.
    Completion,
    /// LDLM_GL_CALLBACK: how large is the file?
    Glimpse,
}

impl EncodeLabelValue for Callback {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        let name = match self {
            Self::Blocking => "blocking",
            Self::Completion => "completion",
            Self::Glimpse => "glimpse",
        };
        name.encode(encoder)
    }
}

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

/// The families of all targets.
#[derive(Debug)]
pub(super) struct Families {
    rpcs: Family<TargetLabel, Counter>,
    errors: Family<TargetLabel, Counter>,
    io_rpcs: Family<DirectionLabels, Counter>,
    io_bytes: Family<DirectionLabels, Counter>,
    inexact: Family<DirectionLabels, Counter>,
    queue: Family<TargetLabel, Histogram, fn() -> Histogram>,
    service: Family<TargetLabel, Histogram, fn() -> Histogram>,
    callbacks: Family<CallbackLabels, Counter>,
    conflicts: Family<TargetLabel, Counter>,
}

impl Families {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let it = Self {
            rpcs: Family::default(),
            errors: Family::default(),
            io_rpcs: Family::default(),
            io_bytes: Family::default(),
            inexact: Family::default(),
            queue: Family::new_with_constructor(seconds),
            service: Family::new_with_constructor(seconds),
            callbacks: Family::default(),
            conflicts: Family::default(),
        };
        registry.register("rpcs", "RPCs handled", it.rpcs.clone());
        registry.register("rpc_errors", "RPCs that failed", it.errors.clone());
        registry.register("io_rpcs", "Reads and writes of objects", it.io_rpcs.clone());
        let help = "Bytes read and written, best estimate";
        registry.register_with_unit("io", help, Unit::Bytes, it.io_bytes.clone());
        registry.register(
            "io_inexact_rpcs",
            "Reads and writes whose bytes are estimated or unknown",
            it.inexact.clone(),
        );
        let help = "Time from the arrival of an RPC to its handling";
        registry.register_with_unit("rpc_queue", help, Unit::Seconds, it.queue.clone());
        registry.register_with_unit("rpc_service", "Time to handle an RPC", Unit::Seconds, it.service.clone());
        registry.register("lock_callbacks", "Lock callbacks sent to clients", it.callbacks.clone());
        registry.register("lock_conflicts", "Lock requests that conflicted with another client", it.conflicts.clone());
        it
    }

    pub(super) fn target(&self, target: &str) -> TargetMetrics {
        let label = TargetLabel { target: target.to_owned() };
        let both = |family: &Family<DirectionLabels, Counter>| {
            ["read", "write"]
                .map(|direction| family.get_or_create_owned(&DirectionLabels { target: target.to_owned(), direction }))
        };
        let callback = |kind| self.callbacks.get_or_create_owned(&CallbackLabels { target: target.to_owned(), kind });
        TargetMetrics {
            rpcs: self.rpcs.get_or_create_owned(&label),
            errors: self.errors.get_or_create_owned(&label),
            io_rpcs: both(&self.io_rpcs),
            io_bytes: both(&self.io_bytes),
            inexact: both(&self.inexact),
            queue: self.queue.get_or_create_owned(&label),
            service: self.service.get_or_create_owned(&label),
            callbacks: [Callback::Blocking, Callback::Completion, Callback::Glimpse].map(callback),
            conflicts: self.conflicts.get_or_create_owned(&label),
        }
    }
}

/// Counters of one target. Cheap to clone and to update from any thread.
#[derive(Clone, Debug)]
pub struct TargetMetrics {
    rpcs: Counter,
    errors: Counter,
    io_rpcs: [Counter; 2],
    io_bytes: [Counter; 2],
    inexact: [Counter; 2],
    queue: Histogram,
    service: Histogram,
    callbacks: [Counter; 3],
    conflicts: Counter,
}

impl TargetMetrics {
    /// Counts a handled RPC and its times, where they are known.
    pub fn rpc(&self, failed: bool, queue_us: Option<u64>, service_us: Option<u64>) {
        self.rpcs.inc();
        if failed {
            self.errors.inc();
        }
        for (histogram, time_us) in [(&self.queue, queue_us), (&self.service, service_us)] {
            if let Some(us) = time_us {
                histogram.observe(std::time::Duration::from_micros(us).as_secs_f64());
            }
        }
    }

    /// Counts the data of a read or write (which [`Self::rpc`] counts as an RPC). A failed one moves none.
    pub fn io(&self, direction: Direction, size: RpcSize) {
        let at = match direction {
            Direction::Read => 0,
            Direction::Write => 1,
        };
        self.io_rpcs[at].inc();
        match size {
            RpcSize::Exact(bytes) => {
                self.io_bytes[at].inc_by(bytes);
            }
            RpcSize::Bounded { best, .. } => {
                self.io_bytes[at].inc_by(best);
                self.inexact[at].inc();
            }
            RpcSize::Unknown => {
                self.inexact[at].inc();
            }
        }
    }

    /// Counts lock callbacks.
    pub fn callbacks(&self, kind: Callback, count: u64) {
        let at = match kind {
            Callback::Blocking => 0,
            Callback::Completion => 1,
            Callback::Glimpse => 2,
        };
        self.callbacks[at].inc_by(count);
    }

    /// Counts conflicts between clients.
    pub fn conflicts(&self, count: u64) {
        self.conflicts.inc_by(count);
    }
}
