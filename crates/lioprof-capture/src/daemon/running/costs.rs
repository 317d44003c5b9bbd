//! The budget of the capture, and its current cost.

use std::time::{Duration, Instant};

use lioprof_model::units::real;

use super::super::keep;
use super::common::Common;
use crate::budget::usage::{self, Usage};
use crate::budget::{Budget, Duty, Ladder, Level, Limits, Pace, Tick, Transition};
use crate::config::{Config, ProfileChoice};
use crate::status::{BudgetState, State, Status};

/// Any number: what is on disk is all or nothing.
const DISK_LIMIT: u64 = 1 << 30;

pub(super) struct Costs {
    budget: Budget,
    steps: Vec<Transition>,
    /// Usage of the process at the last measurement.
    pub(super) own: Usage,
}

impl Costs {
    pub(super) fn new(config: &Config) -> Self {
        Self { budget: budget(config), steps: Vec::new(), own: Usage::default() }
    }

    /// Measures usage now; returns the step that the budget decides on, if any.
    pub(super) fn step(
        &mut self,
        common: &Common,
        now: Instant,
        time_us: i64,
        records: u64,
        lag_s: f64,
    ) -> Option<Transition> {
        let step = self.budget.tick(Tick {
            uptime: now.duration_since(common.started),
            time_us,
            cpu: self.own.cpu,
            resident_bytes: self.own.resident_bytes,
            queued_bytes: common.queue.waiting().bytes,
            disk_bytes: disk_used(&common.config),
            records,
            lag_s,
        })?;
        tracing::warn!(step = %step, "the budget changed the level of tracing");
        self.steps.push(step);
        common.metrics.budget_step();
        Some(step)
    }

    pub(super) fn look(&mut self) {
        self.own = usage::own_usage().unwrap_or_default();
    }

    /// The state of the daemon at the budget's level.
    pub(super) fn state(&self) -> State {
        match self.budget.level() {
            Level::Stopped => State::Paused,
            Level::DutyCycle(_) => State::DutyCycled,
            _ => State::Tracing,
        }
    }

    pub(super) fn tell(&self, status: &mut Status) {
        status.budget = BudgetState {
            level: self.budget.level(),
            figures: self.budget.figures_so_far(),
            limits: self.budget.limits,
            steps: self.steps.len() as u64,
            last_step: self.steps.last().copied(),
            last_step_text: self.steps.last().map(ToString::to_string),
        };
    }
}

/// What stands against the limit on disk: what the reserve would lack, so that the limit is reached when the reserve is.
fn disk_used(config: &Config) -> u64 {
    let free = keep::free_bytes(&config.keep.dir).unwrap_or(u64::MAX);
    let reserve = config.budget.disk_reserve_mib << 20;
    if free <= reserve { DISK_LIMIT } else { 0 }
}

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
