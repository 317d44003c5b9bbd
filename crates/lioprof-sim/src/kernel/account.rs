//! What the kernel logged, wrote and lost: the truth that a capture's loss account is compared with.

use lioprof_model::merge::{earliest, latest};
use serde::Serialize;

use super::Page;

/// Loss events kept with their time range; later ones are only counted.
const KEEP_EVENTS: usize = 10_000;

/// Why records never reached the daemon's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The buffer was full while the daemon ran: 10 % of its pages were discarded.
    Overflow,
    /// The buffer was full and no daemon ran: the oldest page was used again.
    RingReused,
    /// The daemon's file could not be opened in that pass.
    OpenFailed,
    /// Somebody dumped the log (`dump_kernel`, `lctl dk`).
    Dumped,
    /// Somebody cleared the log.
    Cleared,
    /// The modules were unloaded.
    Unloaded,
}

/// Records, and what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Number of pages.
    pub pages: u64,
    /// Number of records.
    pub records: u64,
    /// Those whose text begins with `Handled RPC`.
    pub handled_rpcs: u64,
    /// Bytes as in the file.
    pub bytes: u64,
    /// Time of the first record, microseconds since the epoch.
    pub first_us: Option<i64>,
    /// Time of the last one.
    pub last_us: Option<i64>,
}

impl Tally {
    pub(super) fn add_page(&mut self, page: &Page) {
        self.pages += 1;
        self.records += u64::from(page.records);
        self.handled_rpcs += u64::from(page.handled_rpcs);
        self.bytes += page.used().len() as u64;
        if page.records > 0 {
            self.cover(page.first_us, page.last_us);
        }
    }

    /// Adds a page unless its records are accounted for already.
    pub(super) fn add_unsettled(&mut self, page: &Page) {
        if !page.settled {
            self.add_page(page);
        }
    }

    pub(super) fn add_record(&mut self, bytes: u64, handled: bool, time_us: i64) {
        self.records += 1;
        self.handled_rpcs += u64::from(handled);
        self.bytes += bytes;
        self.cover(time_us, time_us);
    }

    fn cover(&mut self, first_us: i64, last_us: i64) {
        earliest(&mut self.first_us, &Some(first_us));
        latest(&mut self.last_us, &Some(last_us));
    }
}

lioprof_model::merge_fields!(Tally { pages, records, handled_rpcs, bytes } by { first_us: earliest, last_us: latest });

/// What became of the records of one stream, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// See [`Cause::Overflow`].
    pub overflow: Tally,
    /// See [`Cause::RingReused`].
    pub ring_reused: Tally,
    /// See [`Cause::OpenFailed`].
    pub open_failed: Tally,
    /// See [`Cause::Dumped`].
    pub dumped: Tally,
    /// See [`Cause::Cleared`].
    pub cleared: Tally,
    /// See [`Cause::Unloaded`].
    pub unloaded: Tally,
}

lioprof_model::merge_fields!(Lost { overflow, ring_reused, open_failed, dumped, cleared, unloaded });

impl Lost {
    /// In the order of [`Cause`].
    fn by_cause(&mut self) -> [&mut Tally; 6] {
        let Self { overflow, ring_reused, open_failed, dumped, cleared, unloaded } = self;
        [overflow, ring_reused, open_failed, dumped, cleared, unloaded]
    }

    /// All causes together.
    #[must_use]
    pub fn total(mut self) -> Tally {
        let mut sum = Tally::default();
        self.by_cause().into_iter().for_each(|part| sum.merge(part));
        sum
    }
}

/// The account of one stream: one CPU, one context.
///
/// `logged.records = written.records + lost.total().records + pending.records`, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StreamAccount {
    /// Number of the CPU.
    pub cpu: u16,
    /// 0 process, 1 softirq, 2 hard irq.
    pub context: u16,
    /// Put into the buffer (its `pages` are not counted).
    pub logged: Tally,
    /// Written to the daemon's file, each page counted once.
    pub written: Tally,
    /// Written again because a write failed.
    pub repeated: Tally,
    /// Never in the file.
    pub lost: Lost,
    /// In the buffer now.
    pub pending: Tally,
    /// Not logged because longer than a page.
    pub refused_records: u64,
}

impl StreamAccount {
    pub(super) fn lose(&mut self, cause: Cause, page: &Page) {
        self.lost.by_cause()[cause as usize].add_unsettled(page);
    }
}

/// One loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LossEvent {
    /// Number of the CPU.
    pub cpu: u16,
    /// 0 process, 1 softirq, 2 hard irq.
    pub context: u16,
    /// Why the records were lost.
    pub cause: Cause,
    /// How many records were lost, and of what time.
    pub what: Tally,
}

/// Losses in the order in which they happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LossEvents {
    /// The first ones.
    pub events: Vec<LossEvent>,
    /// Number of later losses, of which only the sums were kept.
    pub omitted: u64,
}

impl LossEvents {
    pub(super) fn push(&mut self, event: LossEvent) {
        if self.events.len() < KEEP_EVENTS {
            self.events.push(event);
        } else {
            self.omitted += 1;
        }
    }
}

/// What was done to the daemon's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileAccount {
    /// Passes that wrote something.
    pub passes: u64,
    /// Bytes written, pages written again included.
    pub bytes: u64,
    /// Bytes of pages of which only a part could be written.
    pub torn_bytes: u64,
    /// Bytes that replaced older ones after the position went back to 0 at the size limit.
    pub overwritten_bytes: u64,
    /// Times that the position went back to 0 at the size limit.
    pub wraps: u64,
}

/// The whole account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Account {
    /// One entry for each stream that logged something.
    pub streams: Vec<StreamAccount>,
    /// All streams together.
    pub total: StreamAccount,
    /// Messages that the masks did not let through.
    pub masked_records: u64,
    /// Losses one by one. Pages used again without a daemon are only in the sums.
    pub losses: LossEvents,
    /// What was written.
    pub file: FileAccount,
}

impl Account {
    pub(super) fn add_stream(&mut self, stream: StreamAccount) {
        let total = &mut self.total;
        total.logged.merge(&stream.logged);
        total.written.merge(&stream.written);
        total.repeated.merge(&stream.repeated);
        total.pending.merge(&stream.pending);
        total.refused_records += stream.refused_records;
        total.lost.merge(&stream.lost);
        if stream.logged.records + stream.refused_records > 0 {
            self.streams.push(stream);
        }
    }
}
