//! The daemon: checks, traces, drains, keeps, restores.
//!
//! One thread runs the main loop (control files, rotation, budget, socket, metrics); another one decodes and writes. They
//! share a queue of segments and a channel of what became of them.

mod account;
mod capture;
mod error;
mod facts;
mod keep;
mod recover;
mod running;
mod start;
mod status;
mod trigger;
mod went_down;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{mpsc, watch};

use crate::config::Config;
use crate::counters::Comparison;
use crate::journal::Report;
use crate::talk::metrics::{Listen, METRICS_OPTION, MetricsServer};
use crate::talk::notify::Notifier;
use crate::talk::protocol::Request;
use crate::talk::socket::{self, Command, ControlSocket, ServerLimits};
use crate::talk::status::Status;

pub use error::DaemonError;
pub use facts::{NodeFacts, SharedFacts};
pub use start::restore;

use running::Running;

/// How often the main loop looks around under load: a segment must not grow far beyond its size.
const TICK: Duration = Duration::from_millis(100);
/// How often it does when little is logged.
const CALM_TICK: Duration = Duration::from_millis(500);

/// How a capture ended.
#[derive(Debug)]
pub struct Ending {
    /// Why.
    pub reason: Reason,
    /// The last state.
    pub status: Status,
    /// What became of the kernel's settings.
    pub restored: Option<Report>,
    /// The trace beside the server's own counters.
    pub comparison: Option<Comparison>,
    /// What could not be done.
    pub failures: Vec<String>,
}

impl Ending {
    /// Whether everything was put back and written.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.failures.is_empty() && self.restored.as_ref().is_none_or(Report::is_complete) && self.reason.is_wanted()
    }
}

/// Why a capture ended.
#[derive(Debug)]
pub enum Reason {
    /// `lioprof stop`.
    Asked,
    /// A signal.
    Signal(&'static str),
    /// The time that was asked for is over.
    Over,
    /// Something made it impossible to go on.
    Error(DaemonError),
}

impl Reason {
    fn is_wanted(&self) -> bool {
        !matches!(self, Self::Error(_))
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Asked => f.write_str("asked to stop"),
            Self::Signal(name) => write!(f, "{name}"),
            Self::Over => f.write_str("the time asked for is over"),
            Self::Error(err) => write!(f, "{err}"),
        }
    }
}

/// Runs until it is told to stop. Whatever happens, the kernel's settings are put back.
///
/// # Errors
/// If it could not start. Once tracing has begun, what goes wrong is in the [`Ending`].
pub fn run(config: &Config) -> Result<Ending, DaemonError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(DaemonError::Runtime)?;
    runtime.block_on(serve(config))
}

async fn serve(config: &Config) -> Result<Ending, DaemonError> {
    // Signals first: one that comes during the start must not kill the daemon between two steps.
    let mut signals = Signals::new().map_err(DaemonError::Runtime)?;
    let asked = config;
    let mut prepared = start::prepare(asked)?;
    let config = &prepared.config;
    let node = config.node_name();
    for other in &prepared.killed {
        let mut theirs = config.clone();
        theirs.keep.dir.clone_from(&other.dir);
        recover::leftovers(&theirs, std::slice::from_ref(&other.spool), &node)?;
    }
    recover::leftovers(config, &asked.spool_places(), &node)?;
    let socket = ControlSocket::bind(&config.talk.socket)?;
    let listen = config.talk.metrics.get().map_or(Listen::Off, Listen::On);
    let exporter = MetricsServer::bind(listen, METRICS_OPTION)?;
    let (status, status_seen) = watch::channel(Arc::new(Status::default()));
    let (commands, mut commanded) = mpsc::channel::<Command>(16);
    let notifier = Notifier;
    let mut running = Running::start(config, &node, status)?;
    prepared.made.keep();
    let metrics = running.metrics();

    // Clients are heard until the process ends: the last answer goes out while it does.
    let server = socket::serve(&socket, ServerLimits::default(), status_seen, commands, std::future::pending());
    let exporting = async {
        match exporter {
            Some(exporter) => exporter.serve(metrics).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(server, exporting);
    notifier.ready();
    let mut next_tick = tokio::time::Instant::now();
    let mut told = None;
    let mut watchdog = Instant::now();
    let mut stops_asked = Vec::new();
    let mut serving = true;
    let reason = loop {
        tokio::select! {
            biased;
            name = signals.next() => break Reason::Signal(name),
            Some(command) = commanded.recv() => {
                let Command { request, answer } = command;
                if request == Request::Stop {
                    stops_asked.push(answer);
                    break Reason::Asked;
                }
                // A client that has gone needs no answer.
                drop(answer.send(running.request(request)));
            }
            () = tokio::time::sleep_until(next_tick) => {
                match running.tick(Instant::now(), now_us()) {
                    Ok(false) => {}
                    Ok(true) => break Reason::Over,
                    Err(err) => break Reason::Error(err),
                }
                next_tick = tokio::time::Instant::now() + running.tick_after();
            }
            result = &mut server => {
                serving = false;
                if let Err(err) = result {
                    break Reason::Error(err.into());
                }
            }
            result = &mut exporting => {
                if let Err(err) = result {
                    break Reason::Error(err.into());
                }
            }
        }
        if notifier.watchdog_interval().is_some_and(|interval| watchdog.elapsed() >= interval) {
            watchdog = Instant::now();
            notifier.watchdog();
        }
        let line = running.status_line();
        if let Some(line) = line.as_ref().filter(|_| line != told) {
            notifier.status(line);
        }
        told = line;
    };
    tracing::info!(%reason, "the capture ends");
    notifier.stopping(config.keep.drain_at_most.0 + running::END_BESIDES_DRAINING);
    let end = running.end(reason, &mut signals);
    tokio::pin!(end);
    // Draining may take a while: whoever asks is answered all the same.
    let ending = loop {
        tokio::select! {
            biased;
            ending = &mut end => break ending,
            Some(Command { request, answer }) = commanded.recv() => match request {
                Request::Stop => stops_asked.push(answer),
                _ => drop(answer.send(Err("the capture is ending: see `lioprof status`".to_owned()))),
            },
            _ = &mut server, if serving => serving = false,
        }
    };
    start::tidy(asked, config);
    if !stops_asked.is_empty() {
        let totals = &ending.status.totals;
        let files = &ending.status.files;
        let message = format!("stopped: {} RPCs in {} files in {}", totals.rpcs, files.written, files.directory);
        for answer in stops_asked {
            drop(answer.send(if ending.is_clean() { Ok(message.clone()) } else { Err(ending.failures.join("; ")) }));
        }
        // The answer goes out on another task.
        tokio::time::sleep(TICK).await;
    }
    Ok(ending)
}

/// SIGTERM, SIGINT, and SIGHUP: a terminal that is closed must not leave a server tracing.
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.hangup.recv() => "SIGHUP",
        }
    }
}

/// Wall clock, microseconds since the epoch.
fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
