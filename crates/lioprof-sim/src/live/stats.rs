//! `stats` files: after `lprocfs_stats_seq_show` of obdclass `lprocfs_status.c`.

use std::fmt::Write;

use crate::cluster::opcode;
use crate::counters::{ClientLocks, Samples, ServiceCounters, Traffic};
use crate::kernel::LustreVersion;

/// How a version prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// Columns that a name takes.
    width: usize,
    /// When counting began is shown (since 2.15, LU-11407).
    pub(super) has_start: bool,
    /// Sizes by powers of two in `job_stats` (since 2.16, LU-16110).
    pub(super) has_sizes: bool,
}

impl Style {
    pub(super) fn of(version: LustreVersion) -> Self {
        let new = version >= LustreVersion::V2_17;
        Self { width: if new { 36 } else { 26 }, has_start: version >= LustreVersion::V2_15, has_sizes: new }
    }
}

/// The times at the head of a file, microseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) now_us: i64,
    pub(super) since_us: i64,
}

impl Clock {
    /// Name and value of each line.
    pub(super) fn lines(self, style: Style) -> impl Iterator<Item = (&'static str, String)> {
        let elapsed_us = (self.now_us - self.since_us).max(0);
        [
            ("snapshot_time", self.now_us, true),
            ("start_time", self.since_us, style.has_start),
            ("elapsed_time", elapsed_us, style.has_start),
        ]
        .into_iter()
        .filter(|(_, _, shown)| *shown)
        .map(|(name, us, _)| (name, format!("{} secs.nsecs", seconds(us))))
    }
}

pub(super) fn seconds(us: i64) -> String {
    format!("{}.{:06}000", us.div_euclid(1_000_000), us.rem_euclid(1_000_000))
}

/// The kernel keeps the sum of squares in 64 bits, which wrap.
pub(super) fn sum_of_squares(samples: &Samples) -> u64 {
    let low = samples.sumsq & u128::from(u64::MAX);
    u64::try_from(low).unwrap_or(u64::MAX)
}

struct StatsFile {
    style: Style,
    text: String,
}

impl StatsFile {
    fn new(style: Style, clock: Clock) -> Self {
        let mut file = Self { style, text: String::new() };
        for (name, value) in clock.lines(style) {
            file.line(name, &value);
        }
        file
    }

    fn line(&mut self, name: &str, value: &str) {
        writeln!(self.text, "{name:<width$}{value}", width = self.style.width).unwrap_or_default();
    }

    /// Counters that counted nothing are left out.
    fn samples(&mut self, name: &str, unit: &str, samples: &Samples) {
        if samples.count > 0 {
            let Samples { count, min, max, sum, .. } = samples;
            let squares = sum_of_squares(samples);
            self.line(name, &format!("{count} samples [{unit}] {min} {max} {sum} {squares}"));
        }
    }

    fn count(&mut self, name: &str, count: u64) {
        if count > 0 {
            self.line(name, &format!("{count} samples [reqs]"));
        }
    }

    /// A counter of events, of which each counts one.
    fn ones(&mut self, name: &str, count: u64) {
        if count > 0 {
            self.line(name, &format!("{count} samples [reqs] 1 1 {count} {count}"));
        }
    }
}

/// Operations of an OST in the order of its files (`ofd_stats_counter_init`).
pub(super) const OST_OPERATIONS: [(&str, u16); 9] = [
    ("read", opcode::OST_READ),
    ("write", opcode::OST_WRITE),
    ("getattr", opcode::OST_GETATTR),
    ("setattr", opcode::OST_SETATTR),
    ("punch", opcode::OST_PUNCH),
    ("sync", opcode::OST_SYNC),
    ("destroy", opcode::OST_DESTROY),
    ("create", opcode::OST_CREATE),
    ("statfs", opcode::OST_STATFS),
];

/// `obdfilter.*.stats` and `obdfilter.*.exports.*.stats`.
pub(super) fn traffic(style: Style, clock: Clock, traffic: &Traffic) -> String {
    let mut file = StatsFile::new(style, clock);
    file.samples("read_bytes", "bytes", &traffic.read_bytes);
    file.samples("write_bytes", "bytes", &traffic.write_bytes);
    for (name, opcode) in OST_OPERATIONS {
        if let Some(samples) = traffic.operations_us.get(&opcode) {
            file.samples(name, "usecs", samples);
        }
    }
    file.text
}

/// `mdt.*.md_stats`.
pub(super) fn metadata(style: Style, clock: Clock, traffic: &Traffic) -> String {
    let mut file = StatsFile::new(style, clock);
    // What a reint does is not simulated; most of them are opens.
    for (name, opcode) in [("open", opcode::MDS_REINT), ("close", opcode::MDS_CLOSE), ("statfs", opcode::MDS_STATFS)] {
        if let Some(samples) = traffic.operations_us.get(&opcode) {
            file.samples(name, "usecs", samples);
        }
    }
    file.text
}

/// `exports.*.ldlm_stats`: requests, not locks.
pub(super) fn locks(style: Style, clock: Clock, traffic: &Traffic, locks: &ClientLocks) -> String {
    let mut file = StatsFile::new(style, clock);
    let requests = |opcode| traffic.operations_us.get(&opcode).map_or(0, |samples| samples.count);
    file.count("ldlm_enqueue", requests(opcode::LDLM_ENQUEUE));
    file.count("ldlm_cancel", requests(opcode::LDLM_CANCEL));
    file.count("ldlm_bl_callback", locks.blocking_asts);
    file.count("ldlm_cp_callback", locks.completion_asts);
    file.count("ldlm_gl_callback", locks.glimpse_asts);
    file.text
}

/// `ost.OSS.*.stats` and the like. Enqueues are counted by their kind, of which only glimpses are known here.
pub(super) fn service(style: Style, clock: Clock, name: &str, counters: &ServiceCounters, glimpses: u64) -> String {
    let mut file = StatsFile::new(style, clock);
    file.samples("req_waittime", "usecs", &counters.wait_us);
    let enqueues = counters.operations_us.get(&opcode::LDLM_ENQUEUE).map_or(0, |samples| samples.count);
    if name == "mdt" {
        file.ones("ldlm_ibits_enqueue", enqueues);
    } else {
        file.ones("ldlm_glimpse_enqueue", glimpses.min(enqueues));
        file.ones("ldlm_extent_enqueue", enqueues.saturating_sub(glimpses));
    }
    for (opcode, samples) in counters.operations_us.iter().filter(|(opcode, _)| **opcode != opcode::LDLM_ENQUEUE) {
        if let Some(name) = opcode::name(*opcode) {
            file.samples(&name, "usecs", samples);
        }
    }
    file.text
}
