//! Places of a log that hold no record.

/// Why bytes were skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SkipReason {
    /// Text before the first record header, or after a line longer than any record can be.
    NoHeader,
    /// A record is longer than any record can be; its beginning was kept.
    TooLong,
    /// Binary: the bytes fail the header test, as after a ring's seam or a failed write.
    BadHeader,
    /// Binary: a header is intact, but another record begins inside its body.
    Overwritten,
    /// Binary: the input ends inside a record.
    TruncatedTail,
}

impl SkipReason {
    /// The reason in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoHeader => "no record header at the start of a line",
            Self::TooLong => "longer than any record can be",
            Self::BadHeader => "not a record header",
            Self::Overwritten => "record overwritten by another one",
            Self::TruncatedTail => "input ends inside a record",
        }
    }
}

/// Bytes that belong to no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Offset of the first one in the data given.
    pub offset: usize,
    /// How many.
    pub len: usize,
    /// Why.
    pub why: SkipReason,
}
