//! The commands `scheduler` and `executor`: run until they are told to stop.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use lioprof_query::cluster::{self, Executor, ExecutorOptions, Scheduler, SchedulerOptions};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{ExecutorArgs, SchedulerArgs};

/// Log levels if RUST_LOG is not set: problems, and executors that come and go. Ballista's loops report a lost connection many
/// times a second; `lioprof_query` reports it once.
const LOG: &str = "warn,lioprof_query=info,ballista_scheduler::scheduler_server=info,\
                   ballista_scheduler::state::executor_manager=info,ballista_executor::execution_loop=error";

pub(crate) fn scheduler(args: &SchedulerArgs) -> anyhow::Result<()> {
    log_to_stderr()?;
    let options = SchedulerOptions { bind: args.bind, executor_timeout: args.executor_timeout };
    cluster::runtime()?.block_on(async {
        let stop = stop_signal()?;
        let scheduler = Scheduler::bind(&options).await?;
        announce(&format!("ballista://{}", scheduler.address()))?;
        tokio::select! {
            ended = scheduler.serve() => Ok(ended?),
            () = stop => Ok(()),
        }
    })
}

pub(crate) fn executor(args: &ExecutorArgs) -> anyhow::Result<()> {
    log_to_stderr()?;
    let executor = Executor::bind(ExecutorOptions {
        scheduler: args.scheduler.clone(),
        bind: args.bind,
        advertise: args.advertise.clone(),
        concurrent_tasks: args.concurrent_tasks.map(NonZeroUsize::get),
        memory_bytes: args.memory_mib.map(|mib| mib.get().saturating_mul(1 << 20)),
        work_dir: args.work_dir.clone().unwrap_or_else(std::env::temp_dir),
    })?;
    announce(&executor.address().to_string())?;
    executor.run(async {
        match stop_signal() {
            Ok(stop) => stop.await,
            // Without signals the process can only be killed.
            Err(error) => {
                log::warn!("failed to listen for signals: {error}");
                std::future::pending().await
            }
        }
    })?;
    Ok(())
}

/// The address goes to stdout at once: a script that starts several waits for it.
fn announce(address: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{address}")?;
    out.flush()
}

/// Completes when a signal asks the process to stop.
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

fn log_to_stderr() -> anyhow::Result<()> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(LOG)).try_init()?;
    Ok(())
}
