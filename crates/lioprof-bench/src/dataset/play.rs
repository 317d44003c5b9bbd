//! A node: plays what its captures' servers logged, many at once, and writes that.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;

use lioprof_model::{LockEvent, LockHappening, RowSink, RpcRow, Symbol, Symbols, TraceSummary};
use lioprof_store::{DatasetWriter, ManifestFacts, NodeInfo, Options, Session, StoreError, Target};
use lustre_debuglog::{TargetKind, TargetName};

use super::options::{DatasetOptions, START_US};
use super::plan::Play;
use super::script::{NameRole, Received, Row, Script, ServerScript};
use super::site::{FS, Site};
use super::threads::Threads;
use super::truth::{Counting, Truth};
use crate::random::{Random, mix};

/// What a play's name is on this node, and what to add to the xids of that peer.
#[derive(Clone, Copy, Debug)]
struct Named {
    symbol: Symbol,
    xids: u64,
}

/// A play under way.
#[derive(Debug)]
struct Running {
    /// The next item.
    at: usize,
    /// By the symbols of the script.
    names: Vec<Named>,
    /// Numbers of the services, by the kinds of the script.
    services: Vec<usize>,
    /// Threads that are at an RPC, by those of the script.
    threads: Vec<Option<usize>>,
    first_object: u32,
    first_cookie: u64,
}

/// A node that plays.
pub(super) struct Node<'a> {
    site: &'a Site,
    scripts: &'a [Script],
    plays: &'a [Play],
    options: &'a DatasetOptions,
    number: u32,
    random: Random,
    symbols: Symbols,
    name: Symbol,
    threads: Threads,
    /// Ends of plays free their place.
    running: Vec<Option<Running>>,
    free: Vec<usize>,
    /// By the time of their next item; of equal ones the play that began first, and the place in `running`.
    due: BinaryHeap<Reverse<(i64, usize, usize)>>,
    transnos: BTreeMap<Option<TargetName>, u64>,
    objects: u32,
    cookies: u64,
    /// First objects of a play that has ended, by scripts: files that another play may go on with.
    left_objects: Vec<Option<u32>>,
    writer: DatasetWriter,
    part_end_us: i64,
    summary: TraceSummary,
    truth: Counting,
}

/// Writes all of a node; what was written.
pub(super) fn write_node(
    dir: &Path,
    site: &Site,
    scripts: &[Script],
    plays: &[Play],
    options: &DatasetOptions,
    number: u32,
) -> Result<Truth, StoreError> {
    let mut node = Node::new(dir, site, scripts, plays, options, number);
    node.run()?;
    let mut truth = node.truth.finish();
    // Of a pair, one node says what both play.
    if number.is_multiple_of(2) {
        for play in plays {
            *truth.plays.entry(scripts[play.script].name.to_owned()).or_default() += 1;
        }
    }
    Ok(truth)
}

impl<'a> Node<'a> {
    fn new(
        dir: &Path,
        site: &'a Site,
        scripts: &'a [Script],
        plays: &'a [Play],
        options: &'a DatasetOptions,
        number: u32,
    ) -> Self {
        let node = site.node_name(number);
        let mut symbols = Symbols::default();
        let name = symbols.intern(node.as_bytes());
        let session = Session { start_us: START_US, id: format!("{:06x}", mix(options.seed) >> 40) };
        let info = NodeInfo { fs: FS.to_owned(), node, session };
        Self {
            site,
            scripts,
            plays,
            options,
            number,
            random: Random(mix(options.seed ^ u64::from(number) << 32 ^ 1)),
            symbols,
            name,
            threads: Threads::default(),
            running: Vec::new(),
            free: Vec::new(),
            due: BinaryHeap::new(),
            transnos: BTreeMap::new(),
            objects: 1000,
            cookies: 0,
            left_objects: vec![None; scripts.len()],
            writer: DatasetWriter::new(dir, info, Options::default()),
            part_end_us: START_US.saturating_add_unsigned(options.part_seconds * 1_000_000),
            summary: TraceSummary::default(),
            truth: Counting::default(),
        }
    }

    fn run(&mut self) -> Result<(), StoreError> {
        let mut next = 0;
        loop {
            let begins_us = self.plays.get(next).map(|play| play.start_us);
            let due_us = self.due.peek().map(|Reverse((due_us, ..))| *due_us);
            match (begins_us, due_us) {
                (Some(begins_us), due_us) if due_us.is_none_or(|due_us| begins_us <= due_us) => {
                    self.begin(next);
                    next += 1;
                }
                (_, Some(due_us)) => self.step(due_us)?,
                (_, None) => break,
            }
        }
        self.close_part()
    }

