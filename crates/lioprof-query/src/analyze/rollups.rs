//! Figures that `lioprof rollup` has summed up per node, added up.

use lioprof_analysis::limits::{ACCESS_OBJECTS, SAMPLE_RPCS};
use lioprof_model::merge::Subtract;
use lioprof_model::parts::rollup::{AccessObject, NodeFacts, Rollup, SampleRpc};
use lioprof_model::parts::sums::{FlowCell, LockCell, LockJobSums, LockPairSums, SeriesCell};
use lioprof_model::{AccessPattern, MixSum};
use lioprof_store::NodeRow;
use serde::Deserialize;

use super::{fill, keyed, rows, struct_of_sums, sums};
use crate::error::QueryError;
use crate::session::Session;

macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("sql/rollup/", $name, ".sql"))
    };
}

/// Per-node facts, one row each.
pub(super) async fn nodes(session: &Session) -> Result<Vec<NodeRow>, QueryError> {
    rows(session, sql!("nodes")).await
}

/// The facts of a node.
pub(super) fn facts(row: &NodeRow) -> Result<NodeFacts, QueryError> {
    row.facts().map_err(QueryError::Rollup)
}

/// Asks for all tables.
pub(super) async fn query(session: &Session, nodes: Vec<NodeFacts>) -> Result<Rollup, QueryError> {
    let bin_us = lioprof_analysis::common_bin_us(&nodes).to_string();
    let values = [
        ("bin_us", bin_us),
        ("objects", ACCESS_OBJECTS.to_string()),
        ("series_sums", sums(SeriesCell::FIELDS)),
        ("flow_sums", sums(FlowCell::FIELDS)),
        ("lock_sums", sums(LockCell::FIELDS)),
        ("pair_sums", sums(LockPairSums::FIELDS)),
        ("job_sums", sums(LockJobSums::FIELDS)),
        ("mix_sum", struct_of_sums("sum", MixSum::FIELDS)),
        ("read", struct_of_sums("read", AccessPattern::FIELDS)),
        ("write", struct_of_sums("write", AccessPattern::FIELDS)),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let statement = |sql: &str| fill(sql, &values);
    Ok(Rollup {
        marks: rows(session, sql!("marks")).await?,
        series: keyed(session, &statement(sql!("series"))).await?,
        flows: keyed(session, &statement(sql!("flow_series"))).await?,
        latency: rows(session, &statement(sql!("latency_series"))).await?,
        locks: keyed(session, &statement(sql!("lock_series"))).await?,
        access: access(session, &statement(sql!("access_objects")), &statement(sql!("access_all"))).await?,
        mix: rows(session, &statement(sql!("client_mix"))).await?,
        pictures: rows(session, sql!("pictures")).await?,
        lock_targets: keyed(session, sql!("lock_targets")).await?,
        lock_times: rows(session, sql!("lock_times")).await?,
        enqueue_times: rows(session, sql!("enqueue_times")).await?,
        lock_objects: rows(session, sql!("lock_objects")).await?,
        lock_pairs: keyed(session, &statement(sql!("lock_pairs"))).await?,
        lock_jobs: keyed(session, &statement(sql!("lock_jobs"))).await?,
        exchanges: rows(session, sql!("exchanges")).await?,
        time_rasters: rows(session, sql!("time_rasters")).await?,
        replay: rows(session, sql!("replay")).await?,
        sample: sample(session, &nodes).await?,
        seconds: Vec::new(),
        nodes,
    })
}

/// All nodes' samples thinned to a common one that is small enough.
async fn sample(session: &Session, nodes: &[NodeFacts]) -> Result<Vec<SampleRpc>, QueryError> {
    #[derive(Deserialize)]
    struct Count {
        rpcs: u64,
    }
    let first = nodes.iter().map(|facts| facts.sample_one_in.max(1).ilog2()).max().unwrap_or(0);
    for halvings in first..64 {
        // Kept are those whose hash begins with so many zero bits.
        let kept = if halvings == 0 { "TRUE".to_owned() } else { format!("hash < {}", 1u64 << (64 - halvings)) };
        let counts: Vec<Count> = rows(session, &fill(sql!("sample_count"), &[("kept", &kept)])).await?;
        if counts.iter().all(|count| count.rpcs <= SAMPLE_RPCS as u64) {
            return rows(session, &fill(sql!("sample"), &[("kept", &kept)])).await;
        }
    }
    Ok(Vec::new())
}

/// The busiest objects, and all others in one row.
async fn access(session: &Session, busiest: &str, all: &str) -> Result<Vec<AccessObject>, QueryError> {
    #[derive(Deserialize)]
    struct All {
        read: AccessPattern,
        write: AccessPattern,
    }
    let mut objects: Vec<AccessObject> = rows(session, busiest).await?;
    let all: Vec<All> = rows(session, all).await?;
    for All { mut read, mut write } in all {
        for object in &objects {
            read.subtract(&object.read);
            write.subtract(&object.write);
        }
        objects.push(AccessObject { read, write, ..AccessObject::default() });
    }
    Ok(objects)
}
