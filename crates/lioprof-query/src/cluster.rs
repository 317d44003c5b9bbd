//! The same SQL on a cluster: one scheduler, any number of executors, all of them this program.
//!
//! Ballista does the work: the client sends a logical plan, the scheduler makes stages of it and lists the files, the
//! executors read them and hand intermediate results to each other. What is here is how sessions, schedulers and executors
//! are set up so that a plan stays small, a lost executor costs a retry, and what is wrong is said:
//!
//! * Executors ask for work (Ballista's pull mode). They need no port that the scheduler connects to, and whoever was away
//!   comes back by itself.
//! * The static planner: the adaptive one of Ballista 55 cannot recover from the loss of an executor.
//! * A task reads one partition, so what a loss costs is small, and an executor runs as many tasks as it says.

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

/// Largest message between scheduler and executors. Ballista's own limit of 16 MiB is one that a plan for tens of thousands
/// of files could meet, and a plan that does not fit fails the query.
const MAX_MESSAGE_BYTES: u32 = 256 << 20;

/// What can go wrong between the parts of a cluster.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// Nothing answers, or something that is no scheduler.
    #[error(
        "no scheduler answers at {scheduler}; is `lioprof-query scheduler` running there, and does a firewall let port {} \
         through?", scheduler.port()
    )]
    Unreachable {
        /// Where it was looked for.
        scheduler: SchedulerAddress,
        /// Why it failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A scheduler without executors: a query would wait for ever.
    #[error(
        "the scheduler at {scheduler} has no executors; start some: lioprof-query executor --scheduler {}:{}",
        scheduler.host(), scheduler.port()
    )]
    NoExecutors {
        /// The scheduler.
        scheduler: SchedulerAddress,
    },
    /// A port is taken or an address is not one of this host.
    #[error(
        "failed to listen on {address}; is another scheduler or executor running here? --bind chooses the address and port"
    )]
    Listen {
        /// Where to listen.
        address: SocketAddr,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The folder for intermediate results cannot be used.
    #[error("failed to prepare `{}` for intermediate results; --work-dir chooses another one", path.display())]
    WorkDir {
        /// The folder.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The scheduler has not answered an executor for so long that it gives up.
    #[error("the scheduler at {scheduler} has not answered for {seconds} s")]
    SchedulerAway {
        /// The scheduler.
        scheduler: SchedulerAddress,
        /// For how long.
        seconds: u64,
    },
    /// There are no threads to be had.
    #[error("failed to start threads")]
    Threads(#[source] io::Error),
    /// Ballista says no.
    #[error("{what}")]
    Ballista {
        /// What was tried.
        what: &'static str,
        /// What it says.
        #[source]
        source: Box<ballista_core::error::BallistaError>,
    },
}

/// DataFusion plans by recursion, and so do those who read a plan from a message: 32 MiB is what Ballista's own scheduler
/// gives its threads. It is address space, not memory.
const STACK_BYTES: usize = 32 << 20;

/// What schedulers and executors run on.
///
/// # Errors
///
/// If no threads can be had.
pub fn runtime() -> Result<tokio::runtime::Runtime, ClusterError> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().thread_stack_size(STACK_BYTES).build().map_err(ClusterError::Threads)
}
