//! What a text is made of.

use crate::kind::Kind;

/// A stretch of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Punctuation, numbers, words of Lustre's own: names nobody.
    Plain(&'a [u8]),
    /// A word of Lustre's own, as long as no host or file system is called so.
    KnownWord(&'a [u8]),
    /// A name.
    Name(Kind, &'a [u8]),
    /// A number whose bytes spell a name: one if a file system is called so.
    Spelled(&'a [u8]),
    /// It may be a name.
    Unknown(&'a [u8]),
}

impl<'a> Piece<'a> {
    /// Its bytes.
    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Plain(bytes)
            | Self::KnownWord(bytes)
            | Self::Name(_, bytes)
            | Self::Spelled(bytes)
            | Self::Unknown(bytes) => bytes,
        }
    }
}

/// The pieces of a text, in order.
pub(crate) type Pieces<'a> = Vec<Piece<'a>>;
