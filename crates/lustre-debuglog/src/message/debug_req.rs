//! `DEBUG_REQ`: the request description with which many messages end.
//!
//! `MESSAGE req@PTR xXID/tTRANSNO(..) oOPC->PEER@NID:..` (`pack_generic.c`, `_debug_req`).

//!
//! Wordings of the description: 1.8 has no `(..)` behind the transaction number; `job:'..'` since
//! 2.12.57, `uid:` and `gid:` since 2.15.56, `projid:` since 2.16.55. To 2.12.57 many messages end in a
//! line break of their own, so that the description stands on a second line.

use super::cursor::{Cursor, whole};
use super::malformed::Malformed;
use super::number::split_peer;
use super::req_event::{ReqEvent, event};
use crate::vocab::byte_search;
use crate::{Opcode, Xid};

/// A request description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DebugReq<'a> {
    /// Request pointer (hashed by the kernel).
    pub req: u64,
    /// Transfer id of the request.
    pub xid: Xid,
    /// Transaction number; 0 if the request has none.
    pub transno: i64,
    /// Opcode; `None` while it cannot be read yet (-1).
    pub opcode: Option<Opcode>,
    /// Client uuid of a received request, device name of a sent one; `<?>` if there is none.
    pub peer: &'a [u8],
    /// NID of the peer in plain form, or `<unknown>`.
    pub nid: &'a [u8],
    /// Length of the request message, bytes.
    pub request_len: u32,
    /// Length of the reply message, bytes; 0 before there is one.
    pub reply_len: i32,
    /// Number of early replies sent.
    pub early_count: i32,
    /// Deadline of the request, seconds since the epoch.
    pub deadline_s: i64,
    /// Phase of the request: `New`, `Rpc`, `Interpret`, `Complete`, ...
    pub phase: &'a [u8],
    /// Letters of the state flags (`S` resend, `P` replay, `H` high priority, ...).
    pub letters: &'a [u8],
    /// Flags of the request message: 0x2 resent, 0x4 replay, 0x200 uid/gid packed, 0x400 projid packed.
    pub request_flags: u32,
    /// Flags of the reply message; `ffffffff` without a reply.
    pub reply_flags: u32,
    /// Local status of the request (`rq_status`).
    pub rc: i32,
    /// Status in the reply; -1 without a reply.
    pub reply_rc: i32,
    /// Job id; `None` before Lustre 2.13.
    pub job: Option<&'a [u8]>,
    /// User id; `None` before Lustre 2.16, or if the client packed none (4294967295).
    pub uid: Option<u32>,
    /// Group id; `None` in the same cases as `uid`.
    pub gid: Option<u32>,
    /// Project id; `None` before Lustre 2.17, or if the client packed none.
    pub projid: Option<u32>,
}

impl DebugReq<'_> {
    /// Whether the client sent this request again (`MSG_RESENT`).
    #[must_use]
    pub fn is_resent(&self) -> bool {
        self.request_flags & 0x2 != 0
    }

    /// Whether the client replays this request after recovery (`MSG_REPLAY`).
    #[must_use]
    pub fn is_replay(&self) -> bool {
        self.request_flags & 0x4 != 0
    }
}

