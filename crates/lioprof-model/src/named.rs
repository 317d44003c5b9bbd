//! Enums whose values have names.

/// Declares enums whose values have names, the same in JSON and CSV.
macro_rules! named {
    ($($(#[$meta:meta])* pub enum $enum:ident { $($(#[$of_variant:meta])* $variant:ident = $name:literal,)+ })+) => {$(
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        pub enum $enum {
            $($(#[$of_variant])* #[serde(rename = $name)] $variant,)+
        }

        impl $enum {
            /// All, in order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Its name in JSON and CSV.
            #[inline]
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    )+};
}
