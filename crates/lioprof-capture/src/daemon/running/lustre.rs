//! Lustre comes and goes: its modules are loaded with the first target and unloaded after the last one, by hand or by a
//! cluster manager, while the service runs from boot to shutdown.

use super::Running;
use crate::control::Control;
use crate::daemon::DaemonError;
use crate::drain::Job;
use crate::status::State;
use crate::system;
use lioprof_model::with_causes;

impl Running {
    /// Lustre is loaded: gathers facts, and starts tracing unless a trigger is configured.
    pub(super) fn attach(&mut self, control: Control) -> Result<(), DaemonError> {
        {
            let mut facts = self.common.facts.lock();
            facts.lustre_version = control.version().map(|version| version.text);
            facts.boot_id = control.boot_id();
            facts.refresh(&control);
        }
        self.counting.look_anew(&self.common.config);
        self.draining.start(&self.common)?;
        if self.counting.has_trigger() { Ok(()) } else { self.begin(control) }
    }

    /// Checks every few seconds, by reading one small file, whether Lustre was loaded or unloaded.
    pub(super) fn look_for_lustre(&mut self) -> Result<(), DaemonError> {
        if !self.common.waits() {
            return Ok(());
        }
        let loaded = system::modules::lustre_loaded(&self.common.config.control.root);
        if self.telling.state == State::WaitingForLustre {
            if loaded == Some(false) {
                self.telling.hindrance = None;
                return Ok(());
            }
            match self.common.open_control() {
                Ok(control) => {
                    tracing::info!("Lustre was loaded");
                    self.telling.hindrance = None;
                    let triggered = self.counting.has_trigger();
                    self.telling.set_state(if triggered { State::WaitingForTrigger } else { State::Preflight });
                    self.attach(control)?;
                }
                // debugfs may be mounted later.
                Err(err) => {
                    let text = format!("Lustre is loaded, but cannot be traced yet: {}", with_causes(&err));
                    if self.telling.hindrance.as_ref() != Some(&text) {
                        tracing::warn!("{text}");
                    }
                    self.telling.hindrance = Some(text);
                }
            }
        } else if self.captures.current.is_none() && self.common.is_unloaded() {
            self.lustre_is_gone();
        } else if let Some(capture) = &self.captures.current {
            let mut facts = self.common.facts.lock();
            // The modules come first, the targets some time later.
            if facts.targets.is_empty() {
                facts.refresh(&capture.session.control);
            }
        }
        Ok(())
    }

    /// Ends the capture, if there is one, and waits for Lustre. Everything that was logged until then is decoded and kept.
    pub(super) fn lustre_is_gone(&mut self) {
        tracing::warn!(
            "Lustre's modules were unloaded: keeping what was logged until then; waiting for Lustre to be loaded again"
        );
        self.stop_capture();
        self.captures.failed_looks = 0;
        self.common.queue.push(Job::Interrupt);
        self.common.queue.push(Job::Flush);
        self.common.facts.unloaded();
        self.common.queue.push(Job::NextLoad);
        self.telling.set_state(State::WaitingForLustre);
    }
}
