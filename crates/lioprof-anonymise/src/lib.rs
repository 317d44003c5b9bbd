//! Logs of Lustre servers with all names replaced by pseudonyms: what one may send to a vendor, or attach to a bug.
//!
//! Two passes. The first one collects the names in all inputs, the second one writes them again with pseudonyms ([`Key`] makes them).
//! A text is cut into pieces by the parser of the log and by the form of what the parser does not tell (`message`, `recognise`);
//! a piece is a number, a word of Lustre's own (`vocabulary`), a name, or unknown. What is unknown is never written: the text is
//! dropped and counted, or, where lioprof reads the message, a pseudonym stands for the word.
//!
//! # Design constraints
//!
//! * No byte of an input is written that was not recognised.
//! * The same key and the same inputs give the same output.
//! * Records stay where they are, with their times and sizes: an analysis gives the same figures.
//! * Memory depends on the number of distinct names, not on the length of the log.
#![forbid(unsafe_code)]

mod anonymise;
mod counters;
mod error;
mod find;
mod key;
mod kind;
mod log;
#[cfg(feature = "rows")]
mod manifest;
mod message;
mod names;
mod output;
mod piece;
mod recognise;
mod record_bytes;
mod rewrite;
#[cfg(feature = "rows")]
mod rows;
#[cfg(feature = "rows")]
mod text;
mod vocabulary;

pub use anonymise::{Options, Outcome, Written, anonymise};
pub use error::AnonymiseError;
pub use key::{Key, KeyError, MIN_KEY_BYTES};
pub use kind::Kind;
pub use rewrite::Dropped;
