//! Aggregates of rows: mergeable, bounded, independent of the order of rows.
//!
//! One [`Aggregate`] per node; they are merged in the order of the nodes' names and turned into an
//! [`lioprof_model::Analysis`] by [`finish()`].

mod access;
mod account;
mod bins;
mod cells;
mod combinations;
mod faults;
mod finish;
pub mod limits;
mod objects;
mod of_rows;
mod parts;
mod role;
mod sample;
mod seconds;
mod series;
mod service_parts;
mod sums;
mod times;
mod what_if;

pub(crate) use bins::BinClock;
pub(crate) use faults::Faults;
pub(crate) use finish::{both, finish, object_name};
pub(crate) use sums::Aggregate;
pub(crate) use times::{RpcTimes, Times};
