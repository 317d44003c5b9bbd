//! The join on hand-made logs in the wording of Lustre 2.17 (and 2.12, where it matters).

use lioprof_model::{RowSink, RpcRow, RpcSize, SentRpc, SizeEvidence, Symbol, Symbols, TargetEvidence};

use super::{Join, RowOutput, TraceSummary};
use crate::decode::chunk::decode_text;

#[derive(Default)]
struct Rows {
    symbols: Symbols,
    rows: Vec<RpcRow>,
    sent: Vec<SentRpc>,
}

impl RowSink for Rows {
    fn rpc(&mut self, row: &RpcRow, _: &Symbols) {
        self.rows.push(row.clone());
    }

    fn sent_rpc(&mut self, sent: &SentRpc, _: &Symbols) {
        self.sent.push(sent.clone());
    }
}

fn join(lines: &[String]) -> (Rows, TraceSummary) {
    join_as(lines, true)
}

/// With the events in the order of the lines, or, as the decoder hands them on, in canonical order.
fn join_as(lines: &[String], sorted: bool) -> (Rows, TraceSummary) {
    join_captures(lines, sorted, i64::MAX)
}

/// From this time on the lines are of another capture.
fn join_captures(lines: &[String], sorted: bool, second_us: i64) -> (Rows, TraceSummary) {
    let mut decoded = decode_text(lines.concat().as_bytes(), false, false, Vec::new());
    assert!(decoded.counts.malformed.is_empty(), "{:?}", decoded.counts.malformed);
    assert!(decoded.skipped.is_empty());
    if sorted {
        decoded.events.sort_by_key(|event| (event.time_us, event.stream));
    }
    let mut rows = Rows::default();
    let mut join = Join::new(Symbol(0));
    let mut is_first = true;
    for event in &decoded.events {
        if event.time_us >= second_us && std::mem::take(&mut is_first) {
            join.another_capture();
        }
        join.event(event, &mut RowOutput { symbols: &decoded.symbols, sink: &mut rows });
    }
    join.finish(&mut RowOutput { symbols: &decoded.symbols, sink: &mut rows });
    rows.symbols = decoded.symbols;
    (rows, join.summary())
}

/// A log line: time in microseconds after the start, CPU, pid, text.
fn line(us: u32, cpu: u32, pid: u32, text: &str) -> String {
    format!("00000100:00100000:{cpu}.0:1700000000.{us:06}:0:{pid}:0:(file.c:1:function()) {text}\n")
}

/// One request as a test wants it.
#[derive(Clone, Copy)]
struct Rpc {
    nid: &'static str,
    xid: u64,
    req: &'static str,
    opcode: u32,
    pid: u32,
    flags: &'static str,
    len: u32,
}

const WRITE: Rpc =
    Rpc { nid: "10.0.0.1@tcp", xid: 640, req: "000000000000a1b2", opcode: 4, pid: 77, flags: "600", len: 488 };

impl Rpc {
    fn ids(self) -> String {
        let Self { nid, xid, opcode, .. } = self;
        format!("ll_ost_io00_002:b2df25ce-5f2c-45c8-8c82-6364f185437c+6:381:x{xid}:12345-{nid}:{opcode}:dd.0")
    }

    fn refresh(self, phase: &str, extent: &str) -> String {
        let Self { nid, xid, req, opcode, flags, len, .. } = self;
        format!(
            "@@@ lustre-OST0001 ll_ost_io00_002: refresh rw locks for [0x280000400:0x4:0x0] ({extent})  req@{req} \
             x{xid}/t0(0) o{opcode}->b2df25ce-5f2c-45c8-8c82-6364f185437c@{nid}:298/0 lens {len}/448 e 0 to 0 dl \
             1700000011 ref 1 fl {phase}:/{flags}/0 rc 0/0 job:'dd.0' uid:1000 gid:100 projid:7"
        )
    }

    fn handling(self) -> String {
        format!("Handling RPC req@{} pname:cluuid+ref:pid:xid:nid:opc:job {}", self.req, self.ids())
    }

    fn handled(self, service_us: u32, total_us: u32, rc: i32) -> String {
        format!(
            "Handled RPC req@{} pname:cluuid+ref:pid:xid:nid:opc:job {} Request processed in {service_us}us \
             ({total_us}us total) trans 99 rc {rc}/{rc}",
            self.req,
            self.ids()
        )
    }

