//! SQL over the rows that lioprof keeps.
//!
//! ```text
//! DATASET ── Dataset ──> folders of tables ── Session ──> raw tables, views ── SQL ──> rows ── Format ──> output
//!            (folder, s3://)                                       ↑
//!                                                ready queries with parameters
//! ```
//!
//! The engine is DataFusion. Everything is plain SQL over plain Parquet files: the views ([`VIEWS`]) and the ready queries
//! ([`ready`]) use standard functions only, so that a cluster (`cluster`), or another engine, runs the same text. [`analyze()`] makes the
//! whole analysis of rows and rollups that way.
//!
//! # Design constraints
//!
//! * A table is a folder, never a list of its files: a plan stays as small for a thousand servers as for one.
//! * Nothing is inferred from files: the schemas are those of `lioprof-store`, so opening a dataset reads no file, and a
//!   table that the dataset does not have is empty.
//! * SQL can read, and make views; it cannot write into the dataset.
#![forbid(unsafe_code)]

mod analyze;
mod bind;
#[cfg(feature = "cluster")]
pub mod cluster;
mod dataset;
mod engine;
mod error;
mod files;
mod output;
pub mod ready;
mod session;
mod sums;
mod tables;
mod time;
mod views;

pub use analyze::analyze;
pub use bind::Bound;
pub use dataset::Dataset;
pub use engine::{Engine, UnknownEngine};
pub use error::QueryError;
pub use output::{Format, Written};
pub use session::{Options, Session};
pub use views::{VIEWS, View};
