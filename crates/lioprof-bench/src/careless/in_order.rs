//! What takes requests one after the other: how long each client and each job had requests, how long a client had none, what follows what
//! in each object, and how long clients took for callbacks. Four of nine kinds of lines are searched for, twelve fields of them read.
//!
//! Names are told apart by a hash alone. Requests are taken as they end, so a pause before the latest end that a longer request covers
//! remains a pause: fewer steps than it takes to be right.

use std::error::Error;
use std::hash::{Hash, Hasher as _};
use std::hint::black_box;
use std::path::Path;

use memchr::memmem::Finder;
use rustc_hash::{FxHashMap, FxHasher};

use super::{END, EXTENT, Extent, Rpc, behind, lines, lines_with, number, until};

/// A server asks a client: `THREAD:UUID:PID:XID:NID:OPC:JOB`.
const SENT: &str = "Sending RPC";
/// The client has answered.
const ANSWERED: &str = "Completed RPC";

/// `LDLM_BL_CALLBACK` to `LDLM_GL_CALLBACK`.
const CALLBACKS: std::ops::RangeInclusive<u64> = 104..=106;

/// When somebody had requests.
#[derive(Default)]
struct Busy {
    rpcs: u64,
    latest_us: u64,
    busy_us: u64,
    idle_us: u64,
}

impl Busy {
    fn add(&mut self, arrival_us: u64, end_us: u64) {
        if self.rpcs > 0 {
            self.idle_us += arrival_us.saturating_sub(self.latest_us);
        }
        self.rpcs += 1;
        self.busy_us += end_us.saturating_sub(arrival_us.max(self.latest_us));
        self.latest_us = end_us;
    }
}

/// How a client goes through an object.
#[derive(Default)]
struct Sequence {
    next: u64,
    back: u64,
    ahead: Option<u64>,
}

/// Which bytes of an object.
struct Piece {
    object: u64,
    start: u64,
    end: u64,
}

/// Callbacks to a client.
#[derive(Default)]
struct Callbacks {
    answered: u64,
    wait_us: u64,
}

#[derive(Default)]
struct InOrder {
    clients: FxHashMap<u64, Busy>,
    jobs: FxHashMap<u64, Busy>,
    sequences: FxHashMap<(u64, u64, u64), Sequence>,
    callbacks: FxHashMap<u64, Callbacks>,
    piece_of_xid: FxHashMap<u64, Piece>,
    sent_us_of_xid: FxHashMap<u64, u64>,
}

/// RPCs of a log as text.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn rpcs(file: &Path) -> Result<u64, Box<dyn Error>> {
    let read = InOrder::read(file)?;
    black_box(read.sequences.values().map(|sequence| sequence.next + sequence.back).sum::<u64>());
    black_box(read.callbacks.values().map(|callbacks| callbacks.answered + callbacks.wait_us).sum::<u64>());
    black_box(read.jobs.values().chain(read.clients.values()).map(|busy| busy.busy_us + busy.idle_us).sum::<u64>());
    Ok(read.clients.values().map(|client| client.rpcs).sum())
}

impl InOrder {
    fn read(file: &Path) -> Result<Self, Box<dyn Error>> {
        let [extents, ends, sent, answered] = [EXTENT, END, SENT, ANSWERED].map(Finder::new);
        let mut read = InOrder::default();
        lines(file, |text| {
            // What comes before what: as far as a piece goes, each kind of line after the other.
            for (_, line) in lines_with(&extents, text) {
                let _read = read.extent(line);
            }
            for (before, line) in lines_with(&ends, text) {
                let _read = read.end(before, line);
            }
            for (before, line) in lines_with(&sent, text) {
                let _read = read.sent(before, line);
            }
            for (before, line) in lines_with(&answered, text) {
                let _read = read.answered(before, line);
            }
        })?;
        Ok(read)
    }

    fn extent(&mut self, line: &[u8]) -> Option<()> {
        let Extent { xid, fid, start, end } = Extent::read(line)?;
        self.piece_of_xid.insert(xid, Piece { object: hash(fid), start, end });
        Some(())
    }

