//! `single-writer`: one client writes for all, so one node's network and memory limit the whole job.
//!
//! Clients that do something else meanwhile do not wait for it.

use lioprof_model::units::percent;
use lioprof_model::{Analysis, Client, ClientParts, Confidence, Direction, Job, Severity, SpentOn};
use lioprof_stats::Share;

use super::load::osts;
use super::rate_rises::rate_rises;
use super::rule::{Case, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "single-writer",
    question: Question::Time,
    explains: &[SpentOn::Bulk],
    meaning: "one client writes nearly everything, on several OSTs, while other clients wait",
    limits: &[
        limit("bytes_share", 0.9, "share of all bytes written by one client, from which it writes for all"),
        limit(
            "others_waiting",
            1.0,
            "other clients of its job, or that ask for locks or attributes, that wait, at least",
        ),
        limit(
            "others_share",
            0.1,
            "time in reads, writes and metadata requests of another client over that of the writer, or its bytes over those written, from which it does not wait",
        ),
        limit(
            "transfer_share",
            0.9,
            "share of the transfer of data in the service time of its writes, from which its link may be the limit",
        ),
        limit(
            "rate_rises",
            0.5,
            "how much more its writes move together when more are under way (0: as much, they share a link; 1: in proportion), below which its link is the limit",
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

/// Whether a client asks for locks or attributes, as one does that waits until a file has grown.
fn asks(client: &Client) -> bool {
    let asked = ["LDLM_ENQUEUE", "MDS_GETATTR", "MDS_GETATTR_NAME", "OST_GETATTR"];
    asked.iter().any(|opcode| client.opcodes.get(*opcode).is_some_and(|rpcs| *rpcs > 0))
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
    // Clients of its job wait for it, and those that ask for what it writes.
    let asking = others.iter().filter(|client| asks(client) && !does_something(case, writer, client)).count();
    let of_its_job = real(others_of_job(analysis)).min(real((others.len() - busy) as u64));
    let waiting = of_its_job.max(real(asking as u64));
    Nothing::healthy_if(waiting < case.limit("others_waiting"))?;
    // Another link helps if its own is what the writes wait for: they slow each other, on whatever OST.
    let transfer_share = transfer_share(analysis, &writer.nid);
    let rate_rises = rate_rises(analysis, &writer.nid);
    let is_transfer =
        |unless_known: bool| transfer_share.map_or(unless_known, |part| part >= case.limit("transfer_share"));
    let link_bound = match rate_rises {
        Some(rises) => is_transfer(true) && rises < case.limit("rate_rises"),
        // Always about as many, or so many that only some are in the sample: their transfer alone has to tell.
        None => is_transfer(false),
    };
    let (severity, confidence) =
        if link_bound { (Severity::Warning, Confidence::Medium) } else { (Severity::Info, Confidence::Low) };
    case
        .finding(
            severity,
            confidence,
            format!(
                "Client {} wrote {} of all bytes{}",
                writer.nid,
                percent(bytes_share, 0),
                if link_bound { ", limited by its link, while other clients' links are idle" } else { " while others wait" },
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
        .evidence("others_asking", real(asking as u64))
        .evidence("rate_rises", rate_rises)
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
