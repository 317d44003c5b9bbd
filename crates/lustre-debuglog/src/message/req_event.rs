//! What happened to a request: the text in front of its `DEBUG_REQ` description (`ptlrpc/service.c`,
//! `ptlrpc/client.c`, `ldlm/ldlm_lib.c`, `ldlm/ldlm_lockd.c`).
//!
//! Wordings: durations are separated by `:` to 2.12.57 (`deadline 30:5s ago`), by `/` since.

use nom::Parser;
use nom::branch::alt;
use nom::sequence::separated_pair;

use super::number::{Res, all_of, field, hex, int, nid, tag};
use crate::vocab::Intent;

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReqEvent<'a> {
    /// `sending reply` (mask net): carries the lengths of request and reply of every RPC.
    SendingReply,
    /// `Dropping timed-out request from P: deadline A/Bs ago`: allowed and overdue seconds.
    DroppedTimedOut {
        /// NID of the sender in plain form.
        nid: &'a [u8],
        /// Seconds that the request was allowed to take.
        allowed_s: i64,
        /// Seconds by which it missed its deadline.
        late_s: i64,
    },
    /// `Request took longer than estimated (A/Bs)`.
    TookLonger {
        /// Seconds that the server had estimated.
        estimated_s: i64,
        /// Seconds by which the request exceeded the estimate.
        over_s: i64,
    },
    /// `Already past deadline ...` or `Could not add any time ...`: no early reply sent.
    NoEarlyReply,
    /// `... sending early reply (...)` (mask other).
    EarlyReply,
    /// `sent N early replies before finishing in Ns` (mask other).
    SentEarlyReplies,
    /// `Slow req_in handling Ns`.
    SlowReqIn {
        /// Seconds that the handling took.
        seconds: i64,
    },
    /// `Found duplicate req in processing` (mask ha): a resend while the original runs.
    DuplicateInProcessing,
    /// `Request being processed` (mask ha).
    BeingProcessed,
    /// `DROPPING req from old connection A < B`.
    DroppedOldConnection,
    /// `Prio raised by lock 0x...`.
    PriorityRaised,
    /// `found existing lock cookie 0x...`: resent or replayed enqueue.
    ExistingLock {
        /// Handle of the lock.
        cookie: u64,
    },
    /// `Too many granted locks, reject current enqueue request ...`.
    TooManyLocks,
    /// `Request sent has timed out ...` / `Request sent has failed due to network error ...`: an RPC
    /// that this node sent got no reply.
    SentTimedOut,
    /// `op=O disposition=D, status=S` (`mdc_finish_enqueue`): a client has the answer to an intent.
    Intent {
        /// What the intent asked for.
        op: Intent,
        /// What the MDT returned for the intent.
        status: i64,
    },
    /// `timeout|Reconnect|Eviction|network error|truncated|... on bulk ...` (`target_bulk_io`).
    BulkError {
        /// The words before `bulk`, such as `timeout on`.
        what: &'a [u8],
    },
    /// Any other text before the description, without the description.
    Other(&'a [u8]),
}

/// First words of `target_bulk_io`'s errors (`ldlm_lib.c`), in front of `bulk READ` and `bulk WRITE`.
const BULK_ERRORS: [&[u8]; 5] = [b"timeout on", b"Reconnect on", b"Eviction on", b"network error on", b"truncated"];

/// Reads the text before a description, which has no white space at its end. All of it is used, or the
/// rest says where a known beginning goes on in an unknown way.
pub(super) fn event(i: &[u8]) -> Res<'_, ReqEvent<'_>> {
    if i == b"sending reply" {
        return all_of(i, ReqEvent::SendingReply);
    }
    let starts = |words: &[u8]| i.starts_with(words);
    match i.first() {
        Some(b's') if starts(b"sending early reply (") => all_of(i, ReqEvent::EarlyReply),
        Some(b's') if starts(b"sent ") => sent_early_replies(i),
        Some(b'D') if starts(b"Dropping timed-out request from ") => dropped_timed_out(i),
        Some(b'D') if starts(b"DROPPING req from old connection") => all_of(i, ReqEvent::DroppedOldConnection),
        Some(b'R') if starts(b"Request took longer than estimated ") => took_longer(i),
        Some(b'R') if starts(b"Request being processed") => all_of(i, ReqEvent::BeingProcessed),
        Some(b'R') if starts(b"Request sent has ") => all_of(i, ReqEvent::SentTimedOut),
        Some(b'S') if starts(b"Slow req_in handling ") => slow_req_in(i),
        Some(b'A') if starts(b"Already past deadline") || starts(b"AT off - not sending early reply") => {
            all_of(i, ReqEvent::NoEarlyReply)
        }
        Some(b'C') if starts(b"Could not add any time") || starts(b"Couldn't add any time") => {
            all_of(i, ReqEvent::NoEarlyReply)
        }
        Some(b'F') if starts(b"Found duplicate req in processing") => all_of(i, ReqEvent::DuplicateInProcessing),
        Some(b'P') if starts(b"Prio raised by lock ") => all_of(i, ReqEvent::PriorityRaised),
        Some(b'T') if starts(b"Too many granted locks") => all_of(i, ReqEvent::TooManyLocks),
        Some(b'o') if starts(b"op=") || starts(b"op: ") => all_of(i, intent(i).unwrap_or(ReqEvent::Other(i))),
        Some(b'f') if starts(b"found existing lock cookie ") => existing_lock(i),
        _ => all_of(i, bulk_error(i).unwrap_or(ReqEvent::Other(i))),
    }
}

