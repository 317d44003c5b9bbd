//! All figures.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use lioprof_model::{Finding, lock};
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use strum::VariantArray as _;

use super::health::Health;
use super::register::{add, figures};
use super::target::{Families, TargetMetrics};
use crate::budget::usage::Usage;
use crate::status::{State, Status};

/// Targets that get labels of their own; a node serves a few dozen at most.
const MAX_TARGETS: usize = 128;
/// Label of RPCs whose target is not known, and of targets beyond [`MAX_TARGETS`].
const OTHER_TARGET: &str = "unknown";

/// Series of findings: there are some twenty kinds, and each names at most twenty targets.
const MAX_FINDINGS: usize = 200;

type FloatGauge = Gauge<f64, AtomicU64>;
type FloatCounter = Counter<f64, AtomicU64>;

/// One label, with one of a few known values.
type Label = [(&'static str, &'static str); 1];

/// How something was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Loss {
    /// A run of records whose head the kernel discarded.
    DiscardedHead,
    /// A request that the schedulers numbered and the log lacks.
    NrsGap,
    /// A record that could not be read.
    BadRecord,
    /// `debug daemon buffer overflowed` in the kernel log.
    BufferOverflow,
}

figures! {
    /// The figures that are not per target.
    Figures;
    records: Counter = "records", "Log records decoded";
    log_bytes: Counter = "log" in Unit::Bytes, "Bytes of the kernel's log decoded";
    lock_events: Counter = "lock_events", "Lock events found";
    segments: Family<Label, Counter> = "segments", "Segments of the kernel's log, by what became of them";
    segment_bytes: Family<Label, Counter> = "segment" in Unit::Bytes, "Bytes of these segments";
    queued: Gauge = "segments_queued", "Segments that wait to be decoded";
    queued_bytes: Gauge = "segments_queued" in Unit::Bytes, "Bytes that wait to be decoded";
    loss: Family<Label, Counter> = "losses", "Signs that records were lost, by kind";
    missing_rpcs: Gauge = "missing_rpcs", "OST reads and writes that the server's counters have and the trace has not";
    missing_bytes: Gauge = "missing" in Unit::Bytes, "Bytes of these";
    kernel_can_write: Gauge = "kernel_can_write", "0 while the kernel cannot write its log, 1 otherwise";
    spool_free: Gauge = "spool_free" in Unit::Bytes, "Room left where the kernel writes its log";
    state: Family<Label, Gauge> = "state", "1 for the state that the daemon is in, 0 for the others";
    lag: FloatGauge = "lag" in Unit::Seconds, "How far decoding is behind the log";
    traced_share: FloatGauge = "traced" in Unit::Other("ratio".to_owned()), "Share of the time that is traced";
    budget_steps: Counter = "budget_steps", "Times that the budget changed how much is traced";
    files: Counter = "files", "Files written";
    file_bytes: Counter = "file" in Unit::Bytes, "Bytes of these files";
    kept_bytes: Gauge = "kept" in Unit::Bytes, "Bytes of the files that are kept";
    cpu: FloatCounter = "process_cpu" in Unit::Seconds, "CPU time of the daemon";
    resident: Gauge = "process_resident_memory" in Unit::Bytes, "Resident memory of the daemon";
    findings: Family<Vec<(&'static str, String)>, Gauge> = "finding", "1 for what is wrong by the last window that was judged";
    threads: Gauge = "process_threads", "Threads of the daemon";
}

/// The figures of the daemon. Shared in an `Arc`; every method may be called from any thread.
pub(crate) struct Metrics {
    registry: Registry,
    /// What `/healthz` says.
    pub(crate) health: Health,
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
    /// All zero.
    fn default() -> Self {
        let mut registry = Registry::with_prefix("lioprof");
        let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "Version of the daemon", version);
        let families = Families::register(&mut registry);
        let figures = Figures::register(&mut registry);
        let metrics = Self { registry, health: Health::default(), families, figures, targets: Mutex::default() };
        // Series that exist from the start can be used in rates at once.
        for outcome in ["decoded", "dropped"] {
            metrics.figures.segments.get_or_create_owned(&[("outcome", outcome)]);
            metrics.figures.segment_bytes.get_or_create_owned(&[("outcome", outcome)]);
        }
        for &reason in Loss::VARIANTS {
            metrics.lost(reason, 0);
        }
        metrics
    }
}

