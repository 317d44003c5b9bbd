//! `disk-bound`: the OSTs are at work all the time, and each request takes long because of the others.

use lioprof_model::units::percent;
use lioprof_model::{Confidence, Severity, SpentOn};

use super::rule::{Case, Look, Nothing, Question, Rule, limit};

pub(super) const RULE: Rule = Rule {
    id: "disk-bound",
    question: Question::Time,
    explains: &[SpentOn::Bulk],
    meaning: "the OSTs' disks are the limit: they are busy all the time, and concurrent requests slow each other down",
    limits: &[
        limit("busy_share", 0.7, "share of the time with I/O in which each OST in use handles a request, at least"),
        limit("handled_at_a_time", 2.0, "requests in the handlers of a busy OST, at least"),
        limit(
            "headroom",
            1.5,
            "how many times as much the OSTs could deliver, by how much requests hold each other up, at most",
        ),
        limit(
            "available_share",
            0.5,
            "share of what obdfilter-survey got (`--baseline`) below which busy disks are a warning",
        ),
    ],
    plots: &["queue-depth", "latency"],
    note: true,
    look,
};

fn look(case: &Case<'_>) -> Look {
    let figures = case.bottleneck()?;
    // OST by OST: disks are the limit where none of them has time left.
    Nothing::healthy_if(
        figures.least_busy_share < case.limit("busy_share")
            || figures.handled_at_a_time < case.limit("handled_at_a_time"),
    )?;
    let headroom = figures.headroom.ok_or_else(|| {
        Nothing::cannot_tell(
            "the OSTs are busy, but always with as many requests: whether these hold each other up cannot be told",
        )
    })?;
    Nothing::healthy_if(headroom > case.limit("headroom"))?;
    let available = super::below_available::best(case.analysis);
    let far_below = available.filter(|available| available.share() < case.limit("available_share"));
    let severity = if far_below.is_some() { Severity::Warning } else { Severity::Info };
    let title = match far_below {
        Some(available) => {
            format!("The disks are busy and deliver {} of what obdfilter-survey got", percent(available.share(), 0))
        }
        None if figures.least_busy_share > 0.995 => "The disks are the limit: each is busy all the time".to_owned(),
        None => format!(
            "The disks are the limit: each is busy at least {} of the time",
            percent(figures.least_busy_share, 0)
        ),
    };
    let finding = case
        .finding(severity, Confidence::Medium, title)
        .explain(format!(
            "An OST handled {:.1} requests at a time; each was served in {:.1} ms, after {:.1} ms in the queue. Concurrent requests \
             slow each other down so much that the disks could deliver {headroom:.1} times as much at most: more of \
             them would only wait longer.",
            figures.handled_at_a_time, figures.service_ms, figures.queue_ms,
        ))
        .evidence("busy_share", figures.busy_share)
        .evidence("least_busy_share", figures.least_busy_share)
        .evidence("handled_at_a_time", figures.handled_at_a_time)
        .evidence("service_ms", figures.service_ms)
        .evidence("queue_ms", figures.queue_ms)
        .evidence("headroom", headroom)
        .evidence("available_share", available.map(|available| available.share()))
        .targets(figures.osts.iter().map(|ost| ost.name))
        .interval(Some(figures.interval));
    let finding = match far_below {
        Some(_) => finding.remedy(
            "The disks have done better in the survey: look for small or scattered I/O (`lctl get_param osd-*.*.brw_stats`), \
             a rebuild, a nearly full OST, or other jobs.",
        ),
        None => finding.remedy(
            "If the sum is what the disks can do (measure with obdfilter-survey, pass it with `--baseline`), the job is as fast \
             as it can be here.",
        ),
    };
    let finding = finding
        .remedy("Use more OSTs (`lfs setstripe -c`), larger and aligned RPCs (`lctl set_param osc.*.max_pages_per_rpc=4M` on clients), or write less.");
    finding.alone()
}
