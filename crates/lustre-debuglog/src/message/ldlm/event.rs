//! What a lock manager line reports: its words in front of the lock (`ldlm_lockd.c`, `ldlm_lock.c`,
//! `ldlm_resource.c`, `ldlm_extent.c`, `ldlm_request.c`). The words are stable from 2.5 to master; older
//! variants are noted where they are read.

use nom::Parser;

use super::super::number::{Res, dec_u32, field, int, int_i32, nid, pointer, stop, tag, word};

/// What a lock manager line reports; on a server unless noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LdlmEvent<'a> {
    /// `server-side enqueue handler START` (no lock).
    EnqueueStart,
    /// `server-side enqueue handler, new lock created`: its extent is still zero, its NID still `local`.
    Created,
    /// `lock incompatible; sending blocking AST.`: the lock shown is *held* and conflicts with the
    /// enqueue that the same pid is handling.
    Incompatible,
    /// `About to add this lock`: `--/X` put on the waiting list (blocked), `X/X` granted.
    AboutToAdd,
    /// `About to add lock:`: granted (inode bits, plain).
    AboutToAddGranted,
    /// `About to insert this lock after|before ...`.
    AboutToInsert,
    /// `Not expanding manually requested lock` (lockahead).
    NotExpanding,
    /// `server preparing blocking AST`.
    PreparingBlockingAst,
    /// `lock not granted, not sending blocking AST`.
    NotGrantedNoBlockingAst,
    /// `adding to wait list(timeout: N, AT: on)`: eviction timer armed.
    AddedToWaitList {
        /// Seconds until the client is evicted.
        timeout_s: i64,
    },
    /// `not re-adding to wait list(...)`.
    NotReAddedToWaitList,
    /// `server-side enqueue handler, sending reply (err=E, rc=R)`.
    SendingReply {
        /// `ELDLM_*` code, 301 aborted, 303 no lock data, ...
        err: i32,
        /// Return code of the handler.
        rc: i32,
    },
    /// `server-side enqueue handler END (lock P, rc R)` (no lock description).
    EnqueueEnd {
        /// Return code of the handler.
        rc: i32,
    },
    /// `hpreq cancel/convert lock`: a cancel for a lock under callback has arrived.
    HpreqCancel,
    /// `server-side cancel handler START: N locks, starting at M` (no lock).
    CancelStart {
        /// Number of locks in the request.
        locks: u32,
        /// Index of the first one to cancel.
        first: u32,
    },
    /// `server-side cancel handler stale lock (cookie N)`.
    StaleCancel,
    /// `server cancels blocked lock after Ns`: a lock under callback is given back.
    CancelsBlocked {
        /// Whole seconds since its callback.
        after_s: i64,
    },
    /// `server-side cancel handler END` (no lock).
    CancelEnd,
    /// `removed`: eviction timer disarmed.
    Removed,
    /// `wasn't waiting`.
    WasNotWaiting,
    /// `lock granted; sending completion AST.`: a waiting lock is granted.
    GrantedSendingCompletionAst,
    /// `server preparing completion AST`.
    PreparingCompletionAst,
    /// `refreshed to Ns` and `refreshed`: eviction timer prolonged.
    Refreshed,
    /// `prolong the busy lock`.
    ProlongBusy,
    /// `lock callback timer expired after Ns: evicting client at NID`.
    CallbackTimerExpired {
        /// Seconds since the callback.
        after_s: i64,
        /// NID of the evicted client.
        nid: &'a [u8],
    },
    /// `client (nid N) failed to reply to|returned error from X AST (...), evict it`.
    AstFailedEvicting {
        /// NID of the evicted client.
        nid: &'a [u8],
        /// `blocking`, `completion` or `glimpse`.
        ast: &'a [u8],
    },
    /// `X AST (...) timeout from nid N, but cancel was received (AST reply lost?)`,
    /// `client (nid N) returned R from X AST ... - normal race`.
    AstRace,
    /// `server-side convert handler START`.
    ConvertStart,
    /// `server-side convert handler END, rc = R`.
    ConvertEnd {
        /// Return code of the handler.
        rc: i32,
    },
    /// `lock is converted already!`, `convert on canceled lock!`.
    ConvertLate,
    /// `final lock_put on destroyed lock, freeing it.`: the lock is gone.
    FinalPut,
    /// `client-side local enqueue handler, new lock created`: a server-local lock (direct I/O with
    /// server-side locking, unlink, MDT internal).
    LocalCreated,
    /// `server-side local cancel`.
    LocalCancel,
    /// `client-side enqueue START`, with flags since 2.16: a thread of a client begins to ask a server for a lock.
    ClientEnqueueStart,
    /// `client-side enqueue END`, `.. END (ABORTED)`, `.. END (FAILED)`: the client has the lock, or knows that it does not get it.
    ClientEnqueueEnd,
    /// Any other `###` text, as printed.
    Other(&'a [u8]),
}

