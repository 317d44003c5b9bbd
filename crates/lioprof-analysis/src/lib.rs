//! From rows to an [`Analysis`].
//!
//! ```text
//! logs ─ lioprof-trace ─> rows ─ aggregate, locks ─> sums of nodes ─ clocks, loss ─> Analysis
//! ```
//!
//! * `cells`: what adds up: times, bins, time covered.
//! * `aggregate`: mergeable sums of rows.
//! * `partial`: the sums of a node as a value, and how several become one; `in_order`: several nodes at once.
//! * `locks`: conflicts, waits and changes of owner, from lock lines or from callbacks alone.
//! * `clocks`: how far the nodes' clocks are apart, from RPCs that two of them tell of.
//! * `counted`, `loss`: what is lost, by the servers' own counters or by the request schedulers' numbers.
//! * `live`: what a server does now, from a log that is still being written.
//! * `operations`: what clients' programs did, and which part of the system their time went to.
//! * `node_sums`, `sum_up`: the sums of a node as bytes, which others have made or keep.
//!
//! What an analysis means is not said here: findings are `lioprof-insight`'s.
//!
//! # Design constraints
//!
//! * One pass; a second one over a node whose clock is off, to put its times right. Memory depends on what is in flight and on the number
//!   of distinct clients, targets, objects and time bins, not on the length of the log.
//! * The same rows give the same result, whatever the number of threads.
//! * Nothing is printed here: what there is to tell is in [`Outcome`].
//!
//! # Example
//!
//! ```
//! use lioprof_analysis::{Config, analyze};
//!
//! let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/captures/file_per_process");
//! let outcome = analyze(&[capture.into()], &Config::default(), None)?;
//! assert!(outcome.analysis.totals.rpcs > 100);
//! # Ok::<(), lioprof_analysis::AnalyzeError>(())
//! ```
#![forbid(unsafe_code)]

mod aggregate;
mod align;
mod cells;
mod clocks;
mod config;
mod counted;
mod days;
mod events;
mod few;
mod in_order;
mod interval;
mod live;
mod locks;
mod loss;
mod node;
mod node_sums;
mod operations;
mod others;
mod partial;
mod phases;
mod renumber;
mod run;
mod select;
mod sum_up;
mod warnings;
mod what_if;

pub use cells::limits;
pub use config::{Bound, Config, ContendedRule, Question, Selection};
pub use days::IntervalError;
pub use lioprof_model::Analysis;
pub use live::LiveWindow;
pub use node_sums::{NodeSums, SUMS_SCHEMA};
pub use operations::find_operations;
pub use others::{Others, User, targets_of};
pub use run::{AnalyzeError, NoStores, Outcome, analyze, analyze_sums, analyze_with_stores};
pub use select::{NidPattern, NidPatternError, TargetPattern, TargetPatternError};
pub use sum_up::{ClockFacts, stale_clocks, sum_up};
pub use what_if::Replay;
