//! The main loop of the daemon.

mod captures;
mod common;
mod costs;
mod counting;
mod draining;
mod kernel;
mod lease;
mod lustre;
mod rates;
mod telling;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::DaemonError;
use super::capture::{Capture, Switched};
use super::clock::{CALM_TICK, TICK, now_us};
use super::ending::{Ending, Reason};
use super::keep;
use super::signals::Signals;
use crate::config::Config;
use crate::control::Control;
use crate::drain::Job;
use crate::journal::Foreign;
use crate::live::{Asker, LiveView};
use crate::logging;
use crate::metrics::Metrics;
use crate::socket::protocol::Request;
use crate::status::{State, Status};
use crate::system;
use captures::Captures;
use common::Common;
use costs::Costs;
use counting::Counting;
use draining::Draining;
use kernel::Kernel;
use lease::Lease;
use lioprof_model::live::LiveVerdict;
use lioprof_model::with_causes;
use telling::Telling;

/// Time that stopping takes besides draining: restoring settings, finishing the current segment, reporting.
/// `TimeoutStopSec=` of the unit exceeds `keep.drain_at_most` by this.
pub(super) const END_BESIDES_DRAINING: Duration = Duration::from_secs(30);
/// Interval at which usage is measured and the budget checked.
const MEASURE_EVERY: Duration = Duration::from_secs(1);
/// Interval at which foreign changes of the kernel's settings are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// Interval at which targets and clients are listed, and old files deleted.
const HOUSEKEEPING_EVERY: Duration = Duration::from_secs(60);

/// The state of the main loop, grouped by what changes together.
pub(super) struct Running {
    common: Common,
    captures: Captures,
    draining: Draining,
    counting: Counting,
    kernel: Kernel,
    costs: Costs,
    telling: Telling,
    lease: Option<Lease>,
    next: Next,
}

/// When each periodic task is due next.
struct Next {
    measure: Instant,
    look: Instant,
    housekeeping: Instant,
}

fn is_due(next: &mut Instant, now: Instant, every: Duration) -> bool {
    let due = now >= *next;
    if due {
        *next = now + every;
    }
    due
}

impl Running {
    /// Starts the decoding thread and, unless it waits for a trigger, tracing.
    pub(super) fn start(
        config: &Config,
        node: &str,
        status: watch::Sender<Arc<Status>>,
        live: Option<Box<dyn LiveView>>,
    ) -> Result<Self, DaemonError> {
        let root = &config.control.root;
        let common = Common::new(config, node);
        let now = common.started;
        let mut running = Self {
            captures: Captures::default(),
            draining: Draining::new(live),
            counting: Counting::new(config),
            kernel: Kernel::new(root),
            costs: Costs::new(config),
            telling: Telling::new(status, common.started_us),
            lease: config.capture.lease.get().map(|lease| Lease::new(lease.0, now)),
            next: Next { measure: now, look: now + LOOK_EVERY, housekeeping: now + HOUSEKEEPING_EVERY },
            common,
        };
        if running.common.waits() && system::modules::lustre_loaded(root) == Some(false) {
            tracing::info!("Lustre is not loaded: waiting for it");
            running.telling.set_state(State::WaitingForLustre);
        } else {
            running.attach(running.common.open_control()?)?;
        }
        running.publish();
        Ok(running)
    }