/// Two numbers of seconds, `30:5` or `30/5`.
fn two_seconds(i: &[u8]) -> Res<'_, (i64, i64)> {
    separated_pair(int, alt((tag(b"/"), tag(b":"))), int).parse(i)
}

/// `sent %d early replies before finishing in %llds`; other texts begin with `sent`, too.
fn sent_early_replies(i: &[u8]) -> Res<'_, ReqEvent<'_>> {
    let known = (tag(b"sent "), int, tag(b" early replies before finishing in "), int, tag(b"s")).parse(i);
    known.map_or_else(|_| all_of(i, ReqEvent::Other(i)), |(rest, _)| Ok((rest, ReqEvent::SentEarlyReplies)))
}

/// `Dropping timed-out request from %s: deadline %lld/%llds ago`.
fn dropped_timed_out(i: &[u8]) -> Res<'_, ReqEvent<'_>> {
    let (i, nid) = field(i, b"Dropping timed-out request from ", nid, b"")?;
    let (i, (allowed_s, late_s)) = field(i, b": deadline ", two_seconds, b"s ago")?;
    Ok((i, ReqEvent::DroppedTimedOut { nid, allowed_s, late_s }))
}

/// `Request took longer than estimated (%lld/%llds); client may timeout`, with a full stop when old.
fn took_longer(i: &[u8]) -> Res<'_, ReqEvent<'_>> {
    let (i, (estimated_s, over_s)) =
        field(i, b"Request took longer than estimated (", two_seconds, b"s); client may timeout")?;
    Ok((i.strip_prefix(b".").unwrap_or(i), ReqEvent::TookLonger { estimated_s, over_s }))
}

/// `Slow req_in handling %llds`.
fn slow_req_in(i: &[u8]) -> Res<'_, ReqEvent<'_>> {
    let (i, seconds) = field(i, b"Slow req_in handling ", int, b"s")?;
    Ok((i, ReqEvent::SlowReqIn { seconds }))
}

/// `found existing lock cookie %#llx`.
fn existing_lock(i: &[u8]) -> Res<'_, ReqEvent<'_>> {
    let (i, cookie) = field(i, b"found existing lock cookie ", hex, b"")?;
    Ok((i, ReqEvent::ExistingLock { cookie }))
}

/// `op=%#x disposition=%#x, status=%d` since 2.17.56, `op=%x disposition=%x, ..` since 2.12.58, before `op: %x disposition: %x, ..`.
fn intent(i: &[u8]) -> Option<ReqEvent<'_>> {
    let text = std::str::from_utf8(i).ok()?;
    let (op, rest) = text.strip_prefix("op=").or_else(|| text.strip_prefix("op: "))?.split_once(" disposition")?;
    let (_, status) = rest.split_once(", status")?;
    let op = u32::from_str_radix(op.strip_prefix("0x").unwrap_or(op), 16).ok()?;
    let status = status.trim_start_matches(['=', ':', ' ']).parse().ok()?;
    Some(ReqEvent::Intent { op: Intent(op), status })
}

