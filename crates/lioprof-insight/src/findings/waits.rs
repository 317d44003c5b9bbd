//! What requests of a service wait for: a thread, or a scheduler's rule that holds them back.

use std::cmp::Reverse;

use lioprof_model::traffic::counted_service;
use lioprof_model::{Analysis, Service, Severity, SpentOn, TimeOf};
use lioprof_stats::{Rate, Stands};

use super::rule::{Limit, limit, real, share};

/// The service that handles reads and writes.
pub(super) const IO_SERVICE: &str = "ll_ost_io";

/// From which waiting is critical.
pub(super) const CRITICAL_SHARE: Limit =
    limit("critical_share", 0.5, "share of the clients' time that goes to these waits, from which it is critical");

/// What requests of a service of a node wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits<'a> {
    pub(super) service: &'a Service,
    /// Mean time in the queue, milliseconds.
    pub(super) queue_ms: f64,
    /// Mean time in the handler, milliseconds.
    pub(super) service_ms: f64,
    /// Time in the queue over time in the handler.
    pub(super) ratio: f64,
    /// Share of the clients' time that goes to this queue.
    pub(super) time_share: f64,
    /// Share of the time in the queue of requests that did not wait for a thread; `None` if not all requests are there to tell.
    pub(super) held_share: Option<f64>,
}

impl Waits<'_> {
    /// The service as Lustre names it.
    pub(super) fn name(&self) -> String {
        counted_service(self.service.service.as_bytes()).map_or_else(|| self.service.service.clone(), str::to_owned)
    }

    /// Where its parameters are.
    pub(super) fn parameters(&self) -> String {
        let name = self.name();
        match self.service.service.as_str() {
            thread if thread.starts_with("mdt") => format!("mds.MDS.{name}"),
            thread if thread.starts_with("ll_ost") => format!("ost.OSS.{name}"),
            thread if thread.starts_with("ll_mgs") => "mgs.MGS.mgs".to_owned(),
            _ => format!("ldlm.services.{name}"),
        }
    }

    /// The clients or jobs that spend a tenth of their time and more in queues of this server, those that wait for longest first.
    pub(super) fn whose<'a>(&self, all: &'a [TimeOf]) -> impl Iterator<Item = &'a str> + use<'a> {
        let queued_us = |of: &TimeOf| {
            let here = of.spent.iter().filter(|spent| spent.on == SpentOn::Queue && spent.node == self.service.node);
            here.map(|spent| spent.us).sum::<u64>()
        };
        let waiting = all.iter().map(|of| (queued_us(of), of)).filter(|(us, of)| us * 10 >= of.span_us && *us > 0);
        let mut waiting: Vec<(u64, &str)> = waiting.map(|(us, of)| (us, of.name.as_str())).collect();
        waiting.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        waiting.into_iter().map(|(_, name)| name).filter(|name| !name.is_empty())
    }

    /// The time in the queue over that in the handler against a limit: a few requests may decide it.
    pub(super) fn stands(&self, ratio: f64) -> Stands {
        Rate::factor(real(self.service.rpcs)).times(self.ratio).against(ratio)
    }

    /// Why it cannot be told.
    pub(super) fn too_few(&self) -> String {
        format!(
            "requests wait {:.1} times as long in {} of {} as they are served, but {} of them are too few to say that it stays so",
            self.ratio,
            self.name(),
            self.service.node,
            self.service.rpcs
        )
    }

    /// What half of the clients' time goes to is critical.
    pub(super) fn severity(time_share: f64, critical_share: f64) -> Severity {
        if time_share >= critical_share { Severity::Critical } else { Severity::Warning }
    }

    /// Whether most requests show what their thread did before: the first ones of each do not.
    pub(super) fn shows_threads(&self) -> bool {
        self.service.rpcs >= 2 * self.service.threads
    }

    /// Whether a rule or a lack of CPU holds requests back, not a lack of threads.
    pub(super) fn is_held(&self, held_share: f64) -> bool {
        self.held_share.is_some_and(|share| share >= held_share)
    }
}

/// Of all services, those with the longest queues first.
pub(super) fn waits<'a>(analysis: &'a Analysis, lost_share: f64) -> Vec<Waits<'a>> {
    // What lost requests, or those of others, kept a thread busy with looks like idleness.
    let all_there = !analysis.selected.leaves_out_clients()
        && analysis.selected.targets.is_empty()
        && analysis.loss.estimated_lost_fraction.unwrap_or(0.0) < lost_share;
    let queues_us = |node: &str| -> u64 {
        analysis.services.iter().filter(|service| service.node == node).map(|service| service.queue_us).sum()
    };
    let queue_share = |node: &str| {
        let all = analysis.time_account.all.as_ref()?;
        let of_node = all.spent.iter().filter(|spent| spent.on == SpentOn::Queue && spent.node == node);
        Some(share(real(of_node.map(|spent| spent.us).sum()), real(all.span_us)))
    };
    let waits = |service: &'a Service| {
        let Service { rpcs, queue_us, service_us, held_us, .. } = *service;
        Waits {
            service,
            queue_ms: share(real(queue_us), real(rpcs)) / 1e3,
            service_ms: share(real(service_us), real(rpcs)) / 1e3,
            ratio: real(queue_us) / real(service_us).max(1.0),
            time_share: queue_share(&service.node).unwrap_or(0.0)
                * share(real(queue_us), real(queues_us(&service.node))),
            held_share: all_there.then(|| share(real(held_us), real(queue_us))),
        }
    };
    let mut all: Vec<Waits<'a>> = analysis.services.iter().filter(|service| service.queue_us > 0).map(waits).collect();
    all.sort_by_key(|waits| Reverse(waits.service.queue_us));
    all
}
