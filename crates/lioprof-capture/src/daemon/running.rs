//! The daemon at work, seen from its main loop.

mod buffer;
mod counting;
mod lustre;
mod sampling;

use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lioprof_model::units::{human_bytes, plural, real};
use tokio::sync::watch;

use super::DaemonError;
use super::account::Account;
use super::capture::{Capture, Rotation, Switched};
use super::clock::{CALM_TICK, TICK, now_us};
use super::ending::{Ending, Reason};
use super::facts::{NodeFacts, SharedFacts};
use super::keep;
use super::record;
use super::signals::Signals;
use super::trigger::Trigger;
use crate::budget::{Budget, Duty, Ladder, Level, Limits, Pace, Tick, usage};
use crate::causes::with_causes;
use crate::config::{Auto, Config, ProfileChoice};
use crate::control::Control;
use crate::control::lustre::LustreVersion;
use crate::counters::{Ledger, Sample, Sampler};
use crate::drain::{self, Job, LeftOut, PartLimits, Progress, Queue, SharedSums, Spool, session_name};
use crate::journal::{Foreign, JournalFile, Report, Session};
use crate::kmsg::KernelLog;
use crate::system;
use crate::talk::metrics::{Loss, Metrics};
use crate::talk::protocol::Request;
use crate::talk::status::{State, Status};
use sampling::sampler_options;

/// What an end takes besides draining: putting the settings back, finishing what is in hand, telling. `TimeoutStopSec=` of
/// the unit is so much longer than `keep.drain_at_most`.
pub(super) const END_BESIDES_DRAINING: Duration = Duration::from_secs(30);
/// How often figures are taken and the budget is looked at.
const MEASURE_EVERY: Duration = Duration::from_secs(1);
/// How often it is checked whether others have changed the kernel's settings.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// How often targets and clients are listed, and old files deleted.
const HOUSEKEEPING_EVERY: Duration = Duration::from_secs(60);
/// Failed looks in a row after which tracing is given up.
const MAX_FAILED_LOOKS: u32 = 5;

/// Everything that the main loop holds.
pub(super) struct Running {
    pub(super) config: Config,
    pub(super) node: String,
    pub(super) facts: SharedFacts,
    pub(super) queue: Arc<Queue>,
    told: mpsc::Sender<Progress>,
    progress: mpsc::Receiver<Progress>,
    /// Started when there is something to decode: what it keeps is named by what is known of Lustre then.
    worker: Option<JoinHandle<()>>,
    pub(super) sums: Arc<SharedSums>,
    pub(super) account: Account,
    pub(super) left_out: LeftOut,
    pub(super) budget: Budget,
    pub(super) steps: Vec<crate::budget::Transition>,
    pub(super) kernel_log: Option<KernelLog>,
    sampler: Option<Sampler>,
    /// The sampler at work on another thread.
    sampling: Option<mpsc::Receiver<(Sampler, Sample)>>,
    ledger: Ledger,
    pub(super) last_sample: Option<crate::talk::status::CounterState>,
    pub(super) capture: Option<Capture>,
    trigger: Option<Trigger>,
    pub(super) restored: Option<Report>,
    status: watch::Sender<Arc<Status>>,
    metrics: Arc<Metrics>,
    pub(super) started: Instant,
    pub(super) started_us: i64,
    pub(super) state: State,
    pub(super) state_since_us: i64,
    pub(super) foreign: Vec<String>,
    /// Why Lustre is not traced although it is loaded.
    pub(super) hindrance: Option<String>,
    failed_looks: u32,
    overflows_answered: u64,
    overflows_kept: u64,
    /// What the buffer's size was last made to fit.
    sized_for: Option<f64>,
    /// What the process used at the last look.
    own: usage::Usage,
    ends_at: Option<Instant>,
    next: Next,
}

/// When what is due.
struct Next {
    measure: Instant,
    look: Instant,
    sample: Instant,
    housekeeping: Instant,
}

