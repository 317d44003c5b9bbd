//! `Handled RPC` without parsing again what it repeats.
//!
//! Hot: half of the bytes of a bulk RPC's longest line stood in its `Handling RPC` before, and comparing them takes a tenth of the
//! time of reading them.

use super::cursor::{Cursor, whole};
use super::ptlrpc::outcome;
use super::{Handling, Outcome};

/// What a request's `Handled RPC` repeats of its `Handling RPC`: all but the number of references to the export.
#[derive(Clone, Copy, Debug)]
pub struct Repeated<'a> {
    /// Behind the first word, to the `+` in front of the references.
    before_refs: &'a [u8],
    /// .. and from the `:` behind them to the end of the job.
    behind_refs: &'a [u8],
}

impl<'a> Repeated<'a> {
    /// Of a text, and of what it was parsed as, which must be made of this very text. `None` if it is not, and for Lustre before 2.13,
    /// whose text ends with the opcode: more digits may follow.
    #[must_use]
    #[inline]
    pub fn of(text: &'a [u8], handling: &Handling<'a>) -> Option<Self> {
        let end_in_text = |part: &[u8]| part.as_ptr_range().end.addr().checked_sub(text.as_ptr().addr());
        let refs_at = end_in_text(handling.client_uuid)? + 1;
        let (before, behind) = text.get(..end_in_text(handling.job?)?)?.split_at_checked(refs_at)?;
        Some(Self {
            before_refs: before.strip_prefix(b"Handling").filter(|before| before.ends_with(b"+"))?,
            behind_refs: behind.get(memchr::memchr(b':', behind)?..)?,
        })
    }

    /// The outcome, if this is the request's `Handled RPC`. `None` says nothing: the text has to be parsed.
    #[must_use]
    #[inline]
    pub fn outcome(&self, text: &[u8]) -> Option<Outcome> {
        let refs = text.strip_prefix(b"Handled")?.strip_prefix(self.before_refs)?;
        let mut cursor = Cursor::new(refs);
        cursor.int_i32()?;
        let behind = cursor.rest().strip_prefix(self.behind_refs)?.strip_prefix(b" ")?;
        // Nothing else of the form of an outcome can follow it, so no job that goes on like one is taken for it.
        whole("Handled RPC", behind, outcome).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    const HANDLING: &str = "Handling RPC req@00000000d5e09f76 pname:cluuid+ref:pid:xid:nid:opc:job \
        t+1:u2+6:381:x17:12345-10.10.0.11@tcp:4:a:b";

    fn repeated(text: &str) -> Option<Repeated<'_>> {
        let Message::Handling(handling) = Message::parse_text(text.as_bytes()) else { panic!("{text}") };
        Repeated::of(text.as_bytes(), &handling)
    }

    #[test]
    fn the_outcome_is_that_of_the_whole_text() {
        let repeated = repeated(HANDLING).unwrap();
        let same = HANDLING.replacen("Handling", "Handled", 1);
        let outcome = " Request processed in 54034us (57038us total) trans 4294967433 rc 0/-5";
        for refs in ["+6:", "+17:", "+-99:"] {
            let text = format!("{}{outcome}\n", same.replace("u2+6:", &format!("u2{refs}")));
            let Message::Handled(handled) = Message::parse_text(text.as_bytes()) else { panic!("{text}") };
            assert_eq!(repeated.outcome(text.as_bytes()), Some(handled.outcome), "{text}");
        }
    }

    #[test]
    fn another_request_is_not_recognised() {
        let repeated = repeated(HANDLING).unwrap();
        let same = HANDLING.replacen("Handling", "Handled", 1);
        let outcome = " Request processed in 1us (2us total) trans 0 rc 0/0";
        assert!(repeated.outcome(format!("{same}{outcome}").as_bytes()).is_some());
        for (from, to) in
            [("9f76", "9f77"), ("t+1", "t+2"), ("u2", "u3"), ("381", "382"), ("x17", "x18"), (":4:", ":3:")]
        {
            let text = format!("{}{outcome}", same.replacen(from, to, 1));
            assert_eq!(repeated.outcome(text.as_bytes()), None, "{text}");
        }
        for end in ["", "c", &format!("c{outcome}"), &format!("{outcome}{outcome}"), &format!("{outcome} x")] {
            assert_eq!(repeated.outcome(format!("{same}{end}").as_bytes()), None, "{end}");
        }
        assert_eq!(repeated.outcome(HANDLING.as_bytes()), None);
    }

    #[test]
    fn old_lines_have_no_end() {
        let text = "Handling RPC pname:cluuid+ref:pid:xid:nid:opc t:u+12:3101:x16:12345-10.1.2.3@o2ib12:103";
        assert!(repeated(text).is_none());
    }
}
