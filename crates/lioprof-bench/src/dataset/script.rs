//! What captures hold, made ready to be played: names by what they stand for, numbers from zero.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lioprof_analysis::{Config, analyze};
use lioprof_model::{
    LockEvent, LockHappening, RowSink, RpcRow, RpcWindow, SentRpc, Symbol, Symbols, TraceLoss, TraceSummary,
};
use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{Fid, ResourceId, TargetKind, TargetName};

use super::options::DatasetError;

/// Captures that are played, and how often compared with the others: a busy file system mostly reads and writes.
const CAPTURES: &[(&str, u64)] = &[
    ("file_per_process", 6),
    ("v215_file_per_process", 6),
    ("shared_striped_write", 6),
    ("shared_read_all_osts", 6),
    ("lock_pingpong_small", 4),
    ("lock_pingpong", 1),
    ("lock_pingpong_dlm", 1),
    ("v215_lock_pingpong_dlm", 1),
    ("masks", 1),
    ("v215_masks", 1),
    ("metadata", 1),
];
/// The servers of all captures, as their folders are named, and their addresses.
const SERVERS: [(&str, &[u8]); 2] = [("server1", b"10.10.0.1@tcp"), ("server2", b"10.10.0.2@tcp")];
/// What a server calls itself.
const LOOPBACK: &[u8] = b"0@lo";
/// FID sequences below it are not of files: the root, logs, objects of before Lustre 2.4 (`lustre_fid.h`).
const FIRST_FILE_SEQUENCE: u64 = 0x2_0000_0400;

/// A capture.
#[derive(Debug)]
pub(super) struct Script {
    /// Folder of the capture.
    pub(super) name: &'static str,
    /// How often it is played, compared with others.
    pub(super) weight: u64,
    /// What each server logged; empty where the capture has no log of it.
    pub(super) parts: [ServerScript; 2],
    /// Clients in it.
    pub(super) clients: usize,
    /// Xids that each peer takes, from zero: the servers, then the clients.
    pub(super) xids: Vec<u64>,
    /// OSTs of each server.
    pub(super) osts: [Vec<TargetName>; 2],
    /// From the first item to the last one.
    pub(super) len_us: i64,
}

/// What one server logged.
#[derive(Debug, Default)]
pub(super) struct ServerScript {
    /// In the order in which they became known.
    pub(super) items: Vec<Item>,
    /// By the symbols of the items.
    pub(super) names: Vec<NameRole>,
    /// Kinds of threads, by the places in [`Self::threads`].
    pub(super) kinds: Vec<Vec<u8>>,
    /// Kind of each thread: a place in [`Self::kinds`].
    pub(super) threads: Vec<usize>,
    /// Objects of files: their numbers in the items are below this.
    pub(super) objects: u32,
    /// Locks: their cookies in the items are below this.
    pub(super) cookies: u64,
    /// RPCs among the items.
    pub(super) rpcs: u64,
    /// What the log held besides.
    pub(super) summary: TraceSummary,
}

/// What a name of the capture stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameRole {
    /// NID of a peer.
    Peer(usize),
    /// The server's own NID for itself, and its peer number.
    Loopback(usize),
    /// Uuid of a peer's mount.
    Uuid(usize),
    /// Job of users.
    Job,
    /// Text with names of targets in it.
    Targets(Vec<u8>),
    /// Stays as it is.
    Fixed(Vec<u8>),
}

/// A row. Times are since the beginning of the capture, pids are places in [`ServerScript::threads`], symbols in [`ServerScript::names`], xids,
/// cookies and objects of files numbers from zero.
#[derive(Debug)]
pub(super) struct Item {
    /// When it became known.
    pub(super) known_us: i64,
    /// Since when its thread was at it.
    pub(super) since_us: i64,
    pub(super) row: Row,
}

#[derive(Clone, Debug)]
pub(super) enum Row {
    Rpc(RpcRow),
    Lock(LockEvent),
    Sent(SentRpc),
}

/// What says who sent an RPC that a server received.
pub(super) struct Received<'a> {
    pub(super) nid: &'a mut Symbol,
    pub(super) xid: &'a mut u64,
    pub(super) client_uuid: &'a mut Symbol,
    pub(super) job: &'a mut Option<Symbol>,
}

