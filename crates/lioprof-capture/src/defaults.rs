//! Structs whose defaults stand beside their fields.

/// Defines structs, each with [`Default`]: the value behind each field.
macro_rules! with_defaults {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty = $value:expr,)+
    })+) => {$(
        $(#[$meta])*
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $value,)+ }
            }
        }
    )+};
}

pub(crate) use with_defaults;
