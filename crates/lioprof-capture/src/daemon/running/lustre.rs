//! Lustre comes and goes: its modules are loaded with the first target and unloaded after the last one, by hand or by a
//! cluster manager, while the service runs from boot to shutdown.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::super::DaemonError;
use super::super::clock::now_us;
use super::super::keep::{self, AnyKeep};
use super::sampling::sampler_options;
use super::{Running, part_limits};
use crate::causes::with_causes;
use crate::control::{Control, ControlError};
use crate::counters::Sampler;
use crate::drain::{Job, RawKeep, Summed, Worker};
use crate::system;
use crate::talk::status::State;

impl Running {
    /// Whether the daemon outlives Lustre.
    pub(super) fn waits(&self) -> bool {
        self.config.capture.waits_for_lustre()
    }

    /// Whether the kernel has no debug log any more.
    pub(super) fn is_unloaded(&self) -> bool {
        system::modules::debug_log_loaded(&self.config.control.root) == Some(false)
    }

    /// Lustre's settings.
    pub(super) fn open_control(&self) -> Result<Control, ControlError> {
        let config = &self.config.control;
        Control::open(&config.root, config.access, &config.lctl)
    }

    /// Lustre is there: learns what there is to know, and begins to trace, unless it waits for a trigger.
    pub(super) fn attach(&mut self, control: Control) -> Result<(), DaemonError> {
        {
            let mut facts = self.facts.lock();
            facts.lustre_version = control.version().map(|version| version.text);
            facts.boot_id = control.boot_id();
            facts.refresh(&control);
        }
        // Places of counters are looked for once.
        self.sampling = None;
        self.sampler = Some(Sampler::new(&self.config.control.root, sampler_options(&self.config)));
        if self.worker.is_none() {
            self.worker = Some(self.start_worker()?);
        }
        if self.trigger.is_none() { self.begin(control) } else { Ok(()) }
    }

    /// Every few seconds one small file is read.
    pub(super) fn look_for_lustre(&mut self) -> Result<(), DaemonError> {
        if !self.waits() {
            return Ok(());
        }
        let loaded = system::modules::lustre_loaded(&self.config.control.root);
        if self.state == State::WaitingForLustre {
            if loaded == Some(false) {
                self.hindrance = None;
                return Ok(());
            }
            match self.open_control() {
                Ok(control) => {
                    tracing::info!("Lustre was loaded");
                    self.hindrance = None;
                    self.set_state(if self.trigger.is_some() { State::WaitingForTrigger } else { State::Preflight });
                    self.attach(control)?;
                }
                // debugfs may be mounted later.
                Err(err) => {
                    let text = format!("Lustre is loaded, but cannot be traced yet: {}", with_causes(&err));
                    if self.hindrance.as_ref() != Some(&text) {
                        tracing::warn!("{text}");
                    }
                    self.hindrance = Some(text);
                }
            }
        } else if self.capture.is_none() && self.is_unloaded() {
            self.lustre_is_gone();
        } else if let Some(capture) = &self.capture {
            let mut facts = self.facts.lock();
            // The modules come first, the targets some time later.
            if facts.targets.is_empty() {
                facts.refresh(capture.session().control());
            }
        }
        Ok(())
    }

    /// Ends the capture, if there is one, and waits. All that was logged until then is decoded and kept.
    pub(super) fn lustre_is_gone(&mut self) {
        tracing::warn!(
            "Lustre's modules were unloaded: what was logged until then is kept; waiting for it to be loaded again"
        );
        self.stop_capture();
        self.queue.push(Job::Interrupt);
        self.queue.push(Job::Flush);
        self.failed_looks = 0;
        self.facts.unloaded();
        self.queue.push(Job::NextLoad);
        self.set_state(State::WaitingForLustre);
    }

    fn start_worker(&self) -> Result<JoinHandle<()>, DaemonError> {
        let (config, node) = (&self.config, &*self.node);
        let keep = AnyKeep::new(config, node, self.facts.clone(), now_us());
        let keep = Summed::new(keep, Arc::clone(&self.sums), Arc::clone(&self.metrics));
        let facts = self.facts.clone();
        let fs_name = move || keep::fs_of(&facts.of_log());
        let raw = keep::keeps_raw(config).then(|| RawKeep::named_by(&config.keep.dir, fs_name, node));
        let told = self.told.clone();
        let progress = move |progress| {
            // The main loop ends after this thread does.
            drop(told.send(progress));
        };
        let worker = Worker::new(node, None, Arc::clone(&self.queue), keep, raw, part_limits(config), progress)?;
        std::thread::Builder::new().name("drain".to_owned()).spawn(move || worker.run()).map_err(DaemonError::Runtime)
    }
}