    /// The four lines of a bulk request that carry news.
    fn life(self, start_us: u32, extent: &str) -> Vec<String> {
        vec![
            line(start_us, 1, 70, &self.refresh("New", extent)),
            line(start_us + 100, 0, self.pid, &self.handling()),
            line(start_us + 400, 0, self.pid, &self.handled(300, 450, 0)),
            line(start_us + 410, 0, self.pid, &self.refresh("Complete", extent)),
        ]
    }
}

#[test]
fn every_field_of_a_row() {
    let (got, counts) = join(&WRITE.life(1000, "0->1048575"));
    let [row] = &got.rows[..] else { panic!("{} rows", got.rows.len()) };
    let text = |symbol| got.symbols.text(symbol);
    assert_eq!(row.opcode.0, 4);
    assert_eq!(text(row.nid), "10.0.0.1@tcp");
    assert_eq!(text(row.client_uuid), "b2df25ce-5f2c-45c8-8c82-6364f185437c");
    assert_eq!(text(row.thread), "ll_ost_io00_002");
    assert_eq!(row.job.map(text).as_deref(), Some("dd.0"));
    assert_eq!((row.xid.0, row.pid, row.transno, row.rc, row.reply_rc), (640, 77, 99, 0, 0));
    assert_eq!(row.end_us, 1_700_000_000_001_400);
    assert_eq!((row.service_us, row.total_us, row.queue_us()), (Some(300), Some(450), Some(150)));
    assert_eq!(row.arrival_us(), Some(1_700_000_000_000_950));
    assert_eq!(row.start_us(), Some(1_700_000_000_001_100));
    assert_eq!(row.target.map(|target| target.to_string()).as_deref(), Some("lustre-OST0001"));
    assert_eq!(row.target_evidence, TargetEvidence::RefreshLine);
    assert_eq!(row.extent.map(|extent| (extent.start, extent.end)), Some((0, 1_048_575)));
    assert_eq!((row.size, row.size_evidence), (RpcSize::Exact(1 << 20), SizeEvidence::Extent));
    assert_eq!((row.uid, row.gid, row.projid), (Some(1000), Some(100), Some(7)));
    assert!(!row.resent && !row.replay);
    assert_eq!((counts.loss.missing_handled, counts.loss.missing_handling, counts.loss.never_handled), (0, 0, 0));
}

#[test]
fn what_statahead_sends_counts_for_its_process() {
    let getattr = |nid: &str, pid: u32, xid: u64, job: &str| {
        let ids = format!("mdt00_001:b2df25ce-5f2c-45c8-8c82-6364f185437c+6:{pid}:x{xid}:12345-{nid}:101:{job}");
        let columns = "pname:cluuid+ref:pid:xid:nid:opc:job";
        [
            line(u32::try_from(xid).unwrap() * 100, 0, 9, &format!("Handling RPC {columns} {ids}")),
            line(
                u32::try_from(xid).unwrap() * 100 + 50,
                0,
                9,
                &format!("Handled RPC {columns} {ids} Request processed in 50us (60us total) trans 0 rc 0/0"),
            ),
        ]
    };
    let lines = [
        getattr("10.0.0.1@tcp", 740, 1, "ls.0"),
        getattr("10.0.0.1@tcp", 367, 2, "ll_sa_740.0"),
        // Its process is another client's.
        getattr("10.0.0.2@tcp", 367, 3, "ll_sa_740.0"),
        getattr("10.0.0.2@tcp", 530, 4, "ldlm_bl_02.0"),
        // The number is another process's now.
        getattr("10.0.0.1@tcp", 740, 5, "find.0"),
        getattr("10.0.0.1@tcp", 368, 6, "ll_agl_740.0"),
    ];
    let (got, _) = join(&lines.concat());
    let jobs: Vec<String> = got.rows.iter().map(|row| got.symbols.text(row.job.unwrap())).collect();
    assert_eq!(jobs, ["ls.0", "ls.0", "ll_sa.0", "ldlm_bl.0", "find.0", "find.0"]);
}

#[test]
fn either_refresh_line_suffices() {
    let life = WRITE.life(1000, "0->4095");
    for left_out in [0, 3] {
        let mut life = life.clone();
        life.remove(left_out);
        let (got, _) = join(&life);
        assert_eq!(got.rows.len(), 1);
        assert_eq!(got.rows[0].target_evidence, TargetEvidence::RefreshLine, "without line {left_out}");
        assert_eq!(got.rows[0].size, RpcSize::Exact(4096));
    }
}

