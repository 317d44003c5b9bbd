//! `queue-bound`: requests wait for service threads far longer than they are served, and the disks have room.

use lioprof_model::units::{percent, thousands};
use lioprof_model::{Confidence, Finding, Severity, SpentOn};
use lioprof_stats::{Interval, Stands};

use super::bottleneck::queue_over_service;
use super::metadata_bound::{self, HOG, is_of_mds};
use super::rule::{Case, Cost, Look, Nothing, Question, Rule, limit, real};
use super::throttled::HELD_SHARE;
use super::waits::{CRITICAL_SHARE, IO_SERVICE, Waits, waits};

pub(super) const RULE: Rule = Rule {
    id: "queue-bound",
    question: Question::Time,
    explains: &[SpentOn::Queue],
    meaning: "requests wait for threads far longer than they are served; of reads and writes, if the disks have room",
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
        CRITICAL_SHARE,
        HELD_SHARE,
        limit("lost_share", 0.05, "share of lost RPCs from which nobody can tell what threads did"),
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
    let (of_services, perhaps) = of_services(case);
    match (reads_and_writes(case), perhaps) {
        (Ok(found), _) => Ok(found.into_iter().chain(of_services).collect()),
        (Err(_), _) if !of_services.is_empty() => Ok(of_services),
        (Err(Nothing::Healthy | Nothing::NotApplicable(_)), Some(why)) => Err(Nothing::cannot_tell(why)),
        (Err(nothing), _) => Err(nothing),
    }
}

/// Services whose threads are all at work while requests wait for them, but that for reads and writes; one of which that may be so.
fn of_services(case: &Case<'_>) -> (Vec<Finding>, Option<String>) {
    let (mut found, mut perhaps) = (Vec::new(), None);
    for waits in waits(case.analysis, case.limit("lost_share")) {
        let matters = waits.queue_ms >= case.limit("queue_ms") && waits.time_share >= case.limit("time_share");
        if waits.service.service == IO_SERVICE || !matters {
            continue;
        }
        if !waits.shows_threads() {
            perhaps = perhaps.or_else(|| Some(waits.too_few()));
            continue;
        }
        if waits.held_share.is_none_or(|share| share >= case.limit(HELD_SHARE.name)) {
            continue;
        }
        match waits.stands(case.limit("queue_over_service")) {
            Stands::Above => found.push(of_service(case, &waits)),
            Stands::Undecided => perhaps = perhaps.or_else(|| Some(waits.too_few())),
            Stands::Below => {}
        }
    }
    (found, perhaps)
}

fn of_service(case: &Case<'_>, waits: &Waits<'_>) -> Finding {
    let (node, service, threads) = (&waits.service.node, waits.name(), waits.service.threads);
    let clients = case.analysis.clients.iter().filter(|client| !client.server);
    let mut clients: Vec<(u64, &str)> = clients.map(|client| (client.rpcs, client.nid.as_str())).collect();
    clients.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let most: Vec<String> = clients.iter().take(3).map(|(rpcs, nid)| format!("{nid} {}", thousands(*rpcs))).collect();
    let hog = metadata_bound::most(case.analysis, HOG).filter(|_| is_of_mds(&waits.service.service));
    let whose = hog.as_ref().map(|hog| format!(", {}", hog.in_words())).unwrap_or_default();
    let title = format!(
        "Requests wait {:.1} times as long for a thread of {service} on {node} as they are served{whose}",
        waits.ratio
    );
    case
        .finding(Waits::severity(waits.time_share, case.limit(CRITICAL_SHARE.name)), Confidence::High, title)
        .explain(format!(
            "{} requests waited {:.1} ms each and were served in {:.1} ms. All {threads} threads that were seen were at work meanwhile: as \
             soon as one is free it takes the next request. That is {} of the clients' time. Most requests in all came from: {}.",
            thousands(waits.service.rpcs),
            waits.queue_ms,
            waits.service_ms,
            percent(waits.time_share, 0),
            most.join(", "),
        ))
        .evidence("queue_ms", waits.queue_ms)
        .evidence("service_ms", waits.service_ms)
        .evidence("queue_over_service", waits.ratio)
        .evidence("threads_seen", real(threads))
        .evidence("held_share", waits.held_share)
        .evidence("time_share", waits.time_share)
        .clients(first(hog.as_ref().map(|hog| hog.nid), waits.whose(&case.analysis.time_account.clients)))
        .jobs(first(hog.as_ref().and_then(|hog| hog.job), waits.whose(&case.analysis.time_account.jobs)))
        .nodes([node.as_str()])
        .cost(real(waits.service.queue_us) / 1e6, Cost::RequestSeconds)
        .remedy(format!(
            "More threads, if the server has CPUs to spare: `lctl set_param {0}.threads_max=N` (`lctl get_param {0}.threads_started` \
             shows how many there are).",
            waits.parameters()
        ))
        .remedy("Fewer requests: see who sends them (tables of clients, jobs and operations).")
        .done()
}

/// Names, this one first.
fn first<'a>(name: Option<&'a str>, names: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    name.into_iter().chain(names.filter(move |other| name != Some(*other)))
}

fn reads_and_writes(case: &Case<'_>) -> Look {
    Nothing::healthy_if(!queues_matter(case))?;
    // Not a lack of threads: see `throttled`.
    let held = |waits: &Waits<'_>| waits.service.service == IO_SERVICE && waits.is_held(case.limit(HELD_SHARE.name));
    let longest = waits(case.analysis, case.limit("lost_share"));
    Nothing::healthy_if(longest.iter().find(|it| it.service.service == IO_SERVICE).is_some_and(held))?;
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
            "A read or write waited {:.1} ms for a thread and was served in {:.1} ms.{at_work} Concurrent requests \
             barely slow each other down, so the disks could deliver {headroom:.1} times as much.",
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
