//! A query on the cluster, asked again if its result is lost.
//!
//! The scheduler repeats what a lost executor had done for a query that is not finished. The result of a finished query lies
//! with the executors until the client has fetched it; if one is lost then, nobody but the client can ask again.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ballista_core::config::BallistaConfig;
use ballista_core::execution_plans::DistributedQueryExec;
use ballista_core::serde::BallistaLogicalExtensionCodec;
use ballista_core::serde::protobuf::CancelJobParams;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use datafusion_proto::protobuf::LogicalPlanNode;
use futures::{Stream, StreamExt, TryStreamExt};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::{SchedulerAddress, readiness};

/// A command that was interrupted ends after so long, whether or not the scheduler could be told.
const TELL_PATIENCE: Duration = Duration::from_secs(2);

type Distributed = DistributedQueryExec<LogicalPlanNode>;

/// How often a query is asked. A result can be lost in the moments between the end of a query and the end of its fetching.
const ATTEMPTS: usize = 3;

/// Results of up to this size are handed out when they are complete. A larger one is handed out as it comes, and can then
/// not be asked for again without repeating rows.
const HELD_BACK_BYTES: usize = 64 << 20;

/// The plan of a query that the cluster answers.
#[derive(Debug)]
pub(super) struct ClusterQuery {
    query: Query,
    properties: Arc<PlanProperties>,
}

impl ClusterQuery {
    pub(super) fn new(
        scheduler: SchedulerAddress,
        config: BallistaConfig,
        plan: LogicalPlan,
        session_id: String,
    ) -> Self {
        let query = Query { scheduler, config, plan, session_id };
        let properties = Arc::clone(query.attempt().properties());
        Self { query, properties }
    }
}

impl DisplayAs for ClusterQuery {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClusterQuery: scheduler={}", self.query.scheduler)
    }
}

impl ExecutionPlan for ClusterQuery {
    fn name(&self) -> &'static str {
        "ClusterQuery"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let query = self.query.clone();
        let scheduler = query.scheduler.clone();
        let first = async move {
            match first_result(move || query.ask(Arc::clone(&context))).await {
                Err(error) if !is_verdict(&error) => Err(why_lost(error, &scheduler).await),
                result => result,
            }
        };
        let rows = futures::stream::once(first).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}

/// A query, to be asked as often as need be.
#[derive(Clone, Debug)]
struct Query {
    scheduler: SchedulerAddress,
    config: BallistaConfig,
    plan: LogicalPlan,
    session_id: String,
}

impl Query {
    fn attempt(&self) -> Distributed {
        let codec = Arc::new(BallistaLogicalExtensionCodec::default());
        let (url, config, plan) = (self.scheduler.http_url(), self.config.clone(), self.plan.clone());
        Distributed::with_extension(url, config, plan, codec, self.session_id.clone())
    }
}

/// One attempt to get an answer.
struct Attempt {
    rows: SendableRecordBatchStream,
    job: Box<dyn Job>,
}

/// What the scheduler makes of a query.
trait Job: Send {
    /// Whether the scheduler has taken it.
    fn is_taken(&self) -> bool;
    /// Tells that nothing of it is needed any more because it has ended.
    fn ended(&mut self);
}

impl Query {
    fn ask(&self, context: Arc<TaskContext>) -> Result<Attempt> {
        let query = self.attempt();
        let rows = query.execute(0, context)?;
        Ok(Attempt {
            rows,
            job: Box::new(Running { scheduler_url: self.scheduler.http_url(), query, has_ended: false }),
        })
    }
}

/// A query of which the scheduler is told if nobody waits for its end.
struct Running {
    scheduler_url: String,
    query: Distributed,
    has_ended: bool,
}

impl Job for Running {
    fn is_taken(&self) -> bool {
        self.query.job_id().is_some()
    }

    fn ended(&mut self) {
        self.has_ended = true;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let (false, Some(job), Ok(runtime)) = (self.has_ended, self.query.job_id(), Handle::try_current()) {
            let _ends_by_itself = TELLING.lock().map(|mut telling| {
                telling.push(runtime.spawn(cancel(self.scheduler_url.clone(), job.into())));
            });
        }
    }
}

/// Messages to schedulers that are under way: that nobody waits for a query any more.
static TELLING: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// Waits until schedulers know of all queries that were dropped, but not for ever.
pub async fn all_told() {
    let telling = TELLING.lock().map(|mut telling| std::mem::take(&mut *telling)).unwrap_or_default();
    let told = futures::future::join_all(telling);
    if tokio::time::timeout(TELL_PATIENCE, told).await.is_err() {
        log::warn!("the scheduler could not be told that nobody waits for a query");
    }
}

/// Tells the scheduler that nobody waits for a query. If that fails, the query runs to its end.
async fn cancel(scheduler_url: String, job_id: String) {
    let told = async {
        let mut scheduler = SchedulerGrpcClient::connect(scheduler_url).await.map_err(|error| error.to_string())?;
        scheduler.cancel_job(CancelJobParams { job_id }).await.map_err(|error| error.to_string())
    };
    if let Err(error) = told.await {
        log::warn!("the scheduler could not be told that nobody waits for a query: {error}");
    }
}

