//! A host while it is recorded.

use std::time::Duration;

use lioprof_model::time::{now_us, utc};
use lioprof_remote::Ssh;
use serde_json::Value;

use crate::connection::{ANSWER_WITHIN, Agent, unexpected};
use crate::error::HostError;
use crate::protocol::{CaptureOptions, Reply, Request};
use crate::state::{HostRecord, HostState, Totals};
use crate::tell::Progress;

/// Time for a daemon to start: it may have to decode first what a killed one left.
const START_WITHIN: Duration = Duration::from_secs(150);
/// Time for a daemon to end: it may have to drain a long queue.
const STOP_WITHIN: Duration = Duration::from_secs(400);
/// A daemon that has ended by itself is started again so many times.
const MOST_RESTARTS: u32 = 5;
/// Attempts to reach a host when all is over.
const LAST_ATTEMPTS: u32 = 2;

/// What all hosts of a recording have in common.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(crate) ssh: Ssh,
    pub(crate) id: String,
    pub(crate) options: CaptureOptions,
    /// At start and end.
    pub(crate) marks: [String; 2],
}

/// A host that is recorded.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) record: HostRecord,
    pub(crate) agent: Option<Agent>,
    pub(crate) progress: Progress,
    /// Since when it cannot be reached.
    out_since_us: Option<i64>,
    restarts: u32,
}

impl Host {
    pub(crate) fn new(record: HostRecord, agent: Option<Agent>) -> Self {
        let progress = Progress { host: record.host.clone(), ..Progress::default() };
        Self { record, agent, progress, out_since_us: None, restarts: 0 }
    }

    async fn ask(&mut self, request: &Request, within: Duration, ssh: &Ssh) -> Result<Reply, HostError> {
        let mut agent = match self.agent.take() {
            Some(agent) => agent,
            None => Agent::connect(ssh, &self.record.host, &self.record.program).await?,
        };
        let reply = agent.ask(request, within).await;
        if !matches!(&reply, Err(err) if err.is_of_connection()) {
            self.agent = Some(agent);
        }
        reply
    }

    /// Starts its daemon, unless it runs.
    pub(crate) async fn start(&mut self, common: &Common) -> Result<(), HostError> {
        let request = Request::Start { id: common.id.clone(), options: common.options.clone() };
        self.ask(&request, START_WITHIN, &common.ssh).await?;
        self.record.state = HostState::Recording;
        Ok(())
    }

    pub(crate) async fn mark(&mut self, common: &Common, text: &str) -> Result<(), HostError> {
        let request = Request::Mark { id: common.id.clone(), text: text.to_owned() };
        self.ask(&request, ANSWER_WITHIN, &common.ssh).await?;
        Ok(())
    }

    /// Renews the lease, and sees to it that the daemon runs.
    pub(crate) async fn keep_alive(&mut self, common: &Common) {
        match self.renew(common).await {
            Ok(()) => {
                if let Some(since_us) = self.out_since_us.take() {
                    let (since, until) = (utc(since_us), utc(now_us()));
                    self.record.trouble(format!("it could not be reached from {since} to {until}"));
                }
            }
            Err(HostError::NoDaemon) if self.restarts < MOST_RESTARTS => {
                self.restarts += 1;
                let at = utc(now_us());
                let done = match self.start(common).await {
                    Ok(()) => "another one goes on, and what happened in between is not in the data".to_owned(),
                    Err(err) => {
                        self.restarts = MOST_RESTARTS;
                        format!("no other one could be started: {err}")
                    }
                };
                self.record
                    .trouble(format!("its daemon had ended by {at} (killed, or nobody renewed its lease): {done}"));
            }
            Err(HostError::NoDaemon) => self.progress.state = "no daemon".to_owned(),
            Err(err) if err.is_of_connection() => {
                self.out_since_us.get_or_insert_with(now_us);
                self.progress = Progress {
                    state: format!("out of reach: {err}"),
                    rpcs_per_s: 0.0,
                    bytes_per_s: 0.0,
                    ..self.progress.clone()
                };
            }
            Err(err) => self.record.trouble(err.to_string()),
        }
    }

    async fn renew(&mut self, common: &Common) -> Result<(), HostError> {
        let request = Request::Renew { id: common.id.clone() };
        let Reply::Status { status } = self.ask(&request, ANSWER_WITHIN, &common.ssh).await? else {
            return Err(unexpected());
        };
        self.take_note_of(&status);
        Ok(())
    }

