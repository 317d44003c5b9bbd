//! `client-bound`: the OSTs are idle between requests, because clients ask for too little at a time.

use lioprof_model::units::percent;
use lioprof_model::{Confidence, Severity};

use super::rule::{Case, Look, Nothing, Question, Rule, limit};

pub(super) const RULE: Rule = Rule {
    id: "client-bound",
    question: Question::Time,
    explains: &[],
    meaning: "the OSTs could take more requests at a time than the clients send: the clients are the limit, not the servers",
    limits: &[
        limit("busy_share", 0.5, "share of the time with I/O in which the busiest OST handles a request, at most"),
        limit(
            "per_connection",
            1.2,
            "or: requests of one client on one OST at a time while it has any, at most, wherever it has most",
        ),
        limit(
            "headroom",
            1.5,
            "how many times as much the OSTs could deliver, by how much requests hold each other up, at least",
        ),
    ],
    plots: &["queue-depth", "io-timeline"],
    note: true,
    look,
};

fn look(case: &Case<'_>) -> Look {
    let figures = case.bottleneck()?;
    // OST by OST: a mean hides the one that is busy all the time.
    let idle = figures.busiest_share <= case.limit("busy_share");
    let one_by_one = figures.most_per_connection.is_some_and(|number| number <= case.limit("per_connection"));
    let held_up = figures.headroom.is_some_and(|headroom| headroom < case.limit("headroom"));
    Nothing::healthy_if(!(idle || one_by_one) || held_up || figures.queue_ms > figures.service_ms)?;
    let title = if let Some(most) = figures.most_per_connection.filter(|_| one_by_one) {
        if most < 1.05 {
            "Each client sends one request at a time per OST; the OSTs could take more".to_owned()
        } else {
            format!("Each client keeps at most {most:.1} requests in flight per OST; the OSTs could take more")
        }
    } else {
        format!(
            "While there was I/O, every OST was idle at least {} of the time: the clients are the limit",
            percent(1.0 - figures.busiest_share, 0)
        )
    };
    case
        .finding(Severity::Info, Confidence::Medium, title)
        .explain(format!(
            "On average an OST was busy {} of the time, with {:.1} requests at a time: {:.1} ms in the queue, {:.1} ms in service. \
             Concurrent requests hardly slow each other down. Whether clients computed between requests, waited for locks or the \
             network, or sent one after the other, a server's log does not say.",
            if figures.busy_share < 0.01 { "less than 1 %".to_owned() } else { percent(figures.busy_share, 0) },
            figures.in_flight,
            figures.queue_ms,
            figures.service_ms,
        ))
        .evidence("requests_per_client_and_ost", figures.most_per_connection)
        .evidence("busy_share", figures.busy_share)
        .evidence("busiest_share", figures.busiest_share)
        .evidence("requests_in_flight", figures.in_flight)
        .evidence("service_ms", figures.service_ms)
        .evidence("queue_ms", figures.queue_ms)
        .interval(Some(figures.interval))
        .remedy(
            "If the job waits for this I/O, keep more in flight: on clients `lctl set_param osc.*.max_rpcs_in_flight=N \
             osc.*.max_dirty_mb=N`, for reads `llite.*.max_read_ahead_mb`; in programs buffered or asynchronous I/O instead of \
             one O_SYNC or O_DIRECT call after the other.",
        )
        .remedy("More clients or more processes with I/O (`cb_nodes` of collective MPI-IO).")
        .alone()
}