impl Running {
    /// Starts the decoding thread and, unless it waits for a trigger, tracing.
    pub(super) fn start(config: &Config, node: &str, status: watch::Sender<Arc<Status>>) -> Result<Self, DaemonError> {
        let root = &config.control.root;
        let facts = SharedFacts::default();
        facts.lock().kernel = system::host::kernel_release(root);
        let queue = Arc::new(Queue::default());
        let sums = Arc::new(SharedSums::default());
        let metrics = Arc::new(Metrics::default());
        let (told, progress) = mpsc::channel();
        let (now, started_us) = (Instant::now(), now_us());
        let mut running = Self {
            config: config.clone(),
            node: node.to_owned(),
            facts,
            queue,
            told,
            progress,
            worker: None,
            sums,
            account: Account::default(),
            left_out: LeftOut::default(),
            budget: budget(config),
            steps: Vec::new(),
            kernel_log: KernelLog::open(root).map_err(|err| tracing::warn!("{err}")).ok(),
            sampler: Some(Sampler::new(root, sampler_options(config))),
            sampling: None,
            ledger: Ledger::default(),
            last_sample: None,
            capture: None,
            trigger: config.trigger.is_on().then(|| Trigger::new(&config.trigger)),
            restored: None,
            status,
            metrics,
            started: now,
            started_us,
            state: State::Preflight,
            state_since_us: started_us,
            foreign: Vec::new(),
            hindrance: None,
            failed_looks: 0,
            overflows_answered: 0,
            overflows_kept: 0,
            sized_for: None,
            own: usage::Usage::default(),
            ends_at: None,
            next: Next { measure: now, look: now + LOOK_EVERY, sample: now, housekeeping: now + HOUSEKEEPING_EVERY },
        };
        if running.waits() && system::modules::lustre_loaded(root) == Some(false) {
            tracing::info!("Lustre is not loaded: waiting for it");
            running.set_state(State::WaitingForLustre);
        } else {
            running.attach(running.open_control()?)?;
        }
        running.publish();
        Ok(running)
    }

    /// The state as it was last told.
    pub(super) fn last_status(&self) -> Arc<Status> {
        Arc::clone(&self.status.borrow())
    }

