//! Messages of the network request scheduler, `ptlrpc/nrs_*.c`.

//!
//! Wordings:
//!
//! * fifo, and tbf to 2.9.57: `NRS start fifo request from P, seq: N`, `NRS stop fifo ..`
//! * crrn, orr, trr: `NRS: starting to handle crrn request from P, with round N`, `NRS: finished handling ..`;
//!   the latter names orr and trr in capitals since 2.16
//! * tbf, 2.9.58 to 2.17.51: `TBF dequeues: class@..`, `TBF enqueues: class@..`, `TBF class@..`; since 2.17.52
//!   `ost_io.0 NRS: TBF dequeues: class@.. key .. rule@..`, and the same with `TBF enqueues`, `TBF class insert`, `TBF class fini`,
//!   `TBF LRU add`, `TBF LRU hit`, `TBF rule update, rule flags 0x0, head sequence N`, `Busy TBF class`
//! * tbf, 2.9.58 and later: `TBF starts rule@.. rate N gen N`
//! * delay, 2.10 and later: `NRS: finished delayed request from P after Ns` and a request description, when the request is done;
//!   nothing when it is taken from the queue

use nom::Parser;
use nom::branch::alt;
use nom::combinator::{opt, value};

use super::cursor::{Cursor, part, whole};
use super::debug_req::description;
use super::malformed::Malformed;
use super::number::{Res, all_of, complete, dec_long, fid, field, int, nid, space, tag, until};
use crate::{Fid, Xid};

/// A scheduling policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NrsPolicy {
    /// First in, first out: the default, and always the policy of the high-priority queue.
    Fifo,
    /// Client round robin.
    Crrn,
    /// Object round robin.
    Orr,
    /// Target round robin.
    Trr,
    /// Token bucket filter.
    Tbf,
    /// Delay (fault injection).
    Delay,
}

/// What the scheduler did with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NrsAction {
    /// A service thread takes the request; logged right before its `Handling RPC`.
    Start,
    /// The thread has finished with the request.
    Stop,
    /// The request was queued (TBF).
    Enqueue,
    /// Other bookkeeping of the policy (TBF class lines).
    Note,
}

/// One line of a request scheduler. Only policy `delay` prints the xid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrsMessage<'a> {
    /// Policy that logged the line.
    pub policy: NrsPolicy,
    /// What the scheduler did.
    pub action: NrsAction,
    /// Client NID in plain form; `None` if the line prints none.
    pub nid: Option<&'a [u8]>,
    /// `seq:` of fifo and tbf lines, from a counter of each service part and queue.
    pub sequence: Option<u64>,
    /// `round` of crrn, orr and trr lines.
    pub round: Option<u64>,
    /// Object of an orr line.
    pub fid: Option<Fid>,
    /// OST index of a trr line (in orr lines Lustre prints a meaningless number, which is dropped).
    pub ost_index: Option<u32>,
    /// Transfer id; only `delay` prints it.
    pub xid: Option<Xid>,
    /// Requests a second that a tbf rule allows the class of the request; `None` in other lines.
    pub rate: Option<u32>,
}

impl<'a> NrsMessage<'a> {
    /// Parses a scheduler's line.
    pub(crate) fn parse(text: &'a [u8]) -> Result<Self, Malformed> {
        if text.starts_with(b"NRS st") { whole("NRS", text, sequence_line) } else { complete("NRS", text, nrs(text)) }
    }
}

/// Whether a text beginning with `NRS` or `TBF` is one that [`NrsMessage::parse`] should know.
pub(super) fn is_nrs(i: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 8] = [
        b"NRS start ",
        b"NRS stop ",
        b"NRS: starting to handle ",
        b"NRS: finished handling ",
        b"TBF dequeues: ",
        b"TBF enqueues: ",
        b"TBF class@",
        b"TBF starts rule@",
    ];
    BEGINNINGS.iter().any(|words| i.starts_with(words))
}

/// A message with policy and action only.
const fn blank<'a>(policy: NrsPolicy, action: NrsAction) -> NrsMessage<'a> {
    NrsMessage {
        policy,
        action,
        nid: None,
        sequence: None,
        round: None,
        fid: None,
        ost_index: None,
        xid: None,
        rate: None,
    }
}

