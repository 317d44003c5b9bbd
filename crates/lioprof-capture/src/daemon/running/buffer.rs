//! What the kernel says of its log, and how large its buffer has to be.

use std::time::Instant;

use crate::causes::with_causes;
use crate::config::Auto;
use crate::control::sizing::{BufferInputs, buffer_size};
use crate::control::{Control, Param};
use crate::drain::Job;
use crate::kmsg::{self, KernelLog};
use crate::system;
use crate::talk::metrics::Loss;

use super::Running;

impl Running {
    /// The debug buffer's size when tracing begins: whatever was measured before, Lustre may be busier when it comes back.
    pub(super) fn first_buffer(&self, control: &Control) -> Option<u64> {
        let measured = self.account.busiest_cpu_bytes_per_s;
        self.buffer_for(control, None, false).max(self.buffer_for(control, measured, false))
    }

    /// The debug buffer's size; twice what it is, if that proved too small.
    fn wanted_buffer(&self, control: &Control, overflowed: bool) -> Option<u64> {
        self.buffer_for(control, self.account.busiest_cpu_bytes_per_s, overflowed)
    }

    fn buffer_for(&self, control: &Control, busiest_cpu_bytes_per_s: Option<f64>, overflowed: bool) -> Option<u64> {
        let root = &self.config.control.root;
        let current_mib = control.mib(Param::DebugMb).ok()?;
        let mut inputs = BufferInputs {
            possible_cpus: system::cpus::possible_cpus(root)?,
            memory_mib: system::memory::total_mib(root)?,
            current_mib,
            busiest_cpu_bytes_per_s,
            longest_pass_s: 1.0,
            limit_mib: self.config.capture.buffer_limit_mib,
        };
        if overflowed {
            inputs.current_mib = (2 * current_mib).min(inputs.limit_mib);
        }
        let size = buffer_size(&inputs);
        (size.mib > current_mib).then_some(size.mib)
    }

    pub(super) fn poll_kernel_log(&mut self) {
        match self.kernel_log.as_mut().map_or(Ok(Vec::new()), KernelLog::poll) {
            Ok(events) => {
                for event in events {
                    tracing::warn!("the kernel says: {}", event.kind);
                    let words = event.kind.to_string();
                    match event.kind {
                        kmsg::Kind::Overflow { .. } => self.metrics.lost(Loss::BufferOverflow, 1),
                        kmsg::Kind::CannotOpen { .. } | kmsg::Kind::ShortWrite { .. } => {
                            if let Some(capture) = &mut self.capture {
                                capture.write_failed(Instant::now(), words);
                            }
                        }
                        kmsg::Kind::NoMemory => {}
                    }
                }
            }
            Err(err) => {
                tracing::warn!("{err}");
                self.kernel_log = None;
            }
        }
        let said = self.kernel_log.as_ref().map_or(self.overflows_kept, |kernel_log| kernel_log.counts().overflows);
        if said > self.overflows_kept {
            self.queue.push(Job::Overflows(said - self.overflows_kept));
            self.overflows_kept = said;
        }
        let overflows = said + self.account.summary.loss.discarded_heads;
        let overflowed = overflows > self.overflows_answered;
        self.overflows_answered = overflows;
        self.size_buffer(overflowed);
    }

    /// A larger buffer, if the measured rate asks for one, or the kernel threw records away.
    fn size_buffer(&mut self, overflowed: bool) {
        if !matches!(self.config.capture.buffer_mib, Auto::Auto) {
            return;
        }
        // Control files need not be read every second to find what was found before.
        let rate = self.account.busiest_cpu_bytes_per_s;
        if !overflowed && rate == self.sized_for {
            return;
        }
        self.sized_for = rate;
        let wanted =
            self.capture.as_ref().and_then(|capture| self.wanted_buffer(capture.session().control(), overflowed));
        if let (Some(mib), Some(capture)) = (wanted, &mut self.capture) {
            match capture.set_buffer(mib) {
                Ok(shown) => tracing::warn!(debug_mb = shown, overflowed, "the kernel's debug buffer was enlarged"),
                Err(err) => self.account.failure(&with_causes(&err)),
            }
        }
    }
}