/// Reads the text before ` ns:` (or all of it), which has no white space at its end. It uses all of it, or
/// leaves the rest from where a known beginning goes on in an unknown way.
pub(super) fn event(i: &[u8]) -> Res<'_, LdlmEvent<'_>> {
    if let Some(event) = fixed(i) {
        let (_, end) = i.split_at(i.len());
        return Ok((end, event));
    }
    let starts = |words: &[u8]| i.starts_with(words);
    match i.first() {
        Some(b's') if starts(b"server-side enqueue handler, sending reply") => sending_reply(i),
        Some(b's') if starts(b"server-side enqueue handler END") => enqueue_end(i),
        Some(b's') if starts(b"server-side cancel handler START") => cancel_start(i),
        Some(b's') if starts(b"server cancels blocked lock after ") => cancels_blocked(i),
        Some(b's') if starts(b"server-side convert handler END, rc = ") => convert_end(i),
        Some(b'a') if starts(b"adding to wait list(timeout: ") => added_to_wait_list(i),
        Some(b'l') if starts(b"lock callback timer expired after ") => callback_timer_expired(i),
        Some(b'c') if starts(b"client (nid ") => client_ast(i),
        _ => {
            let (_, end) = i.split_at(i.len());
            Ok((end, beginning(i).unwrap_or(LdlmEvent::Other(i))))
        }
    }
}

/// Events whose text is always the same.
fn fixed(i: &[u8]) -> Option<LdlmEvent<'_>> {
    Some(match i {
        b"About to add this lock" | b"About to add this lock:" => LdlmEvent::AboutToAdd,
        b"final lock_put on destroyed lock, freeing it." => LdlmEvent::FinalPut,
        b"server-side local cancel" => LdlmEvent::LocalCancel,
        b"client-side local enqueue handler, new lock created" => LdlmEvent::LocalCreated,
        b"server-side enqueue handler START" => LdlmEvent::EnqueueStart,
        b"server-side enqueue handler, new lock created" => LdlmEvent::Created,
        b"server-side cancel handler END" => LdlmEvent::CancelEnd,
        b"server preparing blocking AST" => LdlmEvent::PreparingBlockingAst,
        b"server preparing completion AST" => LdlmEvent::PreparingCompletionAst,
        b"lock incompatible; sending blocking AST." => LdlmEvent::Incompatible,
        b"lock granted; sending completion AST." => LdlmEvent::GrantedSendingCompletionAst,
        b"lock not granted, not sending blocking AST" => LdlmEvent::NotGrantedNoBlockingAst,
        b"About to add lock:" => LdlmEvent::AboutToAddGranted,
        b"removed" => LdlmEvent::Removed,
        b"wasn't waiting" => LdlmEvent::WasNotWaiting,
        // "cancel lock" to 2.10, before locks could be converted.
        b"hpreq cancel/convert lock" | b"hpreq cancel lock" => LdlmEvent::HpreqCancel,
        b"Not expanding manually requested lock" | b"Not expanding manually requested lock." => LdlmEvent::NotExpanding,
        b"prolong the busy lock" => LdlmEvent::ProlongBusy,
        b"server-side convert handler START" => LdlmEvent::ConvertStart,
        b"lock is converted already!" | b"convert on canceled lock!" => LdlmEvent::ConvertLate,
        _ => return None,
    })
}

