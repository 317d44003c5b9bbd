//! Lustre's counters of one node.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lioprof_model::CounterSnapshot;
use lioprof_model::ReadWrite;
use lioprof_model::counters::{Count, OfTarget, Reading};
use lioprof_params::{OSDS, SERVICES, Stats, Tree, brw};

use super::jobs;
use super::options::SamplerOptions;
use super::rows::{Rows, Source, Value};
use super::top::{Top, top};

/// Entity of the row that sums up those without rows of their own.
const OTHERS: &str = "(others)";
/// Gauges of a target's lock namespace; the other files there are settings.
const LOCK_GAUGES: [&str; 5] =
    ["lock_count", "lock_timeouts", "lock_unused_count", "resource_count", "contention_events"];
/// Figures of a target, one per file.
const TARGET_GAUGES: [&str; 5] = ["num_exports", "eviction_count", "tot_dirty", "tot_granted", "tot_pending"];
/// Figures of its file system.
const OSD_GAUGES: [&str; 4] = ["kbytesavail", "kbytestotal", "filesfree", "filestotal"];

/// Kinds of targets: the directory of their parameters and the file of their totals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ost,
    Mdt,
}

impl Kind {
    fn dir(self) -> &'static str {
        match self {
            Self::Ost => "obdfilter",
            Self::Mdt => "mdt",
        }
    }
}

/// Reads everything for one sample.
pub(super) struct Lustre<'a> {
    pub(super) tree: &'a mut Tree,
    pub(super) options: &'a SamplerOptions,
    pub(super) values: &'a mut Vec<Value>,
    pub(super) totals: &'a mut CounterSnapshot,
    /// How busy clients and jobs were when they were last read; replaced when they are read.
    pub(super) activity: &'a mut Activity,
}

/// Counters of clients and jobs of all targets, MDTs included, to see who has become busy since.
#[derive(Debug, Default)]
pub(super) struct Activity {
    clients: BTreeMap<OfTarget, Reading>,
    jobs: BTreeMap<OfTarget, Reading>,
}

