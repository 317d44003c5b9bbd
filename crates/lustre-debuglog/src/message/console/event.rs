//! What a sentence tells, and who wrote it.

use super::reason::Reason;
use crate::record::{Record, mask, subsystem};
use crate::vocab::EventKind;

/// What a sentence tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsoleEvent<'a> {
    /// What happened.
    pub kind: EventKind,
    /// Name of the target, as far as the sentence has one: `lustre-OST0003`, `MGS`.
    pub target: Option<&'a [u8]>,
    /// NID of the client; for errors of LNet that of the peer.
    pub client: Option<&'a [u8]>,
    /// Why, or what else the sentence says.
    pub reason: Reason<'a>,
    /// Another sentence of the same node tells of the same event, and says more.
    pub is_echo: bool,
}

/// Who wrote a sentence, and how loud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voice {
    /// An error (`LustreError`, `LNetError`), not a warning or a remark.
    pub is_error: bool,
    /// LNet or a network driver, not Lustre.
    pub is_lnet: bool,
}

impl Voice {
    /// Of a record of the debug log: as the kernel log's prefix tells it (`libcfs/tracefile.c`, `dbghdr_to_err_string`).
    #[must_use]
    pub fn of(record: &Record<'_>) -> Self {
        Self {
            is_error: record.mask & (mask::ERROR | mask::EMERG | mask::NETERROR) != 0,
            is_lnet: record.subsystem & (subsystem::LNET | subsystem::LND) != 0,
        }
    }
}

impl<'a> ConsoleEvent<'a> {
    pub(super) fn new(kind: EventKind, target: Option<&'a [u8]>, client: Option<&'a [u8]>, reason: Reason<'a>) -> Self {
        Self { kind, target, client, reason, is_echo: false }
    }

    pub(super) fn echo(self) -> Self {
        Self { is_echo: true, ..self }
    }
}
