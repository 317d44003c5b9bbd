//! `queue-bound`: requests wait for service threads far longer than they are served, and the disks have room.

use lioprof_model::units::percent;
use lioprof_model::{Confidence, Severity};

use super::case::{Case, Look, Rule};
use super::draft::Cost;
use super::limits::Limit;

pub(super) const RULE: Rule = Rule {
    id: "queue-bound",
    meaning: "requests wait for I/O threads far longer than they are served, and the disks have room",
    limits: &[
        Limit { name: "queue_over_service", default: 2.0, meaning: "mean time in the queue over mean service time" },
        Limit { name: "queue_ms", default: 1.0, meaning: "mean time in the queue, milliseconds, at least" },
        Limit {
            name: "headroom",
            default: 1.5,
            meaning: "how many times as much the OSTs could deliver, by how much requests hold each other up, from which threads are the limit",
        },
        Limit {
            name: "threads_busy",
            default: 0.7,
            meaning: "share of the I/O threads at work while requests wait, from which they are exhausted",
        },
        Limit { name: "rpcs", default: 50.0, meaning: "reads and writes, at least" },
    ],
    plots: &["queue-depth", "latency"],
    look,
};

fn look(case: &Case<'_>) -> Look {
    let figures = match case.bottleneck() {
        Ok(figures) => figures,
        Err(look) => return look,
    };
    let ratio = figures.queue_ms / figures.service_ms.max(0.001);
    if ratio < case.limit("queue_over_service") || figures.queue_ms < case.limit("queue_ms") {
        return Look::Healthy;
    }
    let Some(headroom) = figures.headroom else {
        return Look::NotEnoughEvidence(
            "requests wait for threads, but their number was always the same: whether the disks have room cannot be told"
                .to_owned(),
        );
    };
    if headroom < case.limit("headroom") {
        return Look::Healthy;
    }
    let exhausted = figures.threads_busy.is_some_and(|share| share >= case.limit("threads_busy"));
    let confidence = if exhausted { Confidence::High } else { Confidence::Medium };
    let at_work = figures.threads_busy.zip(figures.threads).map_or_else(String::new, |(share, threads)| {
        format!(" While they waited, {} of the {threads} I/O threads that were seen were at work.", percent(share, 0))
    });
    let title = format!("Requests wait {ratio:.1} times as long for an I/O thread as they are served");
    let mut finding = case
        .finding(Severity::Warning, confidence, title)
        .explain(format!(
            "A read or write waited {:.1} ms for a thread and was served in {:.1} ms.{at_work} By how little requests \
             that are handled at the same time hold each other up, the disks could deliver {headroom:.1} times as much.",
            figures.queue_ms, figures.service_ms,
        ))
        .evidence("queue_ms", figures.queue_ms)
        .evidence("service_ms", figures.service_ms)
        .evidence("queue_over_service", ratio)
        .evidence("headroom", headroom)
        .evidence("requests_in_flight", figures.in_flight)
        .targets(figures.osts.iter().map(|ost| ost.name))
        .nodes(figures.node)
        .interval(Some(figures.interval))
        .cost(figures.queue_s, Cost::ClientSeconds)
        .remedy(
            "More I/O threads on the OSS: `lctl set_param ost.OSS.ost_io.threads_max=N` (and `threads_min`); for good \
             `options ost oss_num_threads=N` in /etc/modprobe.d. Memory: each holds a buffer of the largest RPC.",
        );
    if let (Some(share), Some(threads)) = (figures.threads_busy, figures.threads) {
        finding = finding.evidence("threads_busy_share", share).evidence("threads_seen", super::stats::real(threads));
    }
    if !exhausted {
        finding = finding.remedy(
            "Not all threads were at work: see whether a request scheduler rule holds requests back \
             (`lctl get_param ost.OSS.ost_io.nrs_policies ost.OSS.ost_io.nrs_tbf_rule`).",
        );
    }
    Look::Found(vec![finding.done()])
}
