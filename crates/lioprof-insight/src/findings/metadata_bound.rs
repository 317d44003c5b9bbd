//! `metadata-bound`: clients spend their time on the MDT, not with data.

use lioprof_model::units::{percent, thousands};
use lioprof_model::{Analysis, Client, Confidence, Job, Operation, Severity, SpentOn};
use lioprof_stats::Rate;

use super::load::busiest;
use super::rule::{Case, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "metadata-bound",
    question: Question::Time,
    explains: &[SpentOn::Metadata],
    meaning: "requests spend far more time on the MDT than reads and writes on the OSTs",
    limits: &[
        limit(
            "time_ratio",
            4.0,
            "request-seconds on the MDT over those of reads and writes, from which metadata dominate",
        ),
        limit(
            "time_share",
            0.5,
            "share of the time of all clients in which an MDT handles a request and nothing else, from which it is a warning",
        ),
        limit("note_time_share", 0.25, "the same from which it is worth a note"),
        limit(
            "stall_s",
            5.0,
            "seconds in the handler of the slowest request on an MDT from which nothing is called healthy",
        ),
        limit("stall_times_median", 1000.0, "the same over the median of its kind, at least"),
    ],
    plots: &["latency"],
    note: false,
    look,
};

/// Share of the clients' time that is worth a question.
const MATTERS: f64 = 0.5;
/// Share of the requests to MDTs from which one client is said to send them.
pub(super) const HOG: f64 = 0.5;

/// Request-seconds, from arrival to end.
fn seconds(operation: &Operation) -> f64 {
    let total = operation.latency.total_us;
    real(total.count) * total.mean.unwrap_or(0.0) / 1e6
}

/// Whether it is a service of an MDS.
pub(super) fn is_metadata(operation: &Operation) -> bool {
    is_of_mds(&operation.service)
}

/// The same of a service by its name.
pub(super) fn is_of_mds(service: &str) -> bool {
    service.starts_with("mdt")
}

/// No metadata requests are no answer if clients' time may have gone to an MDS whose log is not there.
fn none_seen(case: &Case<'_>) -> Look {
    let all = case.analysis.time_account.all.as_ref();
    let elsewhere = all.ok_or_else(|| Nothing::not_applicable("no client sent anything"))?.share_on(SpentOn::Nothing);
    Nothing::healthy_if(elsewhere < MATTERS)?;
    Err(Nothing::cannot_tell(format!(
        "{} of the clients' time is spent elsewhere than at these servers, and no MDT was asked: if the log of the MDS is missing, add it",
        percent(elsewhere, 0)
    )))
}