    fn end(&mut self, before: &[u8], line: &[u8]) -> Option<()> {
        let end_us = time_us(before)?;
        let Rpc { xid, nid, opcode, rest } = Rpc::read(line)?;
        let (job, rest) = until(rest, b' ')?;
        let (total_us, _) = number(behind(rest, b'(')?);
        let client = hash(nid);
        self.clients.entry(client).or_default().add(end_us.saturating_sub(total_us), end_us);
        self.jobs.entry(hash(job)).or_default().add(end_us.saturating_sub(total_us), end_us);
        let piece = self.piece_of_xid.remove(&xid)?;
        let sequence = self.sequences.entry((client, piece.object, opcode)).or_default();
        sequence.next += u64::from(sequence.ahead == Some(piece.start));
        sequence.back += u64::from(sequence.ahead.is_some_and(|ahead| piece.start < ahead));
        sequence.ahead = Some(piece.end.wrapping_add(1));
        Some(())
    }

    fn sent(&mut self, before: &[u8], line: &[u8]) -> Option<()> {
        let rpc = Rpc::read(line)?;
        if CALLBACKS.contains(&rpc.opcode) {
            self.sent_us_of_xid.insert(rpc.xid, time_us(before)?);
        }
        Some(())
    }

    fn answered(&mut self, before: &[u8], line: &[u8]) -> Option<()> {
        let rpc = Rpc::read(line)?;
        let sent_us = self.sent_us_of_xid.remove(&rpc.xid)?;
        let callbacks = self.callbacks.entry(hash(rpc.nid)).or_default();
        callbacks.answered += 1;
        callbacks.wait_us += time_us(before)?.saturating_sub(sent_us);
        Some(())
    }
}

/// When the last line of a text was logged: `SUBSYSTEM:MASK:CPU:SECONDS.MICROSECONDS:`.
fn time_us(text: &[u8]) -> Option<u64> {
    let header = &text[memchr::memrchr(b'\n', text).map_or(0, |end| end + 1)..];
    let (seconds, header) = number(behind(behind(behind(header, b':')?, b':')?, b':')?);
    Some(seconds.wrapping_mul(1_000_000) + number(header.get(1..)?).0)
}

fn hash(name: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_a_client_are_one_after_the_other() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let end = |at: &str, xid: u64, total_us: u64| {
            format!(
                "00000100:00100000:1.0:{at}:0:380:0:(service.c:2592:ptlrpc_server_handle_request()) Handled RPC req@3c6e \
                 pname:cluuid+ref:pid:xid:nid:opc:job ll_ost_io01_001:dbd2-01+5:380:x{xid}:12345-10.1.0.2@o2ib:3:ior.1 \
                 Request processed in 20us ({total_us}us total) trans 0 rc 0/0\n"
            )
        };
        let extent = |xid: u64, bytes: &str| {
            format!(
                "00002000:00100000:1.0:9.0:0:380:0:(ofd_dev.c:2708:ofd_rw_hpreq_check()) @@@ fs-OST0005 ll_ost_io01_000: refresh \
                 rw locks for [0x3:0x7:0x0] ({bytes})  req@9e37 x{xid}/t0(0) o3->dbd2-01@10.1.0.2@o2ib:219/0\n"
            )
        };
        let callback = |at: &str, what: &str| {
            format!(
                "00000100:00100000:0.0:{at}:0:318:0:(client.c:1913:ptlrpc_send_new_req()) {what} RPC req@8fff \
                 pname:cluuid:pid:xid:nid:opc:job ldlm_cb00:fs-OST0005_UUID:318:77:10.1.0.3@o2ib:104:\n"
            )
        };
        let text = [
            extent(1, "0->4095"),
            end("10.000100", 1, 50),
            callback("10.000110", "Sending"),
            extent(2, "4096->8191"),
            end("10.000200", 2, 30),
            callback("10.000140", "Completed"),
            extent(3, "0->4095"),
            end("10.000210", 3, 100),
            "Handled RPC of nobody\n".to_owned(),
        ];
        std::fs::write(log.path(), text.concat()).unwrap();
        let read = InOrder::read(log.path()).unwrap();
        let client = &read.clients[&hash(b"12345-10.1.0.2@o2ib")];
        assert_eq!((client.rpcs, client.busy_us, client.idle_us), (3, 50 + 30 + 10, 70));
        assert_eq!(read.jobs[&hash(b"ior.1")].busy_us, client.busy_us);
        let sequence = read.sequences.values().next().unwrap();
        assert_eq!((read.sequences.len(), sequence.next, sequence.back), (1, 1, 1));
        let callbacks = &read.callbacks[&hash(b"10.1.0.3@o2ib")];
        assert_eq!((callbacks.answered, callbacks.wait_us), (1, 30));
        assert_eq!((read.piece_of_xid.len(), read.sent_us_of_xid.len()), (0, 0));
    }
}
