//! The words that columns hold for the model's enums.

use lioprof_model::{LockStep, SizeEvidence, TargetEvidence};

/// An enum and the word of each of its variants.
pub(crate) trait Word: Copy + 'static {
    /// All, in the order of the enum's numbers.
    const ALL: &'static [(Self, &'static str)];
    /// What a column of these holds, for messages.
    const WHAT: &'static str;

    /// Place in [`Self::ALL`].
    fn number(self) -> usize;

    /// Reads a word.
    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, word)| *word == text).map(|(value, _)| *value)
    }
}

macro_rules! words {
    ($name:ident, $what:literal; $($variant:ident = $word:literal,)+) => {
        impl Word for $name {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, $word)),+];
            const WHAT: &'static str = $what;

            fn number(self) -> usize {
                self as usize
            }
        }
    };
}

words! {
    SizeEvidence, "an evidence of a size";
    Failed = "failed",
    ReadStatus = "read_status",
    Bulk = "bulk",
    Inline = "inline",
    Extent = "extent",
    Niobufs = "niobufs",
    LockExtent = "lock_extent",
    None = "none",
}

words! {
    TargetEvidence, "an evidence of a target";
    RefreshLine = "refresh_line",
    LocalLock = "local_lock",
    Nrs = "nrs",
    OnlyTarget = "only_target",
    None = "none",
}

words! {
    LockStep, "a step of a lock's life";
    Created = "created",
    LocalCreated = "local_created",
    Incompatible = "incompatible",
    Queued = "queued",
    Reply = "reply",
    BlockingAst = "blocking_ast",
    Granted = "granted",
    Released = "released",
    Evicted = "evicted",
    Freed = "freed",
}

/// `event` of [`lioprof_model::LockHappening::EnqueueStart`].
pub(crate) const ENQUEUE_START: &str = "enqueue_start";
/// `event` of [`lioprof_model::LockHappening::EnqueueEnd`].
pub(crate) const ENQUEUE_END: &str = "enqueue_end";
/// `event` of [`lioprof_model::LockHappening::KernelContention`].
pub(crate) const KERNEL_CONTENTION: &str = "kernel_contention";
/// `event` of [`lioprof_model::LockHappening::CallbackTimedOut`].
pub(crate) const CALLBACK_TIMED_OUT: &str = "callback_timed_out";

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::Serialize;

    use super::*;

    fn check<T: Word + Serialize + Debug + PartialEq>() {
        for (number, (value, word)) in T::ALL.iter().enumerate() {
            assert_eq!(value.number(), number, "{word}");
            assert_eq!(serde_json::to_value(value).unwrap(), *word);
            assert_eq!(T::parse(word), Some(*value));
        }
        assert_eq!(T::parse("rubbish"), None);
    }

    #[test]
    fn words_are_those_of_the_analysis() {
        check::<SizeEvidence>();
        check::<TargetEvidence>();
        check::<LockStep>();
    }
}