fn look(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    let metadata: Vec<&Operation> = analysis.operations.iter().filter(|operation| is_metadata(operation)).collect();
    let rpcs: u64 = metadata.iter().map(|operation| operation.rpcs).sum();
    if rpcs == 0 {
        return none_seen(case);
    }
    let metadata_s: f64 = metadata.iter().map(|operation| seconds(operation)).sum();
    let data =
        analysis.operations.iter().filter(|operation| matches!(operation.name.as_str(), "OST_READ" | "OST_WRITE"));
    let data_s: f64 = data.filter(|operation| !is_metadata(operation)).map(seconds).sum();
    let window_s = analysis.window.duration_s;
    let in_flight = share(metadata_s, window_s);
    let time_share = analysis.time_account.all.as_ref().map_or(0.0, |all| all.share_on(SpentOn::Metadata));
    if metadata_s < case.limit("time_ratio") * data_s || time_share < case.limit("note_time_share") {
        return Err(stall(case, &metadata).map_or(Nothing::Healthy, Nothing::cannot_tell));
    }
    // What so many requests take: a few long ones may be all there is.
    let sure = Rate::factor(real(rpcs)).times(time_share);
    Nothing::cannot_tell_if(
        time_share >= case.limit("time_share") && !sure.proves(case.limit("note_time_share")),
        format!(
            "{} of the clients' time is spent on {rpcs} requests on MDTs, which are too few to say that it stays so",
            percent(time_share, 0)
        ),
    )?;
    let warning = time_share >= case.limit("time_share");
    let severity = if warning { Severity::Warning } else { Severity::Info };
    let confidence = if osts_are_there(analysis) { Confidence::High } else { Confidence::Medium };
    let mut worst = metadata.clone();
    worst.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)));
    let first = worst.first().map_or("", |operation| operation.name.as_str());
    let compared = if data_s > 0.0 {
        format!("{:.1} times as long as reads and writes on OSTs", metadata_s / data_s)
    } else {
        "reads and writes on OSTs none".to_owned()
    };
    let hog = most(analysis, HOG);
    let whose = hog.as_ref().map(|hog| format!(", {}", hog.in_words())).unwrap_or_default();
    let title = format!(
        "{} of the clients' time is metadata: {} requests to the MDT{whose}",
        percent(time_share, 0),
        thousands(rpcs)
    );
    let finding = case
        .finding(severity, confidence, title)
        .explain(format!(
            "Requests spent {metadata_s:.2} s on the MDT in {window_s:.2} s of capture, {in_flight:.1} at a time, {compared}. Most of it \
             was {first} ({}).",
            percent(share(worst.first().map_or(0.0, |operation| seconds(operation)), metadata_s), 0),
        ))
        .evidence("metadata_rpcs", real(rpcs))
        .evidence("metadata_request_s", metadata_s)
        .evidence("data_request_s", data_s)
        .evidence("metadata_in_flight", in_flight)
        .evidence("metadata_time_share", time_share)
        .targets(analysis.targets.iter().filter(|t| t.kind == lioprof_model::TargetKindName::Mdt).map(|t| t.name.as_str()))
        .clients(busiest(analysis, |client| metadata_rpcs(analysis, client)).into_iter().map(|(_, nid)| nid))
        .jobs(hog.and_then(|hog| hog.job))
        .remedy(
            "Fewer files and calls: open once and keep it open, no `stat` or `ls -l` in loops, one file for many small ones \
             (HDF5, tar, a database), file names in several directories.",
        )
        .remedy(
            "More MDTs: `lfs mkdir -i INDEX` or `lfs mkdir -c -1` for directories of one job; small files on the MDT itself \
             (Data-on-MDT: `lfs setstripe -E 64K -L mdt -E -1 -c 1 DIRECTORY`) save the trip to an OST.",
        )
        .remedy("On clients `lctl set_param mdc.*.max_rpcs_in_flight=N mdc.*.max_mod_rpcs_in_flight=N`, if the MDT has room.");
    let finding = if first == "MDS_SYNC" {
        finding.remedy(
            "Most of the time clients wait until what they did is on the MDT's disk (fsync): look at that device (`iostat -x`, RAID \
             events, journal), and call fsync less often.",
        )
    } else {
        finding
    };
    finding.alone()
}

/// Requests on an MDT that took very long now and then, though most are quick: whoever sees a command hang for so long asks why.
fn stall(case: &Case<'_>, metadata: &[&Operation]) -> Option<String> {
    // Those wait for other clients, or for the disk.
    let own = metadata.iter().filter(|operation| !matches!(operation.name.as_str(), "LDLM_ENQUEUE" | "MDS_SYNC"));
    let slowest = own.filter_map(|operation| {
        let times = operation.latency.service_us;
        Some((real(times.max?) / 1e6, real(times.p50?) / 1e6, operation))
    });
    let (max_s, median_s, operation) = slowest.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let is_stall = max_s >= case.limit("stall_s") && max_s >= case.limit("stall_times_median") * median_s;
    is_stall.then(|| {
        format!(
            "the slowest {} was in the handler for {max_s:.1} s, half of them for {:.2} ms at most: something held the MDT up, and the \
             latency over time shows when",
            operation.name,
            median_s * 1e3
        )
    })
}

/// Whether the log would show reads and writes.
fn osts_are_there(analysis: &Analysis) -> bool {
    analysis.operations.iter().any(|operation| operation.service.starts_with("ll_ost"))
}

/// Requests of a client to MDTs, at least: of requests for locks those that OSTs did not handle even if all of theirs were of this client.
fn metadata_rpcs(analysis: &Analysis, client: &Client) -> u64 {
    let of_mdts = |(name, rpcs): (&String, &u64)| match name.split_once('_') {
        Some(("MDS", _)) => *rpcs,
        Some(("LDLM", _)) => rpcs.saturating_sub(rpcs_of(analysis, |it| !is_metadata(it) && it.name == *name)),
        _ => 0,
    };
    client.opcodes.iter().map(of_mdts).sum()
}

