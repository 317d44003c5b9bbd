//! One recording on this server: its daemon, and its directory.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lioprof_analysis::{Question, SUMS_SCHEMA, sum_up};
use lioprof_capture::config::{Auto, Config, Mode, OrOff, Span, Trigger};
use lioprof_capture::pointers::{self, Pointer};
use lioprof_capture::{Client, ClientError, daemon, doctor};
use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::with_causes;
use lioprof_store::{Dataset, SumsFile};
use rustix::process::setpriority_process;
use serde_json::Value;

use crate::protocol::{CaptureOptions, Stopped, Survey};

/// Directory of all recordings, in the daemon's data directory.
const RECORDINGS: &str = "recordings";
/// What the daemon logs.
pub(super) const LOG: &str = "daemon.log";
/// The daemon's configuration.
const CONFIG: &str = "daemon.toml";
/// Extensions of files in the spool that are of the log.
const SEGMENTS: [&str; 2] = ["seg", "bin"];
/// How long a daemon may take to start: it may have segments of a killed one to decode first.
const START_WITHIN: Duration = Duration::from_secs(120);
/// How long it may take to answer while it runs.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// How long it may take to end, besides draining.
const END_BESIDES_DRAINING: Duration = Duration::from_secs(60);
/// Between two looks at something that takes a while.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Of all priorities the one that waits for all others; the kernel's I/O schedulers follow it.
const LOWEST_PRIORITY: i32 = 19;
/// Lines of a daemon's log that are passed on when it did not start.
const LAST_LINES: usize = 8;

/// A recording on this server, begun or not.
pub(super) struct Capture {
    config: Config,
}

