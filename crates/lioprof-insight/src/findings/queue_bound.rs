//! `queue-bound`: requests wait for service threads far longer than they are served, and the disks have room.

use lioprof_model::units::percent;
use lioprof_model::{Confidence, Severity, SpentOn};
use lioprof_stats::Interval;

use super::bottleneck::queue_over_service;
use super::rule::{Case, Cost, Look, Nothing, Rule, limit, real};

pub(super) const RULE: Rule = Rule {
    id: "queue-bound",
    meaning: "requests wait for I/O threads far longer than they are served, and the disks have room",
    limits: &[
        limit("queue_over_service", 2.0, "mean time in the queue over mean service time"),
        limit("queue_ms", 1.0, "mean time in the queue, milliseconds, at least"),
        limit(
            "headroom",
            1.5,
            "how many times as much the OSTs could deliver, by how much requests hold each other up, from which threads are the limit",
        ),
        limit(
            "threads_busy",
            0.7,
            "share of the I/O threads at work while requests wait, from which they are exhausted",
        ),
        limit("time_share", 0.1, "share of the clients' time that goes to queues, at least"),
    ],
    plots: &["queue-depth", "latency"],
    note: false,
    look,
};

/// Whether clients spend enough time in queues; if the analysis does not say so, they may.
fn queues_matter(case: &Case<'_>) -> bool {
    let all = case.analysis.time_account.all.as_ref();
    all.is_none_or(|all| all.share_on(SpentOn::Queue) >= case.limit("time_share"))
}

fn look(case: &Case<'_>) -> Look {
    Nothing::healthy_if(!queues_matter(case))?;
    let figures = case.bottleneck()?;
    let ratio = figures.queue_ms / figures.service_ms.max(0.001);
    Nothing::healthy_if(figures.queue_ms < case.limit("queue_ms"))?;
    let interval = queue_over_service(case.analysis).unwrap_or(Interval { low: 0.0, high: ratio });
    Nothing::healthy_if(
        ratio < case.limit("queue_over_service") && !interval.proves(case.limit("queue_over_service")),
    )?;
    Nothing::unless_above(interval.against(case.limit("queue_over_service")), || {
        format!(
            "requests wait {ratio:.1} times as long for a thread as they are served, but a few of them decide that: it may be {:.1}",
            interval.low
        )
    })?;
    let headroom = figures.headroom.ok_or_else(|| {
        Nothing::cannot_tell(
            "requests wait for threads, but their number was always the same: whether the disks have room cannot be told",
        )
    })?;
    Nothing::healthy_if(headroom < case.limit("headroom"))?;
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
        .evidence("queue_over_service_min", interval.low)
        .evidence("headroom", headroom)
        .evidence("requests_in_flight", figures.in_flight)
        .evidence("threads_busy_share", figures.threads_busy)
        .evidence("threads_seen", figures.threads.filter(|_| figures.threads_busy.is_some()).map(real))
        .targets(figures.osts.iter().map(|ost| ost.name))
        .nodes(figures.node)
        .interval(Some(figures.interval))
        .cost(figures.queue_s, Cost::RequestSeconds)
        .remedy(
            "More I/O threads on the OSS: `lctl set_param ost.OSS.ost_io.threads_max=N` (and `threads_min`); for good \
             `options ost oss_num_threads=N` in /etc/modprobe.d. Memory: each holds a buffer of the largest RPC.",
        );
    if !exhausted {
        finding = finding.remedy(
            "Not all threads were at work: see whether a request scheduler rule holds requests back \
             (`lctl get_param ost.OSS.ost_io.nrs_policies ost.OSS.ost_io.nrs_tbf_rule`).",
        );
    }
    finding.alone()
}
