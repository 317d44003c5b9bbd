//! Bytes to records: the text and the binary form, with resync after damage.
//!
//! Both framers account for every byte: what is no record is handed out as [`Skipped`], with its offset,
//! length and reason. Neither depends on how the input is cut into pieces.

pub mod binary;
mod form;
mod sites;
mod skipped;
pub mod text;

pub use binary::Layout;
pub use form::{Form, detect};
pub use skipped::{Skipped, Why};
