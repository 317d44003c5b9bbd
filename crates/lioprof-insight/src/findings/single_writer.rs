//! `single-writer`: one client writes for all, so one node's network and memory limit the whole job.
//!
//! Clients that do something else meanwhile do not wait for it.

use lioprof_model::units::percent;
use lioprof_model::{Analysis, Client, ClientParts, Confidence, Direction, Job, Severity, SpentOn};
use lioprof_stats::Share;

use super::load::osts;
use super::rule::{Case, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "single-writer",
    question: Question::Time,
    explains: &[SpentOn::Bulk],
    meaning: "one client writes nearly everything, on several OSTs, while other clients wait",
    limits: &[
        limit("bytes_share", 0.9, "share of all bytes written by one client, from which it writes for all"),
        limit("others_waiting", 2.0, "other clients of its job that wait, from which it is a warning"),
        limit(
            "others_share",
            0.1,
            "time in reads, writes and metadata requests of another client over that of the writer, or its bytes over those written, from which it does not wait",
        ),
        limit(
            "transfer_share",
            0.5,
            "or: share of the transfer of data in the service time of its writes, while no other client moves any",
        ),
    ],
    plots: &["client-ost-matrix", "requests-per-client"],
    note: false,
    look,
};

/// How much of the service time of a client's writes is the transfer of their data, if the log shows it.
fn transfer_share(analysis: &Analysis, nid: &str) -> Option<f64> {
    let is_it = |it: &&ClientParts| it.nid == nid && it.parts.direction == Direction::Write;
    let parts = &analysis.service_parts.clients.iter().find(is_it)?.parts;
    Some(share(parts.transfer.us.mean?, parts.mean_service_us()))
}

/// Whether another client has something to do of its own: bytes to move, or work for an MDS. That it asks for the size of a file that is being
/// written, or for locks on it, is part of waiting.
fn does_something(case: &Case<'_>, writer: &Client, other: &Client) -> bool {
    let own_us = |nid: &str| {
        let account = case.analysis.time_account.client(nid);
        account.map_or(0, |account| account.us_on(SpentOn::Bulk) + account.us_on(SpentOn::Metadata))
    };
    let least = case.limit("others_share");
    share(real(other.read.bytes + other.write.bytes), real(writer.write.bytes)) >= least
        || share(real(own_us(&other.nid)), real(own_us(&writer.nid))) >= least
}

/// Clients besides one that the job with most bytes written has.
fn others_of_job(analysis: &Analysis) -> u64 {
    let named = |job: &&Job| job.job.as_deref().is_some_and(|name| !name.is_empty());
    let job = analysis.jobs.iter().filter(named).max_by_key(|job| job.write.bytes);
    job.map_or(0, |job| job.clients.saturating_sub(1))
}

fn look(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    let writes = analysis.totals.write.rpcs;
    Nothing::not_applicable_if(writes == 0, "nothing was written on OSTs")?;
    case.all_clients()?;
    let clients: Vec<&Client> = analysis.clients.iter().filter(|client| !client.server).collect();
    let bytes: f64 = clients.iter().map(|client| real(client.write.bytes)).sum();
    let writer = clients.iter().max_by_key(|client| client.write.bytes).ok_or(Nothing::Healthy)?;
    let bytes_share = share(real(writer.write.bytes), bytes);
    // On one OST another writer would not help: that is `hot-ost`.
    Nothing::healthy_if(bytes_share < case.limit("bytes_share") || writer.targets < 2)?;
    let busy_osts = osts(analysis);
    let others: Vec<&&Client> = clients.iter().filter(|client| client.nid != writer.nid).collect();
    let busy = others.iter().filter(|client| does_something(case, writer, client)).count();
    // They do work of their own, or there are none.
    Nothing::healthy_if(2 * busy > others.len() || others.is_empty())?;
    // Nobody will see such a share where as many writes chose their client by chance.
    let even = 1.0 / clients.len().max(2) as f64;
    let share_of_writes = Share::among(real(writes) * bytes_share, real(writes), clients.len());
    Nothing::cannot_tell_if(
        !share_of_writes.proves(f64::midpoint(even, case.limit("bytes_share"))),
        format!("{writes} writes are too few to say who writes the others"),
    )?;
    // Clients that only wait send nothing, or hardly anything: what they sent says whose they are.
    let of_its_job = real(others_of_job(analysis));
    let others_wait = of_its_job.min(real((others.len() - busy) as u64)) >= case.limit("others_waiting");
    // Or its link is what the writes wait for, and that of another client has nothing to do.
    let transfer_share = transfer_share(analysis, &writer.nid);
    let link_bound =
        busy == 0 && !others.is_empty() && transfer_share.is_some_and(|part| part >= case.limit("transfer_share"));
    let (severity, confidence) = if others_wait || link_bound {
        (Severity::Warning, Confidence::Medium)
    } else {
        (Severity::Info, Confidence::Low)
    };
    case
        .finding(
            severity,
            confidence,
            format!(
                "Client {} wrote {} of all bytes{}",
                writer.nid,
                percent(bytes_share, 0),
                match (others_wait, link_bound) {
                    (_, true) => ", limited by its link, while other clients' links are idle",
                    (true, false) => " while others of its job wait",
                    (false, false) => "",
                },
            ),
        )
        .explain(format!(
            "All that goes to {} OSTs passes through one client's network link and memory. The log names {} other clients, of which \
             {} read, write or ask for hardly anything meanwhile; those that belong to the same job wait for it.",
            busy_osts.len(),
            others.len(),
            others.len() - busy,
        ))
        .evidence("bytes_share", bytes_share)
        .evidence("clients", real(clients.len() as u64))
        .evidence("others_idle", real((others.len() - busy) as u64))
        .evidence("others_of_job", of_its_job)
        .evidence("transfer_share", transfer_share)
        .evidence("write_bytes", real(writer.write.bytes))
        .clients([writer.nid.as_str()])
        .targets(busy_osts.iter().map(|ost| ost.name))
        .remedy(
            "Write from several nodes: collective MPI-IO with one aggregator per OST on different nodes (`romio_cb_write=enable`, \
             `cb_nodes`, `cb_config_list=*:1`), or a file per node.",
        )
        .remedy("If it has to be one client: more in flight (`lctl set_param osc.*.max_rpcs_in_flight=N osc.*.max_dirty_mb=N`).")
        .alone()
}
