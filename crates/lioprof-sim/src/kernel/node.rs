//! A server's kernel as far as debug messages go.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use lioprof_model::lock;
use lioprof_model::time::now_us;

use super::account::{Account, LossEvents};
use super::kmsg::KernelLog;
use super::ktracefiled::Daemon;
use super::masks::{self, Mask};
use super::stream::{Pool, Put, Stream};
use super::{Flush, Level, LustreVersion, PAGE_BYTES, Page, Parameters};
use crate::SimRecord;
use crate::bits::{ALWAYS, mask as mask_bits};

/// Process, softirq, hard irq.
pub(super) const CONTEXTS: usize = 3;

/// Their shares of the buffer, in percent.
pub(super) const SHARES: [usize; CONTEXTS] = [80, 10, 10];

/// Default size of the buffer per CPU.
pub(super) const DEFAULT_MIB_PER_CPU: usize = 5;

pub(super) const PAGES_PER_MIB: usize = (1 << 20) / PAGE_BYTES;

lioprof_model::with_defaults! {
    /// What kind of node is simulated.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct KernelConfig {
        /// Release of Lustre whose files and wordings the kernel has.
        pub version: LustreVersion = LustreVersion::default(),
        /// Possible CPUs; at least one.
        pub cpus: u16 = 2,
        /// Memory of the node, MiB: the debug buffer may take 80 % of it, or 512 MiB.
        pub ram_mib: usize = 64 << 10,
        /// When flush passes run.
        pub flush: Flush = Flush::Thread,
    }
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the buffer.
    Logged,
    /// The masks do not let it pass.
    Masked,
    /// It is longer than a page.
    Refused,
    /// The modules are not loaded.
    Unloaded,
}

/// A server's kernel. All methods may be called from any thread.
#[derive(Debug)]
pub struct Kernel {
    /// The configuration.
    pub(crate) config: KernelConfig,
    pub(super) loaded: AtomicBool,
    /// Also Lustre itself, not only LNet with the debug log.
    pub(super) with_lustre: AtomicBool,
    /// In the order of [`Mask`].
    pub(super) masks: [AtomicU32; 4],
    /// When one of them was last set, by the clock of this machine.
    pub(super) masks_set_us: AtomicI64,
    /// Index: CPU * 3 + context.
    pub(super) streams: Vec<Mutex<Stream>>,
    pub(super) pool: Pool,
    /// Pages that the daemon wrote, oldest first (since 2.14.56).
    pub(super) history: Mutex<VecDeque<Box<Page>>>,
    /// Share of one CPU in the buffer; also the limit of the history.
    pub(super) pages_per_cpu: AtomicUsize,
    /// The module parameters `libcfs_console_*`, `libcfs_debug_file_path` and the like.
    pub(super) parameters: Mutex<Parameters>,
    /// One command at a time.
    pub(super) control: Mutex<()>,
    pub(super) daemon: Daemon,
    pub(super) masked: AtomicU64,
    pub(super) losses: Mutex<LossEvents>,
    pub(super) log: KernelLog,
    pub(super) boot: Instant,
    pub(super) first_us: AtomicI64,
    pub(super) latest_us: AtomicI64,
    pub(super) step_us: AtomicI64,
}

impl Kernel {
    /// A kernel with the Lustre modules freshly loaded.
    #[must_use]
    pub fn new(config: KernelConfig) -> Arc<Self> {
        let config = KernelConfig { cpus: config.cpus.max(1), ..config };
        let pages = DEFAULT_MIB_PER_CPU * PAGES_PER_MIB;
        let streams = (0..config.cpus)
            .flat_map(|cpu| (0_u16..).zip(SHARES).map(move |(context, share)| (cpu, context, share)))
            .map(|(cpu, context, share)| Mutex::new(Stream::new(cpu, context, pages * share / 100)))
            .collect();
        Arc::new(Self {
            config,
            loaded: AtomicBool::new(true),
            with_lustre: AtomicBool::new(true),
            masks: masks::DEFAULTS.map(AtomicU32::new),
            masks_set_us: AtomicI64::new(i64::MIN),
            streams,
            pool: Pool::default(),
            history: Mutex::default(),
            pages_per_cpu: AtomicUsize::new(pages),
            parameters: Mutex::default(),
            control: Mutex::default(),
            daemon: Daemon::default(),
            masked: AtomicU64::new(0),
            losses: Mutex::default(),
            log: KernelLog::default(),
            boot: Instant::now(),
            first_us: AtomicI64::new(i64::MIN),
            latest_us: AtomicI64::new(i64::MIN),
            step_us: AtomicI64::new(0),
        })
    }

    /// The kernel log.
    #[must_use]
    pub fn kernel_log(&self) -> &KernelLog {
        &self.log
    }

    /// Whether Lustre itself is loaded, with its targets, and not only LNet.
    #[must_use]
    pub fn has_lustre(&self) -> bool {
        self.is_loaded() && self.with_lustre.load(Relaxed)
    }