/// `timeout on bulk READ after ..`, `truncated bulk WRITE ..`, `bulk READ failed: ..` and others.
fn bulk_error(i: &[u8]) -> Option<ReqEvent<'_>> {
    let is_bulk = |rest: &[u8]| rest.starts_with(b"bulk READ") || rest.starts_with(b"bulk WRITE");
    if is_bulk(i) {
        return Some(ReqEvent::BulkError { what: i.get(..0)? });
    }
    BULK_ERRORS.iter().find_map(|what| {
        let rest = i.strip_prefix(*what)?.strip_prefix(b" ")?;
        is_bulk(rest).then_some(ReqEvent::BulkError { what: i.get(..what.len())? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> ReqEvent<'_> {
        let (rest, event) = event(text.as_bytes()).unwrap();
        assert!(rest.is_empty(), "{text}");
        event
    }

    #[test]
    fn texts_of_all_versions() {
        use ReqEvent::*;
        for (text, want) in [
            ("sending reply", SendingReply),
            ("sending early reply (deadline +5s, margin +0s) for 10+5", EarlyReply),
            ("AT off - not sending early reply (deadline +5s, margin +0s) for 10+5", NoEarlyReply),
            (
                "Already past deadline (-3s), not sending early reply. Consider increasing at_early_margin (5)?",
                NoEarlyReply,
            ),
            ("Couldn't add any time (5/-3), not sending early reply", NoEarlyReply), // to 2.12
            ("Could not add any time (5/-3), not sending early reply", NoEarlyReply),
            ("sent 2 early replies before finishing in 31s", SentEarlyReplies),
            ("Slow req_in handling 7s", SlowReqIn { seconds: 7 }),
            ("Found duplicate req in processing", DuplicateInProcessing),
            ("Request being processed", BeingProcessed),
            ("DROPPING req from old connection 3 < 4", DroppedOldConnection),
            ("Prio raised by lock 0x17", PriorityRaised),
            ("found existing lock cookie 0xb335d27b2acb529d", ExistingLock { cookie: 0xb335_d27b_2acb_529d }),
            ("Too many granted locks, reject current enqueue request and let the client retry later", TooManyLocks),
            ("Request sent has timed out for slow reply: [sent 1795251631/real 1795251631]", SentTimedOut),
            ("Request sent has failed due to network error: [sent 1/real 0]", SentTimedOut),
            ("op: 1 disposition: 3, status: -2", Intent { op: crate::vocab::Intent(1), status: -2 }), // to 2.12.57
            ("op=10 disposition=b, status=0", Intent { op: crate::vocab::Intent(0x10), status: 0 }),  // to 2.17.55
            ("op=0x3 disposition=0x37, status=0", Intent { op: crate::vocab::Intent(3), status: 0 }),
        ] {
            assert_eq!(parsed(text), want);
        }
    }

    #[test]
    fn dropped_timed_out_2_12_and_2_13() {
        for (text, late_s) in [
            ("Dropping timed-out request from 12345-10.1.2.3@o2ib: deadline 30:5s ago", 5),
            ("Dropping timed-out request from 12345-10.1.2.3@o2ib: deadline 30/-1s ago", -1),
        ] {
            assert_eq!(parsed(text), ReqEvent::DroppedTimedOut { nid: b"10.1.2.3@o2ib", allowed_s: 30, late_s });
        }
    }

    #[test]
    fn took_longer_2_12_and_2_13() {
        for text in [
            "Request took longer than estimated (30:69s); client may timeout.",
            "Request took longer than estimated (30/69s); client may timeout",
        ] {
            assert_eq!(parsed(text), ReqEvent::TookLonger { estimated_s: 30, over_s: 69 });
        }
    }

    #[test]
    fn bulk_errors() {
        for (text, what) in [
            ("timeout on bulk READ after 100+0s", "timeout on"),
            ("Reconnect on bulk WRITE", "Reconnect on"),
            ("Eviction on bulk READ", "Eviction on"),
            ("network error on bulk WRITE", "network error on"),
            ("truncated bulk READ 0(4096)", "truncated"),
            ("bulk WRITE failed: rc = -107", ""),
        ] {
            assert_eq!(parsed(text), ReqEvent::BulkError { what: what.as_bytes() });
        }
    }

    #[test]
    fn other_texts_are_kept() {
        for text in [
            "",
            "op=3",
            "op=x disposition=1, status=0",
            "type 6, status 0",
            "unlink",
            "sent to nobody",
            "sending replies",
            "timeout on bulk",
            "bulk",
        ] {
            assert_eq!(parsed(text), ReqEvent::Other(text.as_bytes()));
        }
    }

    #[test]
    fn known_beginnings_that_go_on_differently_fail() {
        for text in [
            "Dropping timed-out request from 12345-10.1.2.3@o2ib: deadline 30,5s ago",
            "Dropping timed-out request from somewhere",
            "Request took longer than estimated (30)",
            "Slow req_in handling s",
            "found existing lock cookie ",
        ] {
            assert!(event(text.as_bytes()).is_err(), "{text}");
        }
        let (rest, _) = event(b"Slow req_in handling 7s!").unwrap();
        assert_eq!(rest, b"!");
    }
}
