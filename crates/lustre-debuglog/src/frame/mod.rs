//! Bytes to records: the text and the binary form, with resync after damage.
//!
//! Both framers account for every byte: what is no record is handed out as [`Skipped`], with its offset,
//! length and reason. Neither depends on how the input is cut into pieces.

pub mod binary;
mod call_sites;
mod form;
mod skipped;
pub mod text;

pub use binary::HeaderLayout;
pub use form::{Form, detect};
pub use skipped::{SkipReason, Skipped};
