//! `throttled`: requests wait although threads have nothing to do, because a rule of the request scheduler holds them back.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lioprof_model::units::{percent, thousands};
use lioprof_model::{Confidence, Finding, Interval, SpentOn, Throttled};
use lioprof_stats::Stands;

use super::rule::{Case, Cost, Limit, Look, Nothing, Question, Rule, limit, real, share};
use super::waits::{CRITICAL_SHARE, Waits, waits};

pub(super) const RULE: Rule = Rule {
    id: "throttled",
    question: Question::Time,
    explains: &[SpentOn::Queue],
    meaning: "requests wait although threads have nothing to do: a rule of the request scheduler holds them back",
    limits: &[
        limit("queue_over_service", 2.0, "time in the queue over service time"),
        limit("queue_ms", 1.0, "mean time in the queue, milliseconds, at least"),
        limit("time_share", 0.1, "share of the clients' time that goes to these waits, at least"),
        CRITICAL_SHARE,
        HELD_SHARE,
        limit(
            "rate_share",
            0.5,
            "requests a second over what the rule of a token bucket filter allows, from which the rule is the limit",
        ),
        limit("lost_share", 0.05, "share of lost RPCs from which nobody can tell what threads did"),
    ],
    plots: &["queue-depth", "latency"],
    note: false,
    look,
};

/// From which the scheduler, and not the number of threads, is what requests wait for.
pub(super) const HELD_SHARE: Limit = limit(
    "held_share",
    0.5,
    "share of the time in the queue of requests that a thread took which had had nothing to do",
);

/// Requests of one job, or of one client without jobs, under a rule.
struct Class<'a> {
    rows: Vec<&'a Throttled>,
    name: String,
    rate: u32,
    rpcs: u64,
    queue_us: u64,
    service_us: u64,
    span: Interval,
}

impl Class<'_> {
    fn queue_ms(&self) -> f64 {
        share(real(self.queue_us), real(self.rpcs)) / 1e3
    }

    /// Requests a second.
    fn per_s(&self) -> f64 {
        share(real(self.rpcs.saturating_sub(1)), self.span.end - self.span.start)
    }
}