    /// What `lioprof status --json` says there.
    fn take_note_of(&mut self, status: &Value) {
        let whole = |section: &str, key: &str| status[section][key].as_u64().unwrap_or_default();
        let rate = |key: &str| status["rates"][key].as_f64().unwrap_or_default();
        let totals = Totals {
            rpcs: whole("totals", "rpcs"),
            read_bytes: whole("totals", "read_bytes"),
            write_bytes: whole("totals", "write_bytes"),
            lost_fraction: lost_fraction(&status["loss"]),
        };
        self.progress = Progress {
            host: self.record.host.clone(),
            state: status["state"].as_str().unwrap_or_default().replace('_', " "),
            rpcs_per_s: rate("rpcs_per_s"),
            bytes_per_s: rate("read_bytes_per_s") + rate("write_bytes_per_s"),
            rpcs: totals.rpcs,
            bytes: totals.read_bytes + totals.write_bytes,
            lost_fraction: totals.lost_fraction,
            lag_s: status["lag_s"].as_f64(),
        };
        self.record.totals = totals;
        let warnings = status["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
        self.record.warnings = warnings.map(str::to_owned).collect();
        if let Some(step) = status["budget"]["last_step_text"].as_str()
            && self.record.budget_steps.last().is_none_or(|last| last != step)
        {
            self.record.budget_steps.push(step.to_owned());
        }
    }

    /// Ends its capture. What went wrong is in the record.
    pub(crate) async fn end(&mut self, common: &Common) {
        for _ in 0..LAST_ATTEMPTS {
            match self.try_to_end(common).await {
                Ok(()) => break,
                Err(err) if err.is_of_connection() => {
                    self.out_since_us.get_or_insert_with(now_us);
                    let since = self.out_since_us.map(utc).unwrap_or_default();
                    let lease = humantime::format_duration(Duration::from_millis(common.options.lease_ms));
                    self.record.last_words = Some(format!(
                        "it could not be reached since {since} ({err}); its daemon ends by itself after {lease}, restores all settings and \
                         keeps its rows for `lioprof record fetch`"
                    ));
                }
                Err(err) => {
                    self.record.trouble(err.to_string());
                    break;
                }
            }
        }
        self.hang_up().await;
    }

    /// Lets its agent end, if there is one.
    pub(crate) async fn hang_up(&mut self) {
        if let Some(agent) = self.agent.take() {
            agent.close().await;
        }
    }

    /// Ends what was started, if it was, and deletes what there is of it.
    pub(crate) async fn undo(&mut self, common: &Common) -> Result<(), HostError> {
        let request = Request::Remove { id: common.id.clone() };
        stop(self, common).await?;
        self.ask(&request, STOP_WITHIN, &common.ssh).await?;
        Ok(())
    }

    async fn try_to_end(&mut self, common: &Common) -> Result<(), HostError> {
        match self.renew(common).await {
            Err(HostError::NoDaemon) => {
                self.record.trouble("its daemon had ended before the end (killed, or nobody renewed its lease)");
            }
            Err(err) if err.is_of_connection() => return Err(err),
            // A daemon that is in trouble is stopped all the same.
            _ => {}
        }
        let marked = self.mark(common, &common.marks[1]).await;
        self.record.marked &= marked.is_ok();
        if let Some(agent) = &mut self.agent {
            // Without it, the clock is known less well.
            self.record.clocks.extend(agent.clock().await.ok());
        }
        stop(self, common).await
    }
}

async fn stop(host: &mut Host, common: &Common) -> Result<(), HostError> {
    let request = Request::Stop { id: common.id.clone() };
    let Reply::Stopped(stopped) = host.ask(&request, STOP_WITHIN, &common.ssh).await? else {
        return Err(unexpected());
    };
    host.record.has_stopped(&stopped);
    Ok(())
}

/// By the server's own counters, if there are any yet, else by the schedulers' numbers.
fn lost_fraction(loss: &Value) -> Option<f64> {
    let counted = &loss["counters"];
    let by_counters = counted["rpcs"].as_f64().zip(counted["counted_rpcs"].as_f64());
    let by_counters = by_counters.filter(|(_, counted)| *counted > 0.0).map(|(lost, counted)| lost / counted);
    by_counters.or_else(|| loss["estimated_lost_fraction"].as_f64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counters_know_best_what_is_lost() {
        let both = json!({"counters": {"rpcs": 5, "counted_rpcs": 100}, "estimated_lost_fraction": 0.5});
        assert_eq!(lost_fraction(&both), Some(0.05));
        let idle = json!({"counters": {"rpcs": 0, "counted_rpcs": 0}, "estimated_lost_fraction": null});
        assert_eq!(lost_fraction(&idle), None);
        assert_eq!(lost_fraction(&json!({"counters": null, "estimated_lost_fraction": 0.25})), Some(0.25));
    }

    #[test]
    fn a_status_becomes_figures() {
        let mut host = Host::new(HostRecord::new("oss1", "lioprof"), None);
        host.take_note_of(&json!({
            "state": "duty_cycled",
            "totals": {"rpcs": 10, "read_bytes": 3, "write_bytes": 4},
            "rates": {"rpcs_per_s": 2.5, "read_bytes_per_s": 1.0, "write_bytes_per_s": 2.0},
            "lag_s": 0.5,
            "warnings": ["the disk is full"],
        }));
        assert_eq!((host.progress.rpcs, host.progress.bytes, host.progress.bytes_per_s), (10, 7, 3.0));
        assert_eq!(host.progress.state, "duty cycled");
        assert_eq!(host.record.warnings, ["the disk is full"]);
    }
}
