//! Which plans go to the cluster, and how.

use std::sync::Arc;

use async_trait::async_trait;
use ballista_core::config::BallistaConfig;
use ballista_core::planner::BallistaQueryPlanner;
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use datafusion_proto::protobuf::LogicalPlanNode;

use super::SchedulerAddress;
use super::resubmit::ClusterQuery;

/// Sends plans to a scheduler, but for those that no executor is needed for.
#[derive(Debug)]
pub(super) struct ClusterPlanner {
    scheduler: SchedulerAddress,
    config: BallistaConfig,
    ballista: BallistaQueryPlanner<LogicalPlanNode>,
}

impl ClusterPlanner {
    pub(super) fn new(scheduler: SchedulerAddress, config: BallistaConfig) -> Self {
        let ballista = BallistaQueryPlanner::new(scheduler.http_url(), config.clone());
        Self { scheduler, config, ballista }
    }
}

#[async_trait]
impl QueryPlanner for ClusterPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        // What reads no table is an answer in itself: `SELECT 1`, or a filter that nothing can pass. A plan on the wire has lost
        // the columns of such an empty relation.
        if !reads_a_table(plan)? {
            return DefaultPhysicalPlanner::default().create_physical_plan(plan, session).await;
        }
        // Ballista knows what to do for them: the catalog is this session's, and an analysis is asked for when the query is done.
        if matches!(plan, LogicalPlan::Analyze(_)) || ballista_core::planner::scans_only_information_schema(plan)? {
            return self.ballista.create_physical_plan(plan, session).await;
        }
        let session_id = session.session_id().to_owned();
        Ok(Arc::new(ClusterQuery::new(self.scheduler.clone(), self.config.clone(), plan.clone(), session_id)))
    }
}

fn reads_a_table(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found |= matches!(node, LogicalPlan::TableScan(_));
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}
