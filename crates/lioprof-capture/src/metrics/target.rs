//! Figures of one target.

use lioprof_model::{Direction, RpcSize};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::register::add;

/// Upper bounds of the buckets of times, seconds: from a cached read to a stuck disk, four per decade.
const SECONDS: [f64; 21] = [
    0.000_1, 0.000_25, 0.000_5, 0.000_75, 0.001, 0.002_5, 0.005, 0.007_5, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5,
    0.75, 1.0, 2.5, 5.0, 10.0, 60.0,
];

/// The label of a target.
type OfTarget = [(&'static str, String); 1];
/// The label of a target, and one more.
type OfTargetAnd = [(&'static str, String); 2];
type Histograms = Family<OfTarget, Histogram, fn() -> Histogram>;

/// What a server tells the holder of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Callback {
    /// LDLM_BL_CALLBACK: give it back.
    Blocking,
    /// LDLM_CP_CALLBACK: it is yours.
    Completion,
    /// LDLM_GL_CALLBACK: how large is the file?
    Glimpse,
}

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

/// The families of all targets.
#[derive(Debug)]
pub(super) struct Families {
    rpcs: Family<OfTarget, Counter>,
    errors: Family<OfTarget, Counter>,
    io_rpcs: Family<OfTargetAnd, Counter>,
    io_bytes: Family<OfTargetAnd, Counter>,
    inexact: Family<OfTargetAnd, Counter>,
    queue: Histograms,
    service: Histograms,
    callbacks: Family<OfTargetAnd, Counter>,
    conflicts: Family<OfTarget, Counter>,
}

impl Families {
    pub(super) fn register(it: &mut Registry) -> Self {
        let (s, queue) = (Some(Unit::Seconds), "Time from the arrival of an RPC to its handling");
        let inexact = "Reads and writes whose bytes are estimated or unknown";
        let conflicts = "Lock requests that conflicted with another client";
        Self {
            rpcs: add(it, "rpcs", None, "RPCs handled", Family::default()),
            errors: add(it, "rpc_errors", None, "RPCs that failed", Family::default()),
            io_rpcs: add(it, "io_rpcs", None, "Reads and writes of objects", Family::default()),
            io_bytes: add(it, "io", Some(Unit::Bytes), "Bytes read and written, best estimate", Family::default()),
            inexact: add(it, "io_inexact_rpcs", None, inexact, Family::default()),
            queue: add(it, "rpc_queue", s.clone(), queue, Family::new_with_constructor(seconds)),
            service: add(it, "rpc_service", s, "Time to handle an RPC", Family::new_with_constructor(seconds)),
            callbacks: add(it, "lock_callbacks", None, "Lock callbacks sent to clients", Family::default()),
            conflicts: add(it, "lock_conflicts", None, conflicts, Family::default()),
        }
    }

    pub(super) fn target(&self, target: &str) -> TargetMetrics {
        let label = [("target", target.to_owned())];
        let and = |name, value: &str| [("target", target.to_owned()), (name, value.to_owned())];
        let both = |family: &Family<OfTargetAnd, Counter>| {
            ["read", "write"].map(|direction| family.get_or_create_owned(&and("direction", direction)))
        };
        let callback = |kind: Callback| self.callbacks.get_or_create_owned(&and("kind", kind.into()));
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
pub(crate) struct TargetMetrics {
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
    pub(crate) fn rpc(&self, failed: bool, queue_us: Option<u64>, service_us: Option<u64>) {
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
    pub(crate) fn io(&self, direction: Direction, size: RpcSize) {
        let at = match direction {
            Direction::Read => 0,
            Direction::Write => 1,
        };
        self.io_rpcs[at].inc();
        if let RpcSize::Exact(bytes) | RpcSize::Bounded { best: bytes, .. } = size {
            self.io_bytes[at].inc_by(bytes);
        }
        if !matches!(size, RpcSize::Exact(_)) {
            self.inexact[at].inc();
        }
    }

    /// Counts lock callbacks.
    pub(crate) fn callbacks(&self, kind: Callback, count: u64) {
        self.callbacks[kind as usize].inc_by(count);
    }

    /// Counts conflicts between clients.
    pub(crate) fn conflicts(&self, count: u64) {
        self.conflicts.inc_by(count);
    }
}
