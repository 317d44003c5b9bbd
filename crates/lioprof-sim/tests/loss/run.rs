//! A server's records through a kernel that stalls, and the analysis of what is left of them.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use lioprof_analysis::{Analysis, Config, analyze, analyze_with_stores};
use lioprof_model::{LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbols, TraceSummary};
use lioprof_sim::kernel::{Flush, Kernel, KernelConfig, Mask};
use lioprof_sim::scenario::{Options, Scenario};
use lioprof_sim::{SimRecord, Workload as _};
use lioprof_store::{CounterSample, DatasetWriter, Datasets, ManifestFacts, NodeInfo, Session};

use crate::overloads::{Overload, under_policy};

/// What was lost, and what the analysis says.
pub(crate) struct Judged {
    /// RPCs handled, and those of which the log has lost the end.
    pub(crate) handled: u64,
    pub(crate) lost: u64,
    pub(crate) without: Analysis,
    pub(crate) with: Analysis,
}

impl Judged {
    /// The share of RPCs that is really lost.
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    pub(crate) fn truth(&self) -> f64 {
        self.lost as f64 / self.handled as f64
    }
}

/// Runs an overload on each of its servers; all chance comes from the seed.
pub(crate) fn run(overload: &Overload, seed: u64) -> Judged {
    let dir = tempfile::tempdir().unwrap();
    let (logs, rows) = (dir.path().join("logs"), dir.path().join("rows"));
    let (mut handled, mut lost) = (0, 0);
    for (server, stalls) in overload.stalls.iter().enumerate() {
        let node = format!("oss{server}");
        let records = records(overload, server, seed);
        let folder = logs.join(&node);
        std::fs::create_dir_all(&folder).unwrap();
        let whole = dir.path().join(format!("{node}.bin"));
        log(&records, &[], &whole, None);
        let log_path = folder.join("rpc.bin");
        let account = log(&records, stalls, &log_path, Some(2));
        handled += account.0;
        lost += account.1;
        keep(&node, &log_path, &rows, &starts(&whole));
    }
    let without = analyze(&[logs], &Config::default(), None).unwrap().analysis;
    let with = analyze_with_stores(&[rows], &Datasets, &Config::default(), None).unwrap().analysis;
    Judged { handled, lost, without, with }
}

fn records(overload: &Overload, server: usize, seed: u64) -> Vec<SimRecord> {
    let options = Options {
        seed,
        servers: overload.servers,
        rate: overload.rate,
        duration_s: 12,
        size: 4,
        follow: Some(server),
        ..Options::default()
    };
    let mut simulation = Scenario::named(overload.scenario, &options).unwrap();
    let mut records = Vec::new();
    let mut record = SimRecord::default();
    while simulation.next(&mut record) {
        records.push(record.clone());
    }
    under_policy(overload.policy, &mut records);
    records
}

/// Writes the debug daemon's file; returns the RPCs handled, and those of them that were lost.
fn log(records: &[SimRecord], stalls: &[(f64, f64)], path: &Path, buffer_mib: Option<u32>) -> (u64, u64) {
    let cpus = 1 + records.iter().map(|record| record.cpu).max().unwrap();
    let flush = Flush::Simulated { period_us: 1_000_000, latency_us: 0 };
    let kernel = Kernel::new(KernelConfig { cpus, flush, ..KernelConfig::default() });
    kernel.write_mask(Mask::Debug, b"rpctrace dlmtrace net").unwrap();
    kernel.write_mask(Mask::SubsystemDebug, b"rpc filter ldlm").unwrap();
    let mib = buffer_mib.map_or(500, |mib| mib.max(u32::from(cpus)));
    kernel.set_debug_mb(mib.to_string().as_bytes()).unwrap();
    std::fs::File::create(path).unwrap();
    kernel.daemon_command(b"size=20480").unwrap();
    kernel.daemon_command(path.as_os_str().as_bytes()).unwrap();
    let first_us = records[0].time_us;
    let stalled = |time_us: i64| {
        #[expect(clippy::cast_precision_loss, reason = "seconds")]
        let at = (time_us - first_us) as f64 / 1e6;
        stalls.iter().any(|&(from, to)| (from..to).contains(&at))
    };
    let mut before = false;
    for record in records {
        let now = stalled(record.time_us);
        kernel.stall_daemon(now);
        if before && !now {
            kernel.flush_pass();
        }
        before = now;
        kernel.log(record);
    }
    kernel.stall_daemon(false);
    kernel.daemon_command(b"stop").unwrap();
    let account = kernel.account().total;
    (account.logged.handled_rpcs, account.lost.total().handled_rpcs)
}