/// ` req@%p x%llu/t%lld(%lld) o%d->%s@%s:%d/%d lens %d/%d e %d to %lld dl %lld ref %d fl FLAGS/%x/%x
/// rc %d/%d job:'%s' uid:%u gid:%u projid:%u`, without the leading space.
/// With `WORDS`, words of others may stand before the job or at the end: vendors' versions put some there, and whoever posts a log. Tried where
/// it does not fit without.
#[inline(always)]
pub(super) fn description<'a, const WORDS: bool>(cursor: &mut Cursor<'a>) -> Option<DebugReq<'a>> {
    cursor.tag(b"req@")?;
    let req = cursor.pointer()?;
    cursor.tag(b" x")?;
    let xid = cursor.xid()?;
    cursor.tag(b"/t")?;
    let transno = cursor.int_long()?;
    // The transaction number in the request; not in 1.8.
    if cursor.eat(b"(") {
        cursor.int()?;
        cursor.tag(b")")?;
    }
    cursor.tag(b" o")?;
    let opcode = cursor.opcode()?;
    cursor.tag(b"->")?;
    let (peer, nid) = peer(cursor)?;
    cursor.tag(b" lens ")?;
    let request_len = cursor.dec_u32()?;
    cursor.tag(b"/")?;
    let reply_len = cursor.int_i32()?;
    cursor.tag(b" e ")?;
    let early_count = cursor.int_i32()?;
    cursor.tag(b" to ")?;
    let _timed_out = cursor.int()?;
    cursor.tag(b" dl ")?;
    let deadline_s = cursor.int_long()?;
    cursor.tag(b" ref ")?;
    let _refs = cursor.int()?;
    cursor.tag(b" fl ")?;
    let phase = cursor.until::<b':', b'\n'>()?;
    cursor.tag(b":")?;
    let letters = cursor.until::<b'/', b' '>()?;
    cursor.tag(b"/")?;
    let request_flags = cursor.hex_u32()?;
    cursor.tag(b"/")?;
    let reply_flags = cursor.hex_u32()?;
    cursor.tag(b" rc ")?;
    let rc = cursor.int_i32()?;
    cursor.tag(b"/")?;
    let reply_rc = cursor.int_i32()?;
    let Owner { job, uid, gid, projid } = if WORDS { owner_among_words(cursor)? } else { owner(cursor)? };
    Some(DebugReq {
        req,
        xid,
        transno,
        opcode: (opcode != Opcode(u32::MAX)).then_some(opcode),
        peer,
        nid,
        request_len,
        reply_len,
        early_count,
        deadline_s,
        phase,
        letters,
        request_flags,
        reply_flags,
        rc,
        reply_rc,
        job,
        uid,
        gid,
        projid,
    })
}

/// `%s@%s:%d/%d`: name, NID and two portals, which have a meaning in outgoing requests only.
#[inline(always)]
fn peer<'a>(cursor: &mut Cursor<'a>) -> Option<(&'a [u8], &'a [u8])> {
    let start = *cursor;
    let all = cursor.until::<b' ', b'\n'>()?;
    // The NID may hold colons (IPv6), the portals do not.
    let names = byte_search::rfind(all, b':').and_then(|at| split_peer(all.get(..at)?));
    if names.is_none() {
        *cursor = start;
    }
    names
}

/// The job and the ids for which a request was sent.
struct Owner<'a> {
    job: Option<&'a [u8]>,
    uid: Option<u32>,
    gid: Option<u32>,
    projid: Option<u32>,
}

/// The end of the description: nothing, ` job:'%s'`, and what later versions add behind it. Jobs may hold quotes; the last quote is the closing one, as only words and
/// numbers follow it.
#[inline(always)]
fn owner<'a>(cursor: &mut Cursor<'a>) -> Option<Owner<'a>> {
    let mut owner = Owner { job: None, uid: None, gid: None, projid: None };
    let mut quoted = *cursor;
    if !quoted.eat(b" job:'") {
        return Some(owner);
    }
    owner.job = Some(quoted.take(byte_search::rfind(quoted.rest(), b'\'')?)?);
    *cursor = quoted;
    cursor.tag(b"'")?;
    let mut ids = *cursor;
    if !ids.eat(b" uid:") {
        return Some(owner);
    }
    let Some(uid) = id(&mut ids) else { return Some(owner) };
    *cursor = ids;
    cursor.tag(b" gid:")?;
    (owner.uid, owner.gid) = (uid, id(cursor)?);
    let mut project = *cursor;
    if project.eat(b" projid:")
        && let Some(projid) = id(&mut project)
    {
        *cursor = project;
        owner.projid = projid;
    }
    Some(owner)
}

/// The same where words stand before the job, or behind what is known.
fn owner_among_words<'a>(cursor: &mut Cursor<'a>) -> Option<Owner<'a>> {
    let line = |cursor: &Cursor<'a>| {
        let rest = cursor.rest();
        rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or_default()
    };
    let mut found = owner(cursor)?;
    if found.job.is_none()
        && let Some(at) = memchr::memmem::find(line(cursor), b" job:'")
    {
        cursor.take(at)?;
        found = owner(cursor)?;
    }
    // An id that is no number is damage.
    let rest = line(cursor);
    let is_id = [&b" uid:"[..], b" projid:"].iter().any(|id| rest.starts_with(id));
    if rest.starts_with(b" ") && !is_id {
        cursor.take(rest.len())?;
    }
    Some(found)
}

/// A user, group or project id; the largest number says that the client packed none.
#[inline(always)]
fn id(cursor: &mut Cursor<'_>) -> Option<Option<u32>> {
    let id = cursor.dec_u32()?;
    Some((id != u32::MAX).then_some(id))
}

