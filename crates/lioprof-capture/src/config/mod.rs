//! The daemon's configuration: a TOML file in which every key has a default.
//!
//! `packaging/lioprof.toml` shows all keys with their defaults and what they mean; a test keeps it so. Sizes have their unit
//! in the key (`_mib`), times of day and spans are words such as `"10s"` or `"15m"`.

mod check;
mod error;
mod load;
mod sections;
pub mod values;

pub(crate) use sections::MOST_SPOOL_MIB;

pub(crate) use error::{ConfigError, Problem};
pub use sections::{Budget, Capture, Config, ControlAccess, Counters, Keep, Mode, Node, ProfileChoice, Talk, Trigger};
pub use values::{Auto, OrOff, Span, Timestamp};
