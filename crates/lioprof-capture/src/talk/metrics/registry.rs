//! All figures.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::super::status::{State, Status};
use super::health::Health;
use super::target::{Families, TargetMetrics};
use crate::budget::usage::Usage;

/// Targets that get labels of their own; a node serves a few dozen at most.
const MAX_TARGETS: usize = 128;
/// Label of RPCs whose target is not known, and of targets beyond [`MAX_TARGETS`].
const OTHER_TARGET: &str = "unknown";

type FloatGauge = Gauge<f64, AtomicU64>;
type FloatCounter = Counter<f64, AtomicU64>;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

/// How something was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// A run of records whose head the kernel discarded.
    DiscardedHead,
    /// A request that the schedulers numbered and the log lacks.
    NrsGap,
    /// A record that could not be read.
    BadRecord,
    /// `debug daemon buffer overflowed` in the kernel log.
    BufferOverflow,
}

impl Loss {
    const ALL: [Self; 4] = [Self::DiscardedHead, Self::NrsGap, Self::BadRecord, Self::BufferOverflow];

    fn as_str(self) -> &'static str {
        match self {
            Self::DiscardedHead => "discarded_head",
            Self::NrsGap => "nrs_gap",
            Self::BadRecord => "bad_record",
            Self::BufferOverflow => "buffer_overflow",
        }
    }
}

/// The figures that are not per target.
#[derive(Debug)]
struct Figures {
    records: Counter,
    log_bytes: Counter,
    lock_events: Counter,
    segments: Family<OutcomeLabel, Counter>,
    segment_bytes: Family<OutcomeLabel, Counter>,
    queued: Gauge,
    queued_bytes: Gauge,
    loss: Family<ReasonLabel, Counter>,
    missing_rpcs: Gauge,
    missing_bytes: Gauge,
    kernel_can_write: Gauge,
    spool_free: Gauge,
    state: Family<StateLabel, Gauge>,
    lag: FloatGauge,
    traced_share: FloatGauge,
    budget_steps: Counter,
    files: Counter,
    file_bytes: Counter,
    kept_bytes: Gauge,
    cpu: FloatCounter,
    resident: Gauge,
    threads: Gauge,
}

impl Figures {
    fn register(it: &mut Registry) -> Self {
        it.register("build", "Version of the daemon", Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]));
        Self {
            records: registered(it, "records", "Log records decoded"),
            log_bytes: registered_unit(it, "log", "Bytes of the kernel's log decoded", Unit::Bytes),
            lock_events: registered(it, "lock_events", "Lock events found"),
            segments: registered(it, "segments", "Segments of the kernel's log, by what became of them"),
            segment_bytes: registered_unit(it, "segment", "Bytes of these segments", Unit::Bytes),
            queued: registered(it, "segments_queued", "Segments that wait to be decoded"),
            queued_bytes: registered_unit(it, "segments_queued", "Bytes that wait to be decoded", Unit::Bytes),
            loss: registered(it, "losses", "Signs that records were lost, by kind"),
            missing_rpcs: registered(
                it,
                "missing_rpcs",
                "OST reads and writes that the server's counters have and the trace has not",
            ),
            missing_bytes: registered_unit(it, "missing", "Bytes of these", Unit::Bytes),
            kernel_can_write: registered(
                it,
                "kernel_can_write",
                "0 while the kernel cannot write its log, 1 otherwise",
            ),
            spool_free: registered_unit(it, "spool_free", "Room left where the kernel writes its log", Unit::Bytes),
            state: registered(it, "state", "1 for the state that the daemon is in, 0 for the others"),
            lag: registered_unit(it, "lag", "How far decoding is behind the log", Unit::Seconds),
            traced_share: registered_unit(
                it,
                "traced",
                "Share of the time that is traced",
                Unit::Other("ratio".to_owned()),
            ),
            budget_steps: registered(it, "budget_steps", "Times that the budget changed how much is traced"),
            files: registered(it, "files", "Files written"),
            file_bytes: registered_unit(it, "file", "Bytes of these files", Unit::Bytes),
            kept_bytes: registered_unit(it, "kept", "Bytes of the files that are kept", Unit::Bytes),
            cpu: registered_unit(it, "process_cpu", "CPU time of the daemon", Unit::Seconds),
            resident: registered_unit(it, "process_resident_memory", "Resident memory of the daemon", Unit::Bytes),
            threads: registered(it, "process_threads", "Threads of the daemon"),
        }
    }
}

