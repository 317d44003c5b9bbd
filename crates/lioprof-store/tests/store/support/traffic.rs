//! RPCs like those of a loaded server, as many as wanted.
//!
//! [`Traffic`] is made of the rows of real captures: many clients at once, each playing a capture's rows again and again.
//! What repeats in reality repeats (opcodes, sizes, sequential offsets, which client uses which objects how often); what
//! does not is drawn anew for every row: service and queue times, the service thread, gaps between xids; random offsets;
//! and for every repetition the objects. [`worst_case`] has nothing that repeats but the sets that names come from.

#![expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "all numbers here are small")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use lioprof_analysis::{Config, analyze};
use lioprof_model::{RowSink, RpcRow, RpcSize, SizeEvidence, Symbol, Symbols, TargetEvidence};
use lioprof_testkit::files::capture;
use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{Extent, Fid, Opcode, TargetKind, TargetName, Xid};

use super::random::Random;

/// Node of all rows.
pub(crate) const NODE: &[u8] = b"oss1";
/// Rows per second.
const RATE: u64 = 25_000;
/// Service threads, as many as a busy server has.
const THREADS: u64 = 256;

/// Captures that are mostly reads and writes.
pub(crate) const BULK: &[&str] = &[
    "file_per_process",
    "shared_striped_write",
    "shared_read_all_osts",
    "lock_pingpong_small",
    "v215_file_per_process",
];

/// The rows of a capture, and their symbols.
struct Rows<'a> {
    symbols: &'a mut Symbols,
    rows: Vec<RpcRow>,
}

impl RowSink for Rows<'_> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        let mut own = |symbol: Symbol| self.symbols.intern(symbols.bytes(symbol));
        let row = RpcRow {
            node: own(row.node),
            nid: own(row.nid),
            client_uuid: own(row.client_uuid),
            job: row.job.map(&mut own),
            thread: own(row.thread),
            ..row.clone()
        };
        self.rows.push(row);
    }
}

/// Binary logs of a capture, one per server.
fn logs(name: &str) -> Vec<PathBuf> {
    let mut logs: Vec<PathBuf> = std::fs::read_dir(capture(name))
        .expect("the captures of the repository")
        .map(|server| server.expect("a folder per server").path().join("rpc.bin.zst"))
        .filter(|log| log.is_file())
        .collect();
    logs.sort();
    logs
}

/// One client's rows in one capture.
type Script = Vec<RpcRow>;

fn scripts(captures: &[&str], symbols: &mut Symbols) -> Vec<Script> {
    let mut scripts = Vec::new();
    for log in captures.iter().flat_map(|name| logs(name)) {
        let mut rows = Rows { symbols: &mut *symbols, rows: Vec::new() };
        analyze(&[log], &Config::default(), Some(&mut rows)).expect("a readable capture");
        let mut by_client: BTreeMap<Symbol, Script> = BTreeMap::new();
        for row in rows.rows {
            by_client.entry(row.nid).or_default().push(row);
        }
        scripts.extend(by_client.into_values().filter(|script| script.len() >= 30));
    }
    scripts
}

/// A client that plays a script.
struct Client {
    script: usize,
    at: usize,
    nid: Symbol,
    uuid: Symbol,
    job: Symbol,
    /// Added to the xids of the script.
    xid: u64,
    /// Object ids of this repetition by those of the script.
    objects: BTreeMap<(Option<TargetName>, u64, u32), u32>,
    /// Where the script's last extent of an object ended.
    ends: BTreeMap<u32, u64>,
    uid: u32,
}

/// Rows like those of real servers.
pub(crate) struct Traffic {
    random: Random,
    scripts: Vec<Script>,
    clients: Vec<Client>,
    node: Symbol,
    threads: BTreeMap<Vec<u8>, Vec<Symbol>>,
    next_object: u32,
    transnos: BTreeMap<Option<TargetName>, u64>,
    now_us: i64,
}

