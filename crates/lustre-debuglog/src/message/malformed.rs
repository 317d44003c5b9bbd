//! The error for a text that only begins like a message.

/// A text that failed to parse: the kind of message and the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Malformed {
    /// Kind of message that the first words announce, for example `Handled RPC`.
    pub kind: &'static str,
    /// Byte offset in the message at which the parser gave up.
    pub offset: usize,
}

/// `rest` is a part of `text`, but not always its end, so its length does not show where it begins.
#[cold]
pub(super) fn malformed(kind: &'static str, text: &[u8], rest: &[u8]) -> Malformed {
    let offset = rest.as_ptr().addr().wrapping_sub(text.as_ptr().addr()).min(text.len());
    Malformed { kind, offset }
}

/// Declares how messages are parsed.
macro_rules! parsed {
    ($($(#[$meta:meta])* $message:ident $(<$life:lifetime>)? = |$text:ident| $parse:expr;)+) => {$(
        impl $(<$life>)? $message $(<$life>)? {
            $(#[$meta])*
            pub(crate) fn parse($text: &$($life)? [u8]) -> Result<Self, $crate::message::malformed::Malformed> {
                $parse
            }
        }
    )+};
}
pub(super) use parsed;