/// Events that the beginning of the text identifies.
fn beginning(i: &[u8]) -> Option<LdlmEvent<'_>> {
    const BEGINNINGS: [(&[u8], LdlmEvent<'static>); 8] = [
        // "refreshed" alone to 2.14.50.
        (b"refreshed", LdlmEvent::Refreshed),
        (b"About to insert this lock ", LdlmEvent::AboutToInsert),
        (b"not re-adding to wait list(", LdlmEvent::NotReAddedToWaitList),
        (b"server-side cancel handler stale lock", LdlmEvent::StaleCancel),
        (b"server preparing completion AST (after ", LdlmEvent::PreparingCompletionAst),
        (b"server-side convert handler START", LdlmEvent::ConvertStart),
        (b"client-side enqueue START", LdlmEvent::ClientEnqueueStart),
        (b"client-side enqueue END", LdlmEvent::ClientEnqueueEnd),
    ];
    let known = BEGINNINGS.iter().find(|(words, _)| i.starts_with(words)).map(|(_, event)| *event);
    known.or_else(|| i.ends_with(b"but cancel was received (AST reply lost?)").then_some(LdlmEvent::AstRace))
}

/// `server-side enqueue handler, sending reply (err=%d, rc=%d)`; to 2.12 without the space.
fn sending_reply(i: &[u8]) -> Res<'_, LdlmEvent<'_>> {
    let (i, ()) = tag(b"server-side enqueue handler, sending reply").parse(i)?;
    let (i, err) = field(i.strip_prefix(b" ").unwrap_or(i), b"(err=", int_i32, b", rc=")?;
    let (i, rc) = field(i, b"", int_i32, b")")?;
    Ok((i, LdlmEvent::SendingReply { err, rc }))
}

/// `server-side enqueue handler END (lock %p, rc %d)`.
fn enqueue_end(i: &[u8]) -> Res<'_, LdlmEvent<'_>> {
    let (i, _lock) = field(i, b"server-side enqueue handler END (lock ", pointer, b", rc ")?;
    let (i, rc) = field(i, b"", int_i32, b")")?;
    Ok((i, LdlmEvent::EnqueueEnd { rc }))
}

/// `server-side cancel handler START: %d locks, starting at %d`.
fn cancel_start(i: &[u8]) -> Res<'_, LdlmEvent<'_>> {
    let (i, locks) = field(i, b"server-side cancel handler START: ", dec_u32, b" locks, starting at ")?;
    let (i, first) = dec_u32(i)?;
    Ok((i, LdlmEvent::CancelStart { locks, first }))
}

/// `server cancels blocked lock after %llds`.
fn cancels_blocked(i: &[u8]) -> Res<'_, LdlmEvent<'_>> {
    let (i, after_s) = field(i, b"server cancels blocked lock after ", int, b"s")?;
    Ok((i, LdlmEvent::CancelsBlocked { after_s }))
}

/// `server-side convert handler END, rc = %d`.
fn convert_end(i: &[u8]) -> Res<'_, LdlmEvent<'_>> {
    let (i, rc) = field(i, b"server-side convert handler END, rc = ", int_i32, b"")?;
    Ok((i, LdlmEvent::ConvertEnd { rc }))
}

/// `adding to wait list(timeout: %lld, AT: on|off)`.
fn added_to_wait_list(i: &[u8]) -> Res<'_, LdlmEvent<'_>> {
    let (i, timeout_s) = field(i, b"adding to wait list(timeout: ", int, b", AT: ")?;
    let (i, _) = word(i)?;
    Ok((i, LdlmEvent::AddedToWaitList { timeout_s }))
}

