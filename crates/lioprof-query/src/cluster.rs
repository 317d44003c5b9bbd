//! The same SQL on a cluster: one scheduler, any number of executors, all of them this program.
//!
//! Ballista does the work: the client sends a logical plan, the scheduler makes stages of it and lists the files, the
//! executors read them and exchange intermediate results. This module sets up sessions, schedulers and executors so that
//! plans stay small, the loss of an executor costs only a retry, and errors are reported:
//!
//! * Executors ask for tasks (Ballista's pull mode). The scheduler need not connect to them, and an executor that lost its
//!   connection comes back by itself.
//! * The static planner: the adaptive one of Ballista 55 cannot recover from the loss of an executor.
//! * A task reads one partition, so a lost one costs little, and an executor runs as many tasks at a time as configured.

mod address;
mod client;
mod executor;
mod planner;
mod readiness;
mod resubmit;
mod scheduler;
mod stores;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

pub use address::{BadAddress, DEFAULT_PORT, SchedulerAddress};
pub use client::session_state;
pub use executor::{Executor, ExecutorOptions};
pub use resubmit::all_told;
pub use scheduler::{Scheduler, SchedulerOptions};

/// Largest message between scheduler and executors. A plan for tens of thousands of files could exceed Ballista's own limit
/// of 16 MiB, which would fail the query.
const MAX_MESSAGE_BYTES: u32 = 256 << 20;

/// Errors between the parts of a cluster.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// Nothing answers at this address, or something other than a scheduler.
    #[error(
        "no scheduler answers at {0}; is `lioprof-query scheduler` running there, and does a firewall let port {port} \
         through?", port = .0.port()
    )]
    Unreachable(SchedulerAddress, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// The scheduler at this address has no executors: a query would wait for ever.
    #[error(
        "the scheduler at {0} has no executors; start some: lioprof-query executor --scheduler {host}:{port}",
        host = .0.host(), port = .0.port()
    )]
    NoExecutors(SchedulerAddress),
    /// The port is in use, or the address is not one of this host.
    #[error(
        "failed to listen on {0}; is another scheduler or executor running here? --bind chooses the address and port"
    )]
    Listen(SocketAddr, #[source] io::Error),
    /// The folder for intermediate results cannot be used.
    #[error("failed to prepare `{}` for intermediate results; --work-dir chooses another one", .0.display())]
    WorkDir(PathBuf, #[source] io::Error),
    /// The scheduler has not answered an executor for too long, seconds; the executor gives up.
    #[error("the scheduler at {0} has not answered for {1} s")]
    SchedulerAway(SchedulerAddress, u64),
    /// Threads cannot be started.
    #[error("failed to start threads")]
    Threads(#[source] io::Error),
    /// A step failed in Ballista.
    #[error("{0}")]
    Ballista(&'static str, #[source] Box<ballista_core::error::BallistaError>),
}

/// Stack of a thread: DataFusion plans and decodes plans recursively. As much as Ballista's own scheduler uses; it is
/// address space, not memory.
const STACK_BYTES: usize = 32 << 20;

/// The runtime for schedulers and executors.
///
/// # Errors
///
/// If threads cannot be started.
pub fn runtime() -> Result<tokio::runtime::Runtime, ClusterError> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().thread_stack_size(STACK_BYTES).build().map_err(ClusterError::Threads)
}
