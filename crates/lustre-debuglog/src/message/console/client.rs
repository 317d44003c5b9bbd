//! Requests that failed, and connections that come and go, as the side tells it that sends requests (`ptlrpc/client.c`,
//! `ptlrpc/import.c`, `ldlm/ldlm_request.c`); servers send requests, too: callbacks to clients, and to each other.

use super::super::debug_req::ReqMessage;
use super::event::ConsoleEvent;
use super::eviction::failed_bulk;
use super::reason::Reason;
use super::words::{
    after, any_nid, device, first_word, has, is_no_space, is_target, leading_nid, named, nid_at, request_words, target,
};
use crate::Opcode;
use crate::vocab::EventKind::{self, BulkError, Error, NoSpace, Reconnect, Recovery, RequestTimeout, SlowReply};

pub(super) fn parse(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    if let Some(words) = request_words(text) {
        return failed_bulk(words).or_else(|| request(text, words));
    }
    if let Some(lock) = text.strip_prefix(b"### lock timed out (enqueued at ") {
        return lock_timed_out(text, lock);
    }
    connection(text).or_else(|| failed_operation(text))
}

/// What happened to a request, with its description.
fn request<'a>(text: &'a [u8], words: &'a [u8]) -> Option<ConsoleEvent<'a>> {
    let kind = request_kind(words)?;
    let message = ReqMessage::parse(text).ok().map(|message| message.req);
    let opcode = message.and_then(|req| req.opcode);
    // To 2.12 the words of 1.8 and 2.5 have the xid, and what follows in brackets differs in every line.
    let short = short_words(words);
    let (peer, nid) = message.map_or((None, old_nid(words)), |req| (Some(req.peer), Some(req.nid)));
    let nid = nid.filter(|nid| nid.contains(&b'@') && *nid != b"<unknown>");
    let sent = kind == RequestTimeout;
    let is_callback = opcode
        .is_some_and(|it| [Opcode::LDLM_BL_CALLBACK, Opcode::LDLM_CP_CALLBACK, Opcode::LDLM_GL_CALLBACK].contains(&it));
    // Of a request that came, the peer is the client's uuid.
    let target = peer.filter(|_| sent).and_then(target);
    let (client, to) = if sent && !is_callback { (None, nid) } else { (nid, None) };
    Some(ConsoleEvent::new(kind, target, client, Reason::Request { opcode, to, words: short }))
}

/// Wordings of `ptlrpc/client.c`, `ptlrpc/service.c` and `ldlm/ldlm_lib.c` (1.8: `ost/ost_handler.c`), and their versions.
fn request_kind(words: &[u8]) -> Option<EventKind> {
    let starts = |beginning: &[u8]| words.starts_with(beginning);
    Some(match words.first()? {
        // `Request sent has %s: [sent %lld/real %lld]` (2.5 to 2.17)
        b'R' if starts(b"Request sent has ") => RequestTimeout,
        // `Request x%llu sent from %s to NID %s %lus ago has %s (%lds prior to deadline).` (1.8)
        b'R' if starts(b"Request x") && has(words, b" ago has ") => RequestTimeout,
        // `request replay timed out` (2.10 to 2.17), `bulk timed out` (1.8)
        b'r' if starts(b"request replay timed out") => RequestTimeout,
        // `timeout on bulk %s after %lld%+llds`, `Reconnect on bulk %s`, `Eviction on bulk %s`, `network error on bulk %s`,
        // `truncated bulk %s %d(%d)`, `bulk %s failed: rc = %d`; PUT and GET in 1.8, READ and WRITE since 2.5
        b't' | b'R' | b'E' | b'n' if has(words, b" on bulk ") => BulkError,
        b't' if starts(b"truncated bulk ") => BulkError,
        b'b' if starts(b"bulk ") && (has(words, b" failed: ") || starts(b"bulk timed out")) => BulkError,
        // `Dropping timed-out request from %s: deadline ..` (1.8 to 2.17)
        b'D' if starts(b"Dropping timed-out request from ") => SlowReply,
        // `Request took longer than estimated (..); client may timeout` (2.5 to 2.17), with the xid (1.8)
        b'R' if starts(b"Request ") && has(words, b" took longer than estimated ") => SlowReply,
        b'R' if starts(b"Request took longer than estimated ") => SlowReply,
        // `Already past deadline (%+lds), not sending early reply.` (1.8 to 2.17)
        b'A' if starts(b"Already past deadline ") => SlowReply,
        // `Couldn't add any time (%ld/%ld), not sending early reply` (1.8 to 2.12), `Could not` (2.14 to 2.17)
        b'C' if starts(b"Couldn't add any time ") || starts(b"Could not add any time ") => SlowReply,
        // `Slow req_in handling %llds` (1.8 to 2.17)
        b'S' if starts(b"Slow req_in handling ") => SlowReply,
        _ => return None,
    })
}

