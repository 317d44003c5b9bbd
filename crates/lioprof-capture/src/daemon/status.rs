//! The state of the daemon, as it is told to others.

use std::time::Duration;

use lioprof_model::units::human_bytes;

use crate::talk::status::{BudgetState, Files, KernelLog, LossAccount, Masks, Rates, Segments, State, Status, Totals};

use super::running::Running;
use super::{keep, now_us};

impl Running {
    /// The state at this time.
    pub(super) fn status(&self) -> Status {
        let now_us = now_us();
        let facts = self.facts.lock();
        let sums = self.sums.sums();
        let (read_bytes, write_bytes) = (sums.io.read.bytes, sums.io.write.bytes);
        let waiting = self.queue.waiting();
        let account = &self.account;
        let loss = &account.summary.loss;
        let numbered = loss.nrs_sequence_gaps + loss.nrs_sequence_seen;
        let kernel = self.kernel_log.as_ref().map(crate::kmsg::KernelLog::counts).unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "a share needs no 53 bits")]
        let lost = (numbered > 0).then(|| loss.nrs_sequence_gaps as f64 / numbered as f64);
        Status {
            pid: std::process::id(),
            node: self.node.clone(),
            lustre_version: facts.version.as_ref().map(ToString::to_string),
            targets: facts.target_names(),
            state: self.state,
            state_since_us: self.state_since_us,
            since_us: self.started_us,
            now_us,
            profile: facts.profile.to_owned(),
            masks: Masks {
                debug: facts.debug.clone(),
                subsystem_debug: facts.subsystem_debug.clone(),
                debug_mb: facts.debug_mb.unwrap_or(0),
            },
            segments: Segments {
                decoded: account.segments,
                queued: waiting.segments,
                queued_bytes: waiting.bytes,
                dropped: account.given_up,
                dropped_bytes: account.given_up_bytes,
                dropped_from_us: account.given_up_from_us,
                dropped_to_us: account.given_up_to_us,
            },
            totals: Totals {
                records: account.records,
                rpcs: sums.rpcs,
                lock_events: sums.lock_events,
                read_bytes,
                write_bytes,
            },
            rates: self.rates(sums.rpcs, read_bytes, write_bytes),
            lag_s: Some(self.lag_s(now_us)),
            loss: LossAccount {
                discarded_heads: loss.discarded_heads,
                nrs_sequence_gaps: loss.nrs_sequence_gaps,
                bad_records: loss.bad_records,
                skipped_bytes: loss.skipped_bytes,
                estimated_lost_fraction: lost,
            },
            budget: BudgetState {
                level: self.budget.level(),
                figures: self.budget.figures(),
                limits: *self.budget.limits(),
                steps: self.steps.len() as u64,
                last_step: self.steps.last().copied(),
            },
            files: Files {
                directory: self.config.keep.dir.display().to_string(),
                written: account.files,
                written_bytes: account.file_bytes,
                kept_bytes: account.file_bytes,
                free_bytes: keep::free_bytes(&self.config.keep.dir),
            },
            counters: self.last_sample,
            kernel_log: KernelLog {
                buffer_overflows: kernel.overflows,
                errors: kernel.cannot_open + kernel.short_writes + kernel.no_memory,
            },
            warnings: self.warnings(),
            ..Status::default()
        }
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.foreign.clone();
        warnings.extend(self.account.unwritten.clone());
        warnings.extend(self.account.failures.iter().rev().take(3).cloned());
        warnings
    }

    /// Averages since the last status.
    fn rates(&self, rpcs: u64, read_bytes: u64, write_bytes: u64) -> Rates {
        let last = self.last_status();
        let passed = Duration::from_micros(u64::try_from(now_us() - last.now_us).unwrap_or(0)).as_secs_f64();
        if last.now_us == 0 || passed < 0.5 {
            return last.rates;
        }
        #[expect(clippy::cast_precision_loss, reason = "what happens in seconds is far below 2^53")]
        let per_s = |now: u64, before: u64| now.saturating_sub(before) as f64 / passed;
        Rates {
            records_per_s: per_s(self.account.records, last.totals.records),
            rpcs_per_s: per_s(rpcs, last.totals.rpcs),
            read_bytes_per_s: per_s(read_bytes, last.totals.read_bytes),
            write_bytes_per_s: per_s(write_bytes, last.totals.write_bytes),
        }
    }

    /// One line for the service manager, if there is something to tell.
    pub(super) fn status_line(&self) -> Option<String> {
        let status = self.last_status();
        let io = status.totals.read_bytes + status.totals.write_bytes;
        (status.state != State::Preflight)
            .then(|| format!("{}, {} RPCs, {} of reads and writes", status.state, status.totals.rpcs, human_bytes(io)))
    }
}
