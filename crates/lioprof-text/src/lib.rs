//! Analyses and comparisons as text: tables for people on a terminal of 80 columns, CSV, JSON.
//!
//! `lioprof` and `lioprof-query` print the same through this crate.
//!
//! ```
//! use lioprof_text::{Color, Format, Style, write};
//!
//! let style = Style { color: Color::No, all: false, tables: false, more: "" };
//! let mut json = Vec::new();
//! write(&lioprof_model::Analysis::default(), Format::Json, style, &mut json)?;
//! assert!(json.starts_with(b"{\"schema\":"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod comparison;
mod events;
mod format;
mod number_table;
pub mod operations;
mod style;
mod summary;
pub mod tables;
mod time_account;
mod verdict;
pub mod what_if;

pub use comparison::write as write_comparison;
pub use format::{Format, write, write_json};
pub use style::{Color, Style, hanging, paragraph, wrapped};