    pub(super) fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.metrics)
    }

    /// Does what is due; `true` when the time asked for is over.
    pub(super) fn tick(&mut self, now: Instant, now_us: i64) -> Result<bool, DaemonError> {
        match self.do_what_is_due(now, now_us) {
            // Whatever failed, it did because the modules are gone.
            Err(_) if self.waits() && self.is_unloaded() => {
                self.lustre_is_gone();
                Ok(false)
            }
            done => done,
        }
    }

    fn do_what_is_due(&mut self, now: Instant, now_us: i64) -> Result<bool, DaemonError> {
        self.hear();
        if self.worker.as_ref().is_some_and(JoinHandle::is_finished) {
            return Err(DaemonError::WorkerDied { path: self.config.capture.spool_dir().to_owned() });
        }
        if let Some(capture) = &mut self.capture {
            capture.tick(now, now_us)?;
            self.queue.give_up_above(self.config.capture.spool_limit_mib() * (1 << 20) / 2);
        }
        self.switch_if_due(now)?;
        self.finish_sample();
        if now >= self.next.measure {
            self.next.measure = now + MEASURE_EVERY;
            self.measure(now, now_us)?;
        }
        if now >= self.next.look {
            self.next.look = now + LOOK_EVERY;
            self.look_for_lustre()?;
            self.look()?;
        }
        if now >= self.next.housekeeping {
            self.next.housekeeping = now + HOUSEKEEPING_EVERY;
            self.housekeeping();
        }
        // Both want the sampler, often at the same time.
        self.heed_trigger(now, now_us)?;
        self.sample_if_due(now);
        Ok(self.ends_at.is_some_and(|at| now >= at) || self.is_past_end())
    }

    /// When [`Self::tick`] is due again.
    pub(super) fn tick_after(&self) -> Duration {
        let calm = self.capture.as_ref().is_none_or(Capture::is_calm) && self.queue.waiting().segments == 0;
        // Files are renamed when their time has come, however little is in them.
        let longest = (self.config.capture.rotate.0 / 2).clamp(TICK, CALM_TICK);
        if calm && self.sampling.is_none() { longest } else { TICK }
    }

    /// Carries out what a client asks for.
    pub(super) fn request(&mut self, request: Request) -> Result<String, String> {
        match request {
            Request::Mark { text } => match &self.capture {
                Some(capture) => {
                    capture.mark(&text).map_err(|err| with_causes(&err))?;
                    Ok(format!("marked: {text}"))
                }
                None => Err(format!("nothing is traced at the moment: the daemon is {}", self.state)),
            },
            Request::Flush => {
                if let Some(capture) = &mut self.capture {
                    capture.rotate_soon();
                }
                self.queue.push(Job::Flush);
                Ok("what was decoded until now is being written".to_owned())
            }
            // Answered by the socket, and by the main loop.
            Request::Status | Request::Stop => Ok(String::new()),
        }
    }

    /// Ends the capture: restores, drains, sums up.
    pub(super) async fn end(mut self, reason: Reason, signals: &mut Signals) -> Ending {
        self.set_state(State::Stopping);
        self.publish();
        self.stop_capture();
        self.queue.push(Job::Finish);
        let give_up_at = Instant::now() + self.config.keep.drain_at_most.0;
        let mut published = Instant::now();
        while self.worker.as_ref().is_some_and(|worker| !worker.is_finished()) {
            self.hear();
            if published.elapsed() >= MEASURE_EVERY {
                published = Instant::now();
                self.own = usage::own_usage().unwrap_or(self.own);
                self.publish();
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
                name = signals.next() => {
                    self.account.failure(&format!("{name} while draining: {}", self.left_in_spool()));
                    break;
                }
            }
            if Instant::now() >= give_up_at {
                let (bound, left) = (self.config.keep.drain_at_most, self.left_in_spool());
                self.account.failure(&format!("draining was not over after keep.drain_at_most = \"{bound}\": {left}"));
                break;
            }
        }
        self.hear();
        if let Some(worker) = self.worker.take().filter(JoinHandle::is_finished)
            && worker.join().is_err()
        {
            self.account.failure(&format!("the decoding thread has ended unexpectedly: {}", self.left_in_spool()));
        }
        self.remove_records();
        // What was not drained is no loss: it becomes rows with the next start.
        let comparison = if self.account.finished { self.comparison() } else { None };
        let status = self.publish();
        let restored = self.restored.take();
        let mut failures = std::mem::take(&mut self.account.failures);
        failures.extend(self.account.unwritten.take());
        Ending { reason, status: Status::clone(&status), restored, comparison, failures }
    }

    /// What becomes of the log that was not drained.
    fn left_in_spool(&self) -> String {
        let dir = self.config.capture.spool_dir();
        let left = drain::leftovers(dir).unwrap_or_default();
        format!(
            "{} ({}) stay in `{}`, and the next start of the daemon decodes them",
            plural(left.len() as u64, "segment"),
            human_bytes(left.iter().map(|segment| segment.bytes).sum()),
            dir.display()
        )
    }

    /// Enters what the decoding thread has told.
    fn hear(&mut self) {
        while let Ok(progress) = self.progress.try_recv() {
            match &progress {
                Progress::Decoded { bytes, records, .. } => {
                    self.metrics.decoded(*records, *bytes, 0);
                    self.metrics.segment(*bytes, false);
                }
                Progress::GivenUp(stretch) => self.metrics.segment(stretch.bytes, true),
                Progress::Closed { part, summary, .. } => {
                    self.metrics.file(part.bytes);
                    self.metrics.lost(Loss::DiscardedHead, summary.loss.discarded_heads);
                    self.metrics.lost(Loss::NrsGap, summary.loss.nrs_sequence_gaps);
                    self.metrics.lost(Loss::BadRecord, summary.loss.bad_records);
                }
                Progress::Failed(_) | Progress::AllSafe | Progress::Finished => {}
            }
            self.account.enter(progress);
        }
    }

    /// Switches tracing on.
    fn begin(&mut self, control: Control) -> Result<(), DaemonError> {
        let config = &self.config;
        let store = Box::new(JournalFile::new(&config.journal_path()));
        let session = Session::begin(control, store)?;
        let rotation = Rotation::new(&config.capture);
        let spool = Spool::new(config.capture.spool_dir(), &session_name(now_us()), rotation.limit_mib)
            .map_err(DaemonError::Runtime)?;
        let buffer = match config.capture.buffer_mib {
            Auto::Is(mib) => Some(mib),
            Auto::Auto => self.first_buffer(session.control()),
        };
        let version = self.facts.lock().lustre_version.as_deref().and_then(LustreVersion::parse);
        let (profile, queue) = (config.capture.profile.first(), Arc::clone(&self.queue));
        self.capture = Some(Capture::begin(session, spool, queue, profile, version, buffer, rotation)?);
        self.left_out.add(self.capture.as_ref().map(Capture::left_out).unwrap_or_default());
        self.facts.lock().left_out = self.left_out;
        let now = Instant::now();
        let until = config.capture.until.get().and_then(|at| at.0.duration_since(std::time::SystemTime::now()).ok());
        let ends = config.capture.duration.get().map(|span| span.0).into_iter().chain(until).min();
        self.ends_at = self.ends_at.or(ends.map(|span| now + span));
        self.traced_from_now();
        self.set_state(State::Tracing);
        Ok(())
    }

    fn is_past_end(&self) -> bool {
        let until = self.config.capture.until.get();
        until.is_some_and(|at| at.0 <= std::time::SystemTime::now()) && self.ends_at.is_none()
    }

    /// Takes down what is traced now, also for whoever decodes the segments if this process cannot.
    fn note_profile(&self, facts: &mut NodeFacts) {
        if let Some(capture) = &self.capture {
            facts.settings.refresh(capture.session().control());
            if let Some(profile) = capture.tracing() {
                facts.profile = profile.to_string();
            }
            let spool = capture.spool();
            facts.file_limit_mib = Some(spool.limit_mib());
            // Whoever reads it may work elsewhere. JSON takes no other bytes than text.
            facts.keep_dir = std::path::absolute(&self.config.keep.dir).ok().filter(|dir| dir.to_str().is_some());
            let record = facts.clone();
            let (dir, session) = (spool.dir().to_owned(), spool.session().to_owned());
            spool.run(move || {
                if let Err(err) = record::write(&record, &dir, &session) {
                    tracing::warn!(
                        dir = %dir.display(),
                        error = %err,
                        "how the segments are captured could not be written beside them: parts that are recovered after a crash \
                         will not say it"
                    );
                }
            });
        }
    }

    /// Deletes what was written beside segments that are gone.
    fn remove_records(&self) {
        let dir = self.config.capture.spool_dir().to_owned();
        let remove = move |current: Option<&str>| {
            if let Err(err) = record::remove(&dir, current) {
                tracing::warn!(dir = %dir.display(), error = %err, "the spool could not be tidied up");
            }
        };
        match self.capture.as_ref().map(Capture::spool) {
            Some(spool) => {
                let session = spool.session().to_owned();
                spool.run(move || remove(Some(&session)));
            }
            None => remove(None),
        }
    }

    fn switch_if_due(&mut self, now: Instant) -> Result<(), DaemonError> {
        let Some(due) = self.capture.as_ref().and_then(|capture| capture.due(now)) else { return Ok(()) };
        if due == Switched::Off {
            self.traced_until_now();
        }
        if let Some(capture) = &mut self.capture {
            capture.switch(now)?;
        }
        match due {
            Switched::On => self.traced_from_now(),
            Switched::Off | Switched::Profile => {
                let facts = self.facts.clone();
                self.note_profile(&mut facts.lock());
            }
        }
        Ok(())
    }

    /// The state that the budget's level stands for.
    fn heed_level(&mut self) {
        let state = match self.budget.level() {
            Level::Stopped => State::Paused,
            Level::DutyCycle(_) => State::DutyCycled,
            _ => State::Tracing,
        };
        if state != State::Tracing {
            self.facts.lock().sampled = true;
        }
        self.set_state(state);
    }

    /// Takes figures and lets the budget decide.
    fn measure(&mut self, now: Instant, now_us: i64) -> Result<(), DaemonError> {
        self.poll_kernel_log();
        self.own = usage::own_usage().unwrap_or_default();
        let own = self.own;
        let tick = Tick {
            uptime: now.duration_since(self.started),
            time_us: now_us,
            cpu: own.cpu,
            resident_bytes: own.resident_bytes,
            queued_bytes: self.queue.waiting().bytes,
            disk_bytes: self.disk_used(),
            records: self.account.records,
            lag_s: self.lag_s(now_us),
        };
        if self.capture.is_some()
            && let Some(step) = self.budget.tick(tick)
        {
            tracing::warn!(step = %step, "the budget changes what is traced");
            if let Some(capture) = &mut self.capture {
                capture.set_level(step.to, now);
            }
            self.steps.push(step);
            self.metrics.budget_step();
            self.heed_level();
            self.switch_if_due(now)?;
        }
        self.publish();
        Ok(())
    }

    /// What stands against the limit on disk: what the reserve would lack, so that the limit is reached when the reserve is.
    fn disk_used(&self) -> u64 {
        let free = keep::free_bytes(&self.config.keep.dir).unwrap_or(u64::MAX);
        let reserve = self.config.budget.disk_reserve_mib << 20;
        if free <= reserve { DISK_LIMIT } else { 0 }
    }

    /// How far decoding is behind.
    pub(super) fn lag_s(&self, now_us: i64) -> f64 {
        let Some(waits) = self.queue.oldest_waits(Instant::now()) else { return 0.0 };
        let decoded_us = self.account.decoded_us.unwrap_or(self.started_us);
        // Before a segment that waits there may have been nothing to decode for long.
        waits.min(Duration::from_micros(u64::try_from(now_us - decoded_us).unwrap_or(0))).as_secs_f64()
    }

    /// Whether others have changed what lioprof set.
    fn look(&mut self) -> Result<(), DaemonError> {
        let Some(capture) = &mut self.capture else { return Ok(()) };
        let foreign = match capture.look() {
            Ok(foreign) => foreign,
            Err(err) => {
                if self.is_unloaded() {
                    return Err(DaemonError::Unloaded);
                }
                self.failed_looks += 1;
                tracing::warn!("{err}");
                return if self.failed_looks >= MAX_FAILED_LOOKS { Err(err.into()) } else { Ok(()) };
            }
        };
        self.failed_looks = 0;
        for change in foreign {
            let text = change.to_string();
            tracing::warn!("somebody else has changed the kernel's settings: {text}");
            if let Foreign::Daemon(path) = &change {
                let now = path.as_ref().map_or_else(
                    || "was stopped by somebody else".to_owned(),
                    |path| format!("was pointed to `{}` by somebody else", path.display()),
                );
                return Err(DaemonError::LostDaemon { now });
            }
            if !self.foreign.contains(&text) {
                self.foreign.push(text);
            }
            let facts = self.facts.clone();
            self.note_profile(&mut facts.lock());
        }
        Ok(())
    }

    fn housekeeping(&mut self) {
        if let Some(capture) = &self.capture {
            self.facts.lock().refresh(capture.session().control());
        }
        self.remove_records();
        for message in keep::delete_old(&self.config, &self.node) {
            tracing::info!("{message}");
        }
    }

    /// Starts and stops capturing by load.
    fn heed_trigger(&mut self, now: Instant, now_us: i64) -> Result<(), DaemonError> {
        // While the sampler is at work elsewhere this stays due.
        if self.state == State::WaitingForLustre {
            return Ok(());
        }
        let (Some(trigger), Some(sampler)) = (&mut self.trigger, &mut self.sampler) else { return Ok(()) };
        if !trigger.is_due(now) {
            return Ok(());
        }
        let sample = sampler.sample(now_us);
        let wanted = trigger.wants_capture(now, &sample.totals);
        match (wanted, self.capture.is_some()) {
            (true, false) => {
                tracing::info!("the load of a target has reached the trigger");
                self.begin(self.open_control()?)?;
            }
            (false, true) => {
                tracing::info!("the load has been below the trigger for a while");
                self.stop_capture();
                self.queue.push(Job::Interrupt);
                self.queue.push(Job::Flush);
                self.set_state(State::WaitingForTrigger);
            }
            (false, false) => self.set_state(State::WaitingForTrigger),
            (true, true) => {}
        }
        Ok(())
    }

    fn stop_capture(&mut self) {
        if self.capture.as_ref().is_some_and(|capture| capture.tracing().is_some()) {
            self.traced_until_now();
        }
        let Some(capture) = self.capture.take() else { return };
        match capture.end() {
            Ok(report) => {
                tracing::info!(%report, "the kernel's settings were put back");
                self.restored = Some(report);
            }
            Err(err) => self.account.failure(&err.to_string()),
        }
    }

    fn set_state(&mut self, state: State) {
        if self.state != state {
            self.state = state;
            self.state_since_us = now_us();
        }
    }

    fn publish(&mut self) -> Arc<Status> {
        let status = Arc::new(self.status());
        self.metrics.status(&status);
        let told = self.last_status().totals.lock_events;
        self.metrics.decoded(0, 0, status.totals.lock_events.saturating_sub(told));
        self.metrics.usage(&self.own);
        match status.warnings.first() {
            Some(trouble) => self.metrics.health.bad(trouble.clone()),
            None => self.metrics.health.good(),
        }
        self.status.send_replace(Arc::clone(&status));
        status
    }
}

