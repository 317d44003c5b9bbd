//! The state of the daemon, as it is told to others.

use std::time::Duration;

use lioprof_model::units::{human_bytes, real};

use super::clock::now_us;
use super::keep;
use super::running::Running;
use crate::drain::Sums;
use crate::talk::status::{
    BudgetState, Files, KernelLog, LossAccount, Rates, Segments, SpoolState, State, Status, Totals,
};

impl Running {
    /// The state at this time.
    pub(super) fn status(&self) -> Status {
        let now_us = now_us();
        let facts = self.facts.lock();
        let sums = self.sums.sums();
        let (read_bytes, write_bytes) = (sums.io.read.bytes, sums.io.write.bytes);
        let waiting = self.queue.waiting();
        let cannot_write = self.cannot_write();
        let account = &self.account;
        let loss = &account.summary.loss;
        let numbered = loss.nrs_sequence_gaps + loss.nrs_sequence_seen;
        let kernel = self.kernel_log.as_ref().map(crate::kmsg::KernelLog::counts).unwrap_or_default();
        let lost = (numbered > 0).then(|| real(loss.nrs_sequence_gaps) / real(numbered));
        Status {
            pid: std::process::id(),
            node: self.node.clone(),
            lustre_version: facts.lustre_version.clone(),
            targets: facts.target_names(),
            state: self.state,
            state_since_us: self.state_since_us,
            since_us: self.started_us,
            now_us,
            profile: facts.profile.clone(),
            masks: facts.settings.clone().or_blank(),
            spool: SpoolState {
                directory: self.config.capture.spool_dir().display().to_string(),
                limit_bytes: self.config.capture.spool_limit_mib() << 20,
                segment_bytes: self.config.capture.segment_mib() << 20,
            },
            segments: Segments {
                decoded: account.segments,
                queued: waiting.segments,
                queued_bytes: waiting.bytes,
                dropped: account.given_up,
                dropped_bytes: account.given_up_bytes,
                dropped_from_us: account.given_up_from_us,
                dropped_to_us: account.given_up_to_us,
                spool_free_bytes: keep::free_bytes(self.config.capture.spool_dir()),
            },
            left_out: self.left_out,
            totals: Totals {
                records: account.records,
                rpcs: sums.rpcs,
                lock_events: sums.lock_events,
                read_bytes,
                write_bytes,
                sent_rpcs: sums.sent_rpcs,
                sent_reads: sums.sent_reads,
                sent_writes: sums.sent_writes,
            },
            rates: self.rates(&sums),
            lag_s: Some(self.lag_s(now_us)),
            loss: LossAccount {
                discarded_heads: loss.discarded_heads,
                nrs_sequence_gaps: loss.nrs_sequence_gaps,
                bad_records: loss.bad_records,
                skipped_bytes: loss.skipped_bytes,
                estimated_lost_fraction: lost,
                dropped_segments: account.given_up,
                dropped_segment_bytes: account.given_up_bytes,
                dropped_segment_rpcs: account.given_up_rpcs,
                kernel_overflows: kernel.overflows,
                kernel_no_memory: kernel.no_memory,
                counters: self.sums.missing(),
            },
            budget: BudgetState {
                level: self.budget.level(),
                figures: self.budget.figures_so_far(),
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
                cannot_write: cannot_write.clone(),
            },
            warnings: self.warnings(cannot_write),
            ..Status::default()
        }
    }

    fn cannot_write(&self) -> Option<String> {
        self.capture.as_ref()?.cannot_write(std::time::Instant::now())
    }

    fn warnings(&self, cannot_write: Option<String>) -> Vec<String> {
        let hangs = self.capture.as_ref().and_then(|capture| capture.hangs(std::time::Instant::now()));
        let mut warnings: Vec<String> = hangs.into_iter().chain(cannot_write).collect();
        warnings.extend(self.hindrance.iter().chain(&self.foreign).cloned());
        warnings.extend(self.account.unwritten.clone());
        warnings.extend(self.account.failures.iter().rev().take(3).cloned());
        warnings
    }

    /// Averages since the last status.
    fn rates(&self, sums: &Sums) -> Rates {
        let last = self.last_status();
        let passed = Duration::from_micros(u64::try_from(now_us() - last.now_us).unwrap_or(0)).as_secs_f64();
        if last.now_us == 0 || passed < 0.5 {
            return last.rates;
        }
        let per_s = |now: u64, before: u64| real(now.saturating_sub(before)) / passed;
        Rates {
            records_per_s: per_s(self.account.records, last.totals.records),
            rpcs_per_s: per_s(sums.rpcs, last.totals.rpcs),
            sent_rpcs_per_s: per_s(sums.sent_rpcs, last.totals.sent_rpcs),
            read_bytes_per_s: per_s(sums.io.read.bytes, last.totals.read_bytes),
            write_bytes_per_s: per_s(sums.io.write.bytes, last.totals.write_bytes),
        }
    }

    /// One line for the service manager, if there is something to tell.
    pub(super) fn status_line(&self) -> Option<String> {
        let status = self.last_status();
        let io = status.totals.read_bytes + status.totals.write_bytes;
        if status.state == State::WaitingForLustre {
            return Some(status.state.to_string());
        }
        let (rpcs, sent) = (status.totals.rpcs, status.totals.sent_rpcs);
        (status.state != State::Preflight).then(|| {
            format!("{}, {rpcs} RPCs, {} of reads and writes, {sent} RPCs sent", status.state, human_bytes(io))
        })
    }
}
