//! From the checks before a capture to its end.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot, watch};

use super::clock::now_us;
use super::ending::{Ending, Reason};
use super::error::DaemonError;
use super::recover;
use super::running;
use super::running::Running;
use super::signals::Signals;
use super::start;
use crate::config::Config;
use crate::live::LiveView;
use crate::metrics::MetricsServer;
use crate::socket::protocol::Request;
use crate::socket::{self, Command, ControlSocket, ServerLimits};
use crate::status::Status;
use crate::systemd::Notifier;

/// What clients hear at the end.
const IS_ENDING: &str = "the capture is ending: see `lioprof status`";

/// Runs until it is told to stop. Restores the kernel's settings whatever happens. `live` tells clients what the server does now.
///
/// # Errors
/// If the daemon cannot start. Failures after the start of tracing are in the [`Ending`].
pub fn run(config: &Config, live: Option<Box<dyn LiveView>>) -> Result<Ending, DaemonError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(DaemonError::Runtime)?;
    runtime.block_on(serve(config, live))
}

pub(super) async fn serve(config: &Config, live: Option<Box<dyn LiveView>>) -> Result<Ending, DaemonError> {
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
    recover::leftovers(config, &asked.spool_dirs(), &node)?;
    let socket = ControlSocket::bind(&config.talk.socket)?;
    let exporter = config.talk.metrics.get().map(MetricsServer::bind).transpose()?;
    let (status, status_seen) = watch::channel(Arc::new(Status::unknown()));
    let (commands, mut commanded) = mpsc::channel::<Command>(16);
    let notifier = Notifier;
    let mut running = Running::start(config, &node, status, live)?;
    prepared.made.keep();
    let metrics = running.metrics();

    // Clients are heard until the last answer has gone out.
    let (hang_up, hung_up) = oneshot::channel::<()>();
    let server = socket::serve(&socket, ServerLimits::default(), status_seen, commands, async { drop(hung_up.await) });
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
                match command {
                    Command::Do { request: Request::Stop, answer } => {
                        stops_asked.push(answer);
                        break Reason::Asked;
                    }
                    // A client that has gone needs no answer.
                    Command::Do { request, answer } => drop(answer.send(running.request(request))),
                    Command::Look(asker) => running.tell_live(asker),
                }
            }
            () = tokio::time::sleep_until(next_tick) => {
                match running.tick(Instant::now(), now_us()) {
                    Ok(None) => {}
                    Ok(Some(reason)) => break reason,
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
    tracing::info!(%reason, "ending the capture");
    notifier.stopping(config.keep.drain_at_most.0 + running::END_BESIDES_DRAINING);
    let end = running.end(reason, &mut signals);
    tokio::pin!(end);
    // Draining may take a while: whoever asks is answered all the same.
    let ending = loop {
        tokio::select! {
            biased;
            ending = &mut end => break ending,
            Some(command) = commanded.recv() => match command {
                Command::Do { request: Request::Stop, answer } => stops_asked.push(answer),
                Command::Do { answer, .. } => drop(answer.send(Err(IS_ENDING.to_owned()))),
                Command::Look(asker) => drop(asker.send(Err(IS_ENDING.to_owned()))),
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
    }
    drop(hang_up);
    if serving && let Err(err) = server.await {
        tracing::warn!(error = %err, "failed to shut down the control socket");
    }
    Ok(ending)
}