impl Capture {
    pub(super) fn new(config: &Config, id: &str) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if id.is_empty() || id.len() > 64 || !id.chars().all(plain) {
            return Err(format!("`{id}` is not the id of a recording"));
        }
        let mut config = config.clone();
        let dir = config.keep.dir.join(RECORDINGS).join(id);
        config.talk.socket = dir.join("socket");
        config.talk.metrics = OrOff::Off;
        config.keep.dir = dir;
        config.keep.mode = Mode::Rpc;
        config.trigger = Trigger::default();
        let capture = &mut config.capture;
        (capture.duration, capture.until, capture.wait_for_lustre) = (OrOff::Off, OrOff::Off, Auto::Is(false));
        Ok(Self { config })
    }

    /// With what the recording asks for.
    pub(super) fn with(mut self, options: &CaptureOptions) -> Result<Self, String> {
        self.config.capture.lease = OrOff::Is(Span(Duration::from_millis(options.lease_ms)));
        if let Some(profile) = &options.profile {
            self.config.capture.profile = serde_json::from_value(Value::String(profile.clone()))
                .map_err(|_| format!("profile `{profile}`: expected auto, full or light"))?;
        }
        self.config.validate().map_err(|err| with_causes(&err))?;
        Ok(self)
    }

    pub(super) fn dir(&self) -> &Path {
        &self.config.keep.dir
    }

    pub(super) fn survey(&self) -> Survey {
        Survey {
            node: self.config.node_name(),
            directory: self.dir().display().to_string(),
            checks: doctor::preflight(&self.config),
        }
    }

    /// Starts the daemon in a session of its own, and waits until it traces. One that runs already is left alone.
    pub(super) fn start(&self) -> Result<(), String> {
        if self.status()?.is_some() {
            return Ok(());
        }
        let made = !self.dir().exists();
        let started = self.spawn().and_then(|child| self.wait_until_ready(child));
        if made && started.is_err() {
            // Only the daemon's log and configuration are in it.
            drop(fs::remove_dir_all(self.dir()));
            self.forget_empty_parents();
        }
        started
    }

    fn spawn(&self) -> Result<Child, String> {
        let dir = self.dir();
        let failed = |what: &Path| {
            let what = what.display().to_string();
            move |err: io::Error| format!("`{what}`: {err}")
        };
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed(dir))?;
        let config = dir.join(CONFIG);
        let text = toml::to_string(&self.config).map_err(|err| format!("the daemon's configuration: {err}"))?;
        fs::write(&config, text).map_err(failed(&config))?;
        let log = dir.join(LOG);
        let log_file = File::options().create(true).append(true).open(&log).map_err(failed(&log))?;
        let log_again = log_file.try_clone().map_err(failed(&log))?;
        let program = std::env::current_exe().map_err(|err| format!("lioprof's own path: {err}"))?;
        Command::new(&program)
            .args(["daemon", "--own-session", "--log-format", "logfmt", "--config"])
            .arg(&config)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(log_file)
            .stderr(log_again)
            .spawn()
            .map_err(failed(&program))
    }

    fn wait_until_ready(&self, mut child: Child) -> Result<(), String> {
        let give_up_at = Instant::now() + START_WITHIN;
        loop {
            if let Some(status) = child.try_wait().map_err(|err| format!("the daemon: {err}"))? {
                return Err(format!("the daemon did not start ({status}): {}", self.last_of_log()));
            }
            if let Ok(Some(status)) = self.status()
                && !matches!(status["state"].as_str(), None | Some("preflight"))
            {
                return Ok(());
            }
            if Instant::now() >= give_up_at {
                // Its lease ends it if it comes to itself later.
                return Err(format!("the daemon did not start within {} s", START_WITHIN.as_secs()));
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn last_of_log(&self) -> String {
        let text = fs::read(self.dir().join(LOG)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("; ")
    }

    fn client(&self) -> Client {
        Client::new(&self.config.talk.socket, ANSWER_WITHIN)
    }

    fn status(&self) -> Result<Option<Value>, String> {
        if_there_is_one(self.client().status())?
            .map(|status| serde_json::to_value(status).map_err(|err| err.to_string()))
            .transpose()
    }

    /// Renews the lease. Returns the daemon's status; `None` if there is no daemon.
    pub(super) fn renew(&self) -> Result<Option<Value>, String> {
        if if_there_is_one(self.client().renew())?.is_none() {
            return Ok(None);
        }
        self.status()
    }

    /// Returns whether there is a daemon that could take the mark.
    pub(super) fn mark(&self, text: &str) -> Result<bool, String> {
        Ok(if_there_is_one(self.client().mark(text))?.is_some())
    }

    /// Ends the capture. What a daemon left that was killed or had no room is put in order by another one, which ends at once.
    pub(super) fn stop(&self) -> Result<Stopped, String> {
        let mut troubles = Vec::new();
        self.stop_daemon(&mut troubles)?;
        if self.is_left_behind() || self.waiting_segments() > 0 {
            let again = CaptureOptions { lease_ms: 60_000, profile: None };
            let another = Self { config: self.config.clone() }.with(&again)?;
            match another.start() {
                Ok(()) => self.stop_daemon(&mut troubles)?,
                Err(message) => {
                    troubles.push(message);
                    let report = daemon::restore(&self.config).map_err(|err| with_causes(&err))?.report;
                    if !report.is_complete() {
                        troubles.push(report.to_string());
                    }
                }
            }
        }
        Ok(Stopped { restored: !self.is_left_behind(), waiting_segments: self.waiting_segments(), troubles })
    }

    /// Segments of the log whose rows are not on disk yet. Another daemon on this server would have decoded them when it started.
    fn waiting_segments(&self) -> u64 {
        if pointers::of_root(&self.config.control.root).iter().any(|pointer| pointer.is_running() == Some(true)) {
            return 0;
        }
        let dirs = self.config.spool_dirs();
        let files = dirs.iter().filter_map(|dir| dir.read_dir().ok()).flatten().flatten();
        let is_segment =
            |path: PathBuf| path.extension().is_some_and(|extension| SEGMENTS.iter().any(|it| extension == *it));
        files.filter(|file| is_segment(file.path())).count() as u64
    }

    fn stop_daemon(&self, troubles: &mut Vec<String>) -> Result<(), String> {
        let within = self.config.keep.drain_at_most.0 + END_BESIDES_DRAINING;
        match Client::new(&self.config.talk.socket, within).stop() {
            Ok(_) | Err(ClientError::NoDaemon(_)) => {}
            Err(ClientError::Refused(_, message)) => troubles.push(message),
            Err(err) => return Err(with_causes(&err)),
        }
        let give_up_at = Instant::now() + within;
        while self.pointer().is_running() == Some(true) {
            if Instant::now() >= give_up_at {
                return Err(format!("the daemon still runs {} s after it was told to stop", within.as_secs()));
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// The sums of its rows, as a file, made when nobody else wants the processor; empty if there are no rows.
    pub(super) fn sums(&self, question: &Question, clock: Option<ClockLine>) -> Result<Vec<u8>, String> {
        // Without it, the server works a little more at the same time.
        setpriority_process(None, LOWEST_PRIORITY).unwrap_or_default();
        let dataset = Dataset::open(self.dir()).map_err(|err| err.chain())?;
        if let Some(problem) = dataset.problems().first() {
            return Err(problem.chain());
        }
        let node = self.config.node_name();
        let Some(mut source) = dataset.node_source(&node) else { return Ok(Vec::new()) };
        let sums = sum_up(source.as_mut(), question, clock)?;
        Ok(SumsFile::new(SUMS_SCHEMA, &node, dataset.part_names(&node), sums.to_bytes()).to_bytes())
    }

    fn pointer(&self) -> Pointer {
        Pointer::new(&self.config)
    }

    /// A journal without a daemon: settings are still changed.
    fn is_left_behind(&self) -> bool {
        let pointer = self.pointer();
        pointer.is_running() != Some(true) && !matches!(pointer.load(), Ok(None))
    }

    /// Deletes the recording's directory.
    pub(super) fn remove(&self) -> Result<(), String> {
        if self.pointer().is_running() == Some(true) {
            return Err("its daemon still runs".to_owned());
        }
        if self.waiting_segments() > 0 {
            return Err("segments of the log wait to be decoded".to_owned());
        }
        if self.is_left_behind() {
            return Err("settings are still changed: run `lioprof daemon --restore`".to_owned());
        }
        match fs::remove_dir_all(self.dir()) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => Err(format!("`{}`: {err}", self.dir().display())),
            _ => {
                self.forget_empty_parents();
                Ok(())
            }
        }
    }

    /// Folders that only this recording needed.
    fn forget_empty_parents(&self) {
        if let Some(recordings) = self.dir().parent().map(PathBuf::from) {
            // With something in it, it stays.
            drop(fs::remove_dir(recordings));
        }
    }
}

fn if_there_is_one<T>(answer: Result<T, ClientError>) -> Result<Option<T>, String> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(ClientError::NoDaemon(_)) => Ok(None),
        Err(err) => Err(with_causes(&err)),
    }
}