/// Without what differs in each line: times in `[..]`, advice behind a full stop.
fn short_words(words: &[u8]) -> &[u8] {
    let end = [&b": [sent "[..], b". Consider ", b"; client may"]
        .iter()
        .filter_map(|it| memchr::memmem::find(words, it))
        .min();
    words.get(..end.unwrap_or(words.len())).unwrap_or(words)
}

/// The NID that a sentence of 1.8 names, `to NID %s`, `request from %s`.
fn old_nid(words: &[u8]) -> Option<&[u8]> {
    after(words, b" to NID ").or_else(|| after(words, b" request from ")).and_then(leading_nid)
}

/// `### lock timed out (enqueued at %lld, %llds ago), entering recovery for %s@%s`; in server code `.. not entering recovery ..` (1.8 to
/// 2.17; in 2.5 and 2.7 a text without `### ` for servers).
fn lock_timed_out<'a>(text: &'a [u8], lock: &'a [u8]) -> Option<ConsoleEvent<'a>> {
    let of = after(lock, b"entering recovery for ").map(first_word).and_then(target);
    let words = text.get(4..)?;
    let end = memchr::memmem::find(words, b" ns: ").unwrap_or(words.len());
    Some(ConsoleEvent::new(RequestTimeout, of, None, Reason::Text(words.get(..end)?)))
}

/// Connections of this node to a target.
fn connection(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    // `request replay timed out, restarting recovery` (1.8 to 2.7)
    if text.starts_with(b"request replay timed out") {
        return Some(ConsoleEvent::new(Recovery, None, None, Reason::Text(text)));
    }
    // `Reconnect to %s (at @%s) failed due bad handle %#llx` (2.5 to 2.17)
    if let Some(to) = text.strip_prefix(b"Reconnect to ") {
        return Some(ConsoleEvent::new(Reconnect, target(first_word(to)), None, Reason::Text(text)));
    }
    // `An MDT (md %s) is performing recovery, of which this client is not a part.` (1.8 to 2.15)
    if has(text, b" is performing recovery, of which this client is not a part") {
        let of = after(text, b" (").and_then(|rest| after(rest, b" ")).map(first_word).and_then(target);
        return Some(ConsoleEvent::new(Recovery, of, None, Reason::Text(text)));
    }
    let (name, rest) = named(text)?;
    // `%s: Connection to %s (at %s) was lost; in progress operations ..` (2.5 to 2.17), `.. to service %s via nid %s was lost; ..` (1.8)
    let lost = rest.strip_prefix(b"Connection to ").filter(|rest| has(rest, b" was lost"));
    // `%s: Connection restored to %s (at %s)` (2.5 to 2.17), `.. to service %s using nid %s.` (1.8)
    let to = lost.or_else(|| rest.strip_prefix(b"Connection restored to "))?;
    let of = target(first_word(to.strip_prefix(b"service ").unwrap_or(to))).or_else(|| target(name));
    // In 2.10 to 2.17 a server tells it of its client's connection, too, with the client's uuid and NID.
    let is_of_client = is_target(name) && target(first_word(to)).is_none() && !to.starts_with(b"service ");
    let client = if is_of_client { nid_at(to) } else { None };
    let end = memchr::memchr(b';', rest).unwrap_or(rest.len());
    Some(ConsoleEvent::new(Reconnect, of, client, Reason::Text(rest.get(..end)?)))
}

/// Errors of single requests: `an error occurred while communicating with %s. The %s operation failed with %d` (1.8), `%s: Communicating
/// with %s, operation %s failed with %d.` (2.5), `%s: operation %s to node %s failed: rc = %d` (2.7 to 2.17). All in `ptlrpc/client.c`.
fn failed_operation(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    let of_1_8 = text.starts_with(b"an error occurred while communicating with ");
    let rest = named(text).map(|(_, rest)| rest);
    let newer = rest.is_some_and(|rest| {
        (rest.starts_with(b"Communicating with ") && has(rest, b" failed with "))
            || (rest.starts_with(b"operation ") && has(rest, b" to node ") && has(rest, b" failed: rc = "))
    });
    if !of_1_8 && !newer {
        return None;
    }
    let kind = if is_no_space(text) { NoSpace } else { Error };
    let peer = if named(text).is_some_and(|(name, _)| is_target(name)) { any_nid(text) } else { None };
    Some(ConsoleEvent::new(kind, device(text), peer, Reason::Text(rest.filter(|_| newer).unwrap_or(text))))
}