fn nrs(i: &[u8]) -> Res<'_, NrsMessage<'_>> {
    if i.starts_with(b"@@@ ") {
        delay_line(i)
    } else if i.starts_with(b"NRS: ") {
        round_line(i)
    } else {
        tbf_line(i)
    }
}

/// `NRS start|stop fifo|tbf request from %s, seq: %llu`.
#[inline(always)]
fn sequence_line<'a>(cursor: &mut Cursor<'a>) -> Option<NrsMessage<'a>> {
    let action = if cursor.eat(b"NRS start ") {
        NrsAction::Start
    } else {
        cursor.tag(b"NRS stop ")?;
        NrsAction::Stop
    };
    let policy = if cursor.eat(b"fifo") {
        NrsPolicy::Fifo
    } else {
        cursor.tag(b"tbf")?;
        NrsPolicy::Tbf
    };
    cursor.tag(b" request from ")?;
    let nid = cursor.nid()?;
    cursor.tag(b", seq: ")?;
    let sequence = cursor.dec_long()?;
    Some(NrsMessage { nid: Some(nid), sequence: Some(sequence), ..blank(policy, action) })
}

/// `NRS: starting to handle|finished handling crrn|orr|trr request ..., with round %llu`.
fn round_line(i: &[u8]) -> Res<'_, NrsMessage<'_>> {
    let start = value(NrsAction::Start, tag(b"NRS: starting to handle "));
    let stop = value(NrsAction::Stop, tag(b"NRS: finished handling "));
    let (i, action) = alt((start, stop)).parse(i)?;
    let crrn = value(NrsPolicy::Crrn, tag(b"crrn"));
    let orr = value(NrsPolicy::Orr, alt((tag(b"orr"), tag(b"ORR"))));
    let trr = value(NrsPolicy::Trr, alt((tag(b"trr"), tag(b"TRR"))));
    let (i, policy) = alt((crrn, orr, trr)).parse(i)?;
    let message = blank(policy, action);
    let (i, ()) = tag(b" request ").parse(i)?;
    let (i, message) = match policy {
        NrsPolicy::Crrn => {
            let (i, nid) = field(i, b"from ", nid, b"")?;
            (i, NrsMessage { nid: Some(nid), ..message })
        }
        NrsPolicy::Orr => {
            let (i, fid) = field(i, b"for object with FID ", fid, b", ")?;
            let (i, _meaningless) = ost_index(i)?;
            (i, NrsMessage { fid: Some(fid), ..message })
        }
        _ => {
            let (i, index) = ost_index(i)?;
            (i, NrsMessage { ost_index: u32::try_from(index).ok(), ..message })
        }
    };
    let (i, round) = field(i, b", with round ", dec_long, b"")?;
    Ok((i, NrsMessage { round: Some(round), ..message }))
}

/// `from OST with index %u`.
fn ost_index(i: &[u8]) -> Res<'_, u64> {
    field(i, b"from OST with index ", dec_long, b"")
}

/// `[SVC.CPT NRS: ]TBF dequeues: class@...`; the rest is the state of token buckets.
fn tbf_line(i: &[u8]) -> Res<'_, NrsMessage<'_>> {
    let (i, _) = opt((until::<b' ', b' '>, tag(b" NRS: "))).parse(i)?;
    if i.starts_with(b"Busy TBF class: class@") {
        return all_of(i, NrsMessage { nid: class_nid(i), ..blank(NrsPolicy::Tbf, NrsAction::Note) });
    }
    let (i, ()) = tag(b"TBF ").parse(i)?;
    let start = value(NrsAction::Start, tag(b"dequeues: class@"));
    let enqueue = value(NrsAction::Enqueue, tag(b"enqueues: class@"));
    let note = value(
        NrsAction::Note,
        alt((
            tag(b"class@"),
            tag(b"class insert: class@"),
            tag(b"class fini: class@"),
            tag(b"LRU "),
            tag(b"rule update, "),
            tag(b"starts rule@"),
        )),
    );
    let (i, action) = alt((start, enqueue, note)).parse(i)?;
    let rate = if action == NrsAction::Start { rule_rate(i) } else { None };
    all_of(i, NrsMessage { nid: class_nid(i), rate, ..blank(NrsPolicy::Tbf, action) })
}

