//! Messages of `ptlrpc/service.c` and `ptlrpc/events.c`: the life of an RPC on its server.

//!
//! Wordings of `Handling RPC` and `Handled RPC`:
//!
//! * to 2.12.x: `Handling RPC pname:cluuid+ref:pid:xid:nid:opc THREAD:UUID+REF:PID:xXID:NID:OPC`
//! * 2.13 and later: `req@PTR ` in front of `pname`, `:job` behind `opc` and its value at the end
//! * `Handled` to 2.10.3 ends ` Request procesed in ..`, later ` Request processed in ..`
//!
//! The job is free text: whatever stands to its right must be searched from the right.

use super::cursor::{Cursor, whole};
use super::malformed::parsed;
use crate::vocab::byte_search;
use crate::{Opcode, Xid};

/// `Handling RPC ...`: a service thread begins to handle a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handling<'a> {
    /// `req@` pointer (hashed by the kernel, unique while the request lives); `None` before Lustre 2.13.
    pub req: Option<u64>,
    /// Name of the service thread (`comm`, at most 15 bytes), such as `ll_ost_io00_002`.
    pub thread: &'a [u8],
    /// Client uuid of the export; `0` before the first connect.
    pub client_uuid: &'a [u8],
    /// Reference count of the export; -99 without an export.
    pub export_refs: i32,
    /// Pid, on the client, of the thread that sent the request.
    pub client_pid: i32,
    /// Transfer id of the request, unique per client.
    pub xid: Xid,
    /// Client NID, plain form.
    pub nid: &'a [u8],
    /// Operation that the request asks for.
    pub opcode: Opcode,
    /// Job id; `None` before Lustre 2.13, empty if the client sends none.
    pub job: Option<&'a [u8]>,
}

/// `Handled RPC ...`: the fields of [`Handling`] and the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handled<'a> {
    /// The same fields as in the request's `Handling RPC` line.
    pub rpc: Handling<'a>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What `Handled RPC` says besides which request it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Time in the request handler ("processed in"), microseconds; negative after a clock step.
    pub service_us: i64,
    /// Time from arrival to now ("total"), microseconds; negative after a clock step.
    pub total_us: i64,
    /// Transaction number; 0 for requests that modify nothing.
    pub transno: u64,
    /// Status that the handler returned; for a successful OST_READ the number of bytes sent.
    pub rc: i32,
    /// Status in the reply; -999 without a reply.
    pub reply_rc: i32,
}

/// `peer: P (source: S)`: a request arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer<'a> {
    /// Primary NID of the sender.
    pub nid: &'a [u8],
    /// NID from which the sender sent the request; `None` before Lustre 2.10.
    pub source: Option<&'a [u8]>,
}

parsed! {
    /// Parses `Handling RPC ...`.
    Handling<'a> = |text| whole("Handling RPC", text, |cursor| {
        cursor.tag(b"Handling RPC ")?;
        rpc(cursor)
    });
    /// Parses `Handled RPC ...`.
    Handled<'a> = |text| whole("Handled RPC", text, handled).or_else(|strict| handled_with_remark(text).ok_or(strict));
    /// Parses `peer: P` or `peer: P (source: S)`.
    Peer<'a> = |text| whole("peer", text, peer);
}

fn handled<'a>(cursor: &mut Cursor<'a>) -> Option<Handled<'a>> {
    // The outcome holds no other `R` than that of ` Request`, whatever the job in front of it holds.
    let text = cursor.rest();
    handled_around(cursor, text, memchr::memrchr(b'R', text)?)
}

/// Vendors' versions, and whoever posts a log, put words behind the outcome. Only what is set off by a blank or a sign is one: digits would
/// belong to the number in front of them.
#[cold]
fn handled_with_remark(text: &[u8]) -> Option<Handled<'_>> {
    let line = text.get(..memchr::memchr(b'\n', text).unwrap_or(text.len()))?;
    // Of a broken log half of what is tried is a message with a blank too few: nothing stands behind its outcome.
    if ends_with_outcome(line) {
        return None;
    }
    let mut cursor = Cursor::new(line);
    let handled = handled_around(&mut cursor, line, last_outcome(line)?)?;
    matches!(cursor.rest().first(), None | Some(b' ' | b'\t' | b',' | b';' | b'(' | b'[' | b'#')).then_some(handled)
}

