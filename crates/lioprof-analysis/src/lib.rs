//! From Lustre debug logs to an [`Analysis`].
//!
//! ```text
//! files ─ input ─> bytes ─ decode ─> events in time order ─ join ─> rows ─ aggregate ─> Analysis
//! ```
//!
//! * [`input`]: what the user named, as byte streams with a node name.
//! * `decode`: chunks framed and parsed in parallel, put into one order.
//! * `join`: about eleven records to one row per RPC.
//! * `locks`: conflicts, waits and changes of owner, from lock lines or from callbacks alone.
//! * `aggregate`: mergeable sums.
//! * `clocks`: how far the nodes' clocks are apart, from RPCs that two of them tell of.
//! * `findings`: what is wrong, by rules over the analysis.
//! * `compare`: two analyses side by side.
//!
//! # Design constraints
//!
//! * One pass; a second one over a node whose clock is off, to put its times right. Memory depends on what is in flight and on the number of distinct clients, targets,
//!   objects and time bins, not on the length of the log.
//! * The same input gives the same result, whatever the number of threads, the size of chunks, the
//!   order of files and of records with equal times.
//! * Nothing is printed here: what there is to tell is in [`Outcome`].
#![forbid(unsafe_code)]

pub mod input;
#[doc(hidden)]
pub mod stages;

mod aggregate;
mod align;
mod baseline;
mod clocks;
mod compare;
mod config;
mod counted;
mod decode;
mod findings;
mod interval;
mod join;
mod live;
mod locks;
mod loss;
mod node;
mod parts;
mod phases;
mod plan;
mod progress;
mod relay;
mod render;
mod rollup;
mod run;
mod select;
mod survey;
mod warnings;

pub use aggregate::limits;
pub use baseline::{BaselineError, read_baseline};
pub use compare::compare;
pub use config::{Bound, Config, ContendedRule, Selection};
pub use findings::{Limit, LimitError, Limits, Rule, find, rules};
pub use lioprof_model::Analysis;
pub use live::{Known, LiveTrace, Segment};

pub use parts::BadPart;
pub use progress::Progress;
pub use render::{DecodeOutcome, decode_text};
pub use rollup::{assemble, common_bin_us, roll_up, stale_clocks};
pub use run::{AnalyzeError, NoStores, Outcome, analyze, analyze_with_stores};
pub use select::{NidPattern, NidPatternError};
pub use survey::{Survey, is_cut};
