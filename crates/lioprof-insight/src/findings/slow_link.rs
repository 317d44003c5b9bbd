//! `slow-client-link`: data to or from one client take far longer than others' on the same OSTs, for requests of the same size.
//!
//! A client with many requests in flight waits longer for each, so it has to move fewer bytes per second as well.

use lioprof_model::{ClientParts, Confidence, Finding, Severity};

use super::case::{Case, Look, NoAnswer, Rule};
use super::draft::Cost;
use super::limits::limit;
use super::load::moves_data;
use super::longer::longest_of_clients;
use super::slow_part::{CHANCE, LONGER_SHARE, PART_RATIO, PART_SHARE, SlowPart, Which, requests, slow_part};
use super::stats::{median, real, share};

pub(super) const RULE: Rule = Rule {
    id: "slow-client-link",
    meaning: "data of one client take far longer than other clients' on the same OSTs: its network link, or itself",
    limits: &[
        PART_RATIO,
        LONGER_SHARE,
        PART_SHARE,
        CHANCE,
        limit("rate_ratio", 1.5, "how many times the bytes per second of a client the median of the others must be"),
    ],
    plots: &["service-parts", "io-timeline", "requests-per-client"],
    note: false,
    look,
};

fn look(case: &Case<'_>) -> Look {
    let clients = &case.analysis.service_parts.clients;
    let compared = clients.iter().filter(|client| client.parts.transfer.against_peers.is_some()).count();
    if compared == 0 {
        let writers = case.analysis.clients.iter().filter(|client| !client.server && moves_data(client)).count();
        if longest_of_clients(case.analysis).is_some_and(|ratio| ratio < case.limit(PART_RATIO.name)) {
            return Ok(Vec::new()); // Whatever takes long takes as long for the others.
        }
        return Err(if writers < 2 {
            NoAnswer::not_applicable("fewer than two clients moved data")
        } else if clients.is_empty() {
            NoAnswer::cannot_tell(
                "a client's requests take longer than others', and the log does not show when data moved (mask net, profile full)",
            )
        } else {
            NoAnswer::not_applicable("no two clients sent requests of the same size to the same OST")
        });
    }
    let slow = |client: &ClientParts| -> Option<Finding> {
        let slow = slow_part(case, &client.parts, compared).filter(|slow| slow.which == Which::Transfer)?;
        let rate = |client: &ClientParts| share(real(client.parts.bytes), client.parts.span_s());
        let is_peer = |peer: &&ClientParts| peer.nid != client.nid && peer.parts.direction == client.parts.direction;
        let peers = || clients.iter().filter(is_peer);
        let rate_ratio = share(median(peers().map(rate))?, rate(client));
        // One peer says that the two differ, not which of them is odd.
        let confidence = if peers().count() >= 2 { Confidence::High } else { Confidence::Medium };
        (rate_ratio >= case.limit("rate_ratio")).then(|| found(case, client, &slow, (rate_ratio, confidence)))
    };
    let mut found: Vec<Finding> = clients.iter().filter_map(slow).collect();
    found.sort_by(|a, b| b.cost_s.unwrap_or(0.0).total_cmp(&a.cost_s.unwrap_or(0.0)));
    Ok(found)
}

fn found(
    case: &Case<'_>,
    client: &ClientParts,
    slow: &SlowPart<'_>,
    (rate_ratio, confidence): (f64, Confidence),
) -> Finding {
    let nid = &client.nid;
    let title =
        format!("The link of client {nid} is slow: its data take {:.1} times as long as other clients'", slow.ratio);
    slow.evidence(case.finding(Severity::Warning, confidence, title))
        .explain(format!(
            "These are the parts of the service time of its {} on {} OSTs (in brackets: other clients' on the same OSTs, of the same sizes): \
             {}. It moved {rate_ratio:.1} times fewer bytes per second than the median of the others. The servers and their disks serve \
             others well at the same time, so it is this client's link, or a client too busy to take part.",
            requests(slow.parts.direction),
            client.targets,
            slow.in_words(),
        ))
        .evidence("rate_ratio", rate_ratio)
        .clients([nid.as_str()])
        .cost(slow.longer_s, Cost::ClientSeconds)
        .remedy(format!(
            "On the client {nid}: speed and errors of its link (`lnetctl net show -v`, `ethtool`, `ibqueryerrors`), CPU and memory; its \
             switch port and routers."
        ))
        .remedy("Measure it with lnet-selftest against a server, beside another client.")
        .remedy("If the job waits for its slowest process, take the node out of the job, or out of service.")
        .done()
}
