//! Rows made on one thread and summed up on another.
//!
//! The join needs all events in order, and the sums need all rows in order, but not at the same time: with a second
//! thread at hand, rows are passed on in batches. What arrives, and in which order, is the same as without.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lioprof_model::{ClientEvent, HalfRpc, LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbols};
use rayon::Scope;

/// Rows in a batch.
const BATCH: usize = 512;
/// Batches that may wait: about 2 MB.
const MAX_WAITING: usize = 16;

/// What a [`RowSink`] takes.
enum Item {
    Rpc(RpcRow),
    LockEvent(LockEvent),
    SentRpc(SentRpc),
    HalfRpc(HalfRpc),
    ClientEvent(ClientEvent),
    Mark(Mark),
}

#[derive(Default)]
struct Batch {
    /// Strings that have become known since the batch before.
    texts: Vec<Box<[u8]>>,
    items: Vec<Item>,
}

/// Where rows arrive.
struct Receiver<'a> {
    /// The same table as the sender's, as far as it is needed.
    symbols: Symbols,
    sink: &'a mut (dyn RowSink + Send),
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Batch>,
    /// Some thread is taking batches out, or will soon.
    served: bool,
    /// Emptied batches.
    emptied: Vec<Batch>,
}

struct Shared<'a> {
    queue: Mutex<Queue>,
    receiver: Mutex<Receiver<'a>>,
}

impl Shared<'_> {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing that can panic is done under this lock.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands on all batches that wait. Runs on one thread at a time.
    fn serve(&self) {
        let Ok(mut receiver) = self.receiver.lock() else { return };
        let mut emptied = None;
        loop {
            let mut queue = self.queue();
            queue.emptied.extend(emptied);
            let Some(mut batch) = queue.waiting.pop_front() else {
                queue.served = false;
                return;
            };
            drop(queue);
            let Receiver { symbols, sink } = &mut *receiver;
            for text in batch.texts.drain(..) {
                symbols.intern(&text);
            }
            for item in batch.items.drain(..) {
                match item {
                    Item::Rpc(row) => sink.rpc(&row, symbols),
                    Item::LockEvent(event) => sink.lock_event(&event, symbols),
                    Item::SentRpc(sent) => sink.sent_rpc(&sent, symbols),
                    Item::ClientEvent(event) => sink.client_event(&event, symbols),
                    Item::HalfRpc(half) => sink.half_rpc(&half, symbols),
                    Item::Mark(mark) => sink.mark(&mark, symbols),
                }
            }
            emptied = Some(batch);
        }
    }
}

/// Collects rows and passes them on.
struct Sender<'scope, 'env, 'sink> {
    scope: &'env Scope<'scope>,
    shared: &'scope Shared<'sink>,
    batch: Batch,
    /// Strings passed on so far.
    symbols: usize,
}

impl<'scope, 'sink: 'scope> Sender<'scope, '_, 'sink> {
    fn add(&mut self, item: Item, symbols: &Symbols) {
        self.batch.items.push(item);
        if self.batch.items.len() >= BATCH {
            self.send(symbols);
        }
    }

    fn send(&mut self, symbols: &Symbols) {
        self.batch.texts.extend(symbols.since(self.symbols).map(Into::into));
        self.symbols = symbols.len();
        let mut queue = self.shared.queue();
        let emptied = queue.emptied.pop().unwrap_or_default();
        queue.waiting.push_back(mem::replace(&mut self.batch, emptied));
        let idle = !mem::replace(&mut queue.served, true);
        drop(queue);
        if idle {
            let shared = self.shared;
            self.scope.spawn(move |_| shared.serve());
        }
        self.wait_for_room();
    }

    /// Does other work until fewer batches wait: decoding, or serving the queue itself.
    fn wait_for_room(&self) {
        while self.shared.queue().waiting.len() >= MAX_WAITING {
            // After a panic of the receiver, which the scope passes on at its end, nobody takes anything any more.
            if self.shared.receiver.is_poisoned() {
                self.shared.queue().waiting.clear();
            }
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                std::thread::sleep(Duration::from_micros(20));
            }
        }
    }
}

impl<'scope, 'sink: 'scope> RowSink for Sender<'scope, '_, 'sink> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.add(Item::Rpc(row.clone()), symbols);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        self.add(Item::LockEvent(event.clone()), symbols);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.add(Item::SentRpc(sent.clone()), symbols);
    }

    fn client_event(&mut self, event: &ClientEvent, symbols: &Symbols) {
        self.add(Item::ClientEvent(*event), symbols);
    }

    fn half_rpc(&mut self, half: &HalfRpc, symbols: &Symbols) {
        self.add(Item::HalfRpc(*half), symbols);
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.add(Item::Mark(*mark), symbols);
    }
}

/// Lets `make` put rows into `sink`, on another thread if there are two for it in the pool. All rows have arrived when this returns.
///
/// Must run on a thread of the pool.
pub fn with_sink_thread<R>(
    threads: usize,
    symbols: &mut Symbols,
    sink: &mut (dyn RowSink + Send),
    make: impl FnOnce(&mut Symbols, &mut dyn RowSink) -> R,
) -> R {
    if threads.min(rayon::current_num_threads()) < 2 {
        return make(symbols, sink);
    }
    let receiver = Mutex::new(Receiver { symbols: symbols.clone(), sink });
    let shared = Shared { queue: Mutex::default(), receiver };
    rayon::in_place_scope(|scope| {
        let mut sender = Sender { scope, shared: &shared, batch: Batch::default(), symbols: symbols.len() };
        let result = make(symbols, &mut sender);
        sender.send(symbols);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lioprof_model::Symbol;

    /// Keeps the texts of marks.
    #[derive(Default)]
    struct Texts(Vec<Vec<u8>>);

    impl RowSink for Texts {
        fn rpc(&mut self, _: &RpcRow, _: &Symbols) {}

        fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
            assert!(mark.text.0 != 13 || mark.time_us != 666_666, "asked to panic");
            self.0.push(symbols.bytes(mark.text).to_vec());
        }
    }

    fn marks(threads: usize, count: i64, sink: &mut Texts, panic_at: Option<i64>) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut symbols = Symbols::default();
            let node = symbols.intern(b"node");
            with_sink_thread(threads, &mut symbols, sink, |symbols, sink| {
                for n in 0..count {
                    let text = symbols.intern(format!("mark {}", n % 5_000).as_bytes());
                    sink.mark(&Mark { node, time_us: n, text }, symbols);
                    if panic_at == Some(n) {
                        sink.mark(&Mark { node, time_us: 666_666, text: Symbol(13) }, symbols);
                    }
                }
            });
        });
    }

    #[test]
    fn everything_arrives_in_order_with_its_strings() {
        for threads in [1, 2, 3] {
            let mut sink = Texts::default();
            marks(threads, 40_000, &mut sink, None);
            let want = (0..40_000).map(|n| format!("mark {}", n % 5_000).into_bytes());
            assert!(sink.0.iter().cloned().eq(want), "{threads} threads");
        }
    }

    #[test]
    #[should_panic(expected = "asked to panic")]
    fn a_panic_of_the_receiver_is_passed_on() {
        marks(2, 100_000, &mut Texts::default(), Some(2_000));
    }
}