#[test]
fn order_of_equal_times_does_not_matter() {
    // Arrival on one CPU and start on another in the same microsecond.
    let lines = [
        line(1000, 1, 70, &WRITE.refresh("New", "0->4095")),
        line(1000, 0, 77, &WRITE.handling()),
        line(1400, 0, 77, &WRITE.handled(300, 450, 0)),
        line(1400, 0, 77, &WRITE.refresh("Complete", "0->4095")),
    ];
    let mut swapped = lines.clone();
    swapped.swap(0, 1);
    for sorted in [true, false] {
        let (given, given_counts) = join_as(&lines, sorted);
        let (other, other_counts) = join_as(&swapped, sorted);
        let facts = |rows: &Rows| rows.rows.iter().map(|row| (row.xid, row.size, row.target)).collect::<Vec<_>>();
        assert_eq!(facts(&given).len(), 1);
        assert_eq!(facts(&given), facts(&other));
        assert_eq!((given_counts.loss.never_handled, other_counts.loss.never_handled), (0, 0));
    }
}

#[test]
fn a_resend_after_the_end_is_a_second_rpc() {
    let again = Rpc { req: "000000000000ffff", flags: "602", pid: 78, ..WRITE };
    let lines = [WRITE.life(1000, "0->4095"), again.life(5000, "0->4095")].concat();
    let (got, counts) = join(&lines);
    assert_eq!(got.rows.iter().map(|row| row.resent).collect::<Vec<_>>(), [false, true]);
    assert_eq!(counts.loss.never_handled, 0);
}

#[test]
fn a_resend_while_the_original_runs_is_dropped() {
    let again = Rpc { req: "000000000000ffff", flags: "602", ..WRITE };
    let mut lines = WRITE.life(1000, "0->4095");
    lines.push(line(1200, 1, 71, &again.refresh("New", "0->4095")));
    let (got, counts) = join(&lines);
    assert_eq!(got.rows.len(), 1);
    assert!(!got.rows[0].resent);
    assert_eq!(counts.loss.never_handled, 1);
}

#[test]
fn clients_may_use_the_same_xid_at_the_same_time() {
    let other = Rpc { nid: "10.0.0.2@tcp", req: "000000000000cccc", pid: 78, ..WRITE };
    let lines = [WRITE.life(1000, "0->4095"), other.life(1050, "8192->16383")].concat();
    let (got, _) = join(&lines);
    let mut sizes: Vec<_> = got.rows.iter().map(|row| (got.symbols.text(row.nid), row.size)).collect();
    sizes.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        sizes,
        [("10.0.0.1@tcp".to_owned(), RpcSize::Exact(4096)), ("10.0.0.2@tcp".to_owned(), RpcSize::Exact(8192))]
    );
}

#[test]
fn a_row_has_the_rate_of_the_rule_that_let_it_through() {
    let dequeued = line(1050, 0, 77, "TBF dequeues: class@ffff9d61 rate 10 gen 4 token 1, rule@ffff9d62 rate 10 gen 4");
    let mut lines = WRITE.life(1000, "0->4095");
    lines.insert(1, dequeued);
    // The policy is switched off.
    let next = Rpc { xid: 768, req: "000000000000dddd", ..WRITE };
    lines.extend(next.life(3000, "0->4095"));
    let (got, _) = join(&lines);
    assert_eq!(got.rows.iter().map(|row| row.tbf_rate).collect::<Vec<_>>(), [Some(10), None]);
}