impl Row {
    fn time_us(&self) -> i64 {
        match self {
            Self::Rpc(row) => row.end_us,
            Self::Lock(event) => event.time_us,
            Self::Sent(sent) => sent.time_us,
        }
    }

    /// When its RPC came in, as far as it says so.
    fn start_us(&self) -> i64 {
        match self {
            Self::Rpc(row) => row.start_us().unwrap_or(row.end_us),
            Self::Lock(_) | Self::Sent(_) => self.time_us(),
        }
    }

    fn time_us_mut(&mut self) -> &mut i64 {
        match self {
            Self::Rpc(row) => &mut row.end_us,
            Self::Lock(event) => &mut event.time_us,
            Self::Sent(sent) => &mut sent.time_us,
        }
    }

    pub(super) fn pid_mut(&mut self) -> &mut u32 {
        match self {
            Self::Rpc(row) => &mut row.pid,
            Self::Lock(event) => &mut event.pid,
            Self::Sent(sent) => &mut sent.pid,
        }
    }

    /// The names of the RPC that it is, or in whose window it falls.
    pub(super) fn received_mut(&mut self) -> Option<Received<'_>> {
        let window = match self {
            Self::Rpc(RpcRow { nid, xid, client_uuid, job, .. }) => {
                return Some(Received { nid, xid: &mut xid.0, client_uuid, job });
            }
            Self::Lock(event) => event.window.as_mut()?,
            Self::Sent(sent) => sent.window.as_mut()?,
        };
        let RpcWindow { nid, xid, client_uuid, job, .. } = window;
        Some(Received { nid, xid: &mut xid.0, client_uuid, job })
    }

    /// Calls for each object of a file: FID sequence and object number.
    pub(super) fn each_object(&mut self, mut of: impl FnMut(&mut u64, &mut u32)) {
        match self {
            Self::Rpc(RpcRow { object: Some(ObjectName::Fid(Fid { seq, oid, .. })), .. }) => {
                if *seq >= FIRST_FILE_SEQUENCE {
                    of(seq, oid);
                }
            }
            Self::Lock(LockEvent { happening, .. }) => {
                let resource = match happening {
                    LockHappening::Lock(_, lock) if lock.target.kind() != TargetKind::Mgs => &mut lock.resource,
                    LockHappening::KernelContention { resource, .. } => resource,
                    _ => return,
                };
                let ResourceId([seq, number, ..]) = resource;
                if *seq >= FIRST_FILE_SEQUENCE
                    && let Ok(mut oid) = u32::try_from(*number)
                {
                    of(seq, &mut oid);
                    *number = u64::from(oid);
                }
            }
            Self::Rpc(_) | Self::Sent(_) => {}
        }
    }
}

/// All captures of the folder that are wanted, ready to be played.
pub(super) fn read_all(captures: &Path) -> Result<Vec<Script>, DatasetError> {
    CAPTURES.iter().map(|&(name, weight)| read(&captures.join(name), name, weight)).collect()
}

fn read(capture: &Path, name: &'static str, weight: u64) -> Result<Script, DatasetError> {
    let paths = SERVERS.map(|(server, _)| capture.join(server).join("rpc.bin.zst"));
    let mut logs = Vec::new();
    for path in &paths {
        logs.push(if path.is_file() { Some(Log::read(path)?) } else { None });
    }
    match logs.as_mut_slice() {
        [None, None] => return Err(DatasetError::NoCapture(capture.to_owned())),
        [Some(_), Some(second)] => second.shift(-clock_offset_us(&paths)?),
        _ => {}
    }
    let present = || logs.iter().flatten();
    let start_us = present().filter_map(Log::start_us).min().unwrap_or(0);
    let peers = Peers::of(present());
    let first_xids = peers.xids(&logs);
    let osts = [0, 1].map(|server| {
        let names = logs[server].iter().flat_map(|log: &Log| log.summary.targets.iter().copied());
        names.filter(|it| it.kind() == TargetKind::Ost).collect()
    });
    let mut parts: [ServerScript; 2] = Default::default();
    for (server, log) in logs.into_iter().enumerate() {
        if let Some(log) = log {
            parts[server] = log.into_part(server, start_us, &peers, &first_xids);
        }
    }
    let len_us = parts.iter().flat_map(|part| part.items.last()).map(|item| item.known_us).max().unwrap_or(0);
    let xids = first_xids.iter().map(|&(first, last)| last - first + 1).collect();
    Ok(Script { name, weight, parts, clients: peers.clients.len(), xids, osts, len_us })
}