    fn part(&self, play: &Play) -> &'a ServerScript {
        &self.scripts[play.script].parts[self.number as usize % 2]
    }

    fn begin(&mut self, number: usize) {
        let play = &self.plays[number];
        let part = self.part(play);
        let Some(first) = part.items.first() else { return };
        let names = part.names.iter().map(|name| self.named(name, play)).collect();
        let services = part.kinds.iter().map(|kind| self.threads.service(kind, &mut self.symbols)).collect();
        // Half of the plays go on with the files of an earlier one.
        let left = self.left_objects[play.script].take().filter(|_| self.random.below(2) == 0);
        let first_object = left.unwrap_or(self.objects);
        if left.is_none() {
            self.objects += part.objects;
        }
        let threads = vec![None; part.threads.len()];
        let running = Running { at: 0, names, services, threads, first_object, first_cookie: self.cookies };
        self.cookies += part.cookies;
        let place = self.free.pop().unwrap_or_else(|| {
            self.running.push(None);
            self.running.len() - 1
        });
        self.running[place] = Some(running);
        self.due.push(Reverse((play.start_us + first.known_us, number, place)));
    }

    fn named(&mut self, name: &NameRole, play: &Play) -> Named {
        let pair = self.number / 2;
        let node = |server: usize| pair * 2 + u32::from(server == 1);
        // Peers are the two servers, then the clients.
        let (text, peer) = match name {
            NameRole::Peer(peer @ 0..2) => (Site::node_nid(node(*peer)), Some(*peer)),
            NameRole::Peer(peer) => (Site::client_nid(play.clients[peer - 2]), Some(*peer)),
            NameRole::Loopback(peer) => ("0@lo".to_owned(), Some(*peer)),
            NameRole::Uuid(peer @ 0..2) => (self.site.node_uuid(node(*peer)), None),
            NameRole::Uuid(peer) => (self.site.client_uuid(play.clients[peer - 2]), None),
            NameRole::Job => (Site::job_name(play.job), None),
            NameRole::Targets(text) => (rename_targets(text, pair, play), None),
            NameRole::Fixed(text) => (String::from_utf8_lossy(text).into_owned(), None),
        };
        let xids = peer.map_or(0, |peer| play.xids[peer]);
        Named { symbol: self.symbols.intern(text.as_bytes()), xids }
    }

    /// Writes the next item of the play that is due.
    fn step(&mut self, due_us: i64) -> Result<(), StoreError> {
        if due_us >= self.part_end_us {
            self.close_part()?;
            let part_us = i64::try_from(self.options.part_seconds * 1_000_000).unwrap_or(i64::MAX);
            while due_us >= self.part_end_us {
                self.part_end_us = self.part_end_us.saturating_add(part_us);
            }
        }
        let Some(Reverse((_, number, place))) = self.due.pop() else { return Ok(()) };
        let Some(mut running) = self.running[place].take() else { return Ok(()) };
        let play = &self.plays[number];
        let part = self.part(play);
        self.write(&mut running, part, play);
        running.at += 1;
        if let Some(item) = part.items.get(running.at) {
            self.running[place] = Some(running);
            self.due.push(Reverse((play.start_us + item.known_us, number, place)));
        } else {
            for (thread, kind) in running.threads.iter().zip(&part.threads) {
                if let Some(thread) = *thread {
                    self.threads.give_back(running.services[*kind], thread, due_us);
                }
            }
            self.left_objects[play.script] = Some(running.first_object);
            self.summary.merge(&part.summary);
            self.free.push(place);
        }
        match self.writer.error() {
            // It is kept until the part is closed.
            Some(_) => self.close_part(),
            None => Ok(()),
        }
    }

    fn write(&mut self, running: &mut Running, part: &ServerScript, play: &Play) {
        let item = &part.items[running.at];
        let mut row = item.row.clone();
        let pid = row.pid_mut();
        let script_thread = *pid as usize;
        let service = running.services[part.threads[script_thread]];
        let thread = *running.threads[script_thread].get_or_insert_with(|| {
            let since_us = play.start_us + item.since_us;
            self.threads.take(service, since_us, &mut self.random, &mut self.symbols)
        });
        let thread_info = self.threads.thread(thread);
        *pid = thread_info.pid;

        let node = u64::from(self.number);
        row.each_object(|seq, oid| {
            *seq += node << 36;
            *oid += running.first_object;
        });
        let named = |symbol: Symbol| running.names[symbol.0 as usize];
        let of_server =
            |symbol: Symbol| matches!(part.names[symbol.0 as usize], NameRole::Loopback(_) | NameRole::Peer(0..2));
        let mut from_server = false;
        if let Some(Received { nid, xid, client_uuid, job }) = row.received_mut() {
            from_server = of_server(*nid);
            let peer = named(*nid);
            *nid = peer.symbol;
            *xid += peer.xids;
            *client_uuid = named(*client_uuid).symbol;
            *job = job.map(|job| named(job).symbol);
        }
        match &mut row {
            Row::Rpc(row) => {
                row.node = self.name;
                row.end_us += play.start_us;
                // What servers send each other tells how their clocks are set: it stays as it is.
                if !from_server {
                    vary_times(row, &mut self.random);
                }
                row.thread = thread_info.name;
                row.target = row.target.map(|target| renamed(target, self.number / 2, play));
                let users = row.uid.is_some_and(|uid| uid != 0);
                row.uid = row.uid.map(|uid| if users { Site::uid(play.job) } else { uid });
                if row.transno != 0 {
                    let random = &mut self.random;
                    let transno = self.transnos.entry(row.target).or_insert_with(|| 4 << 32 | random.below(1 << 20));
                    *transno += 1;
                    row.transno = *transno;
                }
                self.threads.give_back(service, thread, row.end_us);
                running.threads[script_thread] = None;
                self.truth.rpc(row);
                self.writer.rpc(row, &self.symbols);
            }
            Row::Lock(event) => {
                event.node = self.name;
                event.time_us += play.start_us;
                self.rename_lock(event, running, play);
                self.truth.lock_event(event);
                self.writer.lock_event(event, &self.symbols);
            }
            Row::Sent(sent) => {
                sent.node = self.name;
                sent.time_us += play.start_us;
                sent.xid.0 += play.xids[self.number as usize % 2];
                sent.nid = named(sent.nid).symbol;
                sent.device = named(sent.device).symbol;
                self.truth.sent_rpc();
                self.writer.sent_rpc(sent, &self.symbols);
            }
        }
    }

    fn rename_lock(&self, event: &mut LockEvent, running: &Running, play: &Play) {
        let pair = self.number / 2;
        event.happening.symbols(&mut |nid| *nid = running.names[nid.0 as usize].symbol);
        match &mut event.happening {
            LockHappening::Lock(_, lock) => {
                lock.cookie = mix(u64::from(self.number) << 48 | (running.first_cookie + lock.cookie));
                lock.target = renamed(lock.target, pair, play);
            }
            LockHappening::CallbackTimedOut { target, .. }
            | LockHappening::SilentEvicted { target: Some(target), .. } => {
                *target = renamed(*target, pair, play);
            }
            LockHappening::SilentEvicted { target: None, .. } => {}
            LockHappening::EnqueueStart | LockHappening::EnqueueEnd | LockHappening::KernelContention { .. } => {}
        }
    }

    fn close_part(&mut self) -> Result<(), StoreError> {
        let stats = self.writer.part_stats();
        let mut summary = std::mem::take(&mut self.summary);
        (summary.first_us, summary.last_us) = (stats.first_us, stats.last_us);
        summary.targets = self.truth.targets().collect();
        let target = |it: &TargetName| Target { name: it.to_string(), kind: it.kind().to_string(), uuid: None };
        let facts = ManifestFacts {
            targets: summary.targets.iter().map(target).collect(),
            through_us: stats.last_us,
            summary,
            ..ManifestFacts::default()
        };
        let closed = self.writer.close_part(facts)?;
        self.truth.part(closed.bytes);
        Ok(())
    }
}