#[test]
fn half_an_rpc_is_counted_and_never_a_row() {
    let next = Rpc { xid: 768, req: "000000000000dddd", ..WRITE };
    // The end of the first is lost: its thread goes on with another request.
    let lines = [WRITE.life(1000, "0->4095")[..2].to_vec(), next.life(3000, "0->4095")].concat();
    let (got, counts) = join(&lines);
    assert_eq!(got.rows.iter().map(|row| row.xid.0).collect::<Vec<_>>(), [768]);
    assert_eq!(counts.loss.missing_handled, 1);
    // Still running when the capture ends, long after.
    let later = Rpc { xid: 704, pid: 78, req: "000000000000eeee", ..WRITE };
    let lines = [WRITE.life(1000, "0->4095")[..2].to_vec(), later.life(900_690, "0->4095")].concat();
    let (got, counts) = join(&lines);
    assert_eq!((got.rows.len(), counts.loss.missing_handled), (1, 1));
    let [open] = counts.under_way.iter().collect::<Vec<_>>()[..] else { panic!("{:?}", counts.under_way) };
    assert_eq!(
        (open.age_us.0, open.pid, open.nid.as_str(), open.job.as_deref()),
        (900_000, 77, "10.0.0.1@tcp", Some("dd.0"))
    );
    let place = (open.target.as_deref(), open.object.as_deref());
    assert_eq!(place, (Some("lustre-OST0001"), Some("[0x280000400:0x4:0x0]")));
    // Announced, nothing else.
    let (got, counts) = join(&WRITE.life(1000, "0->4095")[..1]);
    assert_eq!((got.rows.len(), counts.loss.never_handled), (0, 1));
}

#[test]
fn what_happens_between_two_captures_is_not_lost() {
    let taken = |us, pid, number: u64| {
        line(us, 0, pid, &format!("NRS start fifo request from 12345-10.0.0.1@tcp, seq: {number}"))
    };
    let (other, next) = (Rpc { xid: 704, pid: 78, ..WRITE }, Rpc { xid: 768, pid: 78, ..WRITE });
    // Taken, but not begun; and begun, but not ended.
    let mut lines = vec![taken(900, 78, 99), taken(1500, 77, 100)];
    lines.extend_from_slice(&other.life(1000, "0->4095")[..2]);
    // Much later: the end of one that began between the two, and one as a whole.
    lines.extend_from_slice(&WRITE.life(700_000, "0->4095")[2..]);
    lines.push(taken(800_000, 78, 500));
    lines.extend(next.life(800_100, "0->4095"));
    let second_us = 1_700_000_000_600_000;
    let (got, counts) = join_captures(&lines, true, second_us);
    let loss = &counts.loss;
    assert_eq!(got.rows.len(), 2);
    assert_eq!(
        (loss.nrs_sequence_gaps, loss.nrs_sequence_likely, loss.nrs_sequence_doubtful),
        (0, 0, Some(0)),
        "{loss:?}"
    );
    assert_eq!((loss.missing_handled, loss.missing_handling, loss.lost_ends, loss.lost_starts), (1, 1, 0, 0));
    assert_eq!(counts.under_way.iter().count(), 0, "it may have ended between the captures");
    // In one capture all of that is lost.
    let (_, counts) = join(&lines);
    let loss = &counts.loss;
    assert!(
        loss.nrs_sequence_gaps + loss.nrs_sequence_likely + loss.nrs_sequence_doubtful.unwrap_or(0) > 300,
        "{loss:?}"
    );
    assert_eq!(loss.lost_ends, 1);
}

#[test]
fn an_end_without_start_is_a_row_all_the_same() {
    let (got, counts) = join(&WRITE.life(1000, "0->4095")[2..]);
    assert_eq!(got.rows.len(), 1);
    assert_eq!(got.rows[0].size, RpcSize::Exact(4096), "from the closing refresh line");
    assert_eq!(counts.loss.missing_handling, 1);
}

#[test]
fn a_request_dropped_for_its_deadline_moves_nothing() {
    let suffix = WRITE.refresh("Interpret", "0->4095");
    let suffix = &suffix[suffix.find(" req@").unwrap()..];
    let lines = [
        line(1000, 1, 70, &WRITE.refresh("New", "0->4095")),
        line(
            1300,
            0,
            77,
            &format!("@@@ Dropping timed-out request from 12345-10.0.0.1@tcp: deadline 6/1s ago {suffix}"),
        ),
        line(1400, 0, 77, &WRITE.handled(300, 450, 0)),
    ];
    let (got, counts) = join(&lines);
    assert_eq!((got.rows.len(), counts.dropped_rpcs), (1, 1));
    assert!(got.rows[0].dropped && got.rows[0].failed());
    assert_eq!((got.rows[0].size, got.rows[0].size_evidence), (RpcSize::Exact(0), SizeEvidence::Failed));
}