impl Traffic {
    pub(crate) fn new(captures: &[&str], clients: u64, symbols: &mut Symbols) -> Self {
        let scripts = scripts(captures, symbols);
        assert!(!scripts.is_empty(), "captures without rows");
        let mut random = Random(1);
        let mut threads: BTreeMap<Vec<u8>, Vec<Symbol>> = BTreeMap::new();
        for row in scripts.iter().flatten() {
            let kind = thread_kind(symbols.bytes(row.thread)).to_vec();
            let names = |n: u64| format!("{}{:02}_{:03}", String::from_utf8_lossy(&kind), n % 4, n / 4);
            threads
                .entry(kind.clone())
                .or_insert_with(|| (0..THREADS).map(|n| symbols.intern(names(n).as_bytes())).collect());
        }
        let clients = (0..clients)
            .map(|n| Client {
                script: n as usize % scripts.len(),
                at: random.below(30) as usize,
                nid: symbols.intern(format!("10.20.{}.{}@o2ib", n / 250, n % 250 + 1).as_bytes()),
                uuid: symbols.intern(uuid(&mut random).as_bytes()),
                job: symbols.intern(format!("app{}.{}", n % 7, 1000 + n % 23).as_bytes()),
                xid: random.below(1 << 40) << 7,
                objects: BTreeMap::new(),
                ends: BTreeMap::new(),
                uid: 1000 + random.below(40) as u32,
            })
            .collect();
        let node = symbols.intern(NODE);
        let now_us = 1_795_251_082_000_000;
        let transnos = BTreeMap::new();
        Self { random, scripts, clients, node, threads, next_object: 1000, transnos, now_us }
    }

    /// The next row.
    pub(crate) fn next(&mut self, symbols: &Symbols) -> RpcRow {
        let random = &mut self.random;
        // Arrivals are a Poisson process.
        let gap = -((1 + random.below(1 << 20)) as f64 / (1u64 << 20) as f64).ln() * 1e6 / RATE as f64;
        self.now_us += gap as i64;
        let at = random.below(self.clients.len() as u64) as usize;
        let client = &mut self.clients[at];
        let script = &self.scripts[client.script];
        if client.at >= script.len() {
            client.at = 0;
            client.objects.clear();
            client.ends.clear();
            let xids = || script.iter().map(|row| row.xid.0);
            // Some more than the script took: the client talks to other servers, too.
            client.xid += xids().max().unwrap_or(0) - xids().min().unwrap_or(0) + ((1 + random.below(8)) << 7);
        }
        let mut row = script[client.at].clone();
        client.at += 1;

        row.node = self.node;
        row.nid = client.nid;
        row.client_uuid = client.uuid;
        row.job = row.job.map(|_| client.job);
        row.xid = Xid(row.xid.0 + client.xid + (random.below(2) << 7));
        row.uid = row.uid.map(|_| client.uid);
        row.gid = row.gid.map(|_| client.uid);
        let threads = &self.threads[thread_kind(symbols.bytes(row.thread))];
        let thread = random.below(THREADS);
        row.thread = threads[thread as usize];
        row.pid = 30_000 + thread as u32 * 3;

        // Half to twice the time of the original.
        let mut vary = |us: u64| us * (512 + random.below(1536)) / 1024 + random.below(8);
        let queue = row.queue_us().map(&mut vary);
        row.service_us = row.service_us.map(&mut vary);
        row.total_us = row.service_us.zip(queue).map(|(service, queue)| service + queue).or(row.total_us);
        // Handled in parallel: the end says little about the next one's.
        row.end_us = self.now_us + random.below(50) as i64;

        if let Some(ObjectName::Fid(fid)) = row.object {
            let next_object = &mut self.next_object;
            let oid = *client.objects.entry((row.target, fid.seq, fid.oid)).or_insert_with(|| {
                *next_object += 1;
                *next_object
            });
            row.object = Some(ObjectName::Fid(Fid { oid, ..fid }));
            if let Some(extent) = &mut row.extent {
                let before = client.ends.insert(oid, extent.end.wrapping_add(1));
                // Neither the first nor where the last ended: random access.
                if extent.end != u64::MAX && before.is_some_and(|end| end != extent.start) {
                    let len = extent.end - extent.start;
                    let unit = if extent.start % 4096 == 0 { 4096 } else { 1 };
                    extent.start = random.below((4 << 30) / unit) * unit;
                    extent.end = extent.start + len;
                }
            }
        }
        if row.transno != 0 {
            let transno = self.transnos.entry(row.target).or_insert_with(|| 4 << 32 | random.below(1 << 20));
            *transno += 1;
            row.transno = *transno;
        }
        row
    }
}

