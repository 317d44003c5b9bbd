//! Where rows go.

use lioprof_model::{NEVER_ON_DISK, RowSink, Symbols, TraceSummary};
use lioprof_trace::HandedOn;

use super::DrainError;
use crate::counters::Sample;

/// A part of a capture that is being written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartSize {
    /// Rows in it.
    pub(crate) rows: u64,
    /// Bytes that it will take on disk, about.
    pub(crate) bytes: u64,
}

/// A part of a capture that is safe on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WrittenPart {
    /// Number of RPCs.
    pub(crate) rpcs: u64,
    /// Rows of all kinds.
    pub(crate) rows: u64,
    /// Number of files.
    pub(crate) files: u64,
    /// Bytes in these files.
    pub(crate) bytes: u64,
}

/// What is known of a part besides its rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartFacts {
    /// What the log of this part held.
    pub(crate) summary: TraceSummary,
    /// What of the log is in this part or an earlier one.
    pub(crate) known: Option<HandedOn>,
    /// Name of the last segment that was counted in `summary`.
    pub(crate) last_segment: Option<String>,
    /// Stretches that were given up, first to last record where known.
    pub(crate) given_up: Vec<GivenUp>,
    /// Tracing was interrupted, and all that the kernel wrote until then is in this part or an earlier one.
    pub(crate) interrupted: bool,
}

/// Why part of the log was lost before it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhyGivenUp {
    /// Too much waited to be decoded.
    Behind,
    /// Too much waited while rows could not be written, without which nothing is decoded.
    Unwritten,
    /// Somebody deleted or truncated the file.
    Vanished,
    /// The file could not be read.
    Unreadable,
    /// The node went down, and the kernel had not written it to disk by then.
    NeverOnDisk,
}

impl WhyGivenUp {
    /// A sentence for people.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Behind => "decoding could not keep up",
            Self::Unwritten => "rows could not be written, and no more log could wait for that",
            Self::Vanished => "the file vanished: somebody else deleted or truncated it",
            Self::Unreadable => "the file could not be read",
            Self::NeverOnDisk => NEVER_ON_DISK,
        }
    }
}

/// A segment, or a part of one, that was lost unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenUp {
    /// Why it was given up.
    pub(crate) why: WhyGivenUp,
    /// Its bytes, at least.
    pub(crate) bytes: u64,
    /// RPCs whose end is in it; 0 if it could not be read.
    pub(crate) rpcs: u64,
    /// Time of its first record, or from when on it may have had records.
    pub(crate) first_us: Option<i64>,
    /// Time of its last record, or until when it may have had records.
    pub(crate) last_us: Option<i64>,
}

/// What is traced when a sample of the counters is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traced {
    /// Everything, from this sample or an earlier one on.
    GoesOn,
    /// Everything until this sample.
    Ends,
    /// Not everything.
    Nothing,
}

/// Keeps rows, part by part. A part is there completely or not at all.
pub(crate) trait Keep: RowSink + Send {
    /// How large the part has become.
    fn part(&mut self) -> PartSize;

    /// Makes the part durable and begins the next.
    /// Fails if it could not be written: then nothing of it is there.
    fn close(&mut self, facts: PartFacts) -> Result<WrittenPart, DrainError>;

    /// Gives up the rows of the part that is being written; they will come again.
    fn discard(&mut self);

    /// Takes a sample of the server's own counters.
    fn counters(&mut self, sample: &Sample, traced: Traced) {
        let _ = (sample, traced);
    }

    /// There will be no more rows.
    fn finish(&mut self) {}

    /// Rows of another segment come next.
    fn begin_segment(&mut self) {}

    /// Every RPC that began before this time has been handed on, but for those that were lost, and `unfinished` ones that
    /// wait for what their threads do next. Not `surely` if the kernel has written nothing since and may only be late.
    fn complete(&mut self, before_us: i64, unfinished: u64, surely: bool) {
        let _ = (before_us, unfinished, surely);
    }

    /// Everything that happened before this time has been handed on.
    fn handed_on(&mut self, through_us: i64, symbols: &Symbols) {
        let _ = (through_us, symbols);
    }

    /// Answers those who ask what the server does now.
    fn look(&mut self, symbols: &Symbols) {
        let _ = symbols;
    }

    /// What comes next was logged by another load of Lustre's modules, and all that was logged before is safe.
    fn next_load(&mut self) {}

    /// The symbols to come belong to another table.
    fn forget_symbols(&mut self) {}

    /// Whether the part cannot be written any more: closing it will say why.
    fn has_failed(&self) -> bool {
        false
    }
}
