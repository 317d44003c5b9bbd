//! `client-bound`: the OSTs are idle between requests, because clients ask for too little at a time.

use lioprof_model::{Confidence, Severity};

use super::bottleneck::Bottleneck;
use super::case::Case;
use super::{Limit, Look, Rule};

pub(super) const RULE: Rule = Rule {
    id: "client-bound",
    meaning: "the OSTs are idle between requests: clients, not servers, set the pace",
    limits: &[
        Limit { name: "busy_share", default: 0.5, meaning: "share of the time with I/O in which the OSTs handle a request, at most" },
        Limit { name: "in_flight", default: 2.0, meaning: "requests of a busy OST in queue and handler, at most" },
        Limit { name: "rpcs", default: 100.0, meaning: "reads and writes, at least" },
    ],
    plots: &["queue-depth", "io-timeline"],
    look,
};

fn look(case: &Case<'_>) -> Look {
    let Some(figures) = Bottleneck::of(case.analysis).filter(|figures| figures.rpcs >= case.limit("rpcs")) else {
        return Look::NotEnoughEvidence(format!("fewer than {} reads and writes of known OSTs", case.limit("rpcs")));
    };
    if figures.busy_share > case.limit("busy_share")
        || figures.in_flight > case.limit("in_flight")
        || figures.queue_ms > figures.service_ms
    {
        return Look::Healthy;
    }
    let finding = case
        .finding(
            Severity::Info,
            Confidence::Medium,
            format!("the OSTs were idle {:.0} % of the time with I/O: the clients set the pace", 100.0 * (1.0 - figures.busy_share)),
        )
        .explain(format!(
            "While an OST was busy it had {:.1} requests, each was served in {:.1} ms and waited {:.1} ms. Whether the clients \
             computed, waited for locks or the network, or only send one request at a time, a server's log does not say.",
            figures.in_flight, figures.service_ms, figures.queue_ms,
        ))
        .evidence("busy_share", figures.busy_share)
        .evidence("requests_in_flight", figures.in_flight)
        .evidence("service_ms", figures.service_ms)
        .evidence("queue_ms", figures.queue_ms)
        .interval(Some(figures.interval))
        .remedy(
            "If the job waits for this I/O, keep more in flight: on clients `lctl set_param osc.*.max_rpcs_in_flight=N \
             osc.*.max_dirty_mb=N`, for reads `llite.*.max_read_ahead_mb`; in programs buffered or asynchronous I/O instead of \
             one O_SYNC or O_DIRECT call after the other.",
        )
        .remedy("More clients or more processes with I/O (`cb_nodes` of collective MPI-IO).");
    Look::Found(vec![finding.done()])
}