/// Where the last outcome begins, behind a blank. Hardly any other word has an `R`.
fn last_outcome(line: &[u8]) -> Option<usize> {
    memchr::memrchr_iter(b'R', line).find(|&at| line[at..].starts_with(b"Request proc") && line[..at].ends_with(b" "))
}

/// Whether a line ends with `rc A/B`.
fn ends_with_outcome(line: &[u8]) -> bool {
    let without_number = |line: &[u8]| {
        let digits = line.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let before = &line[..line.len() - digits];
        before.strip_suffix(b"-").unwrap_or(before).len()
    };
    let line = line.trim_ascii_end();
    let Some(before) = line[..without_number(line)].strip_suffix(b"/") else { return false };
    before[..without_number(before)].ends_with(b"rc ")
}

/// `HEAD Request ..`, with the `R` at `at`.
#[inline(always)]
fn handled_around<'a>(cursor: &mut Cursor<'a>, text: &'a [u8], at: usize) -> Option<Handled<'a>> {
    let (head, tail) = text.split_at_checked(at)?;
    *cursor = Cursor::new(head.strip_suffix(b" ")?);
    cursor.tag(b"Handled RPC ")?;
    let rpc = rpc(cursor)?;
    if !cursor.rest().trim_ascii_start().is_empty() {
        return None;
    }
    *cursor = Cursor::new(tail);
    Some(Handled { rpc, outcome: outcome(cursor)? })
}

/// `Request processed in 1us (2us total) trans 0 rc 0/0`.
#[inline(always)]
pub(super) fn outcome(cursor: &mut Cursor<'_>) -> Option<Outcome> {
    if !cursor.eat(b"Request processed in ") {
        cursor.tag(b"Request procesed in ")?;
    }
    let service_us = cursor.int()?;
    cursor.tag(b"us (")?;
    let total_us = cursor.int()?;
    cursor.tag(b"us total) trans ")?;
    let transno = cursor.dec_long()?;
    cursor.tag(b" rc ")?;
    let rc = cursor.int_i32()?;
    cursor.tag(b"/")?;
    let reply_rc = cursor.int_i32()?;
    Some(Outcome { service_us, total_us, transno, rc, reply_rc })
}

/// What follows `Handling RPC ` and `Handled RPC `; the job is all the rest.
#[inline(always)]
fn rpc<'a>(cursor: &mut Cursor<'a>) -> Option<Handling<'a>> {
    let req = request_pointer(cursor)?;
    cursor.tag(b"pname:cluuid+ref:pid:xid:nid:opc")?;
    let has_job = job_column(cursor)?;
    let (thread, (client_uuid, export_refs, client_pid, xid)) = behind_thread(cursor, export)?;
    cursor.tag(b":")?;
    let nid = cursor.nid()?;
    cursor.tag(b":")?;
    let opcode = cursor.opcode()?;
    let job = if has_job { Some(job(cursor)?) } else { None };
    Some(Handling { req, thread, client_uuid, export_refs, client_pid, xid, nid, opcode, job })
}

/// `CLUUID+REF:PID:xXID`.
#[inline(always)]
fn export<'a>(cursor: &mut Cursor<'a>) -> Option<(&'a [u8], i32, i32, Xid)> {
    let uuid = cursor.until::<b'+', b':'>()?;
    cursor.tag(b"+")?;
    let refs = cursor.int_i32()?;
    cursor.tag(b":")?;
    let pid = cursor.int_i32()?;
    cursor.tag(b":x")?;
    let xid = cursor.xid()?;
    Some((uuid, refs, pid, xid))
}

/// `req@PTR `, Lustre 2.13 and later.
#[inline(always)]
pub(super) fn request_pointer(cursor: &mut Cursor<'_>) -> Option<Option<u64>> {
    if cursor.rest().first() != Some(&b'r') {
        return Some(None);
    }
    cursor.tag(b"req@")?;
    let req = cursor.pointer()?;
    cursor.tag(b" ")?;
    Some(Some(req))
}

/// Reads the end of the column names; returns whether they end in `:job`.
#[inline(always)]
pub(super) fn job_column(cursor: &mut Cursor<'_>) -> Option<bool> {
    let has_job = cursor.eat(b":job ");
    (has_job || cursor.eat(b" ")).then_some(has_job)
}

