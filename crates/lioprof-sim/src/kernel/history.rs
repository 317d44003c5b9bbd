//! Pages that the daemon has written, kept for a dump; and dumping and clearing.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use lioprof_model::lock;
use rustix::io::Errno;

use super::{CONTEXTS, Cause, Kernel, Level, Page};

impl Kernel {
    /// Keeps pages that need not be written any more.
    pub(super) fn remember(&self, pages: impl Iterator<Item = Box<Page>>) {
        if !self.config.version.one_history() {
            for page in pages {
                let mut stream = lock(self.stream_of(&page));
                stream.history.push_back(page);
                stream.trim_history(&self.pool);
            }
            return;
        }
        let limit = self.pages_per_cpu.load(Relaxed);
        let mut history = lock(&self.history);
        history.extend(pages);
        while history.len() > limit {
            if let Some(page) = history.pop_front() {
                self.pool.give(page);
            }
        }
    }

    /// Writes the buffer into a new file and empties it, `cfs_tracefile_dump_all_pages`.
    pub(super) fn dump_to(&self, path: &Path) -> Result<(), Errno> {
        let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(file) => file,
            Err(err) => {
                let errno = Errno::from_io_error(&err).unwrap_or(Errno::IO);
                let code = -errno.raw_os_error();
                let text = format!("LustreError: can't open {} for dump: rc = {code}", path.display());
                self.print(Level::Error, text);
                return Err(errno);
            }
        };
        let mut pages = Vec::new();
        self.collect_with_history(&mut pages);
        if pages.is_empty() {
            return Ok(());
        }
        if self.config.version.one_history() {
            pages.extend(lock(&self.history).drain(..));
        }
        let written = pages.iter().take_while(|page| self.dump_page(&mut file, page)).count();
        self.mark_lost(&mut pages[..written], Cause::Dumped);
        // What could not be written goes back, but for what is in the daemon's file already.
        for page in pages.drain(written..).rev() {
            if page.settled {
                self.pool.give(page);
            } else {
                lock(self.stream_of(&page)).pages.push_front(page);
            }
        }
        pages.into_iter().for_each(|page| self.pool.give(page));
        Ok(())
    }

    /// All pages in the order of a dump; before 2.14.56 each stream's history comes before its new pages.
    fn collect_with_history(&self, pages: &mut Vec<Box<Page>>) {
        for stream in self.streams.iter().rev() {
            let mut stream = lock(stream);
            pages.extend(stream.history.drain(..));
            pages.extend(stream.pages.drain(..));
        }
    }

    fn dump_page(&self, file: &mut File, page: &Page) -> bool {
        let result = file.write_all(page.used());
        if let Err(err) = &result {
            let code = -err.raw_os_error().unwrap_or(5);
            self.print(Level::Warning, format!("Lustre: wanted to write {} but wrote {code}", page.used().len()));
        }
        result.is_ok()
    }

    /// Throws away the buffer and the history.
    pub(super) fn discard_all(&self, cause: Cause) {
        let mut pages = Vec::new();
        self.collect_with_history(&mut pages);
        self.mark_lost(&mut pages, cause);
        pages.extend(lock(&self.history).drain(..));
        pages.into_iter().for_each(|page| self.pool.give(page));
    }

    /// Gives each stream its share of `pages` per CPU.
    pub(super) fn share_pages(&self, pages: usize) {
        for (index, stream) in self.streams.iter().enumerate() {
            lock(stream).max_pages = pages * super::node::SHARES[index % CONTEXTS] / 100;
        }
        self.pages_per_cpu.store(pages, Relaxed);
    }
}
