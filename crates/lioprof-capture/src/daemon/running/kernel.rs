//! Messages of the kernel about its debug log, and the size of its buffer.

use std::path::Path;
use std::time::Instant;

use super::super::account::Account;
use super::super::capture::Capture;
use super::common::Common;
use crate::config::{Auto, Config};
use crate::control::sizing::{BufferInputs, buffer_size};
use crate::control::{Control, Param};
use crate::drain::Job;
use crate::kmsg::{self, KernelLog};
use crate::metrics::Loss;
use crate::status::Status;
use crate::system;
use lioprof_model::with_causes;

pub(super) struct Kernel {
    log: Option<KernelLog>,
    overflows_answered: u64,
    overflows_kept: u64,
    /// The rate that the buffer was last sized for.
    sized_for: Option<f64>,
}

impl Kernel {
    pub(super) fn new(root: &Path) -> Self {
        let log = KernelLog::open(root).map_err(|err| tracing::warn!("{err}")).ok();
        Self { log, overflows_answered: 0, overflows_kept: 0, sized_for: None }
    }

    pub(super) fn poll(&mut self, common: &Common, account: &mut Account, mut capture: Option<&mut Capture>) {
        match self.log.as_mut().map_or(Ok(Vec::new()), KernelLog::poll) {
            Ok(events) => {
                for event in events {
                    let words = event.to_string();
                    tracing::warn!("kernel log: {words}");
                    match event {
                        kmsg::Kind::Overflow { .. } => common.metrics.lost(Loss::BufferOverflow, 1),
                        kmsg::Kind::CannotOpen { .. } | kmsg::Kind::ShortWrite { .. } => {
                            if let Some(capture) = &mut capture {
                                capture.write_failed(Instant::now(), words);
                            }
                        }
                        kmsg::Kind::NoMemory => {}
                    }
                }
            }
            Err(err) => {
                tracing::warn!("{err}");
                self.log = None;
            }
        }
        let said = self.log.as_ref().map_or(self.overflows_kept, |log| log.counts.overflows);
        if said > self.overflows_kept {
            common.queue.push(Job::Overflows(said - self.overflows_kept));
            self.overflows_kept = said;
        }
        let overflows = said + account.summary.loss.discarded_heads;
        let overflowed = overflows > self.overflows_answered;
        self.overflows_answered = overflows;
        self.size_buffer(&common.config, account, capture, overflowed);
    }

    /// A larger buffer, if the measured rate asks for one, or the kernel threw records away.
    fn size_buffer(&mut self, config: &Config, account: &mut Account, capture: Option<&mut Capture>, overflowed: bool) {
        if !matches!(config.capture.buffer_mib, Auto::Auto) {
            return;
        }
        // Control files need not be read every second to find what was found before.
        let rate = account.busiest_cpu_bytes_per_s;
        if !overflowed && rate == self.sized_for {
            return;
        }
        self.sized_for = rate;
        let Some(capture) = capture else { return };
        if let Some(mib) = wanted_buffer(config, &capture.session.control, rate, overflowed) {
            match capture.session.set_buffer(mib) {
                Ok(shown) => tracing::warn!(debug_mb = shown, overflowed, "enlarged the kernel's debug buffer"),
                Err(err) => account.failure(&with_causes(&err)),
            }
        }
    }

    pub(super) fn tell(&self, status: &mut Status) {
        let said = self.log.as_ref().map(|log| log.counts).unwrap_or_default();
        status.loss.kernel_overflows = said.overflows;
        status.loss.kernel_no_memory = said.no_memory;
        status.kernel_log.buffer_overflows = said.overflows;
        status.kernel_log.errors = said.cannot_open + said.short_writes + said.no_memory;
    }
}

/// The debug buffer's size when tracing begins: whatever was measured before, Lustre may be busier when it comes back.
pub(super) fn first_buffer(config: &Config, control: &Control, measured: Option<f64>) -> Option<u64> {
    match config.capture.buffer_mib {
        Auto::Is(mib) => Some(mib),
        Auto::Auto => wanted_buffer(config, control, None, false).max(wanted_buffer(config, control, measured, false)),
    }
}

/// The debug buffer's size; twice what it is, if that proved too small.
fn wanted_buffer(
    config: &Config,
    control: &Control,
    busiest_cpu_bytes_per_s: Option<f64>,
    overflowed: bool,
) -> Option<u64> {
    let root = &config.control.root;
    let current_mib = control.mib(Param::DebugMb).ok()?;
    let mut inputs = BufferInputs {
        possible_cpus: system::machine::possible_cpus(root)?,
        memory_mib: system::machine::memory_mib(root)?,
        current_mib,
        busiest_cpu_bytes_per_s,
        longest_pass_s: 1.0,
        limit_mib: config.capture.buffer_limit_mib,
    };
    if overflowed {
        inputs.current_mib = (2 * current_mib).min(inputs.limit_mib);
    }
    let size = buffer_size(&inputs);
    (size.mib > current_mib).then_some(size.mib)
}
