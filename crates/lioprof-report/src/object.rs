//! Objects of JSON, written down once: key and value beside each other, in the order in which the page gets them.

/// An object of JSON: `object!(Client { nid: &it.nid, rpcs: it.rpcs })`. The name says what it is and is not in the JSON.
macro_rules! object {
    ($name:ident { $($key:ident $(: $value:expr)?),* $(,)? }) => {{
        // A type of its own for each value: whatever can be serialized fits in.
        #[expect(non_camel_case_types, reason = "each key also names the type of its value")]
        mod json {
            #[derive(serde::Serialize)]
            pub(super) struct $name<$($key),*> {
                $(pub(super) $key: $key),*
            }
        }
        json::$name { $($key $(: $value)?),* }
    }};
}

pub(crate) use object;
