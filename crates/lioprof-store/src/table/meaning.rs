//! What the texts in columns mean.

use lioprof_model::{LockStep, SizeEvidence, Symbol, Symbols, TargetEvidence};
use lustre_debuglog::vocab::LockType;
use lustre_debuglog::{LockMode, TargetName};

use crate::text;

/// Something that a column holds as texts.
pub(crate) trait Meaning: Copy + 'static {
    /// What is expected of a text, for messages.
    const EXPECTED: &'static str;

    /// What a text means.
    fn read(text: &str, symbols: &mut Symbols) -> Option<Self>;
}

impl Meaning for Symbol {
    const EXPECTED: &'static str = "a text";

    fn read(text: &str, symbols: &mut Symbols) -> Option<Self> {
        Some(symbols.intern(&text::decode(text)))
    }
}

macro_rules! vocabulary {
    ($($name:ident, $expected:literal;)+) => {$(
        impl Meaning for $name {
            const EXPECTED: &'static str = $expected;

            fn read(text: &str, _: &mut Symbols) -> Option<Self> {
                text.parse().ok()
            }
        }
    )+};
}

vocabulary! {
    TargetName, "a target such as lustre-OST0003";
    LockType, "EXT, IBT, FLK or PLN";
    LockMode, "a lock mode such as PW or --";
}

/// An enum of the model, and the word that columns hold for each of its variants.
pub(crate) trait Word: Copy + 'static {
    /// All, in the order of the enum's numbers.
    const ALL: &'static [(Self, &'static str)];

    /// Its word.
    fn word(self) -> &'static str;
}

macro_rules! words {
    ($name:ident, $what:literal; $($variant:ident = $word:literal,)+) => {
        impl Word for $name {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, $word)),+];

            #[inline]
            fn word(self) -> &'static str {
                Self::ALL[self as usize].1
            }
        }

        impl Meaning for $name {
            const EXPECTED: &'static str = $what;

            fn read(text: &str, _: &mut Symbols) -> Option<Self> {
                Self::ALL.iter().find(|(_, word)| *word == text).map(|(value, _)| *value)
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

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::Serialize;

    use super::*;

    fn check<T: Word + Meaning + Serialize + Debug + PartialEq>() {
        let symbols = &mut Symbols::default();
        for (value, word) in T::ALL {
            assert_eq!(value.word(), *word, "in the order of the numbers");
            assert_eq!(serde_json::to_value(value).unwrap(), *word);
            assert_eq!(T::read(word, symbols), Some(*value));
        }
        assert_eq!(T::read("rubbish", symbols), None);
    }

    #[test]
    fn words_are_those_of_the_analysis() {
        check::<SizeEvidence>();
        check::<TargetEvidence>();
        check::<LockStep>();
    }
}
