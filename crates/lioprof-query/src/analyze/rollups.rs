//! Figures that `lioprof rollup` has summed up per node, added up.

use lioprof_analysis::limits::{ACCESS_OBJECTS, SAMPLE_RPCS};
use lioprof_model::AccessPattern;
use lioprof_model::parts::rollup::{AccessObject, NodeFacts, Rollup, SampleRpc};
use lioprof_store::NodeRow;
use serde::Deserialize;

use super::{fill, rows};
use crate::error::QueryError;
use crate::session::Session;

macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("sql/rollup/", $name, ".sql"))
    };
}

/// What there is once per node.
pub(super) async fn nodes(session: &Session) -> Result<Vec<NodeRow>, QueryError> {
    rows(session, sql!("nodes")).await
}

/// The facts of a node.
pub(super) fn facts(row: &NodeRow) -> Result<NodeFacts, QueryError> {
    row.facts().map_err(|problem| QueryError::Rollup { problem })
}

/// Asks for all tables.
pub(super) async fn query(session: &Session, nodes: Vec<NodeFacts>) -> Result<Rollup, QueryError> {
    let objects = ACCESS_OBJECTS.to_string();
    let bin_us = lioprof_analysis::common_bin_us(&nodes).to_string();
    let statement = |sql: &str| fill(sql, &[("bin_us", &bin_us), ("objects", &objects)]);
    Ok(Rollup {
        marks: rows(session, sql!("marks")).await?,
        series: rows(session, &statement(sql!("series"))).await?,
        flows: rows(session, &statement(sql!("flow_series"))).await?,
        latency: rows(session, &statement(sql!("latency_series"))).await?,
        locks: rows(session, &statement(sql!("lock_series"))).await?,
        access: access(session, &statement(sql!("access_objects"))).await?,
        mix: rows(session, sql!("client_mix")).await?,
        pictures: rows(session, sql!("pictures")).await?,
        lock_targets: rows(session, sql!("lock_targets")).await?,
        lock_times: rows(session, sql!("lock_times")).await?,
        lock_objects: rows(session, sql!("lock_objects")).await?,
        lock_pairs: rows(session, sql!("lock_pairs")).await?,
        lock_jobs: rows(session, sql!("lock_jobs")).await?,
        exchanges: rows(session, sql!("exchanges")).await?,
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
async fn access(session: &Session, busiest: &str) -> Result<Vec<AccessObject>, QueryError> {
    #[derive(Deserialize)]
    struct All {
        read: AccessPattern,
        write: AccessPattern,
    }
    let mut objects: Vec<AccessObject> = rows(session, busiest).await?;
    let all: Vec<All> = rows(session, sql!("access_all")).await?;
    for All { mut read, mut write } in all {
        for object in &objects {
            read.subtract(&object.read);
            write.subtract(&object.write);
        }
        objects.push(AccessObject { read, write, ..AccessObject::default() });
    }
    Ok(objects)
}
