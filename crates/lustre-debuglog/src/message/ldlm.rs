//! Lock manager messages: `### MESSAGE ns: NS lock: PTR/COOKIE ...` (mask dlmtrace, or error).

mod contention;
mod event;
mod lock;

pub use contention::Contention;
pub use event::LdlmEvent;
pub use lock::{LockDesc, LockTail};

use super::malformed::Malformed;
use super::number::{Res, complete, stop};

/// A lock manager line: what happened, and the lock it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LdlmMessage<'a> {
    /// What the line reports.
    pub event: LdlmEvent<'a>,
    /// The lock; `None` for messages that name none.
    pub lock: Option<LockDesc<'a>>,
}

impl<'a> LdlmMessage<'a> {
    /// Parses `### ...`.
    pub(crate) fn parse(text: &'a [u8]) -> Result<Self, Malformed> {
        complete("lock manager", text, message(text))
    }
}

fn message(text: &[u8]) -> Res<'_, LdlmMessage<'_>> {
    let Some(i) = text.strip_prefix(b"### ") else { return stop(text) };
    let (event_text, (rest, lock)) = match split_lock(i) {
        Some((event_text, desc)) => {
            let (rest, lock) = lock::lock(desc)?;
            (event_text, (rest, Some(lock)))
        }
        None => {
            let (event_text, end) = i.split_at(i.len());
            (event_text, (end, None))
        }
    };
    let (unread, event) = event::event(event_text.trim_ascii_end())?;
    if !unread.is_empty() {
        return stop(unread);
    }
    Ok((rest, LdlmMessage { event, lock }))
}

/// Splits a text before its lock description, at the first ` ns: `. What is in front of it may hold
/// other colons (`AT: on`, IPv6) and end in a line break (to 2.15).
fn split_lock(i: &[u8]) -> Option<(&[u8], &[u8])> {
    memchr::memchr_iter(b':', i).find_map(|colon| {
        let (before, desc) = i.split_at_checked(colon.checked_sub(2)?)?;
        let starts_a_word = before.last().is_some_and(u8::is_ascii_whitespace);
        (starts_a_word && desc.starts_with(b"ns: ")).then_some((before, desc))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LockCookie;

    const LOCK: &str = "ns: MGS lock: ffff88003c5e6450/0x12 lrc: 3/0,0 mode: EX/EX res: [0x1:0x0:0x0].0x0 rrc: 3 \
        type: PLN flags: 0x20 nid: 0@lo remote: 0x99 expref: 7 pid: 5 timeout: 0 lvb_type: 0";

    #[test]
    fn line_with_a_lock() {
        let text = format!("### adding to wait list(timeout: 150, AT: on) {LOCK}\n");
        let message = LdlmMessage::parse(text.as_bytes()).unwrap();
        assert_eq!(message.event, LdlmEvent::AddedToWaitList { timeout_s: 150 });
        assert_eq!(message.lock.unwrap().cookie, LockCookie(0x12));
    }

    #[test]
    fn line_without_a_lock() {
        let message = LdlmMessage::parse(b"### server-side cancel handler START: 1 locks, starting at 0").unwrap();
        assert_eq!(message, LdlmMessage { event: LdlmEvent::CancelStart { locks: 1, first: 0 }, lock: None });
    }

    #[test]
    fn line_break_before_the_lock_2_8_and_2_15() {
        for (text, event) in [
            (format!("### About to add this lock:\n {LOCK}"), LdlmEvent::AboutToAdd),
            (format!("### refreshed to 100s.\n {LOCK}"), LdlmEvent::Refreshed),
            (format!("### Not expanding manually requested lock.\n {LOCK}"), LdlmEvent::NotExpanding),
            (format!("### blocking ast\n {LOCK}"), LdlmEvent::Other(b"blocking ast")),
        ] {
            let message = LdlmMessage::parse(text.as_bytes()).unwrap();
            assert_eq!(message.event, event);
            assert!(message.lock.is_some());
        }
    }

    #[test]
    fn colons_of_a_nid_are_not_the_lock() {
        let text = format!("### lock callback timer expired after 1s: evicting client at 2001:db8::1@tcp  {LOCK}");
        let message = LdlmMessage::parse(text.as_bytes()).unwrap();
        assert_eq!(message.event, LdlmEvent::CallbackTimerExpired { after_s: 1, nid: b"2001:db8::1@tcp" });
    }

    #[test]
    fn near_misses() {
        let cut = &LOCK[..LOCK.len() - 15];
        for text in [
            format!("### removed {cut}"),
            format!("### server cancels blocked lock after s {LOCK}"),
            "##".into(),
            LOCK.into(),
        ] {
            assert_eq!(LdlmMessage::parse(text.as_bytes()).unwrap_err().kind, "lock manager", "{text}");
        }
    }
}
