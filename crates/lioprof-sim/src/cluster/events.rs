//! What happens next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A process goes on with its program.
    Process(usize),
    /// A request is on its way: its sender says so.
    Sending(usize),
    /// A request reaches the server.
    Arrive(usize),
    /// Thread `.1` of service part `.0` looks for work.
    Thread(usize, usize),
    /// The thread has looked at request `.2`; it goes into the queue.
    Queue(usize, usize, usize),
    /// The scheduler lets a thread of service part `.0` have a request that it held back.
    Ready(usize),
    /// A handler goes on with its request.
    Step(usize),
    /// The reply reaches the sender.
    Reply(usize),
    /// A callback reaches its client.
    Callback(usize),
    /// The answer to a callback reaches the server.
    CallbackReply(usize),
    /// Mount `.0` gives back lock `.1`.
    Cancel(usize, usize),
    /// Nobody gave back lock `.0` with handle `.1` in time.
    LockTimeout(usize, u64),
    /// A callback has no answer for too long.
    CallbackTimeout(usize),
    /// The sender gives up waiting for request `.0` with xid `.1` and sends it again.
    Resend(usize, u64),
    /// What servers and clients do without being asked; the index of the timer.
    Timer(usize),
}

/// Events by time, then in the order in which they were made.
#[derive(Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<(u64, u64, Event)>>,
    sequence: u64,
}

impl Events {
    pub(crate) fn at(&mut self, time_us: u64, event: Event) {
        self.sequence += 1;
        self.heap.push(Reverse((time_us, self.sequence, event)));
    }

    /// When the next one is due; the end of time if there is none.
    pub(crate) fn next_us(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |Reverse((time_us, ..))| *time_us)
    }

    pub(crate) fn pop(&mut self) -> Option<(u64, Event)> {
        self.heap.pop().map(|Reverse((time_us, _, event))| (time_us, event))
    }
}