/// What the second server's clock showed more than the first one's: each capture has another offset, a site has one.
fn clock_offset_us(paths: &[PathBuf]) -> Result<i64, DatasetError> {
    let outcome = analyze(paths, &Config::default(), None).map_err(|err| DatasetError::Capture(err.to_string()))?;
    let second = outcome.analysis.nodes.iter().find(|node| node.name == SERVERS[1].0);
    Ok(second.and_then(|node| node.clock_offset_us).unwrap_or(0))
}

/// A server's log as it is.
#[derive(Default)]
struct Log {
    rows: Vec<Row>,
    symbols: Symbols,
    summary: TraceSummary,
}

impl RowSink for Log {
    fn rpc(&mut self, row: &RpcRow, _: &Symbols) {
        self.rows.push(Row::Rpc(row.clone()));
    }

    fn lock_event(&mut self, event: &LockEvent, _: &Symbols) {
        self.rows.push(Row::Lock(event.clone()));
    }

    fn sent_rpc(&mut self, sent: &SentRpc, _: &Symbols) {
        self.rows.push(Row::Sent(sent.clone()));
    }

    fn node_end(&mut self, _: &str, summary: &TraceSummary, symbols: &Symbols) {
        self.symbols = symbols.clone();
        self.summary = summary.clone();
    }
}

impl Log {
    /// One server alone, so that its times are those of its own clock.
    fn read(path: &PathBuf) -> Result<Self, DatasetError> {
        let mut log = Self::default();
        let config = Config { locks: false, ..Config::default() };
        let failed = DatasetError::Capture;
        let outcome =
            analyze(std::slice::from_ref(path), &config, Some(&mut log)).map_err(|err| failed(err.to_string()))?;
        match outcome.problems.first() {
            Some(problem) => Err(failed(problem.message.clone())),
            None => Ok(log),
        }
    }

    fn start_us(&self) -> Option<i64> {
        self.rows.iter().map(Row::time_us).min()
    }

    fn shift(&mut self, by_us: i64) {
        for row in &mut self.rows {
            *row.time_us_mut() += by_us;
        }
    }

    fn into_part(self, server: usize, start_us: i64, peers: &Peers, xids: &[(u64, u64)]) -> ServerScript {
        let Self { rows, symbols, summary } = self;
        let mut names = NameTable { symbols: &symbols, peers, server, names: Vec::new(), known: BTreeMap::new() };
        let objects = numbers(&rows, |row, of| row.each_object(|_, oid| of(u64::from(*oid))));
        let cookies = numbers(&rows, |row, of| row.lock().into_iter().for_each(|lock| of(lock.cookie)));
        let threads = numbers(&rows, |row, of| of(u64::from(*row.pid_mut())));
        let kinds_by_thread = thread_kinds(&rows, &symbols, &threads);
        let kinds: BTreeSet<&Vec<u8>> = kinds_by_thread.iter().collect();
        let kinds: Vec<Vec<u8>> = kinds.into_iter().cloned().collect();
        let threads_kinds = kinds_by_thread.iter().map(|kind| kinds.partition_point(|it| it < kind)).collect();

        let since_us = since(&rows, start_us);
        let mut items = Vec::with_capacity(rows.len());
        let mut known_us = 0;
        let rpcs = rows.iter().filter(|row| matches!(row, Row::Rpc(_))).count() as u64;
        for (mut row, since_us) in rows.into_iter().zip(since_us) {
            match &mut row {
                Row::Lock(LockEvent { happening, .. }) => {
                    happening.symbols(&mut |nid| *nid = names.nid(*nid));
                    if let LockHappening::Lock(_, lock) = happening {
                        lock.cookie = place(&cookies, lock.cookie);
                    }
                }
                Row::Rpc(_) => {}
                Row::Sent(sent) => {
                    sent.xid.0 -= xids[server].0;
                    sent.device = names.uuid(sent.device, server);
                    sent.nid = names.nid(sent.nid);
                }
            }
            if let Some(Received { nid, xid, client_uuid, job }) = row.received_mut() {
                let peer = peers.peer(symbols.bytes(*nid), server);
                *xid -= xids[peer].0;
                *client_uuid = names.uuid(*client_uuid, peer);
                *nid = names.nid(*nid);
                *job = job.map(|job| names.job(job));
            }
            row.each_object(|_, oid| *oid = narrow(place(&objects, u64::from(*oid))));
            let pid = row.pid_mut();
            *pid = narrow(place(&threads, u64::from(*pid)));
            *row.time_us_mut() -= start_us;
            known_us = row.time_us().max(known_us);
            items.push(Item { known_us, since_us, row });
        }
        ServerScript {
            items,
            names: names.names,
            kinds,
            threads: threads_kinds,
            objects: narrow(objects.len() as u64),
            cookies: cookies.len() as u64,
            rpcs,
            summary: counts_of(summary),
        }
    }
}

