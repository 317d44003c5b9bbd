//! The state of the kernel's thread that writes the debug daemon's file.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use lioprof_model::lock;

use super::{Page, Writer};

/// Longest sleep between two passes.
pub(super) const PERIOD: Duration = Duration::from_secs(1);

/// No pass is due.
pub(super) const NEVER: i64 = i64::MAX;

/// When flush passes run while the debug daemon is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flush {
    /// By a thread: once a second, and when a stream holds more than 8 pages.
    #[default]
    Thread,
    /// By the time of the records, inside `Kernel::log`: the same program always gives the same file.
    Simulated {
        /// Longest time between two passes.
        period_us: i64,
        /// How long it takes from the wake-up of the thread to its pass.
        latency_us: i64,
    },
    /// Only by `Kernel::flush_pass`, and the last one by stopping the daemon.
    Manual,
}

lioprof_model::with_defaults! {
    /// State of the debug daemon.
    #[derive(Debug)]
    pub(super) struct Daemon {
        pub(super) path: Mutex<Vec<u8>> = Mutex::default(),
        pub(super) size: AtomicU64 = AtomicU64::new(DEFAULT_SIZE),
        pub(super) running: AtomicBool = AtomicBool::new(false),
        pub(super) stopping: AtomicBool = AtomicBool::new(false),
        pub(super) woken: AtomicBool = AtomicBool::new(false),
        /// The thread does nothing (but for the last pass): a busy or slow machine.
        pub(super) stalled: AtomicBool = AtomicBool::new(false),
        pub(super) thread: Mutex<Option<JoinHandle<()>>> = Mutex::default(),
        pub(super) sleeper: Mutex<Option<Thread>> = Mutex::default(),
        pub(super) next_pass_us: AtomicI64 = AtomicI64::new(NEVER),
        pub(super) pass: Mutex<Pass> = Mutex::default(),
    }
}

/// What belongs to a pass; who holds it is the only one that writes.
#[derive(Debug, Default)]
pub(super) struct Pass {
    pub(super) writer: Writer,
    /// Pages taken from the buffers, reused between passes.
    pub(super) batch: Vec<Box<Page>>,
}

impl Daemon {
    pub(super) fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed)
    }

    pub(super) fn pass_lock(&self) -> MutexGuard<'_, Pass> {
        lock(&self.pass)
    }
}

/// Size limit of the file when none was set.
pub(super) const DEFAULT_SIZE: u64 = 500 << 20;
