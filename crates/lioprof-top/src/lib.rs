//! The screen of `lioprof top`: what Lustre servers do now.
//!
//! ```text
//! Live ── table ──> rows of a view ── state: sorted, filtered, one selected ──> screen (ratatui) or plain text
//!                                        └── keys
//! ```
//!
//! Knows only [`Live`](lioprof_model::Live): where it comes from is the caller's business ([`Update`]). Names come from logs, and
//! so from anybody: no control character of theirs gets to the terminal.
//!
//! ```
//! use lioprof_model::Live;
//! use lioprof_top::{State, View, plain};
//!
//! let mut state = State::new(View::Osts);
//! state.update(Live::default());
//! assert!(plain(&state).contains("OSTs and MDTs"));
//! ```
#![forbid(unsafe_code)]

mod clean;
mod figures;
mod headline;
mod help;
mod keys;
mod level;
mod plain;
mod screen;
mod state;
mod table;
mod tables;
mod terminal;

pub use keys::{Answer, Key};
pub use level::View;
pub use plain::plain;
pub use screen::draw;
pub use state::{State, UnknownColumn};
pub use terminal::{Update, run, without_colors};