/// When requests of each service were taken up, and reads and writes of each OST, by a log that lost nothing.
#[derive(Default)]
struct Starts {
    services: BTreeMap<String, Vec<i64>>,
    targets: BTreeMap<String, Vec<(i64, u64)>>,
    first_us: i64,
    last_us: i64,
}

impl RowSink for Starts {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        let thread = symbols.text(row.thread);
        let service = match thread.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_') {
            "ll_ost" => "ost",
            "ll_ost_io" => "ost_io",
            "ll_ost_create" => "ost_create",
            "ldlm_cn" => "ldlm_canceld",
            "ldlm_cb" => "ldlm_cbd",
            "mdt" => "mdt",
            "mdt_rdpg" => "mdt_readpage",
            other => panic!("threads of which service? `{other}`"),
        };
        self.services.entry(service.to_owned()).or_default().push(row.start_us().unwrap());
        if let (Some(_), Some(target), false) = (row.direction(), row.target, row.failed()) {
            let bytes = match row.size {
                lioprof_model::RpcSize::Exact(bytes) => bytes,
                _ => 0,
            };
            self.targets.entry(target.to_string()).or_default().push((row.end_us, bytes));
        }
    }

    fn node_end(&mut self, _: &str, summary: &TraceSummary, _: &Symbols) {
        (self.first_us, self.last_us) = (summary.first_us.unwrap(), summary.last_us.unwrap());
    }
}

fn starts(whole: &Path) -> Starts {
    let mut starts = Starts::default();
    let outcome = analyze(&[whole.to_owned()], &Config::default(), Some(&mut starts)).unwrap();
    assert_eq!(outcome.analysis.loss.estimated_lost_fraction, Some(0.0), "the whole log has lost nothing");
    starts
}

/// Writes rows as they come, and counters beside them as the daemon samples them.
struct Rows<'a> {
    writer: DatasetWriter,
    starts: &'a Starts,
}

impl RowSink for Rows<'_> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.writer.rpc(row, symbols);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        self.writer.lock_event(event, symbols);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.writer.sent_rpc(sent, symbols);
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.writer.mark(mark, symbols);
    }

    fn node_end(&mut self, _: &str, summary: &TraceSummary, _: &Symbols) {
        const EVERY_US: i64 = 2_000_000;
        let Starts { first_us, last_us, .. } = *self.starts;
        let mut time_us = first_us - 1000;
        loop {
            self.sample(time_us);
            if time_us > last_us {
                break;
            }
            time_us = (time_us + EVERY_US).min(last_us + 1000);
        }
        let facts = ManifestFacts {
            summary: summary.clone(),
            through_us: summary.last_us,
            traced_until_us: Some(last_us + 1000),
            ..ManifestFacts::default()
        };
        self.writer.close_part(facts).unwrap();
    }
}

impl Rows<'_> {
    /// The counters at a time; the kernel shows those only that are not 0.
    fn sample(&mut self, time_us: i64) {
        let mut value = |source, target: Option<&str>, entity: Option<&str>, counter, value: u64| {
            if value > 0 || source == "target" {
                self.writer.counter(&CounterSample { time_us, source, target, entity, counter, value });
            }
        };
        value("target", Some("lustre-OST0000"), None, "num_exports", 1);
        // From before anybody traced.
        for (service, starts) in &self.starts.services {
            let counted = 1000 + starts.iter().filter(|&&start_us| start_us < time_us).count() as u64;
            value("service", None, Some(service), "req_waittime.samples", counted);
        }
        for (target, ends) in &self.starts.targets {
            let done: Vec<u64> = ends.iter().filter(|(end_us, _)| *end_us < time_us).map(|(_, bytes)| *bytes).collect();
            value("stats", Some(target), None, "write_bytes.samples", 77 + done.len() as u64);
            value("stats", Some(target), None, "write_bytes.sum", 77 + done.iter().sum::<u64>());
        }
    }
}

fn keep(node: &str, log: &Path, rows: &Path, starts: &Starts) {
    let session = Session { start_us: starts.first_us - 2000, id: format!("{node}-1") };
    let info = NodeInfo { fs: "lustre".to_owned(), node: node.to_owned(), session };
    let writer = DatasetWriter::new(rows, info, lioprof_store::Options::default());
    let mut sink = Rows { writer, starts };
    analyze(&[log.to_owned()], &Config::default(), Some(&mut sink)).unwrap();
}