    pub(super) fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.common.metrics)
    }

    /// One status line for the service manager, if it changed.
    pub(super) fn status_line(&self) -> Option<String> {
        self.telling.line()
    }

    /// Runs the tasks that are due; says why the capture is to end, once it is.
    pub(super) fn tick(&mut self, now: Instant, now_us: i64) -> Result<Option<Reason>, DaemonError> {
        match self.do_what_is_due(now, now_us) {
            // Whatever failed, it did because the modules are gone.
            Err(_) if self.common.waits() && self.common.is_unloaded() => {
                self.lustre_is_gone();
                Ok(None)
            }
            done => done,
        }
    }

    fn do_what_is_due(&mut self, now: Instant, now_us: i64) -> Result<Option<Reason>, DaemonError> {
        let config = &self.common.config;
        self.draining.hear(&self.common.metrics);
        if self.draining.has_ended() {
            return Err(DaemonError::WorkerDied { path: config.capture.spool_dir().to_owned() });
        }
        if let Some(capture) = &mut self.captures.current {
            capture.tick(now, now_us)?;
            self.common.queue.give_up_above(config.capture.spool_limit_mib() * (1 << 20) / 2);
        }
        self.switch_if_due(now)?;
        if let Err(trouble) = self.counting.finish_sample(&self.common, self.captures.traces()) {
            self.draining.account.failure(trouble);
        }
        if is_due(&mut self.next.measure, now, MEASURE_EVERY) {
            self.measure(now, now_us)?;
        }
        if is_due(&mut self.next.look, now, LOOK_EVERY) {
            self.look_for_lustre()?;
            self.look()?;
        }
        if is_due(&mut self.next.housekeeping, now, HOUSEKEEPING_EVERY) {
            self.housekeeping();
        }
        // Both want the sampler, often at the same time.
        self.heed_trigger(now, now_us)?;
        if self.captures.current.is_some() {
            self.counting.sample_if_due(&self.common.config, now);
        }
        let over = self.captures.is_over(&self.common.config, now).then_some(Reason::Over);
        let abandoned = || self.lease.as_ref().filter(|lease| lease.has_run_out(now)).map(|_| Reason::NotRenewed);
        Ok(over.or_else(abandoned))
    }

    /// When [`Self::tick`] is due again.
    pub(super) fn tick_after(&self) -> Duration {
        let calm = self.captures.current.as_ref().is_none_or(Capture::is_calm);
        let calm = calm && self.common.queue.waiting().segments == 0 && !self.counting.is_sampling();
        // Files are renamed when their time has come, however little is in them.
        if calm { (self.common.config.capture.rotate.0 / 2).clamp(TICK, CALM_TICK) } else { TICK }
    }

    /// Carries out what a client asks for.
    pub(super) fn request(&mut self, request: Request) -> Result<String, String> {
        match request {
            Request::Mark { text } => match &self.captures.current {
                Some(capture) => {
                    capture.session.control.mark(&text).map_err(|err| with_causes(&err))?;
                    Ok(format!("marked: {text}"))
                }
                None => Err(format!("tracing is off: the daemon is {}", self.telling.state)),
            },
            Request::Flush => {
                if let Some(capture) = &mut self.captures.current {
                    capture.rotate_soon();
                }
                self.common.queue.push(Job::Flush);
                Ok("what was decoded until now is being written".to_owned())
            }
            Request::Renew => match &mut self.lease {
                Some(lease) => Ok(lease.renew(Instant::now())),
                None => Err("this daemon has no lease: it runs until it is stopped".to_owned()),
            },
            // Answered by the socket, by `tell_live`, and by the main loop.
            Request::Status | Request::Live | Request::Stop => Ok(String::new()),
        }
    }

    /// Has the decoding thread tell what the server does now.
    pub(super) fn tell_live(&self, asker: Asker) {
        let why_not = if !self.draining.is_busy() {
            format!("nothing was traced so far: the daemon is {}", self.telling.state)
        } else if self.common.queue.is_stalled() {
            "rows cannot be written, and until they are nothing is decoded: see `lioprof status`".to_owned()
        } else {
            if self.common.sums.live.ask(asker) {
                self.common.queue.look();
            }
            return;
        };
        // A client that has gone needs no answer.
        drop(asker.send(Err(why_not)));
    }

    /// Ends the capture: restores the settings, drains, compares with the counters.
    pub(super) async fn end(mut self, reason: Reason, signals: &mut Signals) -> Ending {
        self.telling.set_state(State::Stopping);
        self.publish();
        self.stop_capture();
        self.common.queue.push(Job::Finish);
        let bound = self.common.config.keep.drain_at_most;
        let give_up_at = Instant::now() + bound.0;
        let mut published = Instant::now();
        while self.draining.is_busy() {
            self.draining.hear(&self.common.metrics);
            if published.elapsed() >= MEASURE_EVERY {
                published = Instant::now();
                self.costs.look();
                self.publish();
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
                name = signals.next() => {
                    self.draining.left(&self.common.config, &format!("{name} while draining"));
                    break;
                }
            }
            if Instant::now() >= give_up_at {
                let why = format!("draining took longer than keep.drain_at_most = \"{bound}\"");
                self.draining.left(&self.common.config, &why);
                break;
            }
        }
        self.draining.end(&self.common);
        if let Some(why) = self.draining.account.unwritten.take() {
            self.draining.left(&self.common.config, &why);
        }
        self.captures.remove_records(&self.common.config);
        // What was not drained is no loss: it becomes rows with the next start.
        let finished = self.draining.account.finished;
        let comparison = finished.then(|| self.common.sums.take_comparison()).flatten();
        let mut status = Status::clone(&self.publish());
        // Of all that was traced, and not only up to the last sample that the trace had reached.
        status.loss.counters = comparison.as_ref().and_then(|it| it.missing).or(status.loss.counters);
        let account = self.draining.account;
        logging::report_repeats();
        let failures = account.failures;
        Ending { reason, status, restored: self.captures.restored, comparison, failures }
    }

    /// Starts tracing.
    fn begin(&mut self, control: Control) -> Result<(), DaemonError> {
        self.captures.begin(&self.common, control, self.draining.account.busiest_cpu_bytes_per_s)?;
        self.traced_from_now();
        self.telling.set_state(State::Tracing);
        Ok(())
    }

    fn traced_from_now(&mut self) {
        let since_us = self.counting.traced_from_now(&self.common);
        let mut facts = self.common.facts.lock();
        facts.traced_us.push((since_us, None));
        self.captures.note(&self.common.config, &mut facts);
    }

    fn stop_capture(&mut self) {
        if self.captures.traces() {
            self.counting.traced_until_now(&self.common);
        }
        if let Err(err) = self.captures.end() {
            self.draining.account.failure(&err.to_string());
        }
    }

    fn switch_if_due(&mut self, now: Instant) -> Result<(), DaemonError> {
        let Some(capture) = &mut self.captures.current else { return Ok(()) };
        let Some(due) = capture.due(now) else { return Ok(()) };
        match due {
            Switched::Off => self.counting.traced_until_now(&self.common),
            Switched::On => self.common.queue.push(Job::TracedFrom(now_us())),
            Switched::Profile => {}
        }
        capture.switch(now)?;
        match due {
            Switched::On => self.traced_from_now(),
            Switched::Off | Switched::Profile => self.note(),
        }
        Ok(())
    }

    fn note(&self) {
        self.captures.note(&self.common.config, &mut self.common.facts.lock());
    }

    /// Measures usage and takes the step that the budget decides.
    fn measure(&mut self, now: Instant, now_us: i64) -> Result<(), DaemonError> {
        let (common, account) = (&self.common, &mut self.draining.account);
        self.kernel.poll(common, account, self.captures.current.as_mut());
        self.costs.look();
        if let Some(capture) = &mut self.captures.current
            && let Some(step) =
                self.costs.step(common, now, now_us, account.records, common.lag_s(now_us, account.decoded_us))
        {
            capture.set_level(step.to, now);
            let state = self.costs.state();
            if state != State::Tracing {
                common.facts.lock().sampled = true;
            }
            self.telling.set_state(state);
            self.switch_if_due(now)?;
        }
        self.publish();
        Ok(())
    }

    /// Looks for settings of lioprof's that others changed.
    fn look(&mut self) -> Result<(), DaemonError> {
        for change in self.captures.look(&self.common)? {
            tracing::warn!("somebody else changed the kernel's settings: {change}");
            if let Foreign::Daemon(path) = &change {
                let now = path.as_ref().map_or_else(
                    || "was stopped by somebody else".to_owned(),
                    |path| format!("was pointed to `{}` by somebody else", path.display()),
                );
                return Err(DaemonError::LostDaemon(now));
            }
            self.telling.foreign(change);
            self.note();
        }
        Ok(())
    }

    fn housekeeping(&mut self) {
        if let Some(capture) = &self.captures.current {
            self.common.facts.lock().refresh(&capture.session.control);
        }
        self.captures.remove_records(&self.common.config);
        for message in keep::delete_old(&self.common.config, &self.common.node) {
            tracing::info!("{message}");
        }
        logging::report_repeats();
    }

    /// Starts and stops the capture by load.
    fn heed_trigger(&mut self, now: Instant, now_us: i64) -> Result<(), DaemonError> {
        if self.telling.state == State::WaitingForLustre {
            return Ok(());
        }
        let Some(wanted) = self.counting.wants_capture(now, now_us) else { return Ok(()) };
        match (wanted, self.captures.current.is_some()) {
            (true, false) => {
                tracing::info!("the load of a target reached the trigger");
                self.begin(self.common.open_control()?)?;
            }
            (false, true) => {
                tracing::info!("the load stayed below the trigger for trigger.stop_after");
                self.stop_capture();
                self.common.queue.push(Job::Interrupt);
                self.common.queue.push(Job::Flush);
                self.telling.set_state(State::WaitingForTrigger);
            }
            (false, false) => self.telling.set_state(State::WaitingForTrigger),
            (true, true) => {}
        }
        Ok(())
    }

    /// Collects the status of all parts, with warnings in the order of importance.
    fn publish(&mut self) -> Arc<Status> {
        let mut status = self.common.status(now_us());
        self.captures.tell(&mut status);
        self.telling.tell(&mut status);
        self.draining.tell(&self.common, &mut status);
        self.costs.tell(&mut status);
        self.kernel.tell(&mut status);
        status.counters = self.counting.last;
        status.verdict = self.common.sums.live.verdict().map(|verdict| LiveVerdict::clone(&verdict));
        self.telling.publish(status, self.draining.account.decoded_us, &self.costs.own, &self.common.metrics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systemd_is_as_patient_as_the_daemon() {
        let unit = include_str!("../../../../packaging/lioprof.service");
        let seconds = |key: &str| {
            let value = unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')).unwrap();
            humantime::parse_duration(value).unwrap()
        };
        let end = Config::default().keep.drain_at_most.0 + END_BESIDES_DRAINING;
        assert_eq!(seconds("TimeoutStopSec"), end);
        assert!(seconds("TimeoutStartSec") > end);
    }
}
