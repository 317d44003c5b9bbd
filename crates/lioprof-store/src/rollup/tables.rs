//! Which tables a rollup has.

use std::path::PathBuf;

use arrow_schema::{Schema, SchemaRef};
use lioprof_model::parts::rollup::{
    AccessObject, ClientMix, EnqueueTimes, Exchange, LatencyBin, LockObject, LockTimes, Mark, Picture, ReplayedRpc,
    Rollup, SampleRpc, Second, TimeRaster,
};

use super::node_row::{NODES, NodeRow};
use crate::error::StoreError;
use crate::plain_rows::{self, Columns, plain};

plain!(
    NodeRow,
    Mark,
    LatencyBin,
    SampleRpc,
    AccessObject,
    ClientMix,
    Picture,
    LockTimes,
    EnqueueTimes,
    LockObject,
    Exchange,
    Second,
    TimeRaster,
    ReplayedRpc
);

pub(super) const EXCHANGES: &str = "exchanges";

/// Declares for each table of a rollup its name and its list.
macro_rules! tables {
    ($($name:literal: $list:ident,)+) => {
        /// Writes all tables but `nodes`. Those without rows are written, too: engines want a schema.
        pub(super) fn write_all(rollup: &Rollup, path: impl Fn(&str) -> PathBuf) -> Result<(), StoreError> {
            $(plain_rows::write(&path($name), &rollup.$list)?;)+
            Ok(())
        }

        /// The schema of every table, by name.
        #[must_use]
        pub fn rollup_schemas() -> Vec<(&'static str, SchemaRef)> {
            fn schema<T: Columns>(_: fn(&Rollup) -> &Vec<T>) -> SchemaRef {
                Schema::new(T::fields()).into()
            }
            vec![
                (NODES, Schema::new(NodeRow::fields()).into()),
                $(($name, schema(|rollup| &rollup.$list)),)+
            ]
        }
    };
}

tables! {
    "marks": marks,
    "series": series,
    "flow_series": flows,
    "latency_series": latency,
    "lock_series": locks,
    "sample": sample,
    "access_objects": access,
    "client_mix": mix,
    "pictures": pictures,
    "lock_targets": lock_targets,
    "lock_times": lock_times,
    "enqueue_times": enqueue_times,
    "lock_objects": lock_objects,
    "lock_pairs": lock_pairs,
    "lock_jobs": lock_jobs,
    "exchanges": exchanges,
    "time_rasters": time_rasters,
    "replay": replay,
    "seconds": seconds,
}
