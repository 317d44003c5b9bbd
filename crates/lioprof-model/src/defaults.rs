//! Structs whose defaults stand beside their fields.

/// Defines structs, each with [`Default`]: the value behind each field.
///
/// ```
/// lioprof_model::with_defaults! {
///     /// A window.
///     #[derive(Debug, PartialEq)]
///     pub struct Window {
///         /// Seconds.
///         pub width_s: u64 = 10,
///     }
/// }
/// assert_eq!(Window::default(), Window { width_s: 10 });
/// ```
#[macro_export]
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
