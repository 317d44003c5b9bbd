//! Transfers by hand, and of real logs of which lines are taken away.

use std::collections::BTreeMap;
use std::path::Path;

use lioprof_model::{BulkSpan, RowSink, RpcRow, Symbol, Symbols};
use lustre_debuglog::Opcode;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{Known, Transfers};
use crate::decode::chunk::{Decoded, decode_text};
use crate::decode::event::{Body, BulkStep, Event};
use crate::join::{Join, RowOutput};

use BulkStep::{Acknowledged, Received, Sent};

/// Transfers of which one line after the other is told, a microsecond apart.
#[derive(Default)]
struct Log {
    transfers: Transfers,
    now_us: i64,
}

impl Log {
    fn at(&mut self, now_us: i64) -> &mut Self {
        self.now_us = now_us;
        self
    }

    fn handling(&mut self, pid: u32, opcode: Opcode) -> &mut Self {
        self.transfers.line(pid, self.now_us);
        self.transfers.handling(pid, opcode, self.now_us);
        self.at(self.now_us + 1)
    }

    fn transferring(&mut self, pid: u32, descriptors: u64) -> &mut Self {
        self.transfers.transferring(pid, (0x280, 0x280 + descriptors - 1), self.now_us);
        self.at(self.now_us + 1)
    }

    fn events(&mut self, desc: u64, steps: &[BulkStep]) -> &mut Self {
        for &step in steps {
            self.transfers.event(desc, Some(step), self.now_us);
            self.now_us += 1;
        }
        self
    }

    /// Parts in front of and within the transfer.
    fn handled(&mut self, pid: u32, opcode: Opcode) -> Option<(u64, u64)> {
        self.transfers.line(pid, self.now_us);
        let known = self.transfers.handled(pid, opcode);
        self.now_us += 1;
        match known {
            Known::Span(span) => Some(parts(span)),
            Known::Nothing | Known::Later(_) => None,
        }
    }

    /// What has become known later.
    fn later(&mut self) -> Vec<Option<(u64, u64)>> {
        std::iter::from_fn(|| self.transfers.decided()).map(|(_, span)| span.map(parts)).collect()
    }
}

fn parts(span: BulkSpan) -> (u64, u64) {
    (span.before_us, span.transfer_us)
}

const READ: Opcode = Opcode::OST_READ;
const WRITE: Opcode = Opcode::OST_WRITE;

#[test]
fn one_request_has_the_only_transfer() {
    let mut log = Log::default();
    log.handling(7, WRITE)
        .at(100)
        .transferring(7, 2)
        .events(0xa, &[Sent, Sent, Received])
        .at(250)
        .events(0xa, &[Received]);
    assert_eq!(log.at(900).handled(7, WRITE), Some((100, 150)));
    // The pointer is free again.
    log.at(1000).handling(7, READ).at(1050).transferring(7, 1).at(1060).events(0xa, &[Sent, Acknowledged]);
    assert_eq!(log.handled(7, READ), Some((50, 11)));
}

#[test]
fn lnet_may_be_faster_than_the_thread_that_logs() {
    let mut log = Log::default();
    log.handling(7, WRITE).at(90).events(0xa, &[Sent, Received]).at(100).transferring(7, 1);
    assert_eq!(log.at(200).handled(7, WRITE), Some((91, 0)));
    // The answer before the question, on another CPU.
    log.at(300).handling(7, WRITE).at(310).transferring(7, 1).at(320).events(0xa, &[Received, Sent]);
    assert_eq!(log.at(400).handled(7, WRITE), Some((10, 11)));
}

#[test]
fn of_two_that_start_together_each_has_its_own_or_none() {
    // Thread 7 goes on when only one of the two transfers is over.
    let mut log = Log::default();
    log.handling(7, WRITE).handling(8, WRITE).at(10).transferring(7, 1).transferring(8, 1);
    log.at(20).events(0xb, &[Sent]).events(0xa, &[Sent]).at(30).events(0xa, &[Received]);
    assert_eq!(log.at(40).handled(7, WRITE), None, "this may be the other one, and lines of its own may be lost");
    assert_eq!(log.at(50).events(0xb, &[Received]).later(), [Some((10, 20))]);
    assert_eq!(log.at(60).handled(8, WRITE), Some((10, 39)));
    // Both are over before either goes on.
    log.at(100).handling(7, WRITE).handling(8, WRITE).at(110).transferring(7, 1).transferring(8, 1);
    log.at(120).events(0xb, &[Sent]).events(0xa, &[Sent]).at(130).events(0xa, &[Received]).events(0xb, &[Received]);
    assert_eq!((log.at(140).handled(7, WRITE), log.handled(8, WRITE)), (None, None));
    assert_eq!(log.later(), []);
}

#[test]
fn direction_and_number_of_descriptors_tell_transfers_apart() {
    let mut log = Log::default();
    log.handling(7, READ).handling(8, WRITE).handling(9, WRITE).at(10);
    log.transferring(7, 1).transferring(8, 1).transferring(9, 2).at(20);
    log.events(0xa, &[Sent]).events(0xb, &[Sent]).events(0xc, &[Sent, Sent, Received, Received]);
    log.at(30).events(0xb, &[Received]).at(40).events(0xa, &[Acknowledged]);
    let (read, one, two) = (log.at(50).handled(7, READ), log.handled(8, WRITE), log.handled(9, WRITE));
    assert_eq!((read, one, two), (Some((10, 30)), Some((10, 19)), Some((10, 13))));
}