/// `lock callback timer expired after %llds: evicting client at %s `.
fn callback_timer_expired(i: &[u8]) -> Res<'_, LdlmEvent<'_>> {
    let (i, after_s) = field(i, b"lock callback timer expired after ", int, b"s: evicting client at ")?;
    let (i, nid) = nid(i)?;
    Ok((i, LdlmEvent::CallbackTimerExpired { after_s, nid }))
}

/// `client (nid %s) returned error from|failed to reply to %s AST (...), evict it` and
/// `client (nid %s) returned %d from %s AST ... - normal race`; requests in parentheses since 2.10.
fn client_ast(i: &[u8]) -> Res<'_, LdlmEvent<'_>> {
    let (i, nid) = field(i, b"client (nid ", nid, b") ")?;
    let (_, end) = i.split_at(i.len());
    if i.ends_with(b"normal race") {
        return Ok((end, LdlmEvent::AstRace));
    }
    let verb = i.strip_prefix(b"returned error from ").or_else(|| i.strip_prefix(b"failed to reply to "));
    let Some(i) = verb.filter(|i| i.ends_with(b"evict it")) else { return stop(i) };
    let (i, ast) = word(i)?;
    let (_, ()) = tag(b" AST").parse(i)?;
    Ok((end, LdlmEvent::AstFailedEvicting { nid, ast }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> LdlmEvent<'_> {
        let (rest, event) = event(text.as_bytes()).unwrap();
        assert!(rest.is_empty(), "{text}");
        event
    }

    #[test]
    fn texts_of_all_versions() {
        use LdlmEvent::*;
        for (text, want) in [
            ("server-side enqueue handler START", EnqueueStart),
            ("server-side enqueue handler, new lock created", Created),
            ("lock incompatible; sending blocking AST.", Incompatible),
            ("client-side enqueue START", ClientEnqueueStart), // to 2.15
            ("client-side enqueue START, flags 0x1000", ClientEnqueueStart),
            ("client-side enqueue END", ClientEnqueueEnd),
            ("client-side enqueue END (ABORTED)", ClientEnqueueEnd),
            ("client-side enqueue END (FAILED)", ClientEnqueueEnd),
            ("About to add this lock:", AboutToAdd), // to 2.8
            ("About to add this lock", AboutToAdd),
            ("About to add lock:", AboutToAddGranted),
            ("About to insert this lock after 00000000052d0627:", AboutToInsert),
            ("About to insert this lock before 00000000052d0627:", AboutToInsert),
            ("Not expanding manually requested lock.", NotExpanding), // to 2.15
            ("Not expanding manually requested lock", NotExpanding),
            ("server preparing blocking AST", PreparingBlockingAst),
            ("lock not granted, not sending blocking AST", NotGrantedNoBlockingAst),
            ("adding to wait list(timeout: 150, AT: on)", AddedToWaitList { timeout_s: 150 }),
            ("adding to wait list(timeout: 7, AT: off)", AddedToWaitList { timeout_s: 7 }),
            ("not re-adding to wait list(timeout: 150, AT: on)", NotReAddedToWaitList),
            ("server-side enqueue handler, sending reply(err=0, rc=0)", SendingReply { err: 0, rc: 0 }), // to 2.12
            ("server-side enqueue handler, sending reply (err=301, rc=-5)", SendingReply { err: 301, rc: -5 }),
            ("server-side enqueue handler END (lock 00000000052d0627, rc 0)", EnqueueEnd { rc: 0 }),
            ("server-side enqueue handler END (lock (null), rc -116)", EnqueueEnd { rc: -116 }),
            ("hpreq cancel lock", HpreqCancel), // to 2.10
            ("hpreq cancel/convert lock", HpreqCancel),
            ("server-side cancel handler START: 3 locks, starting at 1", CancelStart { locks: 3, first: 1 }),
            ("server-side cancel handler stale lock (cookie 12913287654)", StaleCancel),
            ("server-side cancel handler stale lock (cookie b335d27b2acb533e)", StaleCancel), // 2.15.90
            ("server cancels blocked lock after 12s", CancelsBlocked { after_s: 12 }),
            ("server-side cancel handler END", CancelEnd),
            ("removed", Removed),
            ("wasn't waiting", WasNotWaiting),
            ("lock granted; sending completion AST.", GrantedSendingCompletionAst),
            ("server preparing completion AST (after 3s wait)", PreparingCompletionAst), // to 2.6
            ("server preparing completion AST", PreparingCompletionAst),
            ("refreshed", Refreshed), // to 2.14
            ("refreshed to 100s", Refreshed),
            ("refreshed to 100s.", Refreshed),
            ("prolong the busy lock", ProlongBusy),
            ("server-side convert handler START", ConvertStart),
            ("server-side convert handler END, rc = -22", ConvertEnd { rc: -22 }),
            ("lock is converted already!", ConvertLate),
            ("convert on canceled lock!", ConvertLate),
            ("final lock_put on destroyed lock, freeing it.", FinalPut),
            ("client-side local enqueue handler, new lock created", LocalCreated),
            ("server-side local cancel", LocalCancel),
        ] {
            assert_eq!(parsed(text), want);
        }
    }

    #[test]
    fn evictions() {
        let want = LdlmEvent::CallbackTimerExpired { after_s: 100, nid: b"fe80::1@tcp" };
        assert_eq!(parsed("lock callback timer expired after 100s: evicting client at fe80::1@tcp"), want);
        for (text, ast) in [
            (
                "client (nid 1.2.3.4@tcp) failed to reply to blocking AST (req@0000000015131d55 x17 status 0 rc -110), evict it",
                "blocking",
            ),
            ("client (nid 1.2.3.4@tcp) returned error from glimpse AST (req status -5 rc -5), evict it", "glimpse"), // to 2.9
        ] {
            assert_eq!(parsed(text), LdlmEvent::AstFailedEvicting { nid: b"1.2.3.4@tcp", ast: ast.as_bytes() });
        }
    }

    #[test]
    fn races_of_callbacks() {
        for text in [
            "blocking AST (req@0000000015131d55 x17) timeout from nid 1.2.3.4@tcp, but cancel was received (AST reply lost?)",
            "blocking AST timeout from nid 1.2.3.4@tcp, but cancel was received (AST reply lost?)",
            "client (nid 1.2.3.4@tcp) returned -22 from completion AST (req@1 x17) - normal race",
        ] {
            assert_eq!(parsed(text), LdlmEvent::AstRace);
        }
    }

    #[test]
    fn other_texts_are_kept() {
        for text in [
            "",
            "ldlm_lock_decref(PW)",
            "Reprocessing lock from queue 2",
            "server-side",
            "removed it",
            "client blocking AST callback handler",
        ] {
            assert_eq!(parsed(text), LdlmEvent::Other(text.as_bytes()));
        }
    }

    #[test]
    fn known_beginnings_that_go_on_differently_fail() {
        for text in [
            "server-side enqueue handler, sending reply (err=0)",
            "server-side enqueue handler END (rc 0)",
            "server-side cancel handler START: many locks",
            "server cancels blocked lock after s",
            "server-side convert handler END, rc = ",
            "adding to wait list(timeout: x, AT: on)",
            "lock callback timer expired after 1s: evicting client at home",
            "client (nid 1.2.3.4@tcp) did something",
            "client (nid ) returned error from glimpse AST (), evict it",
        ] {
            assert!(event(text.as_bytes()).is_err(), "{text}");
        }
        let (rest, _) = event(b"server cancels blocked lock after 1s!").unwrap();
        assert_eq!(rest, b"!");
    }
}