/// The site's name for a target of the captures.
fn renamed(target: TargetName, pair: u32, play: &Play) -> TargetName {
    match target.kind() {
        TargetKind::Mdt => Site::mdt_of(pair),
        TargetKind::Mgs => target,
        TargetKind::Ost => play.osts.iter().find(|(old, _)| *old == target).map_or(target, |(_, new)| *new),
    }
}

/// A text with the names of targets in it, `lustre-MDT0000-lwp-OST0002_UUID`.
fn rename_targets(text: &[u8], pair: u32, play: &Play) -> String {
    const INDEX: usize = "0000".len();
    let mut out = String::from_utf8_lossy(text).into_owned();
    let new_names = [(TargetKind::Mdt, "MDT"), (TargetKind::Ost, "OST")];
    for (kind, word) in new_names {
        let Some(at) = out.find(word).map(|at| at + word.len()) else { continue };
        let Some(index) = out.get(at..at + INDEX).and_then(|digits| u16::from_str_radix(digits, 16).ok()) else {
            continue;
        };
        let Some(old) = TargetName::new(FS, kind, index) else { continue };
        out.replace_range(at..at + INDEX, &format!("{:04x}", renamed(old, pair, play).index()));
    }
    out
}

/// Draws new times within those of the captured RPC, so that nothing comes before its cause.
fn vary_times(row: &mut RpcRow, random: &mut Random) {
    const END_US: u64 = 64;
    let (Some(service_us), Some(total_us), Some(queue_us)) = (row.service_us, row.total_us, row.queue_us()) else {
        return;
    };
    let ended_earlier = random.below(service_us.min(END_US) + 1);
    let begun_later = random.below((service_us - ended_earlier) / 2 + 1);
    let arrived_later = random.below(queue_us / 2 + 1);
    row.end_us = row.end_us.saturating_sub_unsigned(ended_earlier);
    row.service_us = Some(service_us - ended_earlier - begun_later);
    row.total_us = Some(total_us - ended_earlier - arrived_later);
}
