//! The buffer of one CPU and context: a list of pages (`struct cfs_trace_cpu_data` of libcfs `tracefile.c`).

use std::collections::VecDeque;
use std::sync::Mutex;

use lioprof_model::lock;

use super::account::StreamAccount;
use super::page::known_bytes;
use super::{Cause, LossEvent, PAGE_BYTES, Page, Tally};
use crate::SimRecord;

/// The kernel first asks for room for a text of this length, and again if the text turns out longer.
const USUAL_TEXT_BYTES: usize = 85;
/// `ktracefiled` is woken when a stream holds more pages than this.
const WAKE_ABOVE_PAGES: usize = 8;
/// Free pages kept for all streams together.
const POOL_PAGES: usize = 16 * 1024;

/// Pages that nobody uses, so that logging does not allocate.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Vec<Box<Page>>>);

impl Pool {
    fn take(&self, cpu: u16, context: u16) -> Box<Page> {
        match lock(&self.0).pop() {
            Some(mut page) => {
                page.reset(cpu, context);
                page
            }
            None => Page::new(cpu, context),
        }
    }

    pub(super) fn give(&self, page: Box<Page>) {
        let mut pages = lock(&self.0);
        if pages.len() < POOL_PAGES {
            pages.push(page);
        }
    }
}

/// What logging one record led to.
#[derive(Debug, Default)]
pub(super) struct Put {
    /// The record is in the buffer.
    pub(super) stored: bool,
    /// `ktracefiled` has to be woken.
    pub(super) wake: bool,
    /// The buffer was full while the daemon ran; the number of pages discarded and of pages before that.
    pub(super) overflow: Option<(usize, usize)>,
    /// What was lost.
    pub(super) loss: Option<LossEvent>,
    /// It needs this much room, more than a page has.
    pub(super) too_long: Option<usize>,
}

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) pages: VecDeque<Box<Page>>,
    pub(super) max_pages: usize,
    /// Pages that the daemon wrote or discarded, oldest first (versions before 2.14.56).
    pub(super) history: VecDeque<Box<Page>>,
    pub(super) account: StreamAccount,
}

impl Stream {
    pub(super) fn new(cpu: u16, context: u16, max_pages: usize) -> Self {
        let account = StreamAccount { cpu, context, ..StreamAccount::default() };
        Self { pages: VecDeque::new(), max_pages, history: VecDeque::new(), account }
    }

    /// Logs a record, `libcfs_debug_msg`. `keeps_history`: discarded pages go to [`Self::history`].
    pub(super) fn log(
        &mut self,
        record: &SimRecord,
        time_us: i64,
        daemon: bool,
        keeps_history: bool,
        pool: &Pool,
    ) -> Put {
        let mut put = Put::default();
        // Before room is made: with the daemon stopped, a record that takes the place of the oldest is no first one.
        let first = self.pages.is_empty();
        let known = known_bytes(record);
        let mut text = USUAL_TEXT_BYTES;
        for _ in 0..2 {
            let len = text + known + 1;
            if len > PAGE_BYTES {
                self.account.refused_records += 1;
                put.too_long = Some(len);
                return put;
            }
            self.make_room(len, daemon, keeps_history, pool, &mut put);
            let room = self.pages.back().map_or(0, |page| page.free_bytes()).saturating_sub(known);
            text = record.text.len();
            if text < room {
                break;
            }
        }
        let Some(page) = self.pages.back_mut() else { return put };
        let before = page.used().len();
        let handled = page.handled_rpcs;
        page.push(record, time_us, first);
        let bytes = (page.used().len() - before) as u64;
        let handled = page.handled_rpcs > handled;
        self.account.logged.add_record(bytes, handled, time_us);
        put.stored = true;
        put
    }

    /// Sees to it that the last page has `len` bytes left.
    fn make_room(&mut self, len: usize, daemon: bool, keeps_history: bool, pool: &Pool, put: &mut Put) {
        if self.pages.back().is_some_and(|page| page.free_bytes() >= len) {
            return;
        }
        let (cpu, context) = (self.account.cpu, self.account.context);
        if self.pages.len() < self.max_pages {
            self.pages.push_back(pool.take(cpu, context));
            put.wake |= daemon && self.pages.len() > WAKE_ABOVE_PAGES;
            return;
        }
        let mut lost = Tally::default();
        if daemon {
            let discard = self.pages.len() / 10;
            // The page that is used again just below counts, too.
            put.overflow = Some((discard + 1, self.pages.len()));
            for mut page in self.pages.drain(..discard) {
                lost.add_unsettled(&page);
                self.account.lose(Cause::Overflow, &page);
                page.settled = true;
                if keeps_history {
                    self.history.push_back(page);
                } else {
                    pool.give(page);
                }
            }
            self.trim_history(pool);
        }
        if let Some(mut page) = self.pages.pop_front() {
            lost.add_unsettled(&page);
            self.account.lose(if daemon { Cause::Overflow } else { Cause::RingReused }, &page);
            page.reset(cpu, context);
            self.pages.push_back(page);
        }
        if daemon {
            put.loss = Some(LossEvent { cpu, context, cause: Cause::Overflow, what: lost });
        }
    }

    /// Keeps no more history than there may be pages.
    pub(super) fn trim_history(&mut self, pool: &Pool) {
        while self.history.len() > self.max_pages {
            if let Some(page) = self.history.pop_front() {
                pool.give(page);
            }
        }
    }

    /// The account with what is in the buffer now.
    pub(super) fn account_now(&self) -> StreamAccount {
        let mut account = self.account;
        for page in &self.pages {
            account.pending.add_unsettled(page);
        }
        account
    }
}
