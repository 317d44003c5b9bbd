//! `failed-requests`: requests ended with an error that is not everyday life.

use std::collections::BTreeMap;

use lioprof_model::units::{few, percent, plural, thousands};
use lioprof_model::{Analysis, Confidence, Failure, Finding, Interval, NodeRole, Severity, Target, TargetKindName};
use lioprof_stats::Share;
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
            "own_share",
            0.5,
            "share of the requests of their kind at one target, or of one client, from which it is a warning, however few they are of all",
        ),
        limit(
            "lasting_s",
            30.0,
            "seconds for which a client keeps being told to come again (reconnects, recovery), from which that is no everyday life any more",
        ),
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
    for failure in analysis.failures.iter().filter(|failure| !is_everyday(case, failure)) {
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

/// Of whom most of a kind failed.
struct Worst<'a> {
    name: &'a str,
    rpcs: u64,
    all: u64,
}

/// The target or client of whose requests of the kind most failed, by the share that is certain.
fn worst<'a>(
    analysis: &Analysis,
    failures: &[&Failure],
    [targets, clients]: [&[(u64, &'a str)]; 2],
) -> Option<Worst<'a>> {
    let kind = &failures.first()?.name;
    let of_target = |name: &str| {
        let target = analysis.targets.iter().find(|target| target.name == name)?;
        Some(match kind.as_str() {
            "OST_READ" => target.read.io.rpcs,
            "OST_WRITE" => target.write.io.rpcs,
            _ => *target.opcodes.get(kind)?,
        })
    };
    let of_client = |nid: &str| analysis.clients.iter().find(|client| client.nid == nid)?.opcodes.get(kind).copied();
    let targets =
        targets.iter().filter_map(|(rpcs, name)| Some(Worst { name, rpcs: *rpcs, all: of_target(name)?.max(*rpcs) }));
    let clients =
        clients.iter().filter_map(|(rpcs, name)| Some(Worst { name, rpcs: *rpcs, all: of_client(name)?.max(*rpcs) }));
    let certain = |it: &Worst<'_>| Share::of(real(it.rpcs), real(it.all)).low;
    targets.chain(clients).max_by(|a, b| certain(a).total_cmp(&certain(b)))
}

/// Requests in vain from which a client keeps being refused.
const MANY: u64 = 5;

/// Whether it is an error of a program's, or of a client that comes again a little later, and not of the system.
fn is_everyday(case: &Case<'_>, failure: &Failure) -> bool {
    let analysis = case.analysis;
    let (opcode, error) = (Opcode(failure.opcode), Errno(failure.rc.unsigned_abs()));
    let is_connect = matches!(opcode, Opcode::OST_CONNECT | Opcode::MDS_CONNECT | Opcode::MGS_CONNECT);
    let is_later = match error {
        Errno::EAGAIN | Errno::EBUSY | Errno::EALREADY => is_connect,
        Errno::ENOTCONN | Errno::EINPROGRESS => true,
        _ => false,
    };
    if is_later && failure.rpcs >= MANY && failure.last - failure.first >= case.limit("lasting_s") {
        return false;
    }
    // A server without MDT has no names: what it does not find is an object.
    let has_names = |node: &str| analysis.nodes.iter().any(|it| it.name == node && it.role != Some(NodeRole::Oss));
    let is_object = failure.opcode == Opcode::LDLM_ENQUEUE.0 && failure.rc == -Errno::ENOENT.0.cast_signed();
    failure.everyday.is_some() && (!is_object || has_names(&failure.node))
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
    // One of one proves little; what a disk could not read or write is lost, however little it is.
    let few = Share::of(real(rpcs), real(all));
    let worst = worst(case.analysis, failures, [&targets, &clients]);
    let is_own = worst
        .as_ref()
        .is_some_and(|worst| Share::of(real(worst.rpcs), real(worst.all)).proves(case.limit("own_share")));
    let severity = match part {
        part if part >= case.limit("critical_share") && few.low > case.limit("critical_share") => Severity::Critical,
        part if part >= case.limit("share") && few.low > case.limit("share") => Severity::Warning,
        _ if is_own || matches!(error, Errno::EIO | Errno::EROFS) => Severity::Warning,
        _ => Severity::Info,
    };
    let of_whom = worst
        .filter(|worst| share(real(worst.rpcs), real(worst.all)) > part)
        .map(|worst| {
            let (name, rpcs, all) = (worst.name, thousands(worst.rpcs), thousands(worst.all));
            format!(" Of {name} {rpcs} of {all} failed.")
        })
        .unwrap_or_default();
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
    let unnamed = unnamed(case, failures);
    let by_target = match (targets.is_empty(), unnamed) {
        (_, None) => most(&targets, "target"),
        (true, Some(unnamed)) => unnamed,
        (false, Some(unnamed)) => format!("{}; {unnamed}", most(&targets, "target")),
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
            "That is {} of its kind.{of_whom} By client: {}; by job: {}; by target: {}. {means}",
            percent(part, 1),
            most(&clients, "client"),
            most(&jobs, "job"),
            by_target,
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

/// How many of them name no target, and on which OSTs they can have been: a write that fails before it takes its lock names none.
fn unnamed(case: &Case<'_>, failures: &[&Failure]) -> Option<String> {
    let unnamed = || failures.iter().filter(|failure| failure.target.is_none());
    let rpcs: u64 = unnamed().map(|failure| failure.rpcs).sum();
    let served =
        |target: &&Target| target.kind == TargetKindName::Ost && unnamed().any(|failure| failure.node == target.node);
    let osts: Vec<&str> = case.analysis.targets.iter().filter(served).map(|target| target.name.as_str()).collect();
    let of_osts = unnamed().all(|failure| failure.name.starts_with("OST_"));
    (rpcs > 0).then(|| match osts.as_slice() {
        osts if osts.is_empty() || !of_osts => format!("{} name none", thousands(rpcs)),
        [only] => format!("{} name none; {only} is the only OST of their server", thousands(rpcs)),
        some => format!("{} name none; the OSTs of their servers are {}", thousands(rpcs), few(some)),
    })
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
        Errno::ENOTCONN | Errno::EAGAIN | Errno::EBUSY | Errno::EALREADY | Errno::EINPROGRESS => (
            "The server does not take these clients back, or is still in recovery: their programs wait.",
            &[
                "See what the target waits for: `lctl get_param *.*.recovery_status`, and the server's kernel log. A client that never gets \
                 back has to be evicted (`lctl set_param obdfilter.TARGET.evict_client=nid:NID`) or restarted.",
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
    fn a_client_that_is_never_taken_back_fails() {
        let of = |last, rpcs| {
            look(vec![Failure { last, ..failure(-107, ("10.0.0.1@tcp", "a.1", "fs-OST0000"), rpcs) }], 1000)
        };
        assert_eq!(of(61.0, 20).len(), 1);
        assert_eq!((of(20.0, 20).len(), of(61.0, 2).len()), (0, 0));
    }

    #[test]
    fn all_of_one_target_are_no_note_however_few() {
        let mut target = Target { name: "fs-OST0003".to_owned(), ..made_up_target() };
        target.write.io.rpcs = 16;
        let of = |rc, rpcs| {
            let failures = vec![failure(rc, ("10.0.0.1@tcp", "a.1", "fs-OST0003"), rpcs)];
            let mut analysis = Analysis { failures, targets: vec![target.clone()], ..Analysis::default() };
            analysis.totals.rpcs = 3200;
            analysis.operations = vec![Operation { opcode: Opcode::OST_WRITE.0, rpcs: 3200, ..Operation::default() }];
            let case =
                Case { analysis: &analysis, rule: &RULE, limits: &Limits::default(), shared: &Shared::default() };
            super::look(&case).expect("there are requests").remove(0)
        };
        let full = of(-28, 16);
        assert_eq!(full.severity, Severity::Warning);
        assert!(full.explanation.contains("Of fs-OST0003 16 of 16 failed."), "{}", full.explanation);
        assert_eq!((of(-28, 1).severity, of(-5, 1).severity), (Severity::Info, Severity::Warning));
    }

    fn made_up_target() -> Target {
        Target {
            name: String::new(),
            node: "oss1".to_owned(),
            kind: TargetKindName::Ost,
            read: Default::default(),
            write: Default::default(),
            opcodes: BTreeMap::new(),
        }
    }

    #[test]
    fn few_are_a_note() {
        let found = look(vec![failure(-28, ("10.0.0.1@tcp", "a.1", "fs-OST0000"), 3)], 1000);
        assert_eq!(found.iter().map(|finding| finding.severity).collect::<Vec<_>>(), [Severity::Info]);
        assert_eq!(look(Vec::new(), 1000), []);
    }
}
