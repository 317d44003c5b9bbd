//! Evictions, as servers tell them (`ldlm/ldlm_lockd.c`, `ptlrpc/pinger.c`, `obdclass/genops.c`, `mdt/mdt_open.c`, `mdt/mdt_recovery.c`),
//! and as the client that was thrown out does (`ptlrpc/import.c`).

use super::super::other::PingEviction;
use super::event::ConsoleEvent;
use super::reason::Reason;
use super::words::{
    after, any_nid, before, device, first_word, has, leading_nid, leading_number, named, nid_at, target,
};
use crate::TargetName;
use crate::vocab::EventKind::{Evicted, Eviction};

pub(super) fn parse(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    if let Some(text) = text.strip_prefix(b"### ") {
        return callback_timer(text).or_else(|| failed_callback(text));
    }
    if !has(text, b"evict") && !has(text, b"Evict") {
        return None;
    }
    lock_callback(text)
        .or_else(|| silent(text))
        .or_else(|| by_hand(text))
        .or_else(|| lookup_error(text))
        .or_else(|| this_client(text))
}

/// `### lock callback timer expired after %llds: evicting client at %s  ns: filter-NAME_UUID lock: ..` (1.8 to 2.17).
fn callback_timer(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    let rest = text.strip_prefix(b"lock callback timer expired after ")?;
    let reason = Reason::CallbackTimer { seconds: leading_number(rest)? };
    let client = leading_nid(after(rest, b"evicting client at ")?);
    Some(ConsoleEvent::new(Eviction, namespace(rest), client, reason))
}

/// `### client (nid %s) failed to reply to|returned error from %s AST (req status %d rc %d), evict it` (2.7), with `req@%p x%llu status`
/// (2.10 to 2.17). The timer's sentence follows, because the lock is put on the list of expired ones.
fn failed_callback(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    let rest = text.strip_prefix(b"client (nid ")?;
    let replied = match before(rest, b", evict it")? {
        head if has(head, b" failed to reply to ") => false,
        head if has(head, b" returned error from ") => true,
        _ => return None,
    };
    let words: &[u8] = if replied { b" returned error from " } else { b" failed to reply to " };
    let ast = first_word(after(rest, words)?);
    let rc = after(rest, b" rc ").and_then(leading_number);
    let reason = Reason::AstFailed { ast, replied, rc };
    Some(ConsoleEvent::new(Eviction, namespace(rest), leading_nid(rest), reason).echo())
}

/// `%s: A client on nid %s was evicted due to a lock %s callback to %s timed out: rc %d` (1.8), `.. callback time out: rc %d` (2.5 to
/// 2.17; to 2.15 with `138-a: ` in front). The sentence of the callback comes before it, that of the timer after it.
fn lock_callback(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    let (name, rest) = named(text)?;
    let nid = rest.strip_prefix(b"A client on nid ")?;
    let ast = first_word(after(rest, b" was evicted due to a lock ")?);
    let reason = Reason::LockCallback { ast, rc: after(rest, b": rc ").and_then(leading_number) };
    Some(ConsoleEvent::new(Eviction, target(name), leading_nid(nid), reason).echo())
}

/// `%s: haven't heard from client %s (at %s) in %lld seconds. I think it's dead, and I am evicting it.`, followed by times since 2.5.
fn silent(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    let it = PingEviction::parse(text).ok()?;
    let reason = Reason::Silent { seconds: it.silent_s };
    Some(ConsoleEvent::new(Eviction, target(it.target), Some(it.nid), reason))
}

/// `%s: evicting %s at adminstrative request` (1.8 to 2.17, with a uuid), `%s: evicting %s (at %s) by administrative request` (2.5 to 2.17).
fn by_hand(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    let (name, rest) = named(text)?;
    let rest = rest.strip_prefix(b"evicting ")?;
    let by_hand = rest.ends_with(b"ministrative request") || rest.ends_with(b"minstrative request");
    by_hand.then(|| ConsoleEvent::new(Eviction, target(name), nid_at(rest), Reason::ByHand))
}

/// `Parent DFID lookup error %d. Evicting client %s with export %s.` (1.8 to 2.14), `cannot lookup child DFID: rc = %d; evicting client %s
/// with export %s` (2.7 to 2.17): a replayed open of a file that is not there. The export is told by its NID.
fn lookup_error(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    let (head, export) = (before(text, b" with export ")?, after(text, b" with export ")?);
    let why = before(head, b" Evicting client ").or_else(|| before(head, b"; evicting client "))?;
    Some(ConsoleEvent::new(Eviction, device(text), leading_nid(export), Reason::Text(why)))
}

/// `This client was evicted by %s; in progress operations using this service will fail.` (1.8), with the name of a device in front (2.5 to
/// 2.17; to 2.15 `167-0: ` before it); `Evicted from %s (at %s) after server handle changed from ..` (2.5 to 2.17).
fn this_client(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    let by = after(text, b"This client was evicted by ").or_else(|| text.strip_prefix(b"Evicted from "))?;
    Some(ConsoleEvent::new(Evicted, target(first_word(by)).or_else(|| device(text)), None, Reason::Text(told(text))))
}

/// Without the device, which names this client's own object in memory.
fn told(text: &[u8]) -> &[u8] {
    named(text).filter(|(name, _)| target(name).is_some()).map_or(text, |(_, rest)| rest)
}

/// The target of the lock's namespace: `ns: filter-lustre-OST0003_UUID`, in 1.8 `mds-lustre-MDT0000_UUID`.
fn namespace(text: &[u8]) -> Option<&[u8]> {
    let name = first_word(after(text, b" ns: ")?);
    let uuid = [&b"filter-"[..], b"mdt-", b"mds-"].iter().find_map(|kind| name.strip_prefix(*kind)).unwrap_or(name);
    let uuid = uuid.strip_suffix(b"_UUID").unwrap_or(uuid);
    TargetName::parse_bytes(uuid).map(|_| uuid)
}

/// `bulk failed: %s %d(%d), evicting %s@%s` (1.8, `mds/handler.c`), behind `@@@ `.
pub(super) fn failed_bulk(words: &[u8]) -> Option<ConsoleEvent<'_>> {
    let peer = after(words, b", evicting ").filter(|_| words.starts_with(b"bulk failed: "))?;
    let nid = after(peer, b"@").and_then(|rest| leading_nid(rest).or_else(|| any_nid(rest)));
    Some(ConsoleEvent::new(Eviction, None, nid, Reason::Text(words)))
}
