//! What an [`Analysis`](lioprof_model::Analysis) means.
//!
//! * [`find`]: what is wrong, by rules ([`rules`]) with thresholds ([`Limits`]); writes findings, checks, the state of the clients' time
//!   and the verdict into the analysis. [`find_and_predict`] replays the requests, too.
//! * [`verdict()`]: what findings, checks and the account come to.
//! * [`compare()`]: two analyses side by side.
//! * [`read_baseline`]: what the OSTs can deliver, from the output of `obdfilter-survey`.
//!
//! Nothing but analyses goes in: a saved `analysis.json`, the rows of many servers and a live log give the same answers. This crate
//! sees neither logs nor rows, so a rule that needs to know more makes the analysis say more.
//!
//! ```
//! let mut analysis = lioprof_model::Analysis::default();
//! lioprof_insight::find(&mut analysis, &lioprof_insight::Limits::default());
//! assert_eq!(analysis.checks.len(), lioprof_insight::rules().len());
//! ```
#![forbid(unsafe_code)]

mod baseline;
mod compare;
mod findings;

pub use baseline::{BaselineError, read_baseline};
pub use compare::compare;
pub use findings::{Limit, LimitError, Limits, Rule, find, find_and_predict, rules, verdict};