fn look(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    Nothing::not_applicable_if(analysis.totals.rpcs == 0, "no RPC was handled")?;
    let (mut all, mut perhaps): (Vec<(f64, Finding)>, Option<String>) = (Vec::new(), None);
    for waits in waits(analysis, case.limit("lost_share")) {
        let limited = limited(case, &waits);
        if !limited.is_empty() {
            all.push(by_rule(case, &waits, &limited));
        } else if is_held(case, &waits) {
            match waits.stands(case.limit("queue_over_service")) {
                Stands::Above => all.push((waits.time_share, held(case, &waits))),
                Stands::Undecided => perhaps = perhaps.or_else(|| Some(waits.too_few())),
                Stands::Below => {}
            }
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    match perhaps {
        Some(why) if all.is_empty() => Err(Nothing::cannot_tell(why)),
        _ => Ok(all.into_iter().map(|(_, finding)| finding).collect()),
    }
}

/// Classes that wait because of their rules, those that wait for longest first.
fn limited<'a>(case: &Case<'a>, waits: &Waits<'_>) -> Vec<Class<'a>> {
    let mut classes: BTreeMap<(String, u32), Vec<&Throttled>> = BTreeMap::new();
    let of_service = |it: &&Throttled| it.node == waits.service.node && it.service == waits.service.service;
    for row in case.analysis.throttled.iter().filter(of_service) {
        let job = row.job.as_deref().filter(|job| !job.is_empty());
        let name = job.map_or_else(|| format!("client {}", row.nid), |job| format!("job {job}"));
        classes.entry((name, row.rate)).or_default().push(row);
    }
    let class = |((name, rate), rows): ((String, u32), Vec<&'a Throttled>)| Class {
        name,
        rate,
        rpcs: rows.iter().map(|row| row.rpcs).sum(),
        queue_us: rows.iter().map(|row| row.queue_us).sum(),
        service_us: rows.iter().map(|row| row.service_us).sum(),
        span: Interval {
            start: rows.iter().map(|row| row.first).fold(f64::INFINITY, f64::min),
            end: rows.iter().map(|row| row.last).fold(f64::NEG_INFINITY, f64::max),
        },
        rows,
    };
    let of_all = |class: &Class<'_>| waits.time_share * share(real(class.queue_us), real(waits.service.queue_us));
    let is_limited = |class: &Class<'_>| {
        class.queue_ms() >= case.limit("queue_ms")
            && real(class.queue_us) >= case.limit("queue_over_service") * real(class.service_us)
            && of_all(class) >= case.limit("time_share")
            && (waits.is_held(case.limit(HELD_SHARE.name))
                // Without a rate in the log only idle threads tell.
                || class.rate > 0 && class.per_s() >= case.limit("rate_share") * f64::from(class.rate))
    };
    let mut limited: Vec<Class<'a>> = classes.into_iter().map(class).filter(is_limited).collect();
    limited.sort_by_key(|class| Reverse(class.queue_us));
    limited
}

/// Whether requests of a service are held back for a time that matters, whatever the rule may be.
fn is_held(case: &Case<'_>, waits: &Waits<'_>) -> bool {
    waits.queue_ms >= case.limit("queue_ms")
        && waits.time_share >= case.limit("time_share")
        && waits.is_held(case.limit(HELD_SHARE.name))
}

fn by_rule(case: &Case<'_>, waits: &Waits<'_>, classes: &[Class<'_>]) -> (f64, Finding) {
    let first = &classes[0];
    let (node, service) = (&waits.service.node, waits.name());
    let queue_us: u64 = classes.iter().map(|class| class.queue_us).sum();
    let time_share = waits.time_share * share(real(queue_us), real(waits.service.queue_us));
    let title = format!(
        "A TBF rule{} holds back {}: its requests wait {} each in {service} of {node}",
        if first.rate > 0 { format!(" of {}/s", thousands(u64::from(first.rate))) } else { String::new() },
        first.name,
        time(first.queue_ms()),
    );
    let told: Vec<String> = classes
        .iter()
        .take(5)
        .map(|class| {
            format!(
                "{} sent {} requests, {:.1} a second, under a rule{}; they waited {} each, and took {} to be served",
                class.name,
                thousands(class.rpcs),
                class.per_s(),
                if class.rate > 0 { format!(" of {}", class.rate) } else { String::new() },
                time(class.queue_ms()),
                time(share(real(class.service_us), real(class.rpcs)) / 1e3),
            )
        })
        .collect();
    let rows = || classes.iter().flat_map(|class| &class.rows);
    let finding = case
        .finding(Waits::severity(time_share, case.limit(CRITICAL_SHARE.name)), Confidence::High, title)
        .explain(format!(
            "{}. That is {} of the clients' time. The token bucket filter (NRS policy tbf) keeps requests in the queue until their class \
             has a token; neither the disk nor the number of threads is the limit.",
            told.join("; "),
            percent(time_share, 0),
        ))
        .evidence("rate", (first.rate > 0).then(|| f64::from(first.rate)))
        .evidence("rate_seen", first.per_s())
        .evidence("queue_ms", first.queue_ms())
        .evidence("rpcs", real(first.rpcs))
        .evidence("held_share", waits.held_share)
        .evidence("time_share", time_share)
        .clients(rows().map(|row| row.nid.as_str()))
        .jobs(rows().filter_map(|row| row.job.as_deref()).filter(|job| !job.is_empty()))
        .nodes([node.as_str()])
        .interval(Some(first.span))
        .cost(real(queue_us) / 1e6, Cost::RequestSeconds)
        .remedy(format!(
            "See the rules: `lctl get_param {0}.nrs_tbf_rule`. If it is not meant so, change it (`lctl set_param \
             {0}.nrs_tbf_rule=\"change NAME rate=N\"`) or go back to `lctl set_param {0}.nrs_policies=fifo`.",
            waits.parameters()
        ))
        .done();
    (time_share, finding)
}

fn held(case: &Case<'_>, waits: &Waits<'_>) -> Finding {
    let (node, service, account) = (&waits.service.node, waits.name(), &case.analysis.time_account);
    let title = format!(
        "Requests wait {} each in {service} of {node}, {:.1} times as long as they are served, although threads have nothing to do",
        time(waits.queue_ms),
        waits.ratio
    );
    case
        .finding(Waits::severity(waits.time_share, case.limit(CRITICAL_SHARE.name)), Confidence::Medium, title)
        .explain(format!(
            "{} of that time is of requests that a thread took which had had nothing to do before. So they do not wait for a thread: a \
             policy of the request scheduler (delay, tbf) holds them back, or the threads do not get the CPU.",
            percent(waits.held_share.unwrap_or(0.0), 0),
        ))
        .clients(waits.whose(&account.clients))
        .jobs(waits.whose(&account.jobs))
        .evidence("queue_ms", waits.queue_ms)
        .evidence("service_ms", waits.service_ms)
        .evidence("held_share", waits.held_share)
        .evidence("time_share", waits.time_share)
        .nodes([node.as_str()])
        .cost(real(waits.service.queue_us) / 1e6, Cost::RequestSeconds)
        .remedy(format!("See which policy is in use: `lctl get_param {}.nrs_policies`; fifo holds nothing back.", waits.parameters()))
        .remedy("If it is fifo, look at the server's CPUs (`top`, `mpstat -P ALL`) and at interrupts.")
        .done()
}

/// `0.70 s`, `19.6 ms`.
fn time(ms: f64) -> String {
    if ms >= 1e3 / 2.0 { format!("{:.2} s", ms / 1e3) } else { format!("{ms:.1} ms") }
}

#[cfg(test)]
mod tests {
    use lioprof_model::{Analysis, Service, TimeAccount, TimeOf, TimeSpent};

    use super::super::case::Shared;
    use super::super::limits::Limits;
    use super::super::queue_bound;
    use super::*;

    /// A service whose requests waited 20 ms each and were served in 1 ms, so much of it with idle threads, and which takes all of the
    /// clients' time.
    fn queue(service: &str, held_us: u64) -> Analysis {
        let service = Service {
            node: "s1".to_owned(),
            service: service.to_owned(),
            threads: 4,
            rpcs: 700,
            queue_us: 14_000_000,
            service_us: 700_000,
            held_us,
        };
        let spent = vec![TimeSpent::new(SpentOn::Queue, None, "s1".to_owned(), 95)];
        let all = TimeOf { span_us: 100, spent, ..TimeOf::default() };
        let mut analysis = Analysis { services: vec![service], ..Analysis::default() };
        analysis.totals.rpcs = 700;
        analysis.time_account = TimeAccount { all: Some(all), ..TimeAccount::default() };
        analysis
    }

    fn found(analysis: &Analysis, rule: &'static Rule) -> Vec<Finding> {
        (rule.look)(&Case { analysis, rule, limits: &Limits::default(), shared: &Shared::default() })
            .unwrap_or_default()
    }

    /// What a rule of 10/s let through of a job in 8 s.
    fn job(name: &str, rate: u32, queue_us: u64) -> Throttled {
        Throttled {
            node: "s1".to_owned(),
            service: "ll_ost_io".to_owned(),
            rate,
            nid: format!("10.0.0.{rate}@tcp"),
            job: Some(name.to_owned()),
            rpcs: 80,
            queue_us,
            service_us: 160_000,
            first: 0.0,
            last: 8.0,
        }
    }

    #[test]
    fn a_rule_is_told_from_a_lack_of_threads() {
        let mut analysis = queue("ll_ost_io", 14_000_000);
        analysis.throttled = vec![job("bulk.1", 10, 14_000_000), job("small.1", 10_000, 800)];
        let [finding] = &found(&analysis, &RULE)[..] else { panic!("one") };
        assert_eq!(
            finding.title,
            "A TBF rule of 10/s holds back job bulk.1: its requests wait 175.0 ms each in ost_io of s1"
        );
        assert_eq!((finding.jobs.as_slice(), finding.clients.len()), (["bulk.1".to_owned()].as_slice(), 1));
        assert_eq!(found(&analysis, &queue_bound::RULE), []);
        // A rule that allows far more than is sent is not what they wait for, if threads are at work.
        let mut analysis = queue("ll_ost_io", 0);
        analysis.throttled = vec![job("bulk.1", 10_000, 14_000_000)];
        assert_eq!(found(&analysis, &RULE), []);
    }

    #[test]
    fn without_a_rule_in_the_log_it_is_said_that_something_holds_them_back() {
        let [finding] = &found(&queue("mdt", 13_000_000), &RULE)[..] else { panic!("one") };
        assert!(finding.title.starts_with("Requests wait 20.0 ms each in mdt of s1, 20.0 times"), "{}", finding.title);
        assert_eq!(found(&queue("mdt", 13_000_000), &queue_bound::RULE), []);
    }

    #[test]
    fn threads_of_any_service_may_be_exhausted() {
        let analysis = queue("mdt", 0);
        let [finding] = &found(&analysis, &queue_bound::RULE)[..] else { panic!("one") };
        assert_eq!(finding.title, "Requests wait 20.0 times as long for a thread of mdt on s1 as they are served");
        assert!(finding.remedies[0].contains("mds.MDS.mdt.threads_max"), "{:?}", finding.remedies);
        assert_eq!(found(&analysis, &RULE), []);
        // What threads did before their first requests is unknown.
        let mut few = queue("mdt", 0);
        let service = &mut few.services[0];
        (service.rpcs, service.queue_us, service.service_us) = (7, 140_000, 7_000);
        assert_eq!(found(&few, &queue_bound::RULE), []);
        // Lost requests may have kept the threads busy, or not.
        let mut lossy = queue("mdt", 0);
        lossy.loss.estimated_lost_fraction = Some(0.3);
        assert_eq!(found(&lossy, &queue_bound::RULE), []);
    }
}