/// Reads `:JOB`. A job may contain spaces, but no line breaks; none ends with the carriage return of Windows.
#[inline(always)]
pub(super) fn job<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    cursor.tag(b":")?;
    let len = cursor.rest().iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
    cursor.take(len)
}

/// Reads a thread name, `:`, and the rest by `next`.
///
/// Names may hold colons themselves (`kworker/0:1`): the name ends at the first colon behind which
/// `next` succeeds. There are at most 15 bytes to try.
#[inline(always)]
pub(super) fn behind_thread<'a, T>(
    cursor: &mut Cursor<'a>,
    next: impl Fn(&mut Cursor<'a>) -> Option<T>,
) -> Option<(&'a [u8], T)> {
    let text = cursor.rest();
    let name = text.get(..16).unwrap_or(text);
    let mut first_error = None;
    let mut from = 0;
    while let Some(found) = byte_search::find(&name[from..], [b':']) {
        let (thread, rest) = text.split_at(from + found);
        let mut behind = Cursor::new(rest);
        if let Some(fields) = behind.tag(b":").and_then(|()| next(&mut behind)) {
            *cursor = behind;
            return Some((thread, fields));
        }
        first_error.get_or_insert(behind);
        from += found + 1;
    }
    *cursor = first_error.unwrap_or(*cursor);
    None
}

