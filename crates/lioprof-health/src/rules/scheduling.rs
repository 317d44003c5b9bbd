//! Schedulers and threads.

use lioprof_model::units::plural;

use super::rule::{Draft, Rule};
use crate::facts::{Fact, ServerFacts, ServiceFacts};
use crate::outcome::Status::Warning;

pub(super) const POLICIES: Rule = Rule {
    id: "nrs",
    title: "request schedulers and throttles",
    noun: "service",
    expected: "fifo alone in nrs_policies, no TBF rules",
    remedy: "Ask who set it. `lctl set_param ost.OSS.ost_io.nrs_policies=fifo` goes back to the order of arrival.",
    check: policies,
};

fn policies(servers: &[ServerFacts], draft: &mut Draft) {
    for (facts, service) in all_services(servers, draft) {
        let policies = match &service.policies {
            Fact::Known(policies) => policies,
            Fact::Unknown(why) => {
                draft.unknown(&facts.server, "", format!("{}: {why}", service.name));
                continue;
            }
        };
        if policies.is_empty() {
            draft.fine();
            continue;
        }
        let mut names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let mut found = format!("{}: {}", service.name, names.join(", "));
        if !service.tbf_rules.is_empty() {
            let count = plural(service.tbf_rules.len() as u64, "rule");
            found += &format!(" with {count}: {}", service.tbf_rules.join("; "));
        }
        draft.wrong(Warning, &facts.server, "", found);
    }
}

pub(super) const THREADS: Rule = Rule {
    id: "threads",
    title: "thread pools with room to grow",
    noun: "service",
    expected: "threads_started below threads_max",
    remedy: "All threads were needed at some time since the service started (threads do not end), so requests had to wait for one. If \
             the disks have more to give, raise `threads_max`.",
    check: threads,
};

fn threads(servers: &[ServerFacts], draft: &mut Draft) {
    for (facts, service) in all_services(servers, draft) {
        let (Fact::Known(started), Fact::Known(max)) = (&service.threads_started, &service.threads_max) else {
            draft.unknown(&facts.server, "", format!("{}: cannot read threads_started and threads_max", service.name));
            continue;
        };
        // A service whose threads are all started at once says nothing by having them.
        let fixed = service.threads_min.known().is_some_and(|min| min >= max);
        let found = || (Warning, format!("{}: {started} of {max} threads started", service.name));
        draft.judge(&facts.server, "", (started >= max && !fixed).then(found));
    }
}

/// Services of all servers; servers without are noted.
fn all_services<'a>(servers: &'a [ServerFacts], draft: &mut Draft) -> Vec<(&'a ServerFacts, &'a ServiceFacts)> {
    let of_server = |facts: &'a ServerFacts| {
        let services = draft.fact(&facts.services, &facts.server, "").into_iter().flatten();
        services.map(move |service| (facts, service))
    };
    servers.iter().flat_map(of_server).collect()
}
