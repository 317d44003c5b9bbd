//! Recognizes the kind of message of a text.

use super::client::ClientRpc;
use super::client_io::{BrwRpc, BulkBuilt};
use super::client_operation::{OperationLine, VfsLine};
use super::debug_req::ReqMessage;
use super::ldlm::{Contention, LdlmMessage};
use super::malformed::Malformed;
use super::net::{BulkEvent, SendingBytes, Transferring};
use super::nrs;
use super::nrs::NrsMessage;
use super::number;
use super::ofd;
use super::ofd::{ProlongLocks, RefreshRwLocks, RefreshedLocks};
use super::other::{Connection, PingEviction};
use super::ptlrpc::{Handled, Handling, Peer};
use crate::{Record, Xid};

/// First words of the record that `lctl mark` leaves.
pub(super) const MARKER: &[u8] = b"DEBUG MARKER: ";

/// A parsed message, borrowed from the record's text.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message<'a> {
    /// `Handling RPC ...`: a service thread begins to handle a request.
    Handling(Handling<'a>),
    /// `Handled RPC ...`: the service thread has finished handling the request.
    Handled(Handled<'a>),
    /// `Sending RPC ...`: this node sends an RPC (lock callbacks, MDT to OST, ...).
    Sending(ClientRpc<'a>),
    /// `Completed RPC ...`: the reply to an RPC that this node sent has arrived.
    Completed(ClientRpc<'a>),
    /// `peer: ...`: a request arrived; the line names no xid.
    Peer(Peer<'a>),
    /// `unwrap req xN`: the service begins to unpack a request.
    UnwrapReq(Xid),
    /// `got req xN` (mask rpctrace): the service accepted the request.
    GotReq(Xid),
    /// `got req N` without `x` (mask net), printed after `Handling RPC`.
    GotReqNet(Xid),
    /// `finish req xN`: the request was rejected before it was handled.
    FinishReq(Xid),
    /// A line of a request scheduler (NRS).
    Nrs(NrsMessage<'a>),
    /// `Transferring N pages M bytes ...` (mask net): a bulk transfer begins.
    Transferring(Transferring<'a>),
    /// `event type T, status S, desc P` (mask net): an event of a bulk transfer.
    BulkEvent(BulkEvent),
    /// `Sending N bytes to portal P, xid X, offset O` (mask net): a request or reply is sent.
    SendingBytes(SendingBytes),
    /// `refresh rw locks ...`: target, object and extent of an OST_READ or OST_WRITE.
    RefreshRwLocks(RefreshRwLocks<'a>),
    /// `Prolong locks for req ...`: the timeouts of the request's locks are extended.
    ProlongLocks(ProlongLocks),
    /// `TARGET: refreshed N locks timeout for req P` (mask dlmtrace).
    RefreshedLocks(RefreshedLocks<'a>),
    /// Any other message that ends in a request description (`DEBUG_REQ`).
    Req(ReqMessage<'a>),
    /// A lock manager line (`### ...`).
    Ldlm(LdlmMessage<'a>),
    /// The kernel's contention count of a resource.
    Contention(Contention),
    /// `haven't heard from client ...`: the pinger evicts a silent client.
    PingEviction(PingEviction<'a>),
    /// `TARGET: connection from UUID@NID ...` (mask ha): a client connects.
    Connection(Connection<'a>),
    /// `START file ..`, `COMPLETED file ..`: an operation on a client begins or ends (mask iotrace).
    Operation(OperationLine<'a>),
    /// `VFS Op:..`: a step of an operation on a client (mask vfstrace).
    Vfs(VfsLine<'a>),
    /// `FID: N read|write pages, ..`: a client has put a bulk RPC together (mask iotrace).
    BulkBuilt(BulkBuilt),
    /// `brw rpc PTR - object ..`: the request of the bulk RPC that is put together (mask rpctrace).
    BrwRpc(BrwRpc),
    /// `DEBUG MARKER: text`: the text given to `lctl mark`.
    Marker(&'a [u8]),
    /// The text begins like a known message but does not parse as one.
    Malformed(Malformed),
    /// A text that this crate does not interpret.
    Other,
}

impl<'a> Message<'a> {
    /// Interprets a record's text.
    #[must_use]
    pub fn parse(record: &Record<'a>) -> Self {
        Self::parse_text(record.message())
    }

    /// Whether a text that begins like this may be of a known kind, whatever follows.
    #[must_use]
    pub fn may_become_known(beginning: &[u8]) -> bool {
        // The first words of all but those below are shorter.
        if beginning.len() < 32 || !matches!(by_first_word(beginning), Message::Other) {
            return true;
        }
        let starts = |words: &[u8]| beginning.starts_with(words);
        if [&b"event type "[..], b"START ", b"COMPLETED ", b"file", b"brw rpc ", b"[0x"].into_iter().any(starts) {
            return true;
        }
        // The name of a target or service, and another word or a thread.
        let Some(space) = memchr::memchr(b' ', beginning.get(..24).unwrap_or(beginning)) else { return false };
        let (name, rest) = beginning.split_at(space);
        maybe_target(name) || beginning.len() < 64 && (name.ends_with(b":") || rest.starts_with(b" NRS: "))
    }

    /// Interprets a text without its record: the part of a line after `FUNCTION()) `.
    ///
    /// Most texts of a real log are unknown, so the first bytes decide which parsers to try.
    #[must_use]
    pub fn parse_text(text: &'a [u8]) -> Self {
        by_first_word(text)
    }
}

/// Messages that begin with fixed words; all others may begin with a name.
pub(super) fn by_first_word(text: &[u8]) -> Message<'_> {
    let starts = |words: &[u8]| text.starts_with(words);
    let Some(first) = text.first_chunk::<4>() else { return Message::Other };
    match first {
        b"Hand" if starts(b"Handling RPC ") => or_malformed(text, Handling::parse(text), Message::Handling),
        b"Hand" if starts(b"Handled RPC ") => or_malformed(text, Handled::parse(text), Message::Handled),
        b"Send" if starts(b"Sending RPC ") => or_malformed(text, ClientRpc::parse_sending(text), Message::Sending),
        b"Comp" if starts(b"Completed RPC ") => {
            or_malformed(text, ClientRpc::parse_completed(text), Message::Completed)
        }
        b"peer" if starts(b"peer: ") => or_malformed(text, Peer::parse(text), Message::Peer),
        b"unwr" if starts(b"unwrap req x") => xid_only("unwrap req", text, b"unwrap req x", Message::UnwrapReq),
        b"got " if starts(b"got req x") => xid_only("got req", text, b"got req x", Message::GotReq),
        b"got " if starts(b"got req ") => xid_only("got req", text, b"got req ", Message::GotReqNet),
        b"fini" if starts(b"finish req x") => xid_only("finish req", text, b"finish req x", Message::FinishReq),
        b"NRS " | b"NRS:" | b"TBF " if nrs::is_nrs(text) => or_malformed(text, NrsMessage::parse(text), Message::Nrs),
        b"@@@ " => with_description(text),
        b"### " => or_malformed(text, LdlmMessage::parse(text), Message::Ldlm),
        b"Prol" if starts(b"Prolong locks for req ") || starts(b"Prolong DOM lock for req ") => {
            or_malformed(text, ProlongLocks::parse(text), Message::ProlongLocks)
        }
        b"Tran" if starts(b"Transferring ") => or_malformed(text, Transferring::parse(text), Message::Transferring),
        b"even" if is_bulk_event(text) => or_malformed(text, BulkEvent::parse(text), Message::BulkEvent),
        b"Send" if is_sending_bytes(text) => or_malformed(text, SendingBytes::parse(text), Message::SendingBytes),
        b"cont" if starts(b"contended locks = ") => or_malformed(text, Contention::parse(text), Message::Contention),
        b"add " if is_contention_window(text) => or_malformed(text, Contention::parse(text), Message::Contention),
        b"STAR" | b"COMP" | b"file" if OperationLine::is_one(text) => {
            OperationLine::parse(text).map_or(Message::Other, Message::Operation)
        }
        b"VFS " if starts(b"VFS Op:") => Message::Vfs(VfsLine::parse(text)),
        b"brw " if starts(b"brw rpc ") => BrwRpc::parse(text).map_or(Message::Other, Message::BrwRpc),
        b"[0x1" | b"[0x2" | b"[0x3" | b"[0x4" | b"[0x5" | b"[0x6" | b"[0x7" | b"[0x8" | b"[0x9" | b"[0xa" | b"[0xb"
        | b"[0xc" | b"[0xd" | b"[0xe" | b"[0xf" => of_file(text),
        b"DEBU" if starts(MARKER) => Message::Marker(text.get(MARKER.len()..).unwrap_or_default().trim_ascii_end()),
        _ => by_target(text),
    }
}

/// Messages that begin with a file's FID.
fn of_file(text: &[u8]) -> Message<'_> {
    if let Some(built) = BulkBuilt::parse(text) {
        return Message::BulkBuilt(built);
    }
    // 2.15 prints faults without `START`.
    OperationLine::parse_fault(text).map_or(Message::Other, Message::Operation)
}

/// Messages that begin with the name of a target or service: their second word decides.
pub(super) fn by_target(text: &[u8]) -> Message<'_> {
    // The longest name is that of a target: 18 bytes with the colon.
    let space = memchr::memchr(b' ', text.get(..24).unwrap_or(text));
    let Some((name, rest)) = space.and_then(|at| text.split_at_checked(at)) else { return Message::Other };
    let named = name.ends_with(b":");
    if named && rest.starts_with(b" refreshed ") {
        or_malformed(text, RefreshedLocks::parse(text), Message::RefreshedLocks)
    } else if named && rest.starts_with(b" haven't heard from client ") {
        or_malformed(text, PingEviction::parse(text), Message::PingEviction)
    } else if named && rest.starts_with(b" connection from ") {
        or_malformed(text, Connection::parse(text), Message::Connection)
    } else if rest.starts_with(b" NRS: TBF ") || rest.starts_with(b" NRS: Busy TBF class: ") {
        or_malformed(text, NrsMessage::parse(text), Message::Nrs)
    } else if !named && maybe_target(name) {
        // DEBUG_REQ lines always begin with `@@@ `; only a refresh says enough without it.
        ofd::refresh_head(text).map_or(Message::Other, |head| {
            or_malformed(text, RefreshRwLocks::parse_behind(text, head), Message::RefreshRwLocks)
        })
    } else {
        Message::Other
    }
}

/// Whether a word has the form of a target's name.
#[inline(always)]
fn maybe_target(name: &[u8]) -> bool {
    name.len() > 8 && name.get(name.len() - 8) == Some(&b'-')
}

/// `@@@ MESSAGE req@...`.
pub(super) fn with_description(text: &[u8]) -> Message<'_> {
    let i = text.get(4..).unwrap_or_default();
    if let Some(head) = ofd::refresh_head(i) {
        or_malformed(text, RefreshRwLocks::parse_behind(text, head), Message::RefreshRwLocks)
    } else if i.starts_with(b"NRS: finished delayed ") {
        or_malformed(text, NrsMessage::parse(text), Message::Nrs)
    } else {
        or_malformed(text, ReqMessage::parse(text), Message::Req)
    }
}

/// Whether this is `event type T, status S, desc P`; events of requests and replies have no descriptor.
pub(super) fn is_bulk_event(text: &[u8]) -> bool {
    // A pointer has 16 digits at most.
    let end = text.len().saturating_sub(24);
    text.starts_with(b"event type ")
        && text.get(end..).is_some_and(|end| memchr::memmem::find(end, b" desc ").is_some())
}

/// Whether this is `Sending N bytes to portal`; LNet's network drivers log other messages that begin with `Sending`.
pub(super) fn is_sending_bytes(text: &[u8]) -> bool {
    let number = text.get(8..).unwrap_or_default();
    let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    number.get(digits..).is_some_and(|rest| digits > 0 && rest.starts_with(b" bytes to portal "))
}

/// `add N to [`.
pub(super) fn is_contention_window(text: &[u8]) -> bool {
    let number = text.get(4..).unwrap_or_default();
    let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    number.get(digits..).is_some_and(|rest| digits > 0 && rest.starts_with(b" to ["))
}

/// A message that has only an xid after its first words.
pub(super) fn xid_only<'a>(
    kind: &'static str,
    text: &'a [u8],
    words: &[u8],
    wrap: fn(Xid) -> Message<'a>,
) -> Message<'a> {
    let number = text.get(words.len()..).unwrap_or_default();
    or_malformed(text, number::complete(kind, text, number::xid(number)), wrap)
}

/// The message that `text` was parsed as. Messages are large: this is the only place that moves one.
#[inline(always)]
pub(super) fn or_malformed<'a, T>(
    text: &'a [u8],
    result: Result<T, Malformed>,
    wrap: fn(T) -> Message<'a>,
) -> Message<'a> {
    match result {
        Ok(value) => wrap(value),
        Err(malformed) => first_line(text, malformed),
    }
}

/// Only request descriptions and lock lines have line breaks inside (see `frame::text`). Behind any other
/// message they mean that a line which is no record follows it in a damaged text.
#[cold]
pub(super) fn first_line(text: &[u8], malformed: Malformed) -> Message<'_> {
    let line = memchr::memchr(b'\n', text).and_then(|end| text.get(..end));
    match line.map(by_first_word) {
        None | Some(Message::Malformed(_)) => Message::Malformed(malformed),
        Some(whole) => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::strip_process_id;

    /// One line of every kind.
    const LINES: [&str; 28] = [
        "Handling RPC req@00000000d5e09f76 pname:cluuid+ref:pid:xid:nid:opc:job t:u+6:381:x17:12345-10.10.0.11@tcp:4:python3.0",
        "Handled RPC pname:cluuid+ref:pid:xid:nid:opc t:u+6:381:x17:12345-10.10.0.11@tcp:4 Request processed in 1us (2us total) trans 0 rc 0/0",
        "Sending RPC req@00000000cf20c915 pname:cluuid:pid:xid:nid:opc:job t:lustre-OST0001_UUID:2313:17:10.10.0.11@tcp:104:",
        "Completed RPC pname:cluuid:pid:xid:nid:opc t:lustre-OST0001_UUID:2313:17:10.10.0.11@tcp:104",
        "peer: 12345-0@lo (source: 12345-0@lo)",
        "unwrap req x17",
        "got req x17",
        "got req 17",
        "finish req x17",
        "NRS start fifo request from 12345-0@lo, seq: 204",
        "NRS: finished handling TRR request from OST with index 3, with round 12",
        "TBF dequeues: class@ffff88003c5e6450 rate 100",
        "ost_io.0 NRS: TBF dequeues: class@ffff88003c5e6450 key a rule@1",
        "@@@ NRS: finished delayed request from 12345-0@lo after 5s  req@1 x17/t0(0) o4->u@0@lo:0/0 lens 488/0 e 0 to 0 dl 1 ref 1 fl New:/0/ffffffff rc 0/-1",
        "Transferring 1 pages 4096 bytes via portal 8 id 12345-27@gni mbits 0x55d0-0x55d0",
        "event type 5, status 0, desc 00000000a05dbc64",
        "Sending 448 bytes to portal 4, xid 17, offset 192",
        "@@@ lustre-OST0001 t: refresh rw locks for [0x1:0x2:0x0] (0->1)  req@1 x17/t0(0) o4->u@0@lo:0/0 lens 488/0 e 0 to 0 dl 1 ref 1 fl New:/0/ffffffff rc 0/-1 job:'a'",
        "lustre-OST0001 t: refresh rw locks: [0x1:0x2:0x0] (0->1)",
        "Prolong locks for req 1 with x17 ext(0->1)",
        "lustre-OST0001: refreshed 0 locks timeout for req 00000000d5e09f76",
        "@@@ sending reply  req@1 x17/t0(0) o4->u@0@lo:0/0 lens 488/0 e 0 to 0 dl 1 ref 1 fl New:/0/ffffffff rc 0/-1 job:'a' uid:0 gid:0",
        "### removed ns: MGS lock: f/0x12 lrc: 3/0,0 mode: EX/EX res: [0x1:0x0:0x0].0x0 rrc: 3 type: PLN flags: 0x20 nid: 0@lo remote: 0x99 expref: 7 pid: 5 timeout: 0 lvb_type: 0",
        "contended locks = 0",
        "add 0 to [0x280000400:0x3:0x0].0x0 since=919s v=(0 0)",
        "lustre-OST0000: haven't heard from client u (at 0@lo) in 102 seconds. I think it's dead",
        "MGS: connection from u@0@lo t0 exp 0 cur 1 last 0",
        "DEBUG MARKER: PHASE x",
    ];

    /// Name of the variant, as `{:?}` prints it.
    fn kind(message: Message<'_>) -> String {
        format!("{message:?}").split(['(', ' ']).next().unwrap_or_default().to_owned()
    }

    #[test]
    fn every_kind_is_recognised_by_its_beginning() {
        let want = [
            "Handling",
            "Handled",
            "Sending",
            "Completed",
            "Peer",
            "UnwrapReq",
            "GotReq",
            "GotReqNet",
            "FinishReq",
            "Nrs",
            "Nrs",
            "Nrs",
            "Nrs",
            "Nrs",
            "Transferring",
            "BulkEvent",
            "SendingBytes",
            "RefreshRwLocks",
            "RefreshRwLocks",
            "ProlongLocks",
            "RefreshedLocks",
            "Req",
            "Ldlm",
            "Contention",
            "Contention",
            "PingEviction",
            "Connection",
            "Marker",
        ];
        let found: Vec<String> = LINES.iter().map(|line| kind(Message::parse_text(line.as_bytes()))).collect();
        assert_eq!(found, want);
    }

    #[test]
    fn xids_and_markers() {
        assert_eq!(Message::parse_text(b"unwrap req x18446744073709551615\n"), Message::UnwrapReq(Xid(u64::MAX)));
        assert_eq!(Message::parse_text(b"got req x17"), Message::GotReq(Xid(17)));
        assert_eq!(Message::parse_text(b"got req 17"), Message::GotReqNet(Xid(17)));
        assert_eq!(Message::parse_text(b"finish req x17 "), Message::FinishReq(Xid(17)));
        assert_eq!(Message::parse_text(b"DEBUG MARKER: PHASE x\n"), Message::Marker(b"PHASE x"));
    }

    #[test]
    fn unknown_texts_are_other() {
        for text in [
            "",
            "x",
            "got",
            "got peer_ni [0] -> 12345-10.10.0.1@tcp (4)",
            "Sending to 12345-10.10.0.11@tcp ip 10.10.0.11:988",
            "sending 96 bytes in 0 frags to 12345-10.10.0.11@tcp",
            "nlocks 1",
            "NRS: policy registered",
            "add it to the list",
            "Transfer of nothing",
            "Prolonged",
            "event type 2, status 0, service ost_io",
            "HandlingRPC",
            "DEBUG",
            "lustre-OST0002: get connection from MDS 0",
            "a long first word without any space in its first bytes: refreshed",
            "lustre-OST0002 ll_ost_io00_002: refreshing rw locks",
            "Sending bytes to portal ",
        ] {
            assert_eq!(Message::parse_text(text.as_bytes()), Message::Other, "{text}");
        }
    }

    #[test]
    fn known_beginnings_that_go_on_differently_are_malformed() {
        for (text, kind, offset) in [
            ("got req x", "got req", 9),
            ("got req x17y", "got req", 11),
            ("unwrap req x99999999999999999999", "unwrap req", 12),
            ("finish req x17 18", "finish req", 14),
            ("Handling RPC of another kind", "Handling RPC", 13),
            ("@@@ no description", "DEBUG_REQ", 4),
            ("Prolong locks for req y", "Prolong locks", 22),
            ("lustre-OST0001: refreshed many locks", "refreshed locks", 26),
        ] {
            assert_eq!(Message::parse_text(text.as_bytes()), Message::Malformed(Malformed { kind, offset }), "{text}");
        }
    }

    #[test]
    fn every_prefix_fails_cleanly() {
        for line in LINES {
            let whole = kind(Message::parse_text(line.as_bytes()));
            for len in 0..line.len() {
                let cut = &line[..len];
                match Message::parse_text(cut.as_bytes()) {
                    Message::Malformed(malformed) => assert!(malformed.offset <= len, "{cut}"),
                    Message::Other => {}
                    // What was cut off is not looked at, or is only a part of a number or a job.
                    message => assert_eq!(kind(message), whole, "{cut}"),
                }
            }
        }
    }

    #[test]
    fn beginnings_of_known_messages_may_become_known() {
        for line in LINES.into_iter().chain([
            "brw rpc 0000000011112222 - object 0x1:2 offset 0<>4096",
            "[0x200000401:0x1:0x0]: 256 write pages, start=0",
            "START file open : name=f, fid=[0x200000401:0x1:0x0]",
        ]) {
            for len in 0..line.len() {
                assert!(Message::may_become_known(&line.as_bytes()[..len]), "{}", &line[..len]);
            }
        }
        for text in [
            "Process leaving (rc=0 : 0 : 0) with more of the kind",
            "kmalloced '(ptr)': 48 at 00000000d5e09f76 (tot 1234)",
            "lustre-OST0001: something else is said about this target here, at length",
            "a_long_first_word_without_any_space_in_its_first_bytes",
        ] {
            assert!(!Message::may_become_known(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn line_breaks_and_spaces_at_the_end_do_not_matter() {
        for line in LINES {
            let whole = Message::parse_text(line.as_bytes());
            assert_eq!(Message::parse_text(format!("{line}\n").as_bytes()), whole, "{line}");
        }
    }

    #[test]
    fn strip_process_id_takes_all_forms() {
        for peer in ["12345-10.0.0.1@tcp", "U123-10.0.0.1@tcp", "LNET_PID_ANY-10.0.0.1@tcp", "10.0.0.1@tcp"] {
            assert_eq!(strip_process_id(peer.as_bytes()), b"10.0.0.1@tcp");
        }
        for peer in ["", "U", "-1@tcp", "12", "U-1@tcp", "<?>"] {
            assert_eq!(strip_process_id(peer.as_bytes()), peer.as_bytes());
        }
    }
}
