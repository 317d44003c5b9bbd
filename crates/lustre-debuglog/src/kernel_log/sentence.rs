//! What the kernel's text says, if it is of Lustre.

use crate::message::{ConsoleEvent, Voice};
use crate::vocab::byte_search;

/// A sentence of Lustre or LNet, or one of the kernel that may tell of a device or a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// Who said it; `None`: the kernel itself.
    pub voice: Option<Voice>,
    /// The text, as it stands in the debug log if it is of Lustre.
    pub text: &'a [u8],
}

impl<'a> Sentence<'a> {
    /// Takes off what stands in front: `LustreError: 2194:0:(ldlm_lockd.c:251:expired_lock_main()) ` (`libcfs/tracefile.c`; sentences of
    /// `LCONSOLE` have no place).
    #[must_use]
    pub fn of(text: &'a [u8]) -> Self {
        let voice = |is_error, is_lnet| Some(Voice { is_error, is_lnet });
        let said = [
            (&b"Lustre: "[..], voice(false, false)),
            (b"LustreError: ", voice(true, false)),
            (b"LNet: ", voice(false, true)),
            (b"LNetError: ", voice(true, true)),
        ];
        let said = said.into_iter().find_map(|(prefix, voice)| Some((text.strip_prefix(prefix)?, voice)));
        said.map_or(Self { voice: None, text }, |(rest, voice)| Self { voice, text: without_place(rest) })
    }

    /// The event that it tells of.
    #[must_use]
    pub fn event(self) -> Option<ConsoleEvent<'a>> {
        match self.voice {
            Some(_) if self.skipped().is_some() => None,
            Some(voice) => ConsoleEvent::parse(self.text, voice),
            None => ConsoleEvent::parse_of_kernel(self.text),
        }
    }

    /// How many sentences like the one before Lustre has left out, if it says so (`libcfs/tracefile.c`: `Skipped %d previous similar
    /// message%s`).
    #[must_use]
    pub fn skipped(self) -> Option<u64> {
        let rest = self.voice.and(self.text.strip_prefix(b"Skipped "))?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = rest.split_at_checked(digits)?;
        rest.starts_with(b" previous similar message").then(|| super::stamp::number(number))?
    }
}

/// Without `PID:EXTPID:(FILE:LINE:FUNC()) `.
fn without_place(text: &[u8]) -> &[u8] {
    let behind = || {
        let at = text.get(..32).unwrap_or(text).windows(2).position(|two| two == b":(")?;
        let is_pids = text.get(..at)?.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
        let end = memchr::memmem::find(text, b"()) ").filter(|_| is_pids && at > 0)?;
        // A place has no blank.
        byte_search::find(text.get(..end)?, [b' ', b'\n']).is_none().then(|| text.get(end + 4..))?
    };
    behind().unwrap_or(text)
}