/// `ll_ost_io` of `ll_ost_io00_002`.
fn thread_kind(name: &[u8]) -> &[u8] {
    let end = name.iter().position(|byte| byte.is_ascii_digit()).unwrap_or(name.len());
    &name[..end]
}

fn uuid(random: &mut Random) -> String {
    let (a, b) = (random.next(), random.next());
    format!("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", a >> 32, a >> 16 & 0xffff, a & 0xffff, b >> 48, b & 0xffff_ffff_ffff)
}

/// Rows with as much in them as a server could possibly produce: a thousand clients, each with a job of its own, that write
/// odd pieces with gaps at random places of a million objects of 256 GiB each.
pub(crate) struct WorstCase {
    random: Random,
    node: Symbol,
    nids: Vec<Symbol>,
    uuids: Vec<Symbol>,
    jobs: Vec<Symbol>,
    threads: Vec<Symbol>,
    xids: Vec<u64>,
    transno: u64,
    now_us: i64,
}

impl WorstCase {
    pub(crate) fn new(symbols: &mut Symbols) -> Self {
        let mut random = Random(2);
        let clients = 1000;
        let mut names =
            |name: &dyn Fn(u64) -> String| (0..clients).map(|n| symbols.intern(name(n).as_bytes())).collect();
        let nids = names(&|n| format!("10.20.{}.{}@o2ib", n / 250, n % 250 + 1));
        let jobs = names(&|n| format!("job{n}.{}", n * 7919 % 65_536));
        let threads = names(&|n| format!("ll_ost_io{:02}_{:03}", n % 8, n / 8 % 64));
        let uuids = (0..clients).map(|_| symbols.intern(uuid(&mut random).as_bytes())).collect();
        let xids = (0..clients).map(|_| 1_882_455_793_623_808 + random.below(1 << 40)).collect();
        let node = symbols.intern(NODE);
        Self { random, node, nids, uuids, jobs, threads, xids, transno: 4 << 32, now_us: 1_795_251_082_000_000 }
    }

    pub(crate) fn next(&mut self) -> RpcRow {
        let random = &mut self.random;
        self.now_us += random.below(80) as i64;
        let client = random.below(self.nids.len() as u64) as usize;
        self.xids[client] += (1 + random.below(32)) << 7;
        self.transno += 1;
        let thread = random.below(512) as usize;
        // From microseconds to seconds.
        let service_us = random.next() >> (44 + random.below(12));
        let queue_us = random.next() >> (44 + random.below(12));
        let start = random.below(256 << 30);
        let max = 1 + random.below(4 << 20);
        let best = 1 + random.below(max);
        RpcRow {
            node: self.node,
            opcode: Opcode::OST_WRITE,
            nid: self.nids[client],
            client_uuid: self.uuids[client],
            xid: Xid(self.xids[client]),
            job: Some(self.jobs[client]),
            thread: self.threads[thread],
            pid: 30_000 + thread as u32 * 3,
            end_us: self.now_us,
            service_us: Some(service_us),
            total_us: Some(service_us + queue_us),
            rc: 0,
            reply_rc: 0,
            transno: self.transno,
            target: TargetName::new("lustre", TargetKind::Ost, random.below(8) as u16),
            target_evidence: TargetEvidence::RefreshLine,
            object: Some(ObjectName::Fid(Fid { seq: 0x2_4000_0400, oid: random.below(1 << 20) as u32, ver: 0 })),
            extent: Some(Extent { start, end: start + max - 1 }),
            size: RpcSize::Bounded { best, min: 1 + random.below(best), max },
            size_evidence: SizeEvidence::Niobufs,
            bulk: None,
            dropped: false,
            resent: false,
            replay: false,
            uid: Some(1000 + client as u32),
            gid: Some(100),
            projid: Some(0),
            tbf_rate: None,
        }
    }
}
