//! Figures of one target.

use lioprof_model::{Direction, RpcSize};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::register::{add, figures};

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

fn seconds() -> Histograms {
    Family::new_with_constructor(|| Histogram::new(SECONDS))
}

figures! {
    /// The families of all targets.
    Families;
    rpcs: Family<OfTarget, Counter> = "rpcs", "RPCs handled";
    errors: Family<OfTarget, Counter> = "rpc_errors", "RPCs that failed";
    io_rpcs: Family<OfTargetAnd, Counter> = "io_rpcs", "Reads and writes of objects";
    io_bytes: Family<OfTargetAnd, Counter> = "io" in Unit::Bytes, "Bytes read and written, best estimate";
    inexact: Family<OfTargetAnd, Counter> = "io_inexact_rpcs", "Reads and writes whose bytes are estimated or unknown";
    queue: Histograms = "rpc_queue" in Unit::Seconds, "Time from the arrival of an RPC to its handling", seconds();
    service: Histograms = "rpc_service" in Unit::Seconds, "Time to handle an RPC", seconds();
    callbacks: Family<OfTargetAnd, Counter> = "lock_callbacks", "Lock callbacks sent to clients";
    conflicts: Family<OfTarget, Counter> = "lock_conflicts", "Lock requests that conflicted with another client";
}

impl Families {
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
        let at = direction.pick(0, 1);
        self.io_rpcs[at].inc();
        if let Some(bytes) = size.best_bytes() {
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