/// A message that ends in a request description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReqMessage<'a> {
    /// What happened to the request.
    pub event: ReqEvent<'a>,
    /// The request.
    pub req: DebugReq<'a>,
}

impl<'a> ReqMessage<'a> {
    /// Parses `MESSAGE req@...`, with or without the `@@@ ` that marks all such messages.
    pub(crate) fn parse(text: &'a [u8]) -> Result<Self, Malformed> {
        whole("DEBUG_REQ", text, req_message::<false>).or_else(|strict| Self::among_words(text).ok_or(strict))
    }

    #[cold]
    fn among_words(text: &'a [u8]) -> Option<Self> {
        whole("DEBUG_REQ", text, req_message::<true>).ok()
    }
}

fn req_message<'a, const WORDS: bool>(cursor: &mut Cursor<'a>) -> Option<ReqMessage<'a>> {
    cursor.eat(b"@@@ ");
    let (before, suffix) = split_description(cursor.rest())?;
    *cursor = Cursor::new(before);
    let event = cursor.read(event)?;
    if !cursor.rest().is_empty() {
        return None;
    }
    *cursor = Cursor::new(suffix);
    let req = description::<WORDS>(cursor)?;
    Some(ReqMessage { event, req })
}

/// Splits a text before its description, at the first `req@` that is a word's beginning; the text
/// before it loses its trailing white space.
pub(super) fn split_description(i: &[u8]) -> Option<(&[u8], &[u8])> {
    memchr::memchr_iter(b'@', i).find_map(|at| {
        let (before, suffix) = i.split_at_checked(at.checked_sub(3)?)?;
        let starts_a_word = before.last().is_none_or(u8::is_ascii_whitespace);
        (starts_a_word && suffix.starts_with(b"req@")).then(|| (before.trim_ascii_end(), suffix))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a description alone, `req@...` to the end of the text.
    fn parse(text: &[u8]) -> Result<DebugReq<'_>, Malformed> {
        whole("DEBUG_REQ", text, description::<true>)
    }

    const HEAD: &str = "req@00000000d5e09f76 x1882455793623808/t4294967433(17) \
        o4->b2df25ce-5f2c-45c8-8c82-6364f185437c@10.10.0.11@tcp:298/0 \
        lens 488/448 e 1 to 0 dl 1795250623 ref 2 fl Complete:RS/602/4 rc -5/-110";

    fn want<'a>() -> DebugReq<'a> {
        DebugReq {
            req: 0xd5e0_9f76,
            xid: Xid(1_882_455_793_623_808),
            transno: 4_294_967_433,
            opcode: Some(Opcode::OST_WRITE),
            peer: b"b2df25ce-5f2c-45c8-8c82-6364f185437c",
            nid: b"10.10.0.11@tcp",
            request_len: 488,
            reply_len: 448,
            early_count: 1,
            deadline_s: 1_795_250_623,
            phase: b"Complete",
            letters: b"RS",
            request_flags: 0x602,
            reply_flags: 4,
            rc: -5,
            reply_rc: -110,
            job: None,
            uid: None,
            gid: None,
            projid: None,
        }
    }

    fn parsed(tail: &str) -> DebugReq<'static> {
        let text: &'static str = format!("{HEAD}{tail}").leak();
        parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn description_2_5_to_2_12_has_no_job() {
        assert_eq!(parsed(""), want());
        assert_eq!(parsed(" \n"), want());
    }

    #[test]
    fn description_1_8_has_one_transaction_number() {
        let text = HEAD.replace("(17)", "");
        assert_eq!(parse(text.as_bytes()), Ok(want()));
    }

    #[test]
    fn description_2_13_to_2_15_has_a_job() {
        let job = |job| DebugReq { job: Some(job), ..want() };
        assert_eq!(parsed(" job:'python3.0'"), job(b"python3.0"));
        assert_eq!(parsed(" job:''"), job(b""));
        // Quotes inside, and what looks like the words of later versions.
        assert_eq!(parsed(" job:'it's' uid:1 gid:2'"), job(b"it's' uid:1 gid:2"));
    }

    #[test]
    fn description_2_16_has_user_and_group() {
        let want = DebugReq { job: Some(b"a 'b' job:'c"), uid: Some(1000), gid: Some(100), ..want() };
        assert_eq!(parsed(" job:'a 'b' job:'c' uid:1000 gid:100"), want);
    }

    #[test]
    fn description_2_17_has_a_project() {
        let want = DebugReq { job: Some(b"dd.0"), uid: Some(0), gid: Some(7), projid: Some(9), ..want() };
        assert_eq!(parsed(" job:'dd.0' uid:0 gid:7 projid:9"), want);
        let unpacked = parsed(" job:'' uid:4294967295 gid:4294967295 projid:4294967295");
        assert_eq!((unpacked.uid, unpacked.gid, unpacked.projid), (None, None, None));
    }

    #[test]
    fn description_without_what_is_not_known_yet() {
        let text =
            b"req@(null) x0/t0(0) o-1-><?>@<unknown>:0/0 lens 0/0 e 0 to 0 dl 0 ref 1 fl ?Phase?:N/0/ffffffff rc 0/-1";
        let req = parse(text).unwrap();
        assert_eq!((req.req, req.opcode, req.peer, req.nid), (0, None, &b"<?>"[..], &b"<unknown>"[..]));
        assert_eq!((req.phase, req.letters, req.reply_flags), (&b"?Phase?"[..], &b"N"[..], u32::MAX));
    }

    #[test]
    fn description_of_a_sent_request_names_the_device() {
        for (peer_and_nid, peer, nid) in [
            ("MGC10.0.0.1@tcp@10.0.0.1@tcp", "MGC10.0.0.1@tcp", "10.0.0.1@tcp"),
            ("lustre-OST0002-osc-MDT0000@0@lo", "lustre-OST0002-osc-MDT0000", "0@lo"),
            ("lustre-OST0000@2001:db8::1@o2ib4", "lustre-OST0000", "2001:db8::1@o2ib4"),
            ("lustre-OST0000@<?>", "lustre-OST0000", "<?>"),
            ("lustre-OST0000@7f:3@<12:4>", "lustre-OST0000", "7f:3@<12:4>"),
        ] {
            let text = HEAD.replace(
                "b2df25ce-5f2c-45c8-8c82-6364f185437c@10.10.0.11@tcp:298/0",
                &format!("{peer_and_nid}:15/-16"),
            );
            let req = parse(text.as_bytes()).unwrap();
            assert_eq!((req.peer, req.nid), (peer.as_bytes(), nid.as_bytes()));
        }
    }

    #[test]
    fn flags_of_resent_and_replayed_requests() {
        assert!(want().is_resent() && !want().is_replay());
        let replay = DebugReq { request_flags: 0x4, ..want() };
        assert!(!replay.is_resent() && replay.is_replay());
    }

    #[test]
    fn description_near_misses() {
        for (from, to) in [
            ("x1882", "1882"),
            ("t4294967433(17)", "t4294967433(17"),
            ("o4->", "o->"),
            ("@10.10.0.11@tcp:298/0", "@tcp:298/0"),
            ("lens 488/448", "lens 488"),
            ("dl 1795250623", "dl x"),
            ("Complete:RS/602/4", "Complete/602/4"),
            ("rc -5/-110", "rc -5"),
            ("rc -5/-110", "rc -5/-110 job:'a"),
            ("rc -5/-110", "rc -5/-110 job:'a' uid:1"),
            ("rc -5/-110", "rc -5/-110 job:'a' uid:1 gid:1 projid:"),
        ] {
            let text = HEAD.replace(from, to);
            let error = parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.kind, "DEBUG_REQ", "{text}");
            assert!(error.offset > 0 && error.offset <= text.len(), "{text}");
        }
    }

    #[test]
    fn message_may_hold_at_signs_and_a_line_break_before_its_description() {
        let text = format!("@@@ look at a@b req@home: xreq@1\n  {HEAD}").replace("req@home", "Req@home");
        let message = ReqMessage::parse(text.as_bytes()).unwrap();
        assert_eq!(message, ReqMessage { event: ReqEvent::Other(b"look at a@b Req@home: xreq@1"), req: want() });
        let bare = format!("sending reply  {HEAD}");
        assert_eq!(ReqMessage::parse(bare.as_bytes()).unwrap().event, ReqEvent::SendingReply);
    }

    #[test]
    fn message_without_description_fails() {
        for text in ["@@@ ", "@@@ sending reply", "@@@ sending reply req@", "@@@ sending replyreq@1 x1"] {
            assert_eq!(ReqMessage::parse(text.as_bytes()).unwrap_err().kind, "DEBUG_REQ", "{text}");
        }
    }
}
