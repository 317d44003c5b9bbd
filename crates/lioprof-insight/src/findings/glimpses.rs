//! `glimpses`: clients ask how large files are while others write them.
//!
//! A `stat` or `ls -l` of a file that another client writes makes the OST ask that client (LDLM_GL_CALLBACK), in the midst of its work, and
//! wait for the answer inside the reader's lock request.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lioprof_model::units::{duration_us, thousands};
use lioprof_model::{Confidence, Distribution, Glimpses, Severity, SpentOn};

use lioprof_stats::Rate;

use super::rule::{Case, Cost, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "glimpses",
    question: Question::Time,
    explains: &[SpentOn::LockWait, SpentOn::Other],
    meaning: "clients ask again and again for the sizes of files that others are writing",
    limits: &[
        limit(
            "wait_share",
            0.1,
            "time that one client waits for the answers over that of all clients together, at least",
        ),
        limit("per_second", 1.5, "callbacks a second that one client causes, at least: fewer hold nobody up"),
        limit(
            "job_share",
            0.2,
            "time that a job waits for locks over that of the job that waits most, from which it is named",
        ),
    ],
    plots: &["time-account"],
    note: false,
    look,
};

fn look(case: &Case<'_>) -> Look {
    let locks = case.locks()?;
    let selected = |it: &&Glimpses| {
        let known = |nid: &str| case.analysis.clients.iter().any(|client| client.nid == nid);
        it.waiter_nid != it.holder_nid && known(&it.waiter_nid)
    };
    // Seconds and callbacks of each client that asks.
    let mut waited: BTreeMap<&str, (f64, u64)> = BTreeMap::new();
    for it in locks.glimpses.iter().filter(selected) {
        let of = waited.entry(&it.waiter_nid).or_default();
        *of = (of.0 + it.wait_s, of.1 + it.callbacks);
    }
    Nothing::not_applicable_if(
        waited.is_empty(),
        "no client asked for the size of a file that another one was writing",
    )?;
    let whole_s = case.analysis.time_account.all.as_ref().map_or(0.0, |all| real(all.span_us) / 1e6);
    waited.retain(|_, (wait_s, _)| share(*wait_s, whole_s) >= case.limit("wait_share"));
    let most = waited.values().map(|of| of.1).max().ok_or(Nothing::Healthy)?;
    let rate = Rate::count(real(most)).times(share(1.0, whole_s)).against(case.limit("per_second"));
    Nothing::unless_above(rate, || format!("{most} glimpse callbacks are too few to say that there are many"))?;
    waited.retain(|_, (_, callbacks)| share(real(*callbacks), whole_s) >= case.limit("per_second"));
    let asked = || locks.glimpses.iter().filter(selected).filter(|it| waited.contains_key(it.waiter_nid.as_str()));
    let callbacks: u64 = asked().map(|it| it.callbacks).sum();
    let wait_s: f64 = waited.values().map(|of| of.0).sum();
    let mut askers: Vec<(&str, f64)> = waited.iter().map(|(nid, of)| (*nid, of.0)).collect();
    askers.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut holders: BTreeMap<&str, u64> = BTreeMap::new();
    asked().for_each(|it| *holders.entry(&it.holder_nid).or_default() += it.callbacks);
    let mut holders: Vec<(&str, u64)> = holders.into_iter().collect();
    holders.sort_by_key(|&(_, callbacks)| Reverse(callbacks));
    let longest = longest_us(case);
    let one_or_more = |names: &[&str]| match names {
        [one] => (*one).to_owned(),
        _ => format!("{} clients", names.len()),
    };
    let [of, by] = [holders.iter().map(|it| it.0).collect::<Vec<_>>(), askers.iter().map(|it| it.0).collect()];
    let title = format!(
        "Glimpses of {} hold up {}: {} callbacks to the writer{}, up to {}",
        one_or_more(&by),
        one_or_more(&of),
        thousands(callbacks),
        if of.len() == 1 { "" } else { "s" },
        duration_us(longest),
    );
    case.finding(Severity::Warning, Confidence::Medium, title)
        .explain(format!(
            "Whoever wants the attributes of a file that another client writes makes its OSTs ask the writer how large it is. The writer \
             answers in the midst of its work, gives locks back early, and writes what it has in smaller pieces; who asked waited for \
             {wait_s:.2} s in all.",
        ))
        .evidence("callbacks", real(callbacks))
        .evidence("callbacks_per_second", share(real(most), whole_s))
        .evidence("wait_s", wait_s)
        .evidence("wait_share", share(askers[0].1, whole_s))
        .evidence("longest_ms", longest / 1e3)
        .clients(by.iter().chain(&of).copied())
        .jobs(jobs(case))
        .targets(asked().map(|it| it.target.as_str()))
        .cost(wait_s, Cost::RequestSeconds)
        .remedy(
            "Do not look at sizes of files while they are written: `ls` without `-l` and `--color`, `lfs find` without sizes, `lfs getsom` \
             or `stat --cached=always` for sizes that may be old, or look less often.",
        )
        .remedy("Let the program say how far it is in a file or on standard output of its own, instead of asking the file system.")
        .alone()
}

/// The longest answer.
fn longest_us(case: &Case<'_>) -> f64 {
    let callbacks = case.analysis.sent.iter().filter(|sent| sent.name == "LDLM_GL_CALLBACK");
    let longest = |us: &Distribution| us.max.unwrap_or(0);
    real(callbacks.map(|sent| longest(&sent.round_trip_us)).max().unwrap_or(0))
}

/// Jobs that waited for locks, longest first. Statahead's threads have job ids of their own.
fn jobs<'a>(case: &Case<'a>) -> Vec<&'a str> {
    let waited = |of: &&lioprof_model::TimeOf| of.us_on(SpentOn::LockWait);
    let mut jobs: Vec<(u64, &str)> =
        case.analysis.time_account.jobs.iter().map(|of| (waited(&of), of.name.as_str())).collect();
    jobs.sort_by_key(|&(us, _)| Reverse(us));
    let most = jobs.first().map_or(0, |job| job.0);
    jobs.retain(|&(us, name)| !name.is_empty() && us > 0 && share(real(us), real(most)) >= case.limit("job_share"));
    jobs.into_iter().map(|(_, name)| name).collect()
}
