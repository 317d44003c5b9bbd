//! The requests that threads are handling, as texts: the lines at their ends repeat them.
//!
//! Hot: asked about every record. Each chunk begins without; what is not found is parsed.

use lustre_debuglog::Record;
use lustre_debuglog::message::{Handling, Outcome, Repeated};

use super::event::RpcIds;

/// Threads remembered, each in the place of its pid.
const PLACES: u32 = 64;

#[derive(Clone, Copy, Debug)]
struct Started<'a> {
    pid: u32,
    repeated: Repeated<'a>,
    ids: RpcIds,
}

#[derive(Debug)]
pub(super) struct Handlings<'a>([Option<Started<'a>>; PLACES as usize]);

impl Default for Handlings<'_> {
    fn default() -> Self {
        Self([None; PLACES as usize])
    }
}

impl<'a> Handlings<'a> {
    /// Remembers the start of a request and what was made of it.
    #[inline]
    pub(super) fn remember(&mut self, record: &Record<'a>, handling: &Handling<'a>, ids: RpcIds) {
        let started = |repeated| Started { pid: record.pid, repeated, ids };
        self.0[(record.pid % PLACES) as usize] = Repeated::of(record.message(), handling).map(started);
    }

    /// If a record is the end of the request whose start its thread has logged: the request, and what came of it.
    #[inline]
    pub(super) fn outcome(&self, record: &Record<'_>) -> Option<(RpcIds, Outcome)> {
        let text = record.message();
        if !text.starts_with(b"Handled") {
            return None;
        }
        let started = self.0[(record.pid % PLACES) as usize].as_ref().filter(|started| started.pid == record.pid)?;
        Some((started.ids, started.repeated.outcome(text)?))
    }
}