    /// Whether the Lustre modules are loaded.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.loaded.load(Relaxed)
    }

    /// Whether the masks let such a message pass.
    #[must_use]
    pub fn passes(&self, subsystem: u32, mask: u32) -> bool {
        mask & ALWAYS != 0 || mask & self.mask(Mask::Debug) != 0 && subsystem & self.mask(Mask::SubsystemDebug) != 0
    }

    /// Logs a message with the record's time (moved by [`Self::step_clock`]).
    ///
    /// A CPU or context that the node does not have is folded into those that it has.
    pub fn log(&self, record: &SimRecord) -> Outcome {
        if !self.is_loaded() {
            return Outcome::Unloaded;
        }
        if !self.passes(record.subsystem, record.mask) {
            self.masked.fetch_add(1, Relaxed);
            return Outcome::Masked;
        }
        let time_us = record.time_us.saturating_add(self.step_us.load(Relaxed));
        if self.latest_us.swap(time_us, Relaxed) == i64::MIN {
            self.first_us.store(time_us, Relaxed);
        }
        self.simulated_time(time_us);
        let context = usize::from(record.context) % CONTEXTS;
        let index = usize::from(record.cpu % self.config.cpus) * CONTEXTS + context;
        let put = lock(&self.streams[index]).log(
            record,
            time_us,
            self.daemon.is_running(),
            !self.config.version.one_history(),
            &self.pool,
        );
        self.after(&put, record, time_us);
        if put.stored { Outcome::Logged } else { Outcome::Refused }
    }

    /// What follows from a record that was logged or not: wake-up, lines of the kernel log, account.
    pub(super) fn after(&self, put: &Put, record: &SimRecord, time_us: i64) {
        if put.wake {
            self.wake(time_us);
        }
        let prefix = self.config.version.kmsg_prefix();
        if let Some((discarded, of)) = put.overflow {
            let text = format!("{prefix}debug daemon buffer overflowed; discarding 10% of pages ({discarded} of {of})");
            self.print(Level::Warning, text);
        }
        if let Some(loss) = put.loss {
            lock(&self.losses).push(loss);
        }
        if let Some(len) = put.too_long {
            self.print(Level::Error, format!("LustreError: cowardly refusing to write {len} bytes in a page"));
        }
        if put.stored && record.text.last() != Some(&b'\n') {
            let (file, function) = (String::from_utf8_lossy(&record.file), String::from_utf8_lossy(&record.function));
            let text = format!("Lustre: format at {file}:{}:{function} doesn't end in newline", record.line);
            self.print(Level::Info, text);
        }
        let mask = if put.too_long.is_some() { record.mask | mask_bits::ERROR } else { record.mask };
        if mask & self.mask(Mask::Printk) != 0 || record.subsystem & self.mask(Mask::SubsystemPrintk) != 0 {
            self.console(record, mask);
        }
    }

    /// The copy of a message that goes to the kernel log, `cfs_print_to_console`.
    pub(super) fn console(&self, record: &SimRecord, mask: u32) {
        /// Subsystems lnet and lnd.
        const LNET: [u32; 2] = [0x400, 0x800];
        let name = if LNET.contains(&record.subsystem) { "LNet" } else { "Lustre" };
        let (level, error) = match mask {
            _ if mask & mask_bits::EMERG != 0 => (Level::Emergency, "Error"),
            _ if mask & mask_bits::ERROR != 0 => (Level::Error, "Error"),
            _ if mask & mask_bits::WARNING != 0 => (Level::Warning, ""),
            _ => (Level::Info, ""),
        };
        let text = String::from_utf8_lossy(&record.text);
        let text = text.trim_end_matches('\n');
        if mask & mask_bits::CONSOLE != 0 {
            self.print(level, format!("{name}{error}: {text}"));
        } else {
            let (file, function) = (String::from_utf8_lossy(&record.file), String::from_utf8_lossy(&record.function));
            let (pid, line) = (record.pid, record.line);
            self.print(level, format!("{name}{error}: {pid}:0:({file}:{line}:{function}()) {text}"));
        }
    }

    pub(super) fn print(&self, level: Level, text: String) {
        self.log.print(level, self.uptime_us(), text);
    }

    /// A line that a process writes to `/dev/kmsg`.
    pub(crate) fn print_from_user(&self, text: &[u8]) {
        self.print(Level::Info, String::from_utf8_lossy(text).trim_end_matches('\n').to_owned());
    }

    /// Time since boot; in simulated time since the first record.
    pub(crate) fn uptime_us(&self) -> u64 {
        if self.config.flush == Flush::Thread {
            return u64::try_from(self.boot.elapsed().as_micros()).unwrap_or(u64::MAX);
        }
        let (first, latest) = (self.first_us.load(Relaxed), self.latest_us.load(Relaxed));
        u64::try_from(latest.saturating_sub(first)).unwrap_or(0)
    }

    /// The server's clock: the time of the newest record, the computer's own clock before the first one.
    #[must_use]
    pub fn now_us(&self) -> i64 {
        match self.latest_us.load(Relaxed) {
            i64::MIN => now_us(),
            latest => latest,
        }
    }

    /// The time for a message of the control surface, before the clock's step is added.
    pub(super) fn marker_time_us(&self) -> i64 {
        match self.latest_us.load(Relaxed) {
            i64::MIN => now_us(),
            latest => latest.saturating_sub(self.step_us.load(Relaxed)),
        }
    }

    /// Sets the server's clock forward or back, as NTP does at a step.
    pub fn step_clock(&self, by_us: i64) {
        self.step_us.fetch_add(by_us, Relaxed);
        self.print(Level::Info, format!("lioprof-sim: clock stepped by {by_us} us"));
    }

    /// What was logged, written and lost so far. Waits for the end of a pass that is running.
    #[must_use]
    pub fn account(&self) -> Account {
        let pass = self.daemon.pass_lock();
        let mut account = Account {
            masked_records: self.masked.load(Relaxed),
            losses: lock(&self.losses).clone(),
            file: pass.writer.account,
            ..Account::default()
        };
        for stream in &self.streams {
            account.add_stream(lock(stream).account_now());
        }
        account
    }
}
