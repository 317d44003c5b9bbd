//! What threads have said of their requests, as texts: the lines at their ends repeat it.
//!
//! Hot: asked about every record. Each chunk begins without; what is not found is parsed. So a recognised line must become the very event
//! that parsing makes of it: nothing may depend on where chunks end.

use lustre_debuglog::Record;
use lustre_debuglog::message::{Handling, Repeated};

use super::event::{Body, RpcIds};

/// Threads remembered, each in the place of its pid.
const THREADS: usize = 64;

/// What a thread has said.
#[derive(Clone, Copy, Debug, Default)]
struct Thread<'a> {
    pid: u32,
    /// Behind `NRS start`.
    scheduled: Option<&'a [u8]>,
    started: Option<(Repeated<'a>, RpcIds)>,
}

#[derive(Debug)]
pub(super) struct Handlings<'a>(Box<[Thread<'a>; THREADS]>);

impl Default for Handlings<'_> {
    fn default() -> Self {
        Self(Box::new([Thread::default(); THREADS]))
    }
}

impl<'a> Handlings<'a> {
    /// Remembers that a scheduler, whose stop lines say nothing of their own, gave a thread a request.
    #[inline]
    pub(super) fn scheduled(&mut self, record: &Record<'a>) {
        self.thread(record.pid).scheduled = record.message().strip_prefix(b"NRS start");
    }

    /// Remembers the start of a request and what was made of it.
    #[inline]
    pub(super) fn started(&mut self, record: &Record<'a>, handling: &Handling<'a>, ids: RpcIds) {
        let repeated = Repeated::of(record.message(), handling);
        self.thread(record.pid).started = repeated.map(|repeated| (repeated, ids));
    }

    /// The event of a record that repeats what was said of the request that its thread handles; `Some(None)`: it is none.
    #[inline]
    pub(super) fn repeated(&mut self, record: &Record<'_>) -> Option<Option<Body>> {
        let text = record.message();
        match text.first_chunk()? {
            b"Hand" if text.starts_with(b"Handled") => {
                let (repeated, ids) = self.thread(record.pid).started?;
                Some(Some(Body::Handled(ids, repeated.outcome(text)?)))
            }
            b"NRS " => {
                let stopped = text.strip_prefix(b"NRS stop")?;
                (self.thread(record.pid).scheduled? == stopped).then_some(None)
            }
            _ => None,
        }
    }

    /// What is known of a thread; nothing if its place was another's.
    #[inline]
    fn thread(&mut self, pid: u32) -> &mut Thread<'a> {
        let thread = &mut self.0[pid as usize % THREADS];
        if thread.pid != pid {
            *thread = Thread { pid, ..Thread::default() };
        }
        thread
    }
}