#[test]
fn bulk_size_and_local_lock_come_from_the_threads_window() {
    let lock = "### client-side local enqueue handler, new lock created ns: filter-lustre-OST0000_UUID lock: \
                0000000015baf37a/0xb335d27b2aceb967 lrc: 3/0,1 mode: PW/PW res: [0x240000400:0x139:0x0].0x0 rrc: 2 \
                type: EXT [12255232->12271615] (req 12255232->12271615) gid 0 flags: 0x40010080000000 nid: local \
                remote: 0x0 expref: -99 pid: 77 timeout: 0 lvb_type: 0 lru_score: 0 lru_type: 0";
    let bulk = "Transferring 4 pages 16384 bytes via portal 8 id 12345-10.0.0.1@tcp mbits 0x280-0x280";
    let lines = [
        line(1000, 0, 77, &WRITE.handling()),
        line(1010, 0, 77, lock),
        line(1020, 0, 77, bulk),
        // Another thread's transfer is none of this request's business.
        line(1030, 1, 99, "Transferring 9 pages 36864 bytes via portal 8 id 12345-10.0.0.9@tcp mbits 0x999-0x999"),
        line(1400, 0, 77, &WRITE.handled(300, 450, 0)),
    ];
    let (got, _) = join(&lines);
    let row = &got.rows[0];
    assert_eq!((row.size, row.size_evidence), (RpcSize::Exact(16384), SizeEvidence::Bulk));
    assert_eq!(row.target_evidence, TargetEvidence::LocalLock);
    assert_eq!(row.target.map(|target| target.to_string()).as_deref(), Some("lustre-OST0000"));
    assert_eq!(row.extent.map(|extent| extent.len_bytes()), Some(16384));
}

#[test]
fn a_read_is_as_large_as_its_status_says() {
    let read = Rpc { opcode: 3, ..WRITE };
    for (rc, want) in [(4096, RpcSize::Exact(4096)), (0, RpcSize::Exact(0)), (-5, RpcSize::Exact(0))] {
        let mut lines = read.life(1000, "0->1048575");
        lines[2] = line(1400, 0, 77, &read.handled(300, 450, rc));
        assert_eq!(join(&lines).0.rows[0].size, want);
    }
}

#[test]
fn in_2_12_requests_carry_no_pointer_and_their_description_is_on_the_next_line() {
    let ids = "ll_ost_io00_002:b2df25ce-5f2c-45c8-8c82-6364f185437c+6:381:x640:12345-10.0.0.1@tcp:4";
    let refresh = |phase: &str| {
        format!(
            "@@@ lustre-OST0001 ll_ost_io00_002: refresh rw locks: [0x100010000:0x4:0x0] (0->4095)\n  \
             req@ffff8801b2df2500 x640/t0(0) o4->b2df25ce-5f2c-45c8-8c82-6364f185437c@10.0.0.1@tcp:298/0 lens 488/448 \
             e 0 to 0 dl 1700000011 ref 1 fl {phase}:/0/0 rc 0/0"
        )
    };
    let handled = format!(
        "Handled RPC pname:cluuid+ref:pid:xid:nid:opc {ids} Request processed in 300us (450us total) trans 99 rc 0/0"
    );
    let lines = [
        line(1000, 1, 70, &refresh("New")),
        line(1100, 0, 77, &format!("Handling RPC pname:cluuid+ref:pid:xid:nid:opc {ids}")),
        line(1400, 0, 77, &handled),
        line(1410, 0, 77, &refresh("Complete")),
    ];
    let (got, counts) = join(&lines);
    assert_eq!(got.rows.len(), 1);
    assert_eq!((got.rows[0].size, got.rows[0].job), (RpcSize::Exact(4096), None));
    assert_eq!((counts.loss.missing_handling, counts.loss.never_handled), (0, 0));
}

#[test]
fn round_trips_of_sent_rpcs() {
    let ids = "ll_ost00_003:lustre-OST0001_UUID:2313:1882455779965568:10.0.0.1@tcp:104:";
    let lines = [
        line(1000, 0, 77, &format!("Sending RPC req@00000000cf20c915 pname:cluuid:pid:xid:nid:opc:job {ids}")),
        line(3500, 0, 77, &format!("Completed RPC req@00000000cf20c915 pname:cluuid:pid:xid:nid:opc:job {ids}")),
    ];
    let (got, _) = join(&lines);
    assert_eq!(
        got.sent.iter().map(|sent| (sent.opcode.0, sent.round_trip_us)).collect::<Vec<_>>(),
        [(104, None), (104, Some(2500))]
    );
}
