//! Enums of which each value is one word in the log.

/// Declares an enum with one printed word per variant, and its conversions.
macro_rules! words {
    (
        $(#[$meta:meta])* $name:ident;
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// The word that Lustre prints.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Reads the word that Lustre prints.
            #[must_use]
            pub fn parse_bytes(text: &[u8]) -> Option<Self> {
                $(
                    if text == $word.as_bytes() {
                        return Some(Self::$variant);
                    }
                )+
                None
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(super) use words;