/// `peer: %s` to 2.9.52, `peer: %s (source: %s)` since (`events.c`, `request_in_callback`).
fn peer<'a>(cursor: &mut Cursor<'a>) -> Option<Peer<'a>> {
    cursor.tag(b"peer: ")?;
    let nid = cursor.nid()?;
    if !cursor.eat(b" (source: ") {
        return Some(Peer { nid, source: None });
    }
    let source = cursor.nid()?;
    cursor.tag(b")")?;
    Some(Peer { nid, source: Some(source) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &[u8] = b"b2df25ce-5f2c-45c8-8c82-6364f185437c";

    fn handling_2_17<'a>() -> Handling<'a> {
        Handling {
            req: Some(0xd5e0_9f76),
            thread: b"ll_ost_io00_002",
            client_uuid: UUID,
            export_refs: 6,
            client_pid: 381,
            xid: Xid(1_882_455_793_623_808),
            nid: b"10.10.0.11@tcp",
            opcode: Opcode::OST_WRITE,
            job: Some(b"python3.0"),
        }
    }

    #[test]
    fn handling_2_17_has_pointer_and_job() {
        let text = b"Handling RPC req@00000000d5e09f76 pname:cluuid+ref:pid:xid:nid:opc:job \
            ll_ost_io00_002:b2df25ce-5f2c-45c8-8c82-6364f185437c+6:381:x1882455793623808:12345-10.10.0.11@tcp:4:python3.0";
        assert_eq!(Handling::parse(text), Ok(handling_2_17()));
    }

    #[test]
    fn handling_2_13_without_job_has_an_empty_one() {
        let text = b"Handling RPC req@ffff88003c5e6450 pname:cluuid+ref:pid:xid:nid:opc:job \
            ll_ost_create00:lustre-MDT0000-mdtlov_UUID+5:2172:x1660000000000064:12345-0@lo:13:\n";
        let want = Handling {
            req: Some(0xffff_8800_3c5e_6450),
            thread: b"ll_ost_create00",
            client_uuid: b"lustre-MDT0000-mdtlov_UUID",
            export_refs: 5,
            client_pid: 2172,
            xid: Xid(1_660_000_000_000_064),
            nid: b"0@lo",
            opcode: Opcode::OST_STATFS,
            job: Some(b""),
        };
        assert_eq!(Handling::parse(text), Ok(want));
    }

    #[test]
    fn handling_2_12_has_no_job_and_no_pointer() {
        let text = b"Handling RPC pname:cluuid+ref:pid:xid:nid:opc \
            ldlm_cn00_000:9c0a5b5e-93b2-1b0b-6ee8-1a7a0c2f6a55+12:3101:x1600000000000016:12345-10.1.2.3@o2ib12:103 ";
        let want = Handling {
            req: None,
            thread: b"ldlm_cn00_000",
            client_uuid: b"9c0a5b5e-93b2-1b0b-6ee8-1a7a0c2f6a55",
            export_refs: 12,
            client_pid: 3101,
            xid: Xid(1_600_000_000_000_016),
            nid: b"10.1.2.3@o2ib12",
            opcode: Opcode::LDLM_CANCEL,
            job: None,
        };
        assert_eq!(Handling::parse(text), Ok(want));
    }

    #[test]
    fn handling_before_the_first_connect_has_no_export() {
        let text = b"Handling RPC req@00000000a209ba6d pname:cluuid+ref:pid:xid:nid:opc:job \
            ll_ost00_017:0+-99:306:x1882456381848448:12345-10.10.0.13@tcp:8:python3.0";
        let handling = Handling::parse(text).unwrap();
        assert_eq!((handling.client_uuid, handling.export_refs), (&b"0"[..], -99));
        assert_eq!(handling.opcode, Opcode::OST_CONNECT);
    }

    #[test]
    fn handling_takes_colons_in_thread_nid_and_job() {
        let text = b"Handling RPC req@(____ptrval____) pname:cluuid+ref:pid:xid:nid:opc:job \
            kworker/0:1:0+-99:0:x1:U77-2001:db8::1@tcp1:400:a:b 'c' \xff";
        let want = Handling {
            req: Some(0),
            thread: b"kworker/0:1",
            client_uuid: b"0",
            export_refs: -99,
            client_pid: 0,
            xid: Xid(1),
            nid: b"2001:db8::1@tcp1",
            opcode: Opcode::OBD_PING,
            job: Some(b"a:b 'c' \xff"),
        };
        assert_eq!(Handling::parse(text), Ok(want));
    }

    #[test]
    fn handling_near_misses() {
        for text in [
            "Handling RPC ",
            // columns of 2.12, value of 2.13
            "Handling RPC pname:cluuid+ref:pid:xid:nid:opc t:0+1:2:x3:12345-0@lo:4:job",
            // columns of 2.13, value of 2.12
            "Handling RPC req@1 pname:cluuid+ref:pid:xid:nid:opc:job t:0+1:2:x3:12345-0@lo:4",
            "Handling RPC pname:cluuid+ref:pid:xid:nid:opc t:0+1:2:3:12345-0@lo:4",
            "Handling RPC pname:cluuid+ref:pid:xid:nid:opc t:0:2:x3:12345-0@lo:4",
            "Handling RPC pname:cluuid+ref:pid:xid:nid:opc t:0+1:2:x3:12345-0:4",
            "Handling RPC pname:cluuid+ref:pid:xid:nid:opc t:0+1:2:x18446744073709551616:12345-0@lo:4",
        ] {
            let error = Handling::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.kind, "Handling RPC");
            assert!(error.offset <= text.len(), "{text}");
        }
        let error =
            Handling::parse(b"Handling RPC pname:cluuid+ref:pid:xid:nid:opc t:0+1:2:x3:12345-0@lo:4x").unwrap_err();
        assert_eq!(error.offset, 69);
    }

    #[test]
    fn handled_2_17() {
        let text = b"Handled RPC req@00000000d5e09f76 pname:cluuid+ref:pid:xid:nid:opc:job \
            ll_ost_io00_002:b2df25ce-5f2c-45c8-8c82-6364f185437c+6:381:x1882455793623808:12345-10.10.0.11@tcp:4:python3.0 \
            Request processed in 54034us (57038us total) trans 4294967433 rc 0/-5";
        let want = Handled {
            rpc: handling_2_17(),
            outcome: Outcome { service_us: 54_034, total_us: 57_038, transno: 4_294_967_433, rc: 0, reply_rc: -5 },
        };
        assert_eq!(Handled::parse(text), Ok(want));
    }

    #[test]
    fn handled_2_12_has_no_job() {
        let text = b"Handled RPC pname:cluuid+ref:pid:xid:nid:opc \
            ll_ost_io01_003:9c0a5b5e-93b2-1b0b-6ee8-1a7a0c2f6a55+9:3101:x1600000000000016:12345-10.1.2.3@o2ib:3 \
            Request processed in 812us (901us total) trans 0 rc 1048576/0";
        let handled = Handled::parse(text).unwrap();
        assert_eq!((handled.rpc.req, handled.rpc.job), (None, None));
        assert_eq!(handled.rpc.opcode, Opcode::OST_READ);
        let Outcome { service_us, total_us, transno, rc, reply_rc } = handled.outcome;
        assert_eq!((service_us, total_us, transno, rc, reply_rc), (812, 901, 0, 1_048_576, 0));
    }

    #[test]
    fn handled_2_10_is_procesed() {
        let text = b"Handled RPC pname:cluuid+ref:pid:xid:nid:opc \
            mdt00_001:0+-99:1:x1500000000000004:12345-27@gni:38 Request procesed in 12us (15us total) trans 0 rc -114/-999 \n";
        let want = Handled {
            rpc: Handling {
                req: None,
                thread: b"mdt00_001",
                client_uuid: b"0",
                export_refs: -99,
                client_pid: 1,
                xid: Xid(1_500_000_000_000_004),
                nid: b"27@gni",
                opcode: Opcode::MDS_CONNECT,
                job: None,
            },
            outcome: Outcome { service_us: 12, total_us: 15, transno: 0, rc: -114, reply_rc: -999 },
        };
        assert_eq!(Handled::parse(text), Ok(want));
    }

    #[test]
    fn handled_job_may_hold_the_words_of_the_outcome() {
        let text = b"Handled RPC req@1 pname:cluuid+ref:pid:xid:nid:opc:job t:u+1:2:x3:12345-fe80::1@tcp:4:\
            R: Request processed in 1us (1us tota Request processed in -7us (-3us total) trans 9 rc 0/0";
        let handled = Handled::parse(text).unwrap();
        assert_eq!(handled.rpc.job, Some(&b"R: Request processed in 1us (1us tota"[..]));
        assert_eq!(handled.rpc.nid, b"fe80::1@tcp");
        assert_eq!((handled.outcome.service_us, handled.outcome.total_us), (-7, -3));
    }

    #[test]
    fn handled_near_misses() {
        let head = "Handled RPC pname:cluuid+ref:pid:xid:nid:opc t:0+1:2:x3:12345-0@lo:4";
        for tail in [
            "",
            " Request processed in ",
            " Request processed in 1us (2us total) trans 0 rc 0",
            " Request processed in 1us (2us total) trans 0 rc 0/",
            " Request processed in 1us (2us total) trans -1 rc 0/0",
            " Request processed in 1us (2us total) trans 0 rc 0/0more",
            " Request processsed in 1us (2us total) trans 0 rc 0/0",
            "Request processed in 1us (2us total) trans 0 rc 0/0",
            ":job Request processed in 1us (2us total) trans 0 rc 0/0",
        ] {
            let text = format!("{head}{tail}");
            assert_eq!(Handled::parse(text.as_bytes()).unwrap_err().kind, "Handled RPC", "{text}");
        }
    }

    /// Vendors' versions, and whoever posts a log.
    #[test]
    fn words_behind_the_outcome_are_no_part_of_it() {
        let head = "Handled RPC pname:cluuid+ref:pid:xid:nid:opc:job t:0+1:2:x3:12345-0@lo:4:a";
        for remark in [" qos 6", " more Request words", ", slow", " # Retry", "\there"] {
            let text = format!("{head} Request processed in 1us (2us total) trans 0 rc 7/-122{remark}");
            let handled = Handled::parse(text.as_bytes()).unwrap();
            assert_eq!((handled.outcome.rc, handled.outcome.reply_rc), (7, -122), "{text}");
            assert_eq!(handled.rpc.job, Some(&b"a"[..]), "{text}");
        }
    }

    #[test]
    fn peer_2_9_and_2_10() {
        assert_eq!(Peer::parse(b"peer: 12345-10.0.0.1@tcp"), Ok(Peer { nid: b"10.0.0.1@tcp", source: None }));
        let want = Peer { nid: b"2001:db8::1@tcp", source: Some(b"10.0.0.1@o2ib2") };
        assert_eq!(Peer::parse(b"peer: 12345-2001:db8::1@tcp (source: 12345-10.0.0.1@o2ib2)"), Ok(want));
        for text in ["peer: ", "peer: x", "peer: 1@tcp (source: 1@tcp", "peer: 1@tcp source: 1@tcp)"] {
            assert!(Peer::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