/// The rows of the first attempt whose result arrives.
async fn first_result(ask: impl Fn() -> Result<Attempt>) -> Result<impl Stream<Item = Result<RecordBatch>>> {
    let mut attempt = 1;
    loop {
        let Attempt { mut rows, mut job } = ask()?;
        match hold_back(&mut rows).await {
            Ok(held) => {
                let held = futures::stream::iter(held.into_iter().map(Ok));
                return Ok(held.chain(to_the_end(rows, job)));
            }
            Err(error) => {
                job.ended();
                if attempt == ATTEMPTS || !job.is_taken() || is_verdict(&error) {
                    return Err(error);
                }
                log::warn!("the result of a query was lost, it is asked again: {}", error.strip_backtrace());
                attempt += 1;
            }
        }
    }
}

/// Takes rows until there are no more, or too many to be held back.
async fn hold_back(rows: &mut SendableRecordBatchStream) -> Result<Vec<RecordBatch>> {
    let (mut held, mut bytes) = (Vec::new(), 0);
    while bytes <= HELD_BACK_BYTES {
        let Some(batch) = rows.try_next().await? else { break };
        bytes += batch.get_array_memory_size();
        held.push(batch);
    }
    Ok(held)
}

/// The rest of the rows. A stream that is dropped before its end takes the job along.
fn to_the_end(rows: SendableRecordBatchStream, job: Box<dyn Job>) -> impl Stream<Item = Result<RecordBatch>> {
    futures::stream::unfold((rows.fuse(), job), |(mut rows, mut job)| async move {
        let batch = rows.next().await;
        if !matches!(batch, Some(Ok(_))) {
            job.ended();
        }
        batch.map(|batch| (batch, (rows, job)))
    })
}

/// Whether the scheduler says that the query failed; everything else that can happen to a query that it has taken is that
/// a connection broke: to the scheduler, or to an executor that held the result.
fn is_verdict(error: &DataFusionError) -> bool {
    error.strip_backtrace().contains("Job ") && error.strip_backtrace().contains(" failed: ")
}

/// What is behind a connection that broke: a scheduler that is gone is named.
async fn why_lost(error: DataFusionError, scheduler: &SchedulerAddress) -> DataFusionError {
    match readiness::executors(scheduler).await {
        Ok(_) => error,
        Err(away) => DataFusionError::External(Box::new(away)),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use datafusion::arrow::array::Int64Array;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};

    use super::*;

    fn batch(number: i64) -> RecordBatch {
        let schema = Schema::new(vec![Field::new("n", DataType::Int64, false)]);
        RecordBatch::try_new(Arc::new(schema), vec![Arc::new(Int64Array::from(vec![number]))]).unwrap()
    }

    fn lost() -> DataFusionError {
        DataFusionError::Execution("GrpcConnectionError(\"Error connecting to executor\")".to_owned())
    }

    struct Taken(bool);

    impl Job for Taken {
        fn is_taken(&self) -> bool {
            self.0
        }

        fn ended(&mut self) {}
    }

    fn attempt(rows: Vec<Result<RecordBatch>>, taken: bool) -> Attempt {
        let rows = RecordBatchStreamAdapter::new(batch(0).schema(), futures::stream::iter(rows));
        Attempt { rows: Box::pin(rows), job: Box::new(Taken(taken)) }
    }

    /// Asks with the given attempts, one after the other; the answer, and how many were needed.
    fn ask(attempts: Vec<Attempt>) -> (Result<Vec<RecordBatch>>, usize) {
        let (asked, attempts) = (Cell::new(0), attempts.into_iter().map(Some).map(Cell::new).collect::<Vec<_>>());
        let next = || {
            asked.set(asked.get() + 1);
            Ok(attempts[asked.get() - 1].take().unwrap())
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let answer = runtime.block_on(async { first_result(next).await?.try_collect().await });
        (answer, asked.get())
    }

    #[test]
    fn a_lost_result_is_asked_for_again_and_no_row_is_there_twice() {
        let half = attempt(vec![Ok(batch(1)), Err(lost())], true);
        let whole = attempt(vec![Ok(batch(1)), Ok(batch(2))], true);
        let (answer, asked) = ask(vec![half, whole]);
        assert_eq!(answer.unwrap(), [batch(1), batch(2)]);
        assert_eq!(asked, 2);
    }

    #[test]
    fn it_is_not_asked_for_ever() {
        let (answer, asked) = ask((0..ATTEMPTS).map(|_| attempt(vec![Err(lost())], true)).collect());
        assert!(answer.is_err());
        assert_eq!(asked, ATTEMPTS);
    }

    #[test]
    fn a_query_that_failed_or_was_not_taken_is_not_asked_again() {
        let failed = DataFusionError::Execution("Job 4711 failed: Divide by zero error".to_owned());
        assert_eq!(ask(vec![attempt(vec![Err(failed)], true)]).1, 1);
        assert_eq!(ask(vec![attempt(vec![Err(lost())], false)]).1, 1);
    }
}