impl Metrics {
    /// The counters of a target, to be kept by whoever updates them. `None`: RPCs whose target is not known.
    pub(crate) fn target(&self, name: Option<&str>) -> TargetMetrics {
        let proper = |name: &&str| {
            (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        let mut targets = lock(&self.targets);
        let mut name = name.filter(proper).unwrap_or(OTHER_TARGET);
        if !targets.contains_key(name) && targets.len() >= MAX_TARGETS {
            name = OTHER_TARGET;
        }
        targets.entry(name.to_owned()).or_insert_with(|| self.families.target(name)).clone()
    }

    /// Counts decoded records, bytes and lock events.
    pub(crate) fn decoded(&self, records: u64, log_bytes: u64, lock_events: u64) {
        self.figures.records.inc_by(records);
        self.figures.log_bytes.inc_by(log_bytes);
        self.figures.lock_events.inc_by(lock_events);
    }

    /// Counts a segment that is done with: decoded, or dropped because too many were waiting.
    pub(crate) fn segment(&self, bytes: u64, dropped: bool) {
        let label = [("outcome", if dropped { "dropped" } else { "decoded" })];
        self.figures.segments.get_or_create_owned(&label).inc();
        self.figures.segment_bytes.get_or_create_owned(&label).inc_by(bytes);
    }

    /// Counts signs of loss.
    pub(crate) fn lost(&self, reason: Loss, count: u64) {
        self.figures.loss.get_or_create_owned(&[("reason", reason.into())]).inc_by(count);
    }

    /// Counts the files of a part that was written.
    pub(crate) fn files(&self, files: u64, bytes: u64) {
        self.figures.files.inc_by(files);
        self.figures.file_bytes.inc_by(bytes);
    }

    /// Counts a step of the budget.
    pub(crate) fn budget_step(&self) {
        self.figures.budget_steps.inc();
    }

    /// Sets what the process uses.
    pub(crate) fn usage(&self, usage: &Usage) {
        let bits = usage.cpu.as_secs_f64().to_bits();
        // A counter of its own only adds; the kernel's count is the truth.
        self.figures.cpu.inner().store(bits, Ordering::Relaxed);
        self.figures.resident.set(signed(usage.resident_bytes));
        self.figures.threads.set(signed(usage.threads));
    }

    /// Sets the gauges from a status.
    pub(crate) fn status(&self, status: &Status) {
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
        self.findings(status.verdict.as_ref().map_or(&[], |verdict| &verdict.findings));
        for &state in State::VARIANTS {
            let label = [("state", state.into())];
            self.figures.state.get_or_create_owned(&label).set(i64::from(state == status.state));
        }
        self.figures.traced_share.set(match status.state {
            State::Tracing => 1.0,
            State::DutyCycled => status.budget.level.duty().map_or(1.0, crate::budget::Duty::share),
            _ => 0.0,
        });
    }

    /// Sets what is wrong; what no longer is has no series any more.
    fn findings(&self, findings: &[Finding]) {
        let of = |finding: &Finding| {
            let targets = if finding.targets.is_empty() { vec![String::new()] } else { finding.targets.clone() };
            let (id, severity) = (finding.id.clone(), finding.severity.name());
            targets
                .into_iter()
                .map(move |target| vec![("id", id.clone()), ("severity", severity.to_owned()), ("target", target)])
        };
        self.figures.findings.clear();
        for labels in findings.iter().flat_map(of).take(MAX_FINDINGS) {
            self.figures.findings.get_or_create_owned(&labels).set(1);
        }
    }

    /// All figures in the OpenMetrics text format.
    ///
    /// # Errors
    /// Only if a figure cannot be formatted.
    pub(crate) fn open_metrics(&self) -> Result<String, fmt::Error> {
        let mut out = String::new();
        text::encode(&mut out, &self.registry)?;
        Ok(out)
    }
}

/// A new metric, registered.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
