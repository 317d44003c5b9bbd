//! Rows of samples.

use std::borrow::Cow;
use std::sync::Arc;

use lioprof_params::Stats;

/// Collects values with less writing.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    pub(super) values: &'a mut Vec<Value>,
    pub(super) source: Source,
    pub(super) target: Arc<str>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(values: &'a mut Vec<Value>, source: Source, target: &Arc<str>) -> Self {
        Self { values, source, target: Arc::clone(target) }
    }

    /// Rows of the node, not of a target.
    pub(super) fn of_node(values: &'a mut Vec<Value>, source: Source) -> Self {
        Self { values, source, target: Arc::from("") }
    }

    pub(super) fn push(&mut self, entity: &Arc<str>, counter: impl Into<Cow<'static, str>>, value: u64) {
        self.values.push(Value {
            source: self.source,
            target: Arc::clone(&self.target),
            entity: Arc::clone(entity),
            counter: counter.into(),
            value,
        });
    }

    /// One row per figure of each counter.
    pub(super) fn stats(&mut self, entity: &Arc<str>, stats: &Stats) {
        for (name, counter) in &stats.lines {
            let figures = [
                ("samples", Some(counter.samples)),
                ("min", counter.min),
                ("max", counter.max),
                ("sum", counter.sum),
                ("sumsq", counter.sumsq),
            ];
            for (figure, value) in figures {
                if let Some(value) = value {
                    self.push(entity, format!("{name}.{figure}"), value);
                }
            }
        }
    }
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Source {
    /// `obdfilter.*.stats`, `mdt.*.md_stats`: entity empty.
    Stats,
    /// `brw_stats`: entity is the bucket.
    BrwStats,
    /// `job_stats`: entity is the job.
    JobStats,
    /// `exports.<NID>.stats`: entity is the NID.
    ExportStats,
    /// `exports.<NID>.ldlm_stats`: entity is the NID.
    ExportLdlmStats,
    /// `ost.OSS.*.stats`, `mds.MDS.*.stats`, `ldlm.services.*.stats`: entity is the service.
    Service,
    /// `ldlm.namespaces.*`: lock gauges of a target.
    LdlmNamespace,
    /// Single figures of a target: exports, evictions, free space.
    Target,
    /// `/proc/stat`: entity is the CPU.
    Cpu,
    /// `/proc/meminfo`.
    Memory,
    /// `/proc/diskstats`: entity is the device.
    Disk,
    /// `/proc/net/dev`: entity is the interface.
    Network,
    /// `/sys/class/infiniband`: entity is device and port.
    Infiniband,
    /// What this sample cost.
    Sampler,
}

/// One figure. Counters count from whenever the kernel began to; gauges are as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    /// Where it comes from.
    pub(crate) source: Source,
    /// `lustre-OST0003`; empty for figures of the node.
    pub(crate) target: Arc<str>,
    /// NID, job, service, bucket, CPU, device: see [`Source`].
    pub(crate) entity: Arc<str>,
    /// Name, as Lustre spells it, with `.samples`, `.min`, `.max`, `.sum` or `.sumsq`: `read_bytes.sum`.
    pub(crate) counter: Cow<'static, str>,
    /// The figure, in the unit that its name says.
    pub(crate) value: u64,
}
