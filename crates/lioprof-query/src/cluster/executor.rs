//! An executor: asks a scheduler for tasks and runs them.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow_flight::flight_service_server::FlightServiceServer;
use ballista_core::RuntimeProducer;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::extension::SessionConfigExt;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::serde::protobuf::ExecutorStoppedParams;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::utils::create_grpc_server;
use ballista_executor::ArrowFlightServerProvider;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::flight_service::BallistaFlightService;
use ballista_executor::health::ExecutorHealth;
use ballista_executor::metrics::ExecutorMetricCollectionPolicy;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionConfig;
use tonic::transport::server::TcpIncoming;

use super::stores::Stores;
use super::{ClusterError, MAX_MESSAGE_BYTES, SchedulerAddress, readiness};

/// An executor ends if its scheduler is silent for so long: whoever started it may start it again, elsewhere if need be.
const SCHEDULER_PATIENCE: Duration = Duration::from_secs(60);

/// It is reported as silent after so long.
const SCHEDULER_SILENT: Duration = Duration::from_secs(2);

/// How long an executor that ends tries to tell the scheduler, which would find out by itself.
const GOODBYE: Duration = Duration::from_secs(2);

/// How an executor is run.
#[derive(Clone, Debug)]
pub struct ExecutorOptions {
    /// Whom it asks for tasks.
    pub scheduler: SchedulerAddress,
    /// Where other executors and clients fetch results; with port 0 the system chooses one.
    pub bind: SocketAddr,
    /// The host name or address that others reach it by. If none is given, it is the address that it is bound to or, if it
    /// is bound to all, the one that the scheduler sees.
    pub advertise: Option<String>,
    /// Tasks at the same time; as many as there are cores if not given.
    pub concurrent_tasks: Option<usize>,
    /// Memory for sorting, joining and grouping, shared by the tasks; beyond it they use files. 70 % of the host's memory, or
    /// of the control group's, if not given.
    pub memory_bytes: Option<u64>,
    /// Where a folder for intermediate results is made.
    pub work_dir: PathBuf,
}

/// An executor that has its port and its folder.
pub struct Executor {
    scheduler: SchedulerAddress,
    address: SocketAddr,
    work_dir: PathBuf,
    config: ExecutorProcessConfig,
}

impl Executor {
    /// Takes the port and makes the folder.
    ///
    /// # Errors
    ///
    /// If one of them cannot be had.
    pub fn bind(options: ExecutorOptions) -> Result<Self, ClusterError> {
        let failed = |source| ClusterError::Listen(options.bind, source);
        let listener = TcpListener::bind(options.bind).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let work_dir = own_folder(&options.work_dir, address)
            .map_err(|source| ClusterError::WorkDir(options.work_dir.clone(), source))?;
        let advertise =
            options.advertise.or_else(|| (!address.ip().is_unspecified()).then(|| address.ip().to_string()));
        let config = ExecutorProcessConfig {
            task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
            bind_host: address.ip().to_string(),
            port: address.port(),
            // Nothing listens for a scheduler that wants to push tasks.
            grpc_port: 0,
            external_host: advertise,
            scheduler_host: options.scheduler.host().to_owned(),
            scheduler_port: options.scheduler.port(),
            vcores: options.concurrent_tasks.unwrap_or(0),
            memory_pool_size: options.memory_bytes,
            work_dir: Some(work_dir.to_string_lossy().into_owned()),
            metric_collection_policy: ExecutorMetricCollectionPolicy::Off,
            grpc_max_decoding_message_size: MAX_MESSAGE_BYTES,
            grpc_max_encoding_message_size: MAX_MESSAGE_BYTES,
            override_config_producer: Some(Arc::new(SessionConfig::new_with_ballista)),
            override_runtime_producer: Some(runtime_producer(work_dir.clone())),
            override_function_registry: Some(Arc::new(functions())),
            override_arrow_flight_service: Some(flight_service(listener)),
            ..ExecutorProcessConfig::default()
        };
        Ok(Self { scheduler: options.scheduler, address, work_dir, config })
    }

    /// Where others fetch results.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs tasks until `stop` is ready, then says goodbye to the scheduler and removes the folder.
    ///
    /// Tasks that are running then are not waited for: the scheduler gives them to other executors, as it must do with what
    /// this one had finished, whose results go with it. It has a runtime of its own, which ends with it: a part of Ballista's
    /// that is left running would register the executor again.
    ///
    /// # Errors
    ///
    /// If the scheduler cannot be reached for a minute, or a part of the executor fails.
    pub fn run(self, stop: impl Future<Output = ()>) -> Result<(), ClusterError> {
        let runtime = super::runtime()?;
        let (scheduler, id) = (self.scheduler, self.config.executor_id.clone());
        let ended = runtime.block_on(async {
            tokio::select! {
                // First, because Ballista listens for the same signals.
                biased;
                () = stop => Ok(()),
                ended = serve(&scheduler, self.config) => ended,
            }
        });
        runtime.shutdown_background();
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
            runtime.block_on(say_goodbye(&scheduler, id));
        }
        if let Err(error) = fs::remove_dir_all(&self.work_dir) {
            log::warn!("failed to remove `{}`: {error}", self.work_dir.display());
        }
        ended
    }
}

