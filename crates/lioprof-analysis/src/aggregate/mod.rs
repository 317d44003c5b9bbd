//! Aggregates of rows: mergeable, bounded, independent of the order of rows.
//!
//! One [`Aggregate`] per node; they are merged in the order of the nodes' names and turned into an
//! [`lioprof_model::Analysis`] by [`finish()`].

mod access;
mod account;
mod combinations;
mod entries;
mod failures;
mod faults;
mod finish;
#[cfg(test)]
mod merge_tests;
mod objects;
mod role;
mod sample;
mod seconds;
mod series;
mod service_parts;
mod services;
mod sums;
mod syncs;
mod what_if;
mod written;

pub(crate) use faults::Faults;
pub(crate) use finish::{both, finish};
pub(crate) use objects::object_name;
pub(crate) use sums::Aggregate;