/// The figures of the daemon. Shared in an `Arc`; every method may be called from any thread.
pub struct Metrics {
    registry: Registry,
    /// What `/healthz` says.
    pub health: Health,
    families: Families,
    figures: Figures,
    targets: Mutex<BTreeMap<String, TargetMetrics>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// All zero.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("lioprof");
        let families = Families::register(&mut registry);
        let figures = Figures::register(&mut registry);
        let metrics = Self { registry, health: Health::default(), families, figures, targets: Mutex::default() };
        // Series that exist from the start can be used in rates at once.
        for outcome in ["decoded", "dropped"] {
            metrics.figures.segments.get_or_create_owned(&OutcomeLabel { outcome });
            metrics.figures.segment_bytes.get_or_create_owned(&OutcomeLabel { outcome });
        }
        for reason in Loss::ALL {
            metrics.lost(reason, 0);
        }
        metrics
    }

    /// The counters of a target, to be kept by whoever updates them. `None`: RPCs whose target is not known.
    #[must_use]
    pub fn target(&self, name: Option<&str>) -> TargetMetrics {
        let proper = |name: &&str| {
            (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        let mut targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        let mut name = name.filter(proper).unwrap_or(OTHER_TARGET);
        if !targets.contains_key(name) && targets.len() >= MAX_TARGETS {
            name = OTHER_TARGET;
        }
        targets.entry(name.to_owned()).or_insert_with(|| self.families.target(name)).clone()
    }

    /// Counts decoded records, bytes and lock events.
    pub fn decoded(&self, records: u64, log_bytes: u64, lock_events: u64) {
        self.figures.records.inc_by(records);
        self.figures.log_bytes.inc_by(log_bytes);
        self.figures.lock_events.inc_by(lock_events);
    }

    /// Counts a segment that is done with: decoded, or dropped because too many were waiting.
    pub fn segment(&self, bytes: u64, dropped: bool) {
        let label = OutcomeLabel { outcome: if dropped { "dropped" } else { "decoded" } };
        self.figures.segments.get_or_create_owned(&label).inc();
        self.figures.segment_bytes.get_or_create_owned(&label).inc_by(bytes);
    }

    /// Counts signs of loss.
    pub fn lost(&self, reason: Loss, count: u64) {
        self.figures.loss.get_or_create_owned(&ReasonLabel { reason: reason.as_str() }).inc_by(count);
    }

    /// Counts a file that was written.
    pub fn file(&self, bytes: u64) {
        self.figures.files.inc();
        self.figures.file_bytes.inc_by(bytes);
    }

    /// Counts a step of the budget.
    pub fn budget_step(&self) {
        self.figures.budget_steps.inc();
    }

    /// Sets what the process uses.
    pub fn usage(&self, usage: &Usage) {
        let bits = usage.cpu.as_secs_f64().to_bits();
        // A counter of its own only adds; the kernel's count is the truth.
        self.figures.cpu.inner().store(bits, Ordering::Relaxed);
        self.figures.resident.set(signed(usage.resident_bytes));
        self.figures.threads.set(signed(usage.threads));
    }

    /// Sets the gauges from a status.
    pub fn status(&self, status: &Status) {
        self.figures.queued.set(signed(status.segments.queued));
        self.figures.queued_bytes.set(signed(status.segments.queued_bytes));
        self.figures.kept_bytes.set(signed(status.files.kept_bytes));
        let missing = status.loss.counters.unwrap_or_default();
        self.figures.missing_rpcs.set(signed(missing.rpcs));
        self.figures.missing_bytes.set(signed(missing.bytes));
        self.figures.kernel_can_write.set(i64::from(status.kernel_log.cannot_write.is_none()));
        self.figures.spool_free.set(signed(status.segments.spool_free_bytes.unwrap_or(0)));
        // Lag without a row is that of everything since the start.
        #[expect(clippy::cast_precision_loss, reason = "seconds")]
        let up_s = (status.now_us - status.since_us) as f64 / 1e6;
        self.figures.lag.set(status.lag_s.unwrap_or(up_s));
        for state in State::ALL {
            let label = StateLabel { state: state.as_str() };
            self.figures.state.get_or_create_owned(&label).set(i64::from(state == status.state));
        }
        self.figures.traced_share.set(match status.state {
            State::Tracing => 1.0,
            State::DutyCycled => status.budget.level.duty().map_or(1.0, crate::budget::Duty::share),
            _ => 0.0,
        });
    }

    /// All figures in the OpenMetrics text format.
    ///
    /// # Errors
    /// Only if a figure cannot be formatted.
    pub fn open_metrics(&self) -> Result<String, fmt::Error> {
        let mut out = String::new();
        text::encode(&mut out, &self.registry)?;
        Ok(out)
    }
}

/// A new metric, registered.
fn registered<M>(registry: &mut Registry, name: &str, help: &str) -> M
where
    M: prometheus_client::registry::Metric + Clone + Default,
{
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

/// A new metric with a unit, which becomes part of its name.
fn registered_unit<M>(registry: &mut Registry, name: &str, help: &str, unit: Unit) -> M
where
    M: prometheus_client::registry::Metric + Clone + Default,
{
    let metric = M::default();
    registry.register_with_unit(name, help, unit, metric.clone());
    metric
}

/// Gauges are signed.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
