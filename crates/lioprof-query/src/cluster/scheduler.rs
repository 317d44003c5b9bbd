//! A scheduler: takes queries, cuts them into tasks, hands those to executors.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::extension::SessionConfigExt;
use ballista_core::utils::default_session_builder;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use ballista_scheduler::scheduler_server::SessionBuilder;
use datafusion::execution::FunctionRegistry as _;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tokio::net::TcpListener;

use super::stores::Stores;
use super::{ClusterError, MAX_MESSAGE_BYTES};

/// How often the scheduler looks for executors that are silent.
const LOOK_FOR_LOST: Duration = Duration::from_secs(5);

/// How a scheduler is run.
#[derive(Clone, Debug)]
pub struct SchedulerOptions {
    /// Where it listens; with port 0 the system chooses one.
    pub bind: SocketAddr,
    /// An executor that has been silent for so long is taken for lost: what it did is done again by others. Executors
    /// speak at least every five seconds.
    pub executor_timeout: Duration,
}

/// A scheduler that listens.
pub struct Scheduler {
    listener: TcpListener,
    address: SocketAddr,
    config: SchedulerConfig,
}

impl Scheduler {
    /// Takes the port.
    ///
    /// # Errors
    ///
    /// If it cannot be had.
    pub async fn bind(options: &SchedulerOptions) -> Result<Self, ClusterError> {
        let failed = |source| ClusterError::Listen(options.bind, source);
        let listener = TcpListener::bind(options.bind).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let timeout = options.executor_timeout.as_secs();
        let config = SchedulerConfig {
            scheduling_policy: TaskSchedulingPolicy::PullStaged,
            external_host: address.ip().to_string(),
            bind_host: address.ip().to_string(),
            bind_port: address.port(),
            executor_timeout_seconds: timeout,
            expire_dead_executor_interval_seconds: LOOK_FOR_LOST.as_secs().min(timeout.div_ceil(2)),
            // Queries wait so long for an executor after the last one was lost, then they fail.
            no_executors_grace_period_seconds: timeout,
            grpc_server_max_decoding_message_size: MAX_MESSAGE_BYTES,
            grpc_server_max_encoding_message_size: MAX_MESSAGE_BYTES,
            override_config_producer: Some(Arc::new(SessionConfig::new_with_ballista)),
            override_session_builder: Some(session_builder()),
            ..SchedulerConfig::default()
        };
        Ok(Self { listener, address, config })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is dropped.
    ///
    /// # Errors
    ///
    /// If serving fails.
    pub async fn serve(self) -> Result<(), ClusterError> {
        let failed = |err| ClusterError::Ballista("the scheduler stopped", Box::new(err));
        let cluster = BallistaCluster::new_from_config(&self.config).await.map_err(failed)?;
        let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(self.config));
        let scheduler = scheduler.await.map_err(failed)?;
        start_grpc_service_with_listener(self.listener, scheduler).await.map_err(failed)
    }
}

/// Ballista's own sessions, with our stores. Each query has a session and an environment of its own, so that none is
/// planned with a listing of files that is out of date.
fn session_builder() -> SessionBuilder {
    Arc::new(|config| {
        let runtime = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores::new())).build_arc()?;
        let mut state = default_session_builder(config)?;
        state.register_udf(crate::sums::function())?;
        Ok(SessionStateBuilder::new_from_existing(state).with_runtime_env(runtime).build())
    })
}
