//! A session whose queries run on a cluster.

use std::sync::Arc;

use ballista_core::config::{
    BALLISTA_ADAPTIVE_PLANNER_ENABLED, BALLISTA_CLIENT_GRPC_HTTP2_KEEPALIVE_INTERVAL_SECONDS,
    BALLISTA_CLIENT_GRPC_MAX_MESSAGE_SIZE, BALLISTA_CLIENT_IO_RETRY_WAIT_TIME_MS, BALLISTA_JOB_NAME,
    BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK,
};
use ballista_core::extension::{SessionConfigExt, SessionStateExt};
use datafusion::execution::SessionState;
use datafusion::execution::session_state::SessionStateBuilder;

use super::planner::ClusterPlanner;
use super::{ClusterError, MAX_MESSAGE_BYTES, SchedulerAddress, readiness};

/// Parts that a query is cut into, for each executor, if nobody says how many. More than an executor has cores, so that a
/// slow one does not hold the others up.
const PARTITIONS_PER_EXECUTOR: usize = 16;

/// Makes a session ask a cluster: tables and views that are registered in it afterwards, or were before, stay as they are.
///
/// # Errors
///
/// If the scheduler does not answer or has no executors.
pub async fn session_state(
    state: SessionState,
    scheduler: &SchedulerAddress,
    partitions: Option<usize>,
) -> Result<SessionState, ClusterError> {
    let executors = readiness::executors(scheduler).await?;
    if executors == 0 {
        return Err(ClusterError::NoExecutors(scheduler.clone()));
    }
    let partitions = partitions.unwrap_or(executors * PARTITIONS_PER_EXECUTOR);
    // What is set here goes to scheduler and executors with every query, so that it holds on any Ballista cluster.
    let config = state
        .config()
        .clone()
        .upgrade_for_ballista()
        .with_target_partitions(partitions)
        .set_str(BALLISTA_JOB_NAME, "lioprof-query")
        // Ballista 55 cannot recover from a lost executor otherwise (datafusion-ballista issue 1986).
        .set_bool(BALLISTA_ADAPTIVE_PLANNER_ENABLED, false)
        // An executor in pull mode counts tasks, not the partitions in them.
        .set_usize(BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK, 1)
        .set_usize(BALLISTA_CLIENT_GRPC_MAX_MESSAGE_SIZE, MAX_MESSAGE_BYTES as usize)
        // A host that vanished without closing its connections is noticed after this time, not after five minutes.
        .set_usize(BALLISTA_CLIENT_GRPC_HTTP2_KEEPALIVE_INTERVAL_SECONDS, 10)
        .set_usize(BALLISTA_CLIENT_IO_RETRY_WAIT_TIME_MS, 1000);
    let planner = ClusterPlanner::new(scheduler.clone(), config.ballista_config());
    let config = config.with_ballista_query_planner(Arc::new(planner));
    let state = SessionStateBuilder::new_from_existing(state).with_config(config).build();
    state
        .upgrade_for_ballista(scheduler.http_url())
        .map_err(|err| ClusterError::Ballista("failed to set up the session", Box::new(err.into())))
}