impl Row {
    fn lock(&self) -> Option<&lioprof_model::LockState> {
        match self {
            Self::Lock(LockEvent { happening: LockHappening::Lock(_, lock), .. }) => Some(lock),
            _ => None,
        }
    }
}

/// What adds up when a capture is played many times; a site's log is not damaged.
fn counts_of(summary: TraceSummary) -> TraceSummary {
    let TraceSummary { bytes, records, messages, rpctrace_records, sent_timed_out, evictions, loss, .. } = summary;
    let loss = TraceLoss { nrs_sequence_seen: loss.nrs_sequence_seen, ..TraceLoss::default() };
    TraceSummary { bytes, records, messages, rpctrace_records, sent_timed_out, evictions, loss, ..Default::default() }
}

/// Since when a row's thread was at its RPC: the start of the next RPC that this thread ends.
fn since(rows: &[Row], start_us: i64) -> Vec<i64> {
    let mut begun: BTreeMap<u32, i64> = BTreeMap::new();
    let mut since: Vec<i64> = rows
        .iter()
        .rev()
        .map(|row| {
            let pid = *row.clone().pid_mut();
            if matches!(row, Row::Rpc(_)) {
                begun.insert(pid, row.start_us());
            }
            begun.get(&pid).map_or(row.start_us(), |&begun| begun.min(row.start_us())) - start_us
        })
        .collect();
    since.reverse();
    since
}

/// `ll_ost_io` of `ll_ost_io00_002`, by threads; what ended no RPC has no name.
fn thread_kinds(rows: &[Row], symbols: &Symbols, threads: &[u64]) -> Vec<Vec<u8>> {
    let mut kinds = vec![b"other".to_vec(); threads.len()];
    for row in rows {
        if let Row::Rpc(row) = row {
            let name = symbols.bytes(row.thread);
            let end = name.iter().position(u8::is_ascii_digit).unwrap_or(name.len());
            kinds[index(place(threads, u64::from(row.pid)))] = name[..end].to_vec();
        }
    }
    kinds
}

/// All numbers of a kind, sorted.
fn numbers(rows: &[Row], each: impl Fn(&mut Row, &mut dyn FnMut(u64))) -> Vec<u64> {
    let mut found = BTreeSet::new();
    for row in rows {
        each(&mut row.clone(), &mut |number| {
            found.insert(number);
        });
    }
    found.into_iter().collect()
}

/// Place of a number in all of its kind.
fn place(sorted: &[u64], number: u64) -> u64 {
    sorted.partition_point(|&it| it < number) as u64
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).expect("captures have fewer than 2^32 of anything")
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("places are in memory")
}

/// Who sends RPCs: the servers, then the clients in the order of their NIDs.
struct Peers {
    clients: Vec<Vec<u8>>,
}

