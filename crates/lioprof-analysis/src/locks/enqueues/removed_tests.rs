//! Lines of real logs are removed: parts of lock requests become unknown, and not wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lioprof_model::{LockEvent, RowSink, RpcRow, SentRpc, Symbol, Symbols};
use lioprof_testkit::files::capture;
use lioprof_trace::{Progress, decode_text};
use lustre_debuglog::Opcode;
use rustc_hash::FxHashMap;

use super::super::tracker::LockTracker;
use super::sums::EnqueueSum;
use crate::{Config, analyze};

/// Gives each request a client of its own, so that the sums by client are those of single requests.
struct EachAlone {
    locks: LockTracker,
    clients: u32,
    xids: FxHashMap<Symbol, u64>,
}

impl RowSink for EachAlone {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.locks.row(row, true, symbols);
        if row.opcode == Opcode::LDLM_ENQUEUE {
            self.clients += 1;
            let nid = Symbol(self.clients);
            self.xids.insert(nid, row.xid.0);
            self.locks.enqueue(&RpcRow { nid, ..row.clone() }, true);
        }
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        self.locks.lock_event(event, true, symbols);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.locks.sent_rpc(sent, true, symbols);
    }
}

/// Parts of each request, by xid: queue, service, waits of both kinds; `None`: unknown.
type Parts = BTreeMap<u64, Option<[u128; 4]>>;

fn parts(text: &[u8], dir: &Path) -> Parts {
    let log = dir.join("rpc.txt");
    fs::write(&log, text).unwrap();
    let locks = LockTracker::new(Symbol(0), None, &[]);
    let mut sink = EachAlone { locks, clients: 0, xids: FxHashMap::default() };
    analyze(&[log], &Config { locks: false, ..Config::default() }, Some(&mut sink)).unwrap();
    let sums = sink.locks.finish().enqueues;
    let known = |sum: &EnqueueSum| {
        (sum.unknown == 0).then(|| [&sum.queue, &sum.service, &sum.lock_wait, &sum.other_wait].map(|it| it.sum_us()))
    };
    sums.clients.iter().map(|(nid, sum)| (sink.xids[nid], known(sum))).collect()
}

/// The same numbers in each run.
struct Random(u64);

impl Random {
    fn one_in(&mut self, n: u64) -> bool {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33).is_multiple_of(n)
    }
}

#[test]
fn lost_lines_of_real_logs_make_no_part_wrong() {
    let dir = tempfile::tempdir().unwrap();
    for log in ["op_anatomy/server1/rpc.bin.zst", "v215_lock_pingpong_dlm/server1/rpc.bin.zst"] {
        let mut text = Vec::new();
        decode_text(&[capture(log)], &[], 2, &Progress::default(), &mut text).unwrap();
        // Lines that say nothing of requests and locks do not matter.
        let matters = |line: &&[u8]| [&b"RPC "[..], b"###"].iter().any(|it| memchr::memmem::find(line, it).is_some());
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').filter(matters).collect();
        let whole = parts(&lines.concat(), dir.path());
        let known = |parts: &Parts| parts.values().filter(|parts| parts.is_some()).count();
        assert!(known(&whole) * 100 > whole.len() * 95, "{log}: only {} of {} are known", known(&whole), whole.len());
        let mut compared = 0;
        for (seed, one_in) in [(1, 2), (2, 5), (3, 20), (4, 100), (5, 300)] {
            let mut random = Random(seed);
            let kept: Vec<&[u8]> = lines.iter().copied().filter(|_| !random.one_in(one_in)).collect();
            for (xid, found) in parts(&kept.concat(), dir.path()) {
                // Half a request more or less unknown is no error; another time of the handling is one.
                let Some(found) = found else { continue };
                compared += 1;
                assert_eq!(Some(found), whole[&xid], "{log}, one in {one_in} removed: x{xid}");
            }
        }
        assert!(compared > whole.len() * 2, "{log}: only {compared} were compared");
    }
}
