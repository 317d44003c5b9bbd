//! Lines that begin like a message and go on differently.

/// Where and as what a text failed to parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Malformed {
    /// The kind that its first words announced, for example `Handled RPC`.
    pub kind: &'static str,
    /// Offset in the message at which the parser gave up.
    pub offset: usize,
}

/// `rest` is a part of `text`, not always its end, so lengths do not tell where it begins.
#[cold]
pub(super) fn malformed(kind: &'static str, text: &[u8], rest: &[u8]) -> Malformed {
    let offset = rest.as_ptr().addr().wrapping_sub(text.as_ptr().addr()).min(text.len());
    Malformed { kind, offset }
}
