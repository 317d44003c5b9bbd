//! The node's own counters, sampled beside the trace.
//!
//! ```text
//! control files ─ Tree ─> text ─ parsers ─> Sample { values (a tidy table), totals (reads and writes by key) }
//!                                                                    totals ─ ledger ─> counted ─ compare ─> Comparison
//! ```
//!
//! Lustre's counters lie in three trees, and which file is in which changed from version to version: `/proc/fs/lustre`,
//! `/sys/fs/lustre` and `/sys/kernel/debug/lustre` (as `lctl get_param` knows). They are read as files; nothing is
//! started, nothing is written.
//!
//! A server has up to hundreds of thousands of exports. Reading all of them often would cost more than the trace, so
//! clients and jobs are read in every tenth sample only, up to a limit, and only the busiest get rows of their own.

mod compare;
mod compare_text;
mod jobs;
mod ledger;
mod lustre;
mod machine;
mod options;
mod rows;
mod sample;
mod sampler;
mod top;
mod totals;
mod trace_sums;

pub(crate) use compare::Comparison;
pub(crate) use ledger::Ledger;
pub(crate) use options::SamplerOptions;
pub(crate) use rows::Value;
pub(crate) use sample::Sample;
pub(crate) use sampler::Sampler;
pub(crate) use totals::{Count, Reading, Totals};
pub(crate) use trace_sums::{Edges, TraceSums};

#[cfg(test)]
mod tests;