impl Peers {
    fn of<'a>(logs: impl Iterator<Item = &'a Log>) -> Self {
        let mut clients = BTreeSet::new();
        for log in logs {
            let mut add = |nid: Symbol| {
                let nid = log.symbols.bytes(nid);
                if nid != LOOPBACK && SERVERS.iter().all(|(_, server)| nid != *server) {
                    clients.insert(nid.to_vec());
                }
            };
            for row in &log.rows {
                match row {
                    Row::Rpc(row) => add(row.nid),
                    Row::Lock(event) => event.window.iter().for_each(|window| add(window.nid)),
                    Row::Sent(sent) => {
                        add(sent.nid);
                        sent.window.iter().for_each(|window| add(window.nid));
                    }
                }
                row.lock().and_then(|lock| lock.nid).into_iter().for_each(&mut add);
            }
        }
        Self { clients: clients.into_iter().collect() }
    }

    /// The peer that a server calls so.
    fn peer(&self, nid: &[u8], server: usize) -> usize {
        if nid == LOOPBACK {
            return server;
        }
        match SERVERS.iter().position(|(_, address)| nid == *address) {
            Some(server) => server,
            None => SERVERS.len() + self.clients.partition_point(|client| client.as_slice() < nid),
        }
    }

    /// First and last xid of each peer.
    fn xids(&self, logs: &[Option<Log>]) -> Vec<(u64, u64)> {
        let mut xids: Vec<Option<(u64, u64)>> = vec![None; SERVERS.len() + self.clients.len()];
        for (server, log) in logs.iter().enumerate() {
            for (log, row) in log.iter().flat_map(|log| log.rows.iter().map(move |row| (log, row))) {
                let peer = |nid: Symbol| self.peer(log.symbols.bytes(nid), server);
                let window = match row {
                    Row::Rpc(_) => None,
                    Row::Lock(event) => event.window,
                    Row::Sent(sent) => sent.window,
                };
                let own = match row {
                    Row::Rpc(row) => Some((peer(row.nid), row.xid.0)),
                    Row::Lock(_) => None,
                    Row::Sent(sent) => Some((server, sent.xid.0)),
                };
                for (peer, xid) in own.into_iter().chain(window.map(|window| (peer(window.nid), window.xid.0))) {
                    let (first, last) = xids[peer].get_or_insert((xid, xid));
                    (*first, *last) = (xid.min(*first), xid.max(*last));
                }
            }
        }
        xids.into_iter().map(Option::unwrap_or_default).collect()
    }
}

/// What the names of a log stand for.
struct NameTable<'a> {
    symbols: &'a Symbols,
    peers: &'a Peers,
    server: usize,
    names: Vec<NameRole>,
    known: BTreeMap<NameRole, Symbol>,
}

impl NameTable<'_> {
    fn nid(&mut self, nid: Symbol) -> Symbol {
        let text = self.symbols.bytes(nid);
        let peer = self.peers.peer(text, self.server);
        self.name(if text == LOOPBACK { NameRole::Loopback(peer) } else { NameRole::Peer(peer) })
    }

    /// Of a client, or of a device of a server.
    fn uuid(&mut self, uuid: Symbol, peer: usize) -> Symbol {
        const LEN: usize = "2df9d93f-9bf2-459c-8418-27773fb0b5fd".len();
        let text = self.symbols.bytes(uuid);
        let random = text.len() == LEN && text.iter().all(|it| it.is_ascii_hexdigit() || *it == b'-');
        let names_targets = [b"-OST", b"-MDT"].iter().any(|it| text.windows(it.len()).any(|part| part == *it));
        self.name(match text {
            _ if random => NameRole::Uuid(peer),
            _ if names_targets => NameRole::Targets(text.to_vec()),
            _ => NameRole::Fixed(text.to_vec()),
        })
    }

    /// Threads of the client's kernel keep their names: they are the same everywhere.
    fn job(&mut self, job: Symbol) -> Symbol {
        const KERNEL: [&[u8]; 4] = [b"kworker", b"ldlm_", b"ll_", b"ptlrpc"];
        let text = self.symbols.bytes(job);
        let kernel = text.is_empty() || KERNEL.iter().any(|it| text.starts_with(it));
        self.name(if kernel { NameRole::Fixed(text.to_vec()) } else { NameRole::Job })
    }

    fn name(&mut self, name: NameRole) -> Symbol {
        let next = Symbol(narrow(self.names.len() as u64));
        *self.known.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        })
    }
}