/// Any number: `disk_used` is all or nothing.
const DISK_LIMIT: u64 = 1 << 30;

fn budget(config: &Config) -> Budget {
    let budget = &config.budget;
    let limits = Limits {
        cpu_share: f64::from(budget.cpu_percent) / 100.0,
        resident_bytes: budget.memory_mib << 20,
        queued_bytes: config.capture.spool_limit_mib() * (1 << 20) / 4,
        disk_bytes: DISK_LIMIT,
        records_per_s: real(budget.records_per_s),
        lag_s: 60.0,
    };
    let seconds = |span: Duration| u32::try_from(span.as_secs()).unwrap_or(u32::MAX);
    let every = seconds(budget.duty_every.0).max(1);
    let least = seconds(budget.duty_on.0).clamp(1, every);
    // Down to what is configured in three steps.
    let duties = [every / 2, every / 4, least].map(|on_s| Duty { on_s: on_s.max(least), period_s: every });
    let full = config.capture.profile == ProfileChoice::Auto;
    Budget::new(limits, Pace::default(), Ladder::new(full, &duties))
}

/// When parts are closed. Decoded segments whose rows are not safe yet take up to a quarter of the spool.
pub(super) fn part_limits(config: &Config) -> PartLimits {
    PartLimits {
        age: config.keep.file_age.0,
        bytes: config.keep.file_mib << 20,
        segment_bytes: config.capture.spool_limit_mib() * (1 << 20) / 4,
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
