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

/// An enum of the model whose values columns hold by their names.
pub(crate) trait Word: Copy + 'static {
    /// Its word.
    fn word(self) -> &'static str;
}

macro_rules! words {
    ($($name:ident, $expected:literal;)+) => {$(
        impl Word for $name {
            #[inline]
            fn word(self) -> &'static str {
                self.name()
            }
        }

        impl Meaning for $name {
            const EXPECTED: &'static str = $expected;

            fn read(text: &str, _: &mut Symbols) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == text)
            }
        }
    )+};
}

words! {
    SizeEvidence, "an evidence of a size";
    TargetEvidence, "an evidence of a target";
    LockStep, "a step of a lock's life";
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::Serialize;

    use super::*;

    fn check<T: Word + Meaning + Serialize + Debug + PartialEq>(all: &[T]) {
        let symbols = &mut Symbols::default();
        for value in all {
            assert_eq!(serde_json::to_value(value).unwrap(), value.word());
            assert_eq!(T::read(value.word(), symbols), Some(*value));
        }
        assert_eq!(T::read("rubbish", symbols), None);
    }

    #[test]
    fn words_are_those_of_the_analysis() {
        check(&SizeEvidence::ALL);
        check(&TargetEvidence::ALL);
        check(&LockStep::ALL);
    }
}
