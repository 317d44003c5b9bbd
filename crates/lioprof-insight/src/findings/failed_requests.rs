//! `failed-requests`: requests ended with an error that is not everyday life.

use std::collections::BTreeMap;

use lioprof_model::units::{percent, plural, thousands};
use lioprof_model::{Confidence, Failure, Finding, Interval, Severity};
use lustre_debuglog::{Errno, Opcode};

use super::rule::{Case, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "failed-requests",
    question: Question::Failure,
    explains: &[],
    meaning: "requests ended with an error that programs see, or that costs what they wrote",
    limits: &[
        limit(
            "share",
            0.01,
            "share of the requests of their kind that ended with the same error, from which it is a warning",
        ),
        limit("critical_share", 0.05, "the same from which it is critical"),
        limit(
            "common_share",
            0.95,
            "share of them that one client, job or target has, from which it is said to be its",
        ),
    ],
    plots: &["io-timeline"],
    note: false,
    look,
};

fn look(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    Nothing::not_applicable_if(analysis.totals.rpcs == 0, "no RPC was handled")?;
    let mut kinds: BTreeMap<(u32, i32), Vec<&Failure>> = BTreeMap::new();
    for failure in analysis.failures.iter().filter(|failure| failure.everyday.is_none()) {
        kinds.entry((failure.opcode, failure.rc)).or_default().push(failure);
    }
    let mut found: Vec<(f64, Finding)> = kinds.into_values().filter_map(|failures| found(case, &failures)).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(found.into_iter().map(|(_, finding)| finding).collect())
}

/// Requests by client, job or target, most first.
fn by<'a>(failures: &[&'a Failure], name: impl Fn(&'a Failure) -> Option<&'a str>) -> Vec<(u64, &'a str)> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for failure in failures {
        if let Some(name) = name(failure) {
            *sums.entry(name).or_default() += failure.rpcs;
        }
    }
    let mut sums: Vec<(u64, &str)> = sums.into_iter().map(|(name, rpcs)| (rpcs, name)).collect();
    sums.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    sums
}

/// Requests of one operation that ended with the same error, by whom and where; with their share of their kind.
fn found(case: &Case<'_>, failures: &[&Failure]) -> Option<(f64, Finding)> {
    let first = failures.first()?;
    let (name, rc, error) = (&first.name, first.rc, Errno(first.rc.unsigned_abs()));
    let rpcs: u64 = failures.iter().map(|failure| failure.rpcs).sum();
    let of_kind = case.analysis.operations.iter().filter(|operation| operation.opcode == first.opcode);
    let all: u64 = of_kind.map(|operation| operation.rpcs).sum::<u64>().max(rpcs);
    let part = share(real(rpcs), real(all));
    let clients = by(failures, |failure| Some(&failure.nid));
    let jobs = by(failures, |failure| failure.job.as_deref().filter(|job| !job.is_empty()));
    let targets = by(failures, |failure| failure.target.as_deref());
    let nodes = by(failures, |failure| Some(&failure.node));
    let common = |names: &[(u64, &str)], noun: &str| {
        let (most, name) = *names.first()?;
        let all = if most == rpcs { "all" } else { "nearly all" };
        (real(most) >= case.limit("common_share") * real(rpcs)).then(|| format!("{all} {noun} {name}"))
    };
    let whose = [common(&jobs, "of job"), common(&clients, "of client"), common(&targets, "on")];
    let common: Vec<String> = whose.into_iter().flatten().collect();
    let common_in_words = if common.is_empty() { String::new() } else { format!(", {}", common.join(", ")) };
    let meaning = error.meaning().map(|meaning| format!(" ({meaning})")).unwrap_or_default();
    let severity = match part {
        part if part >= case.limit("critical_share") => Severity::Critical,
        part if part >= case.limit("share") => Severity::Warning,
        _ => Severity::Info,
    };
    let title = format!(
        "{} of {} {name} requests failed with {rc} {error}{meaning}{common_in_words}",
        thousands(rpcs),
        thousands(all)
    );
    let most = |names: &[(u64, &str)], noun: &str| {
        let some: Vec<String> =
            names.iter().take(3).map(|(rpcs, name)| format!("{name} {}", thousands(*rpcs))).collect();
        match names.len() {
            0 => format!("{noun} unknown"),
            few if few <= some.len() => some.join(", "),
            many => format!("{} and {} more", some.join(", "), plural(many as u64 - some.len() as u64, noun)),
        }
    };
    let interval = Interval {
        start: failures.iter().map(|failure| failure.first).fold(f64::INFINITY, f64::min),
        end: failures.iter().map(|failure| failure.last).fold(f64::NEG_INFINITY, f64::max),
    };
    let opcode = Opcode(first.opcode);
    let (means, remedies) = advice(opcode, error);
    let mut draft = case
        .finding(severity, Confidence::High, title)
        .explain(format!(
            "That is {} of its kind. By client: {}; by job: {}; by target: {}. {means}",
            percent(part, 1),
            most(&clients, "client"),
            most(&jobs, "job"),
            most(&targets, "target"),
        ))
        .evidence("failed_rpcs", real(rpcs))
        .evidence("rpcs", real(all))
        .evidence("share", part)
        .evidence("rc", f64::from(rc))
        .evidence("clients", real(clients.len() as u64))
        .evidence("targets", real(targets.len() as u64))
        .targets(targets.iter().map(|(_, name)| *name))
        .clients(clients.iter().map(|(_, name)| *name))
        .jobs(jobs.iter().map(|(_, name)| *name))
        .nodes(nodes.iter().map(|(_, name)| *name))
        .interval(Some(interval));
    for remedy in remedies {
        draft = draft.remedy(*remedy);
    }
    Some((part, draft.done()))
}