impl Lustre<'_> {
    /// All targets and services. With `everyone`, clients and jobs, too. Returns the targets' OSD devices as
    /// `mntdev` names them.
    pub(super) fn read(&mut self, everyone: bool) -> Vec<String> {
        if everyone {
            self.totals.clients = Some(BTreeMap::new());
            self.totals.jobs = Some(BTreeMap::new());
        }
        let mut devices = Vec::new();
        let mut activity = Activity::default();
        for (kind, target) in targets(self.tree) {
            self.target(kind, &target);
            devices.extend(self.osd(&target));
            if everyone {
                activity.clients.append(&mut self.clients(kind, &target));
                activity.jobs.append(&mut self.jobs(kind, &target));
            }
        }
        if everyone {
            *self.activity = activity;
        }
        self.services();
        self.namespaces();
        devices
    }

    fn target(&mut self, kind: Kind, target: &Arc<str>) {
        let dir = kind.dir();
        let none = Arc::from("");
        let stats = match kind {
            Kind::Ost => self.tree.read("ost stats", &format!("{dir}/{target}/stats")),
            Kind::Mdt => self.tree.read("md_stats", &format!("{dir}/{target}/md_stats")),
        };
        if let Some(stats) = stats.as_deref().map(Stats::parse) {
            Rows::new(self.values, Source::Stats, target).stats(&none, &stats);
            if kind == Kind::Ost {
                let reading = reading(&stats);
                self.totals.targets.insert(Arc::clone(target), reading);
            }
        }
        self.gauges(Source::Target, target, &format!("{dir}/{target}"), &TARGET_GAUGES);
    }

    /// Disk I/O and free space of a target, and its device.
    fn osd(&mut self, target: &Arc<str>) -> Option<String> {
        let mut device = None;
        for osd in OSDS {
            let Some(found) = self.tree.read("mntdev", &format!("{osd}/{target}/mntdev")) else { continue };
            device = Some(found.trim().to_owned());
            self.gauges(Source::Target, target, &format!("{osd}/{target}"), &OSD_GAUGES);
            if let Some(text) = self.tree.read("osd brw_stats", &format!("{osd}/{target}/brw_stats")) {
                self.brw_stats(target, &text);
                return device;
            }
        }
        // To 2.14 they can also be found at the OST.
        if let Some(text) = self.tree.read("ost brw_stats", &format!("obdfilter/{target}/brw_stats")) {
            self.brw_stats(target, &text);
        }
        device
    }

    fn brw_stats(&mut self, target: &Arc<str>, text: &str) {
        let mut rows = Rows::new(self.values, Source::BrwStats, target);
        for bucket in brw::parse(text) {
            let entity = Arc::from(&*bucket.bucket);
            rows.push(&entity, format!("{}.read", bucket.histogram), bucket.read);
            rows.push(&entity, format!("{}.write", bucket.histogram), bucket.write);
        }
    }

    fn clients(&mut self, kind: Kind, target: &Arc<str>) -> BTreeMap<OfTarget, Reading> {
        let exports = format!("{}/{target}/exports", kind.dir());
        let nids: Vec<String> = self.tree.list(&exports).into_iter().filter(|name| name.contains('@')).collect();
        let cut = nids.len() > self.options.max_exports;
        let none = Arc::from("");
        let count = u64::try_from(nids.len()).unwrap_or(u64::MAX);
        Rows::new(self.values, Source::Target, target).push(&none, "export_nids", count);
        self.totals.clients_cut |= cut;

        // Only the counters of the busiest are kept; which these are is known when all were read.
        let mut found: BTreeMap<OfTarget, Reading> = BTreeMap::new();
        let mut full: BTreeMap<Arc<str>, Stats> = BTreeMap::new();
        for nid in nids.iter().take(self.options.max_exports) {
            let Some(text) = self.tree.read("export stats", &format!("{exports}/{nid}/stats")) else { continue };
            let stats = Stats::parse(&text);
            let nid: Arc<str> = Arc::from(nid.as_str());
            let reading = reading(&stats);
            found.insert((Arc::clone(target), Arc::clone(&nid)), reading);
            if !stats.lines.is_empty() {
                full.insert(nid, stats);
            }
            if full.len() > 4 * self.options.top_clients.max(64) {
                let keep = top(target, &found, &self.activity.clients, self.options.top_clients);
                full.retain(|nid, _| keep.names.contains(nid));
            }
        }
        let busiest = top(target, &found, &self.activity.clients, self.options.top_clients);
        for nid in &busiest.names {
            if let Some(stats) = full.get(nid) {
                Rows::new(self.values, Source::ExportStats, target).stats(nid, stats);
            }
            if let Some(text) = self.tree.read("export ldlm_stats", &format!("{exports}/{nid}/ldlm_stats")) {
                Rows::new(self.values, Source::ExportLdlmStats, target).stats(nid, &Stats::parse(&text));
            }
        }
        self.others(target, Source::ExportStats, &busiest);
        if kind == Kind::Ost
            && let Some(clients) = &mut self.totals.clients
        {
            clients.extend(found.clone());
        }
        found
    }

    fn jobs(&mut self, kind: Kind, target: &Arc<str>) -> BTreeMap<OfTarget, Reading> {
        let Some(input) = self.tree.lines("job_stats", &format!("{}/{target}/job_stats", kind.dir())) else {
            return BTreeMap::new();
        };
        let mut found: BTreeMap<OfTarget, Reading> = BTreeMap::new();
        let mut full: BTreeMap<Arc<str>, jobs::Job> = BTreeMap::new();
        let before = &self.activity.jobs;
        let options = self.options;
        let whole = jobs::parse(input, |job| {
            let id: Arc<str> = Arc::from(job.id.as_str());
            let reading = reading(&job.stats);
            found.insert((Arc::clone(target), Arc::clone(&id)), reading);
            full.insert(id, job);
            if full.len() > 4 * options.top_jobs.max(64) {
                let keep = top(target, &found, before, options.top_jobs);
                full.retain(|id, _| keep.names.contains(id));
            }
            found.len() < options.max_jobs
        });
        // What was read before an error counts.
        self.totals.jobs_cut |= !matches!(whole, Ok(true));
        let busiest = top(target, &found, before, options.top_jobs);
        let mut rows = Rows::new(self.values, Source::JobStats, target);
        for (id, job) in busiest.names.iter().filter_map(|id| full.get_key_value(id)) {
            rows.stats(id, &job.stats);
            for (counter, le_bytes, samples) in &job.hist {
                rows.push(id, format!("{counter}.le_{le_bytes}"), *samples);
            }
        }
        self.others(target, Source::JobStats, &busiest);
        if kind == Kind::Ost
            && let Some(jobs) = &mut self.totals.jobs
        {
            jobs.extend(found.clone());
        }
        found
    }

    fn others(&mut self, target: &Arc<str>, source: Source, top: &Top) {
        if top.others_count == 0 {
            return;
        }
        let entity = Arc::from(OTHERS);
        let mut rows = Rows::new(self.values, source, target);
        rows.push(&entity, "entities", top.others_count);
        for (name, count) in [("read_bytes", top.others.read), ("write_bytes", top.others.write)] {
            rows.push(&entity, format!("{name}.samples"), count.rpcs);
            rows.push(&entity, format!("{name}.sum"), count.bytes);
        }
    }

    /// Figures of a directory, one per file.
    fn gauges(&mut self, source: Source, target: &Arc<str>, dir: &str, gauges: &[&'static str]) {
        for gauge in gauges {
            if let Some(value) = self.tree.number(gauge, &format!("{dir}/{gauge}")) {
                Rows::new(self.values, source, target).push(&Arc::from(""), *gauge, value);
            }
        }
    }

    fn services(&mut self) {
        for dir in SERVICES {
            for service in self.tree.list(dir) {
                let Some(text) = self.tree.read(dir, &format!("{dir}/{service}/stats")) else { continue };
                let entity = Arc::from(service);
                Rows::of_node(self.values, Source::Service).stats(&entity, &Stats::parse(&text));
            }
        }
    }

    fn namespaces(&mut self) {
        for namespace in self.tree.list("ldlm/namespaces") {
            // Those of the node's own connections to other servers begin with the other's name.
            let target = namespace.strip_prefix("filter-").or_else(|| namespace.strip_prefix("mdt-"));
            let Some(target) = target.map(|name| name.strip_suffix("_UUID").unwrap_or(name)) else { continue };
            let target = Arc::from(target);
            self.gauges(Source::LdlmNamespace, &target, &format!("ldlm/namespaces/{namespace}"), &LOCK_GAUGES);
        }
    }
}

/// The targets of this node.
fn targets(tree: &mut Tree) -> Vec<(Kind, Arc<str>)> {
    let mut targets = Vec::new();
    for (kind, mark) in [(Kind::Ost, "-OST"), (Kind::Mdt, "-MDT")] {
        // Beside the targets there are files such as `num_refs`.
        let names: BTreeSet<String> = tree.list(kind.dir());
        targets.extend(names.into_iter().filter(|name| name.contains(mark)).map(|name| (kind, Arc::from(name))));
    }
    targets
}

fn reading(stats: &Stats) -> Reading {
    let count = |name| {
        stats.get(name).map_or_else(Count::default, |line| Count { rpcs: line.samples, bytes: line.sum.unwrap_or(0) })
    };
    let operations = stats.lines.values().fold(0, |sum: u64, line| sum.saturating_add(line.samples));
    Reading {
        rw: ReadWrite { read: count("read_bytes"), write: count("write_bytes") },
        operations,
        start_us: stats.start_us,
    }
}