#[test]
fn requests_that_cannot_have_a_transfer_do_not_matter() {
    let mut log = Log::default();
    log.handling(5, Opcode::LDLM_ENQUEUE).handling(7, WRITE).at(10).transferring(7, 1).events(0xa, &[Sent, Received]);
    assert_eq!(log.at(50).handled(7, WRITE), Some((9, 2)));
    assert_eq!(log.handled(5, Opcode::LDLM_ENQUEUE), None);
}

#[test]
fn after_a_lost_line_nothing_is_known_until_what_was_under_way_is_over() {
    let mut log = Log::default();
    log.handling(7, WRITE).handling(8, WRITE).at(10).transferring(7, 1).events(0xa, &[Sent]);
    // `Received` is lost: thread 7 goes on without it.
    assert_eq!(log.at(30).handled(7, WRITE), None);
    log.at(40).transferring(8, 1).events(0xb, &[Sent, Received]);
    assert_eq!(log.at(50).handled(8, WRITE), None);
    log.at(60).handling(7, WRITE).at(70).transferring(7, 1).events(0xa, &[Sent, Received]);
    assert_eq!(log.at(80).handled(7, WRITE), Some((10, 2)));
}

#[test]
fn a_failed_transfer_has_no_parts() {
    let mut log = Log::default();
    log.handling(7, WRITE).at(10).transferring(7, 1).events(0xa, &[Sent]);
    log.transfers.event(0xa, None, 20);
    assert_eq!(log.at(30).handled(7, WRITE), None);
}

/// Parts of RPCs, by client and xid.
#[derive(Default)]
struct Spans {
    transfers: usize,
    spans: BTreeMap<(u32, u64), BulkSpan>,
}

impl RowSink for Spans {
    fn rpc(&mut self, row: &RpcRow, _: &Symbols) {
        self.spans.extend(row.bulk.map(|bulk| ((row.nid.0, row.xid.0), bulk)));
    }
}

/// The parts that a log gives without the events that `is_lost`.
fn spans(log: &Decoded, mut is_lost: impl FnMut(&Event) -> bool) -> Spans {
    let mut spans = Spans::default();
    let mut join = Join::new(Symbol(0));
    for event in log.events.iter().filter(|event| !is_lost(event)) {
        spans.transfers += usize::from(matches!(event.body, Body::Transferring { .. }));
        join.event(event, &mut RowOutput { symbols: &log.symbols, sink: &mut spans });
    }
    join.finish(&mut RowOutput { symbols: &log.symbols, sink: &mut spans });
    spans
}

/// Logs of real servers that show transfers, and how many of these can be told.
const REAL: [(&str, usize); 4] = [
    ("masks/server1", 59),
    ("masks/server2", 14),
    ("pair_healthy_run1/server2", 52),
    ("pair_slow_client_sick/server1", 16),
];

fn real(name: &str) -> Decoded {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/captures");
    let packed = std::fs::File::open(captures.join(name).join("rpc.txt.zst")).unwrap();
    let mut log = decode_text(&zstd::decode_all(packed).unwrap(), false, false, Vec::new());
    log.events.sort_by_key(|event| (event.time_us, event.stream));
    log
}

#[test]
fn most_transfers_of_real_logs_are_told() {
    for (name, told) in REAL {
        let Spans { transfers, spans } = spans(&real(name), |_| false);
        assert!(spans.len() >= told, "{name}: {} of {transfers}", spans.len());
    }
}

#[test]
fn a_lost_line_makes_parts_unknown_and_never_wrong() {
    for (name, _) in REAL {
        let log = real(name);
        let whole = spans(&log, |_| false).spans;
        for lost in 0..log.events.len() {
            let mut at = 0..;
            for (rpc, span) in spans(&log, |_| at.next() == Some(lost)).spans {
                let right = whole.get(&rpc);
                assert!(
                    right.is_none_or(|it| *it == span),
                    "{name} without event {lost}: {rpc:?} {span:?}, not {right:?}"
                );
            }
        }
    }
}

#[test]
fn without_any_of_many_lines_hardly_a_part_is_wrong() {
    // Two lines that make up for each other may be lost together.
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for share in [0.01, 0.05, 0.2] {
        let (mut told, mut wrong) = (0, 0);
        for (name, _) in REAL {
            let log = real(name);
            let whole = spans(&log, |_| false).spans;
            for _ in 0..10 {
                for (rpc, span) in spans(&log, |_| f64::from(random.next_u32()) < share * f64::from(u32::MAX)).spans {
                    told += 1;
                    wrong += u32::from(whole.get(&rpc).is_some_and(|it| *it != span));
                }
            }
        }
        let at_most = if share > 0.01 { told / 50 } else { 0 };
        assert!(wrong <= at_most, "{share} of the lines lost: {wrong} of {told} are wrong");
    }
}

#[test]
fn without_many_lines_in_a_row_hardly_a_part_is_wrong() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for burst in [2usize, 5, 20, 100] {
        let (mut told, mut wrong) = (0, 0);
        for (name, _) in REAL {
            let log = real(name);
            let whole = spans(&log, |_| false).spans;
            for _ in 0..100 {
                let from = random.next_u32() as usize % log.events.len();
                let mut at = 0..;
                for (rpc, span) in spans(&log, |_| (from..from + burst).contains(&at.next().unwrap())).spans {
                    told += 1;
                    wrong += u32::from(whole.get(&rpc).is_some_and(|it| *it != span));
                }
            }
        }
        assert!(wrong * 1000 <= told, "{burst} lines lost: {wrong} of {told} are wrong");
    }
}