/// Requests of some operations.
pub(super) fn rpcs_of(analysis: &Analysis, is_it: impl Fn(&Operation) -> bool) -> u64 {
    analysis.operations.iter().filter(|operation| is_it(operation)).map(|operation| operation.rpcs).sum()
}

/// Who sent most of the requests to MDTs.
pub(super) struct Most<'a> {
    /// Their share, at least.
    pub(super) share: f64,
    pub(super) nid: &'a str,
    /// The job that sent them, if it sent as many.
    pub(super) job: Option<&'a str>,
}

impl Most<'_> {
    /// `98 % of them from 10.0.0.1@tcp, job find.0`.
    pub(super) fn in_words(&self) -> String {
        let job = self.job.map(|job| format!(", job {job}")).unwrap_or_default();
        format!("{} of them from {}{job}", percent(self.share, 0), self.nid)
    }
}

/// The client that sent most of the requests to MDTs, if it sent such a share of them and others sent any, too.
pub(super) fn most(analysis: &Analysis, least_share: f64) -> Option<Most<'_>> {
    let all = rpcs_of(analysis, is_metadata);
    let clients = busiest(analysis, |client| metadata_rpcs(analysis, client));
    let &(rpcs, nid) = clients.first()?;
    let part = share(real(rpcs), real(all));
    // One of two that send as much is nobody to be named.
    let next = clients.get(1).map_or(0, |next| next.0);
    let others = analysis.clients.iter().any(|client| !client.server && client.nid != nid);
    if part < least_share || rpcs < 2 * next || !others {
        return None;
    }
    // Of jobs no operations are known: what is neither data nor, if all of it was of this job, another request to OSTs.
    let is_data = |name: &str| matches!(name, "OST_READ" | "OST_WRITE");
    let elsewhere = rpcs_of(analysis, |it| !is_metadata(it) && !is_data(&it.name));
    let of_job = |job: &Job| (job.rpcs - job.read.rpcs - job.write.rpcs).saturating_sub(elsewhere);
    let job = analysis.jobs.iter().max_by_key(|job| of_job(job));
    let job = job.filter(|job| real(of_job(job)) >= least_share * real(all)).and_then(|job| job.job.as_deref());
    Some(Most { share: part, nid, job: job.filter(|job| !job.is_empty()) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn operation(name: &str, service: &str, rpcs: u64) -> Operation {
        Operation { name: name.to_owned(), service: service.to_owned(), rpcs, ..Operation::default() }
    }

    /// Clients with so many enqueues each, of which OSTs handled so many.
    fn enqueues(clients: &[u64], of_osts: u64) -> Analysis {
        let client = |(number, &rpcs): (usize, &u64)| Client {
            nid: format!("10.0.0.{number}@tcp"),
            uuids: Vec::new(),
            server: false,
            rpcs,
            read: lioprof_model::Io::default(),
            write: lioprof_model::Io::default(),
            targets: 0,
            opcodes: BTreeMap::from([("LDLM_ENQUEUE".to_owned(), rpcs)]),
            ..Client::default()
        };
        let all: u64 = clients.iter().sum();
        Analysis {
            clients: clients.iter().enumerate().map(client).collect(),
            operations: vec![
                operation("LDLM_ENQUEUE", "mdt", all - of_osts),
                operation("LDLM_ENQUEUE", "ll_ost", of_osts),
            ],
            ..Analysis::default()
        }
    }

    #[test]
    fn who_sends_most_is_named_by_what_no_ost_handled() {
        let who = |clients: &[u64], of_osts| {
            most(&enqueues(clients, of_osts), HOG).map(|most| (most.nid.to_owned(), most.share))
        };
        assert_eq!(who(&[900, 50, 50], 0), Some(("10.0.0.0@tcp".to_owned(), 0.9)));
        // At least 890 of 990.
        assert_eq!(who(&[900, 50, 50], 10).map(|it| (100.0 * it.1).round()), Some(90.0));
        // All of these may have gone to OSTs; two that send as much; nobody else.
        assert_eq!(who(&[900, 50, 50], 900), None);
        assert_eq!(who(&[500, 500], 0), None);
        assert_eq!(who(&[900], 0), None);
    }
}
