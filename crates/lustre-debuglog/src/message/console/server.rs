//! What servers tell of their clients, of recovery and of themselves (`ldlm/ldlm_lib.c`, `target/tgt_handler.c`, `ptlrpc/service.c`,
//! `libcfs/watchdog.c`, `obdclass/genops.c`).

use super::event::ConsoleEvent;
use super::reason::Reason;
use super::words::{after, any_nid, device, has, leading_nid, named, nid_at, target};
use crate::vocab::EventKind::{BulkError, HungThread, Reconnect, Recovery, SlowReply};

pub(super) fn parse(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    if let Some(event) = service_thread(text) {
        return Some(event);
    }
    if let Some(event) = slow(text) {
        return Some(event);
    }
    // `recovery is timed out ..`, `recovery is aborted ..` without a name (2.5 to 2.17)
    let (name, rest) = named(text).unwrap_or((b"", text));
    bulk_error(name, rest).or_else(|| connection(name, rest)).or_else(|| recovery(name, rest))
}

/// `%s: Bulk IO read error with %s (at %s), client will retry: rc %d` (2.5 to 2.17; for writes `rc = %d` since 2.10), `%s: ignoring bulk
/// IO comm error with %s@%s id %s - client will retry` (1.8). The request's own sentence comes before it.
fn bulk_error<'a>(name: &'a [u8], rest: &'a [u8]) -> Option<ConsoleEvent<'a>> {
    let new = rest.starts_with(b"Bulk IO ") && has(rest, b" error with ");
    let old = rest.starts_with(b"ignoring bulk IO comm error with ");
    let client = if new { nid_at(rest) } else { after(rest, b"@").and_then(leading_nid) };
    (new || old).then(|| ConsoleEvent::new(BulkError, target(name), client, Reason::Text(rest)).echo())
}

/// `%s: Client %s (at %s) reconnecting`, `.. reconnected, waiting for %d clients in recovery for ..`, `.. refused connection, still busy
/// with %d references` (2.5 to 2.17); `%s: %s reconnecting`, `%s: refuse reconnection from %s@%s to 0x%p; still busy ..` (1.8).
fn connection<'a>(name: &'a [u8], rest: &'a [u8]) -> Option<ConsoleEvent<'a>> {
    let client = if rest.starts_with(b"Client ") || rest.starts_with(b"Rejecting reconnect ") {
        let known = [&b") reconnect"[..], b") refused ", b"the known client "].iter().any(|words| has(rest, words));
        known.then(|| nid_at(rest))?
    } else if rest.starts_with(b"refuse reconnection from ") {
        after(rest, b"@").and_then(leading_nid)
    } else if rest.ends_with(b" reconnecting") && rest.iter().filter(|byte| **byte == b' ').count() == 1 {
        None
    } else if rest.starts_with(b"temporarily refusing client connection from ") {
        any_nid(rest)
    } else {
        return None;
    };
    // The uuid differs from client to client, and the NID stands beside it.
    let words = if rest.starts_with(b"Client ") { after(rest, b") ").unwrap_or(rest) } else { rest };
    Some(ConsoleEvent::new(Reconnect, target(name), client, Reason::Text(words)))
}

/// Beginnings of sentences about recovery, behind the target's name.
const RECOVERY: [&[u8]; 15] = [
    b"Will be in recovery for at least ", // 1.8 to 2.17, `mds/handler.c`, `obdfilter/filter.c`, `ldlm/ldlm_lib.c`
    b"Recovery period over after ",       // 1.8
    b"Recovery over after ",              // 2.5 to 2.17
    b"recovery is timed out, evict stale exports", // 2.5 to 2.17
    b"recovery is aborted",               // 1.8 to 2.17
    b"Recovery already passed deadline ", // 2.10 to 2.17
    b"in recovery but waiting for the first client", // 2.12 to 2.17
    b"Denying connection for new client ", // 2.5 to 2.17
    b"denying connection for new client ", // 1.8
    b"disconnecting ",                    // 2.5 to 2.17: `disconnecting %d stale clients`
    b"Aborting ",                         // `Aborting recovery`, `Aborting MDT recovery`, `Aborting client recovery`
    b"aborting recovery",                 // 1.8 to 2.15
    b"extended recovery timer reach",     // 2.10 to 2.17
    b"Post recovery failed, ",            // 1.8 to 2.17
    b"too long recovery - ",              // 2.5 to 2.17
];

fn recovery<'a>(name: &'a [u8], rest: &'a [u8]) -> Option<ConsoleEvent<'a>> {
    let beginning = RECOVERY.iter().find(|beginning| rest.starts_with(beginning))?;
    let is_one = match *beginning {
        b"disconnecting " => rest.ends_with(b" stale clients"),
        b"Aborting " => has(rest, b"recovery"),
        _ => true,
    };
    // The name of the target that is about to start has been cut off by some versions: `NAME recovery is aborted by hard timeout`.
    is_one.then(|| ConsoleEvent::new(Recovery, target(name), nid_at(rest), Reason::Text(rest)))
}

/// `Service thread pid %u was inactive for %lu.%.02lus.` (1.8 to 2.12, `libcfs/watchdog.c`), `%s: service thread pid %u was inactive for
/// %llu.%03u seconds.` (2.14 to 2.17, `ptlrpc/service.c`); `Watchdog stack traces are limited ..` is another hang. When such a thread is
/// done: `.. completed after ..s. This indicates the system was overloaded` (2.10 to 2.17).
fn service_thread(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    let rest = after(text, b"ervice thread pid ")?;
    let end = memchr::memmem::find(text, b". ").unwrap_or(text.len());
    let words = Reason::Text(text.get(..end)?);
    let kind = if has(rest, b" was inactive for ") {
        HungThread
    } else if has(rest, b"system was overloaded") {
        SlowReply
    } else {
        return None;
    };
    Some(ConsoleEvent::new(kind, None, None, words))
}

/// `%s: This server is not able to keep up with request traffic (cpu-bound).` (1.8 to 2.15), `'%s' is processing requests too slowly, client
/// may timeout. Late by %ds, ..` (2.16, 2.17), both `ptlrpc/service.c`; `Dropping timed-out read|write from %s because locking object ..`
/// (1.8 to 2.17, `ost/ost_handler.c`, `target/tgt_handler.c`); `%s: slow creates, ..` (2.5).
fn slow(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    let is_slow = has(text, b"is not able to keep up with request traffic")
        || has(text, b" is processing requests too slowly")
        || (has(text, b"Dropping timed-out ") && has(text, b"locking"))
        || has(text, b": slow creates, ")
        || has(text, b": Slow creates, ");
    let client = after(text, b"Dropping timed-out ").and_then(any_nid);
    is_slow.then(|| ConsoleEvent::new(SlowReply, device(text), client, Reason::Text(text)))
}