/// What an error means for whoever sees it, and what to do.
fn advice(opcode: Opcode, error: Errno) -> (&'static str, &'static [&'static str]) {
    match error {
        Errno::EDQUOT => (
            "A user, group or project has used up its quota: programs get EDQUOT, and what they write is not stored.",
            &[
                "See whose quota it is: `lfs quota -u USER DIRECTORY`, `-g GROUP`, `-p PROJECT`, with `-v` by target; delete files, or \
                 raise it (`lfs setquota`).",
            ],
        ),
        Errno::ENOSPC => (
            "A target is full, or has no inodes left: programs get ENOSPC, and what they write is not stored.",
            &[
                "See which targets are full: `lfs df`, `lfs df -i`. Move files away from them (`lfs migrate`), and keep new ones off \
                 (`lctl set_param osp.TARGET*.max_create_count=0` on the MDS).",
            ],
        ),
        Errno::EIO | Errno::EROFS => (
            "A disk or its file system fails: after an error of its device a target goes read-only.",
            &[
                "Look at the server's kernel log at that time and at the device (SMART, RAID), before anything else is written to it.",
            ],
        ),
        Errno::ESTALE => (
            "The object or file is not there any more, although a client still uses it: it was removed by another one, or lost.",
            &[
                "See whether files were removed while they were used; if not, `lctl lfsck_start -t layout`, after a backup.",
            ],
        ),
        Errno::ENOENT => (
            "A file's object is not there: its data are gone, or it was removed meanwhile.",
            &[
                "See whether files were removed while they were used; if not, `lctl lfsck_start -t layout`, after a backup.",
            ],
        ),
        Errno::ETIMEDOUT | Errno::EHOSTUNREACH | Errno::ESHUTDOWN => (
            "Data or answers did not arrive.",
            &[
                "Look at the network between these clients and servers: `lnetctl stats show` (drops, errors), `lnetctl net show -v`.",
            ],
        ),
        Errno::ENOMEM => (
            "The server has no memory for the request.",
            &["Look at the server's memory (`/proc/meminfo`, `slabtop`) and its kernel log."],
        ),
        Errno::EPERM | Errno::EACCES if matches!(opcode, Opcode::OST_CONNECT | Opcode::MDS_CONNECT) => (
            "The client is not let in.",
            &[
                "See nodemaps and the security flavour: `lctl nodemap_test_nid NID`, `lctl get_param mdt.*.exports.*.*`.",
            ],
        ),
        _ => (
            "Programs on these clients see the error, or Lustre there deals with it.",
            &[
                "Look at the kernel logs of the clients and the server at that time: Lustre says there what the error is about.",
            ],
        ),
    }
}

#[cfg(test)]
mod tests {
    use lioprof_model::{Analysis, Operation};

    use super::super::case::Shared;
    use super::super::limits::Limits;
    use super::*;

    fn failure(rc: i32, (nid, job, target): (&str, &str, &str), rpcs: u64) -> Failure {
        let (opcode, error) = (Opcode::OST_WRITE, Errno(rc.unsigned_abs()));
        Failure {
            opcode: opcode.0,
            name: opcode.to_string(),
            rc,
            error: error.to_string(),
            everyday: lioprof_model::everyday(opcode, error).map(str::to_owned),
            node: "oss1".to_owned(),
            target: Some(target.to_owned()),
            nid: nid.to_owned(),
            job: Some(job.to_owned()),
            rpcs,
            first: 1.0,
            last: 2.0,
        }
    }

    fn look(failures: Vec<Failure>, rpcs: u64) -> Vec<Finding> {
        let mut analysis = Analysis { failures, ..Analysis::default() };
        analysis.totals.rpcs = rpcs;
        analysis.operations = vec![Operation { opcode: Opcode::OST_WRITE.0, rpcs, ..Operation::default() }];
        let case = Case { analysis: &analysis, rule: &RULE, limits: &Limits::default(), shared: &Shared::default() };
        super::look(&case).expect("there are requests")
    }

    #[test]
    fn each_error_has_its_finding_and_says_what_is_common() {
        let over = ("10.0.0.3@tcp", "a.1");
        let found = look(
            vec![
                failure(-122, (over.0, over.1, "fs-OST0000"), 31),
                failure(-122, (over.0, over.1, "fs-OST0001"), 31),
                failure(-28, ("10.0.0.1@tcp", "b.1", "fs-OST0001"), 19),
                failure(-28, ("10.0.0.2@tcp", "b.2", "fs-OST0001"), 19),
                // Sent again by the client.
                failure(-115, ("10.0.0.2@tcp", "b.2", "fs-OST0001"), 200),
            ],
            400,
        );
        let titles: Vec<&str> = found.iter().map(|finding| finding.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "62 of 400 OST_WRITE requests failed with -122 EDQUOT (over quota), all of job a.1, all of client 10.0.0.3@tcp",
                "38 of 400 OST_WRITE requests failed with -28 ENOSPC (no space left), all on fs-OST0001",
            ]
        );
        assert_eq!((found[0].targets.len(), found[1].clients.len()), (2, 2));
        assert!(found.iter().all(|finding| finding.severity == Severity::Critical));
    }

    #[test]
    fn few_are_a_note() {
        let found = look(vec![failure(-5, ("10.0.0.1@tcp", "a.1", "fs-OST0000"), 3)], 1000);
        assert_eq!(found.iter().map(|finding| finding.severity).collect::<Vec<_>>(), [Severity::Info]);
        assert_eq!(look(Vec::new(), 1000), []);
    }
}
