//! The lines of a read or write, in the wording of the release.

use std::io::Write as _;

use lioprof_sim::wording::{Extent, Fid, Handled, Request, Rpc, Site, V2_17, text};

use super::lines::{Lines, Release, scatter};

/// A read or write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    /// Position in the log.
    pub(super) number: u64,
    pub(super) client: u32,
    pub(super) job: u32,
    pub(super) xid: u64,
    pub(super) write: bool,
    pub(super) ost: u32,
    pub(super) object: u64,
    /// First byte in the object.
    pub(super) first: u64,
    pub(super) bytes: u64,
    /// Part of the service: CPU partition.
    pub(super) part: u32,
    pub(super) thread: u32,
    pub(super) cpu: u32,
    pub(super) sequence: u64,
    pub(super) arrival_us: i64,
    pub(super) start_us: i64,
    pub(super) end_us: i64,
}

/// Puts the lines of requests among those that wait for their time.
pub(super) struct Say<'a> {
    pub(super) release: Release,
    pub(super) lines: &'a mut Lines,
}

/// Thread of the network driver.
const DRIVER_PID: u32 = 352;
const FIRST_THREAD_PID: u32 = 2_200;
/// Bytes of a request with one piece.
const REQUEST_BYTES: u64 = 488;

impl Say<'_> {
    /// All lines of a request; returns when its thread is idle.
    pub(super) fn all(&mut self, it: &Transfer) -> i64 {
        let sites = &V2_17.sites;
        let names = TransferNames::of(it);
        let pid = FIRST_THREAD_PID + it.part * 1_000 + it.thread;
        // The handler of a read returns the bytes that it sent.
        let rc = if it.write { 0 } else { i64::try_from(it.bytes).unwrap_or(0) };
        let extent = Extent { first: it.first, last: it.first + it.bytes - 1 };
        let arrived = Request {
            wording: &V2_17,
            pointer: pointer(it),
            xid: it.xid,
            transno: 0,
            opcode: if it.write { 4 } else { 3 },
            peer: &names.uuid,
            nid: &names.nid,
            portals: (219, 0),
            lens: (REQUEST_BYTES, 0),
            timed_out: false,
            deadline_s: it.arrival_us.unsigned_abs() / 1_000_000 + 26,
            phase: "New:",
            flags: (V2_17.client_flags, u32::MAX),
            rc: (0, -1),
            job: &names.job,
            owner: (1000 + it.job, 100, 0),
        };
        let transno = if it.write { 4_294_967_296 + it.number } else { 0 };
        let done = Request {
            lens: (REQUEST_BYTES, 440),
            phase: "Complete:",
            flags: (V2_17.client_flags, 0),
            rc: (rc, rc),
            transno,
            ..arrived
        };
        self.line(it.arrival_us, DRIVER_PID, 0, &sites.peer, |line| text::peer(line, &names.nid));
        if self.release == Release::V2_17 {
            self.line(it.arrival_us + 3, pid, it.cpu, &sites.unwrap, |line| text::unwrap(line, it.xid));
        }
        self.line(it.arrival_us + 5, pid, it.cpu, &sites.got, |line| text::got(line, it.xid));
        self.extent(it.arrival_us + 9, pid, it, &names, extent, &arrived);
        self.line(it.start_us - 2, pid, it.cpu, &sites.nrs_start, |line| {
            text::nrs_start(line, &names.nid, it.sequence)
        });
        let handling = Rpc {
            pointer: arrived.pointer,
            thread: &names.thread,
            uuid: &names.uuid,
            references: Some(5),
            pid: 380,
            xid: it.xid,
            nid: &names.nid,
            opcode: arrived.opcode,
            job: &names.job,
        };
        let end = Handled {
            service_us: (it.end_us - it.start_us).unsigned_abs(),
            total_us: (it.end_us - it.arrival_us).unsigned_abs(),
            transno,
            rc: (rc, rc),
        };
        let old = self.release == Release::V2_12;
        self.line(it.start_us, pid, it.cpu, &sites.handling, |line| match old {
            false => text::handling(line, handling),
            true => writeln!(line, "Handling RPC {}", old_handling(&handling)).unwrap_or_default(),
        });
        self.line(it.end_us, pid, it.cpu, &sites.handled, |line| match old {
            false => text::handled(line, handling, end),
            true => writeln!(line, "Handled RPC {} {end}", old_handling(&handling)).unwrap_or_default(),
        });
        self.line(it.end_us + 4, pid, it.cpu, &sites.nrs_stop, |line| text::nrs_stop(line, &names.nid, it.sequence));
        self.extent(it.end_us + 7, pid, it, &names, extent, &done);
        it.end_us + 15
    }

    /// Object and extent, twice.
    fn extent(
        &mut self,
        time_us: i64,
        pid: u32,
        it: &Transfer,
        names: &TransferNames,
        extent: Extent,
        request: &Request<'_>,
    ) {
        let sites = &V2_17.sites;
        let fid = Fid(0x2_4000_0400 + u64::from(it.ost) * 0x4000_0000, it.object);
        let (target, thread) = (names.target.as_str(), names.thread.as_str());
        let release = self.release;
        self.line(time_us, pid, it.cpu, &sites.refresh, |line| match release {
            Release::V2_17 => text::refresh(line, target, thread, fid, extent, *request),
            Release::V2_12 => old_refresh(line, target, thread, fid, extent, request),
        });
        let pointer = request.pointer;
        self.line(time_us + 2, pid, it.cpu, &sites.prolong, |line| text::prolong(line, pointer, it.xid, extent));
    }

    fn line(&mut self, time_us: i64, pid: u32, cpu: u32, site: &Site, text: impl FnOnce(&mut Vec<u8>)) {
        let record = self.lines.add(time_us);
        record.cpu = u16::try_from(cpu).unwrap_or(0);
        record.subsystem = site.subsystem;
        record.mask = site.mask;
        record.pid = pid;
        record.line = site.line;
        for (name, to) in [(site.file, &mut record.file), (site.function, &mut record.function)] {
            to.clear();
            to.extend_from_slice(name.as_bytes());
        }
        text(&mut record.text);
    }
}

