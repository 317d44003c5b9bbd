//! `ktracefiled`: the thread that brings the buffer into a file, pass by pass.

use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::{self};
use std::time::Duration;

use lioprof_model::lock;

use super::file::Short;
use super::ktracefiled::{NEVER, PERIOD, Pass};
use super::{CONTEXTS, Cause, Flush, Kernel, Level, LossEvent, Page, Tally, Writer};

impl Kernel {
    /// Whether the debug daemon runs.
    #[must_use]
    pub fn daemon_runs(&self) -> bool {
        self.daemon.is_running()
    }

    /// Makes the thread do nothing, or go on: for tests of overflow.
    pub fn stall_daemon(&self, stalled: bool) {
        self.daemon.stalled.store(stalled, Ordering::Relaxed);
    }

    /// Pretends that the disk takes only so many more bytes of the daemon's file; `None`: it is not full.
    pub fn limit_disk(&self, room_bytes: Option<u64>) {
        self.daemon.pass_lock().writer.room = room_bytes;
    }

    pub(super) fn start_thread(self: &Arc<Self>) -> std::io::Result<()> {
        if self.daemon.is_running() {
            return Ok(());
        }
        self.daemon.stopping.store(false, Ordering::Relaxed);
        self.daemon.next_pass_us.store(NEVER, Ordering::Relaxed);
        if self.config.flush == Flush::Thread {
            let kernel = Arc::clone(self);
            let handle = thread::Builder::new().name("ktracefiled".to_owned()).spawn(move || kernel.thread_main())?;
            *lock(&self.daemon.sleeper) = Some(handle.thread().clone());
            *lock(&self.daemon.thread) = Some(handle);
        }
        self.daemon.running.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Stops the thread; returns after its last pass.
    pub(super) fn stop_thread(&self) {
        if !self.daemon.running.swap(false, Ordering::Relaxed) {
            return;
        }
        self.print(Level::Info, "Lustre: shutting down debug daemon thread...".to_owned());
        self.daemon.stopping.store(true, Ordering::Release);
        match lock(&self.daemon.thread).take() {
            Some(handle) => {
                handle.thread().unpark();
                if handle.join().is_err() {
                    self.print(Level::Error, "lioprof-sim: ktracefiled has panicked".to_owned());
                }
            }
            None => self.pass(),
        }
        *lock(&self.daemon.sleeper) = None;
    }

    fn thread_main(&self) {
        loop {
            if !self.daemon.woken.load(Ordering::Acquire) && !self.daemon.stopping.load(Ordering::Acquire) {
                thread::park_timeout(PERIOD);
            }
            self.daemon.woken.store(false, Ordering::Release);
            let last = self.daemon.stopping.load(Ordering::Acquire);
            if last || !self.daemon.stalled.load(Ordering::Relaxed) {
                self.pass();
            } else {
                thread::park_timeout(Duration::from_millis(1));
            }
            if last {
                return;
            }
        }
    }

    /// A stream holds more than 8 pages.
    pub(super) fn wake(&self, time_us: i64) {
        match self.config.flush {
            Flush::Thread => {
                if !self.daemon.woken.swap(true, Ordering::AcqRel)
                    && let Some(thread) = &*lock(&self.daemon.sleeper)
                {
                    thread.unpark();
                }
            }
            Flush::Simulated { latency_us, .. } => {
                let due = time_us.saturating_add(latency_us);
                self.daemon.next_pass_us.fetch_min(due, Ordering::Relaxed);
            }
            Flush::Manual => {}
        }
    }

    /// In simulated time: does the pass that is due before a record of `time_us`.
    pub(super) fn simulated_time(&self, time_us: i64) {
        let Flush::Simulated { period_us, .. } = self.config.flush else { return };
        if !self.daemon.is_running() {
            return;
        }
        let due = self.daemon.next_pass_us.load(Ordering::Relaxed);
        if due != NEVER && time_us < due {
            return;
        }
        if due != NEVER && !self.daemon.stalled.load(Ordering::Relaxed) {
            self.pass();
        }
        self.daemon.next_pass_us.store(time_us.saturating_add(period_us), Ordering::Relaxed);
    }

    /// One flush pass, if the daemon runs.
    pub fn flush_pass(&self) {
        if self.daemon.is_running() {
            self.pass();
        }
    }

    fn pass(&self) {
        let mut pass = self.daemon.pass_lock();
        let Pass { writer, batch } = &mut *pass;
        self.collect(batch);
        if batch.is_empty() {
            return;
        }
        match self.open() {
            None => {
                self.mark_lost(batch, Cause::OpenFailed);
                self.remember(batch.drain(..));
            }
            Some(file) => {
                writer.account.passes += 1;
                let written = self.write_pages(writer, batch, &file);
                self.finish(batch, written);
            }
        }
    }

    /// Takes all pages: the highest CPU first, within it irq, softirq, process; the oldest page of each first.
    pub(super) fn collect(&self, batch: &mut Vec<Box<Page>>) {
        for stream in self.streams.iter().rev() {
            batch.extend(lock(stream).pages.drain(..));
        }
    }

    /// Opens the file by its path, in every pass anew.
    fn open(&self) -> Option<File> {
        let path = lock(&self.daemon.path).clone();
        if path.is_empty() {
            return None;
        }
        let path = Path::new(std::ffi::OsStr::from_bytes(&path));
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        opened
            .inspect_err(|err| {
                let code = -err.raw_os_error().unwrap_or(5);
                let rc = if self.config.version.one_history() { "rc = " } else { "" };
                let prefix = self.config.version.kmsg_prefix();
                self.print(Level::Warning, format!("{prefix}couldn't open {}: {rc}{code}", path.display()));
            })
            .ok()
    }

    /// Writes page by page until one fails; returns how many are in the file.
    fn write_pages(&self, writer: &mut Writer, batch: &[Box<Page>], file: &File) -> usize {
        for (index, page) in batch.iter().enumerate() {
            let limit = self.daemon.size.load(Ordering::Relaxed);
            if let Err(Short(wrote)) = writer.write(file, page, limit) {
                let prefix = self.config.version.kmsg_prefix();
                let wanted = page.used().len();
                self.print(Level::Warning, format!("{prefix}wanted to write {wanted} but wrote {wrote}"));
                return index;
            }
        }
        batch.len()
    }

    /// Accounts for what was written and puts back what has to be written (again).
    fn finish(&self, batch: &mut Vec<Box<Page>>, written: usize) {
        for page in &mut batch[..written] {
            let mut stream = lock(self.stream_of(page));
            let tally = if page.settled { &mut stream.account.repeated } else { &mut stream.account.written };
            tally.add_page(page);
            page.settled = true;
        }
        let done = if written == batch.len() || self.config.version.one_history() { written } else { 0 };
        for page in batch.drain(done..).rev() {
            lock(self.stream_of(&page)).pages.push_front(page);
        }
        self.remember(batch.drain(..));
    }

    pub(super) fn mark_lost(&self, pages: &mut [Box<Page>], cause: Cause) {
        for run in pages.chunk_by_mut(|a, b| (a.cpu, a.context) == (b.cpu, b.context)) {
            let (cpu, context) = (run[0].cpu, run[0].context);
            let mut what = Tally::default();
            let mut stream = lock(self.stream_of(&run[0]));
            for page in run {
                what.add_unsettled(page);
                stream.account.lose(cause, page);
                page.settled = true;
            }
            if what.pages > 0 {
                lock(&self.losses).push(LossEvent { cpu, context, cause, what });
            }
        }
    }

    pub(super) fn stream_of(&self, page: &Page) -> &Mutex<super::stream::Stream> {
        &self.streams[usize::from(page.cpu) * CONTEXTS + usize::from(page.context)]
    }
}