/// The rate of the rule, which stands behind the class and its key: `rule@.. rate 100 gen 1`, `rule@.. gen 0 rate 100 depth 3`.
fn rule_rate(i: &[u8]) -> Option<u32> {
    let at = memchr::memmem::rfind(i, b" rate ")?;
    let (_, rate) = field(i.get(at..)?, b" rate ", dec_long, b"").ok()?;
    u32::try_from(rate).ok()
}

/// The NID in the key of a class, `&nid={10.10.0.11@tcp}`, where classes are by NID. Searched from the
/// right: a job, which may hold anything, stands before it.
fn class_nid(i: &[u8]) -> Option<&[u8]> {
    memchr::memrchr_iter(b'{', i).find_map(|at| {
        let (before, brace) = i.split_at_checked(at)?;
        let (rest, nid) = field(brace, b"{", nid, b"").ok()?;
        (before.ends_with(b"nid=") && rest.starts_with(b"}")).then_some(nid)
    })
}

/// `@@@ NRS: finished delayed request from %s after %llds` and the description of the request.
fn delay_line(i: &[u8]) -> Res<'_, NrsMessage<'_>> {
    let (i, nid) = field(i, b"@@@ NRS: finished delayed request from ", nid, b"")?;
    let (i, _seconds) = field(i, b" after ", int, b"s")?;
    let (i, ()) = space(i)?;
    let (i, req) = part(i, description::<true>)?;
    Ok((i, NrsMessage { nid: Some(nid), xid: Some(req.xid), ..blank(NrsPolicy::Delay, NrsAction::Stop) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use NrsAction::{Enqueue, Note, Start, Stop};
    use NrsPolicy::{Crrn, Delay, Fifo, Orr, Tbf, Trr};

    fn parsed(text: &str) -> NrsMessage<'_> {
        NrsMessage::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn fifo_all_versions() {
        let message = NrsMessage { nid: Some(b"0@lo"), sequence: Some(204), ..blank(Fifo, Start) };
        assert_eq!(parsed("NRS start fifo request from 12345-0@lo, seq: 204"), message);
        let message = NrsMessage { nid: Some(b"fe80::1@tcp"), sequence: Some(u64::MAX), ..blank(Fifo, Stop) };
        assert_eq!(parsed("NRS stop fifo request from 12345-fe80::1@tcp, seq: 18446744073709551615"), message);
    }

    #[test]
    fn tbf_2_9_and_its_stop_in_all_versions() {
        let message = NrsMessage { nid: Some(b"1.2.3.4@o2ib"), sequence: Some(1), ..blank(Tbf, Start) };
        assert_eq!(parsed("NRS start tbf request from 12345-1.2.3.4@o2ib, seq: 1"), message);
        let message = NrsMessage { action: Stop, ..message };
        assert_eq!(parsed("NRS stop tbf request from 12345-1.2.3.4@o2ib, seq: 1"), message);
    }

    #[test]
    fn crrn_all_versions() {
        let message = NrsMessage { nid: Some(b"10.10.0.11@tcp"), round: Some(7), ..blank(Crrn, Start) };
        assert_eq!(parsed("NRS: starting to handle crrn request from 12345-10.10.0.11@tcp, with round 7"), message);
        let message = NrsMessage { action: Stop, ..message };
        assert_eq!(parsed("NRS: finished handling crrn request from 12345-10.10.0.11@tcp, with round 7"), message);
    }

    #[test]
    fn orr_2_15_and_2_16_drop_the_meaningless_index() {
        let message = NrsMessage { fid: "[0x280000400:0x4:0x0]".parse().ok(), round: Some(0), ..blank(Orr, Start) };
        let tail = "request for object with FID [0x280000400:0x4:0x0], from OST with index 1073742848, with round 0";
        assert_eq!(parsed(&format!("NRS: starting to handle orr {tail}")), message);
        let message = NrsMessage { action: Stop, ..message };
        assert_eq!(parsed(&format!("NRS: finished handling orr {tail}")), message);
        assert_eq!(parsed(&format!("NRS: finished handling ORR {tail}")), message);
    }

    #[test]
    fn trr_2_15_and_2_16() {
        let message = NrsMessage { ost_index: Some(3), round: Some(12), ..blank(Trr, Start) };
        let tail = "request from OST with index 3, with round 12";
        assert_eq!(parsed(&format!("NRS: starting to handle trr {tail}")), message);
        let message = NrsMessage { action: Stop, ..message };
        assert_eq!(parsed(&format!("NRS: finished handling trr {tail}")), message);
        assert_eq!(parsed(&format!("NRS: finished handling TRR {tail}")), message);
    }

    #[test]
    fn tbf_2_10_to_2_17_0() {
        let rest = "class@ffff88003c5e6450 rate 100 gen 1 token 2, rule@ffff88003c5e6451 rate 100 gen 1";
        assert_eq!(parsed(&format!("TBF dequeues: {rest}")), NrsMessage { rate: Some(100), ..blank(Tbf, Start) });
        assert_eq!(parsed(&format!("TBF enqueues: {rest}")), blank(Tbf, Enqueue));
        assert_eq!(parsed(&format!("TBF {rest}")), blank(Tbf, Note));
    }

    #[test]
    fn tbf_2_17_57_names_service_and_key() {
        let rest = "class@000000001e255a30 key jobid={nid={1@tcp} x}&nid={10.10.0.11@tcp}&opcode={ost_write}&uid={0} \
            rule@0x00000000e78d9c90 gen 0 rate 100 depth 3 token 3";
        let nid = Some(&b"10.10.0.11@tcp"[..]);
        assert_eq!(
            parsed(&format!("ost_io.0 NRS: TBF dequeues: {rest}")),
            NrsMessage { nid, rate: Some(100), ..blank(Tbf, Start) }
        );
        assert_eq!(parsed(&format!("ost_io.0 NRS: TBF enqueues: {rest}")), NrsMessage { nid, ..blank(Tbf, Enqueue) });
        for what in [
            "TBF LRU add",
            "TBF LRU hit",
            "TBF class insert",
            "TBF class fini",
            "TBF rule update, rule flags 0x0, head sequence 3",
            "Busy TBF class",
        ] {
            let state = "gen 0 rate 100 depth 3 token 3 deadline 1 time 2 state 0x1 ref 1";
            let text =
                format!("ost_io.0 NRS: {what}: class@000000001e255a30 key default rule@0x00000000e78d9c90 {state}");
            assert_eq!(parsed(&text), blank(Tbf, Note), "{text}");
        }
        // Without a class there is no service.
        assert_eq!(parsed("TBF enqueues: class@0000000000000000"), blank(Tbf, Enqueue));
        assert_eq!(parsed("TBF starts rule@00000000e78d9c90 rate 100 gen 1"), blank(Tbf, Note));
    }

    #[test]
    fn delay_2_10_and_later_has_the_xid() {
        let text = "@@@ NRS: finished delayed request from 12345-10.1.2.3@tcp after 5s  req@00000000d5e09f76 x17/t0(0) \
            o4->u@10.1.2.3@tcp:0/0 lens 488/0 e 0 to 0 dl 1 ref 1 fl New:/0/ffffffff rc 0/-1";
        let message = NrsMessage { nid: Some(b"10.1.2.3@tcp"), xid: Some(Xid(17)), ..blank(Delay, Stop) };
        assert_eq!(parsed(text), message);
    }

    #[test]
    fn near_misses() {
        for text in [
            "NRS start fifo request from 12345-0@lo, seq: ",
            "NRS start lifo request from 12345-0@lo, seq: 1",
            "NRS stop fifo request from nobody, seq: 1",
            "NRS: starting to handle crrn request from OST with index 3, with round 12",
            "NRS: starting to handle trr request from 12345-0@lo, with round 12",
            "NRS: starting to handle orr request for object with FID [0x1:0x2], from OST with index 3, with round 12",
            "TBF dequeues: something",
            "ost_io.0 NRS: TBF something",
            "@@@ NRS: finished delayed request from 12345-10.1.2.3@tcp after 5s",
        ] {
            assert_eq!(NrsMessage::parse(text.as_bytes()).unwrap_err().kind, "NRS", "{text}");
        }
    }
}