/// What stands behind `Handling RPC` and `Handled RPC` up to 2.12: no pointer, no job (`service.c`).
fn old_handling(rpc: &Rpc<'_>) -> String {
    let Rpc { thread, uuid, pid, xid, nid, opcode, .. } = rpc;
    let references = rpc.references.unwrap_or_default();
    format!("pname:cluuid+ref:pid:xid:nid:opc {thread}:{uuid}+{references}:{pid}:x{xid}:12345-{nid}:{opcode}")
}

/// `refresh rw locks` of 2.12: its description stands on a line of its own (`ofd_dev.c`, `pack_generic.c`), without the
/// job.
fn old_refresh(line: &mut Vec<u8>, target: &str, thread: &str, fid: Fid, extent: Extent, request: &Request<'_>) {
    let request = request.to_string();
    let request = request.split(" job:").next().unwrap_or_default();
    writeln!(line, "@@@ {target} {thread}: refresh rw locks: {fid} ({extent})\n  {request}").unwrap_or_default();
}

/// The texts in a request's lines.
struct TransferNames {
    nid: String,
    uuid: String,
    job: String,
    target: String,
    thread: String,
}

impl TransferNames {
    fn of(it: &Transfer) -> Self {
        let (client, hash) = (it.client, scatter(u64::from(it.client) << 1));
        let address = (1 + client / 62_500, client / 250 % 250, 1 + client % 250);
        Self {
            nid: format!("10.{}.{}.{}@o2ib", address.0, address.1, address.2),
            uuid: format!("{hash:08x}-5cbc-4724-9725-{client:012x}"),
            job: format!("ior.{}", 100_000 + it.job),
            target: format!("scratch-OST{:04x}", it.ost),
            thread: format!("ll_ost_io{:02}_{:03}", it.part, it.thread),
        }
    }
}

/// Hashed pointer of a request: unique while it lives, never null.
fn pointer(it: &Transfer) -> u32 {
    u32::try_from(it.number % 0xffff_ffff + 1).unwrap_or(0).wrapping_mul(0x9e37_79b1)
}