/// DataFusion's functions, and ours.
fn functions() -> BallistaFunctionRegistry {
    let mut functions = BallistaFunctionRegistry::default();
    let ours = crate::sums::function();
    functions.scalar_functions.insert(ours.name().to_owned(), ours);
    functions
}

async fn serve(scheduler: &SchedulerAddress, config: ExecutorProcessConfig) -> Result<(), ClusterError> {
    wait_for(scheduler).await?;
    let health = config.health.clone();
    tokio::select! {
        error = scheduler_is_away(scheduler, &health) => Err(error),
        ended = start_executor_process(Arc::new(config)) => {
            ended.map_err(|err| ClusterError::Ballista("the executor stopped", Box::new(err)))
        }
    }
}

/// Waits until the scheduler answers: hosts are not started in order.
async fn wait_for(scheduler: &SchedulerAddress) -> Result<(), ClusterError> {
    let since = Instant::now();
    loop {
        match readiness::executors(scheduler).await {
            Ok(_) => return Ok(()),
            Err(error) if since.elapsed() >= SCHEDULER_PATIENCE => return Err(error),
            Err(error) => log::info!("waiting: {error}"),
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Ends when the scheduler has been silent for too long.
async fn scheduler_is_away(scheduler: &SchedulerAddress, health: &ExecutorHealth) -> ClusterError {
    let mut heard = Instant::now();
    let mut away = false;
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let ready = health.is_ready();
        match (away, ready) {
            (true, true) => log::info!("the scheduler at {scheduler} is back"),
            (false, false) if heard.elapsed() > SCHEDULER_SILENT => {
                log::warn!("the scheduler at {scheduler} does not answer")
            }
            _ => {}
        }
        if ready {
            heard = Instant::now();
        }
        away = heard.elapsed() > SCHEDULER_SILENT;
        if heard.elapsed() >= SCHEDULER_PATIENCE {
            return ClusterError::SchedulerAway(scheduler.clone(), SCHEDULER_PATIENCE.as_secs());
        }
    }
}

/// Tells the scheduler that this executor is gone, so that it need not wait for its silence.
async fn say_goodbye(scheduler: &SchedulerAddress, executor_id: String) {
    let goodbye = async {
        let mut client = SchedulerGrpcClient::connect(scheduler.http_url()).await?;
        let params = ExecutorStoppedParams { executor_id, reason: "it was told to stop".to_owned() };
        client.executor_stopped(params).await.map_err(BallistaError::from)?;
        Ok::<_, BallistaError>(())
    };
    if !matches!(tokio::time::timeout(GOODBYE, goodbye).await, Ok(Ok(()))) {
        log::warn!("the scheduler at {scheduler} could not be told that this executor stops");
    }
}

/// Creates this port's directory and removes what a killed executor left behind.
fn own_folder(parent: &Path, address: SocketAddr) -> io::Result<PathBuf> {
    let name = format!("lioprof-executor-{}", address.to_string().replace(['[', ']'], "").replace(':', "-"));
    fs::create_dir_all(parent)?;
    let folder = parent.canonicalize()?.join(name);
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Rows of all users pass through it.
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

fn runtime_producer(work_dir: PathBuf) -> RuntimeProducer {
    Arc::new(move |_| {
        let runtime = RuntimeEnvBuilder::new().with_temp_file_path(&work_dir);
        runtime.with_object_store_registry(Arc::new(Stores::new())).build_arc()
    })
}

/// Ballista's own service, on a port that was taken before: so it is known when the executor is announced, and nobody else
/// can take it in between.
fn flight_service(listener: TcpListener) -> Arc<ArrowFlightServerProvider> {
    let listener = Mutex::new(Some(listener));
    Arc::new(move |work_dir, _, mut shutdown, config| {
        let listener = listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        tokio::spawn(async move {
            let listener = listener.ok_or_else(|| BallistaError::Internal("the port is in use already".to_owned()))?;
            let incoming = TcpIncoming::from(tokio::net::TcpListener::from_std(listener)?).with_nodelay(Some(true));
            let limit = MAX_MESSAGE_BYTES as usize;
            let service = FlightServiceServer::new(BallistaFlightService::new(work_dir))
                .max_decoding_message_size(limit)
                .max_encoding_message_size(limit);
            let server = create_grpc_server(&config).add_service(service);
            server.serve_with_incoming_shutdown(incoming, shutdown.recv()).await.map_err(BallistaError::from)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_executor_left_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let address: SocketAddr = "[::]:50051".parse().unwrap();
        let folder = own_folder(parent.path(), address).unwrap();
        fs::write(folder.join("old"), "rows").unwrap();
        let other = own_folder(parent.path(), "0.0.0.0:50052".parse().unwrap()).unwrap();
        fs::write(other.join("rows"), "rows").unwrap();
        assert_eq!(own_folder(parent.path(), address).unwrap(), folder);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        assert!(other.join("rows").exists());
        assert_eq!(folder.file_name().unwrap(), "lioprof-executor----50051");
    }
}
