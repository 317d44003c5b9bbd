//! Which file a client's bulk RPC is for.
//!
//! The thread that puts it together logs the request (`brw rpc PTR ..`) and right after it the file (`FID: N write pages, ..`); the thread
//! that sends it, mostly another one (`ptlrpcd`), logs the request with its xid.

use lustre_debuglog::{Fid, Opcode};
use rustc_hash::FxHashMap;

/// Sizes of a page that Lustre clients have.
const PAGE_BYTES: [u64; 3] = [4096, 16_384, 65_536];
/// The second line follows the first at once, and another thread may run between them.
const TOGETHER_US: i64 = 1_000_000;
/// More requests do not wait to be sent at a time: the oldest are forgotten. A client has a few hundred RPCs in flight.
const MAX_WAITING: usize = 1 << 16;

/// What a bulk RPC is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Built {
    pub(super) fid: Fid,
    pub(super) is_write: bool,
    pub(super) built_us: i64,
    pub(super) built_by: u32,
}

/// Bulk RPCs that are not sent yet.
#[derive(Default)]
pub(super) struct BulkRequests {
    /// By thread: the request that it puts together, its first byte in the object, and when that was.
    begun: FxHashMap<u32, (u64, u64, i64)>,
    /// By request.
    built: FxHashMap<u64, Built>,
}

impl BulkRequests {
    /// The first line.
    pub(super) fn request(&mut self, pid: u32, req: u64, start: u64, time_us: i64) {
        self.begun.insert(pid, (req, start, time_us));
        // Until its file is known, what it was for before does not count.
        self.built.remove(&req);
    }

    /// The second line.
    pub(super) fn built(&mut self, start_page: u64, built: Built) {
        let Some((req, start, begun_us)) = self.begun.remove(&built.built_by) else { return };
        let starts_there = PAGE_BYTES.iter().any(|bytes| start / bytes == start_page);
        if starts_there && built.built_us - begun_us <= TOGETHER_US {
            if self.built.len() >= MAX_WAITING {
                self.built.clear();
            }
            self.built.insert(req, built);
        }
    }

    /// A request is sent. Its memory may have been another one's whose sending is lost: the operation must fit.
    pub(super) fn sent(&mut self, req: u64, opcode: Opcode) -> Option<Built> {
        if req == 0 || (self.built.is_empty() && self.begun.is_empty()) {
            return None;
        }
        self.begun.retain(|_, (begun, ..)| *begun != req);
        let built = self.built.remove(&req)?;
        let is_its = opcode == if built.is_write { Opcode::OST_WRITE } else { Opcode::OST_READ };
        is_its.then_some(built)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(oid: u32, built_us: i64, built_by: u32) -> Built {
        Built { fid: Fid { seq: 1, oid, ver: 0 }, is_write: true, built_us, built_by }
    }

    #[test]
    fn a_lost_line_gives_no_wrong_file() {
        let mut bulk = BulkRequests::default();
        bulk.request(7, 0xa, 8192, 10);
        bulk.built(2, built(1, 20, 7));
        assert_eq!(bulk.sent(0xa, Opcode::OST_WRITE).map(|built| built.fid.oid), Some(1));
        assert!(bulk.sent(0xa, Opcode::OST_WRITE).is_none(), "the pointer is free for another request");
        // The file's line is lost: the next one is not its.
        bulk.request(7, 0xb, 0, 30);
        assert!(bulk.sent(0xb, Opcode::OST_WRITE).is_none());
        bulk.built(0, built(2, 40, 7));
        assert!(bulk.sent(0xb, Opcode::OST_WRITE).is_none());
        // Another place in the object, another thread, too late.
        bulk.request(7, 0xc, 0, 50);
        bulk.built(9, built(3, 60, 7));
        bulk.request(7, 0xc, 0, 50);
        bulk.built(0, built(3, 60, 8));
        bulk.request(7, 0xc, 0, 50);
        bulk.built(0, built(3, 2_000_000, 7));
        assert!(bulk.sent(0xc, Opcode::OST_WRITE).is_none());
        // Its sending is lost, and its memory is used again.
        bulk.request(7, 0xd, 0, 50);
        bulk.built(0, built(4, 60, 7));
        assert!(bulk.sent(0xd, Opcode::MDS_SYNC).is_none());
        assert!(bulk.sent(0xd, Opcode::OST_WRITE).is_none());
    }
}
