//! `single-writer`: one client writes for all, so one node's network and memory limit the whole job.

use lioprof_model::units::percent;
use lioprof_model::{Analysis, Client, ClientParts, Confidence, Direction, Severity};

use super::case::{Case, Look, NoAnswer, Rule};
use super::infer::Share;
use super::limits::limit;
use super::load::{moves_data, osts};
use super::stats::{real, share};

pub(super) const RULE: Rule = Rule {
    id: "single-writer",
    meaning: "one client writes nearly everything, on several OSTs, while other clients are there",
    limits: &[
        limit("bytes_share", 0.9, "share of all bytes written by one client, from which it writes for all"),
        limit("clients", 3.0, "clients that the log names, servers aside, from which it is a warning"),
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

fn look(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    let writes = analysis.totals.write.rpcs;
    if writes == 0 {
        return Err(NoAnswer::not_applicable("nothing was written on OSTs"));
    }
    let clients: Vec<&Client> = analysis.clients.iter().filter(|client| !client.server).collect();
    let bytes: f64 = clients.iter().map(|client| real(client.write.bytes)).sum();
    let Some(writer) = clients.iter().max_by_key(|client| client.write.bytes) else { return Ok(Vec::new()) };
    let bytes_share = share(real(writer.write.bytes), bytes);
    // On one OST another writer would not help: that is `hot-ost`.
    if bytes_share < case.limit("bytes_share") || writer.targets < 2 {
        return Ok(Vec::new());
    }
    if !Share::of(real(writes) * bytes_share, real(writes)).proves(case.limit("bytes_share")) {
        return Err(NoAnswer::cannot_tell(format!("{writes} writes are too few to say who writes the others")));
    }
    let busy_osts = osts(analysis);
    // Clients that only wait send nothing: without any other in the log nobody knows whether there are some.
    let others_known = real(clients.len() as u64) >= case.limit("clients");
    // Or its link is what the writes wait for, and that of another client has nothing to do.
    let others_idle = clients.len() > 1 && clients.iter().all(|client| client.nid == writer.nid || !moves_data(client));
    let transfer_share = transfer_share(analysis, &writer.nid);
    let link_bound = others_idle && transfer_share.is_some_and(|part| part >= case.limit("transfer_share"));
    let (severity, confidence) = if others_known || link_bound {
        (Severity::Warning, Confidence::Medium)
    } else {
        (Severity::Info, Confidence::Low)
    };
    let finding = case
        .finding(
            severity,
            confidence,
            format!(
                "Client {} wrote {} of all bytes{}",
                writer.nid,
                percent(bytes_share, 0),
                match (others_known, link_bound) {
                    (_, true) => ", limited by its link, while other clients' links are idle",
                    (true, false) => " while others are there",
                    (false, false) => "",
                },
            ),
        )
        .explain(format!(
            "All that goes to {} OSTs passes through one client's network link and memory. The log names {} other clients; if \
             they, or some that only compute, belong to the same job, they wait for it.",
            busy_osts.len(),
            clients.len() - 1,
        ))
        .evidence("bytes_share", bytes_share)
        .evidence("clients", real(clients.len() as u64))
        .evidence("transfer_share", transfer_share)
        .evidence("write_bytes", real(writer.write.bytes))
        .clients([writer.nid.as_str()])
        .targets(busy_osts.iter().map(|ost| ost.name))
        .remedy(
            "Write from several nodes: collective MPI-IO with one aggregator per OST on different nodes (`romio_cb_write=enable`, \
             `cb_nodes`, `cb_config_list=*:1`), or a file per node.",
        )
        .remedy("If it has to be one client: more in flight (`lctl set_param osc.*.max_rpcs_in_flight=N osc.*.max_dirty_mb=N`).");
    Ok(vec![finding.done()])
}
