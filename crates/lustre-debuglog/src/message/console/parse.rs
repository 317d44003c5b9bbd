//! Recognizes what a sentence tells.

use super::super::parse::MARKER;
use super::event::{ConsoleEvent, Voice};
use super::reason::Reason;
use super::words::{any_nid, device, has, is_no_space, without_number};
use super::{client, device as devices, eviction, server};
use crate::vocab::EventKind;

impl<'a> ConsoleEvent<'a> {
    /// What a text of Lustre or LNet tells, without prefix and place (`LustreError: 12:0:(file.c:1:f()) `); `None` if it tells of no event.
    #[must_use]
    pub fn parse(text: &'a [u8], voice: Voice) -> Option<Self> {
        let text = without_number(text.trim_ascii_end());
        if text.is_empty() || text.starts_with(MARKER) {
            return None;
        }
        let known = eviction::parse(text)
            .or_else(|| client::parse(text))
            .or_else(|| server::parse(text))
            .or_else(|| devices::parse(text));
        known.or_else(|| Self::unknown(text, voice))
    }

    /// What a line of the kernel itself tells, of a device or a task.
    #[must_use]
    pub fn parse_of_kernel(text: &'a [u8]) -> Option<Self> {
        devices::parse_of_kernel(text.trim_ascii_end())
    }

    /// Errors of other wordings.
    fn unknown(text: &'a [u8], voice: Voice) -> Option<Self> {
        let kind = match voice {
            _ if has(text, b"LBUG") || has(text, b"ASSERTION(") => EventKind::Lbug,
            Voice { is_error: false, .. } => return None,
            Voice { is_lnet: true, .. } => EventKind::LnetError,
            _ if is_no_space(text) => EventKind::NoSpace,
            _ => EventKind::Error,
        };
        let client = if kind == EventKind::LnetError { any_nid(text) } else { None };
        Some(Self::new(kind, device(text), client, Reason::Text(text)))
    }
}
