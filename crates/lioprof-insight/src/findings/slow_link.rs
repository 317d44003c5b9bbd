//! `slow-client-link`: data to or from one client, or all clients of a network or a subnet, take far longer than others' on the same OSTs,
//! for requests of the same size.
//!
//! A client with many requests in flight waits longer for each, so it has to move fewer bytes per second as well.

use std::collections::BTreeSet;

use lioprof_model::{ClientParts, Confidence, Finding, NetworkParts, Severity, SpentOn};

use super::load::moves_data;
use super::peers;
use super::rule::{Case, Cost, Look, Nothing, Question, Rule, limit, median, real, share};
use super::slow_part::{CHANCE, PART_RATIO, PART_SHARE, SlowPart, Which};

pub(super) const RULE: Rule = Rule {
    id: "slow-client-link",
    question: Question::Time,
    explains: &[SpentOn::Bulk, SpentOn::Queue],
    meaning: "data of one client, or of all of a network or subnet, take far longer than others' on the same OSTs: its link, or itself",
    limits: &[
        PART_RATIO,
        PART_SHARE,
        CHANCE,
        limit("rate_ratio", 1.2, "how many times the bytes per second of a client the median of the others must be"),
        limit("clients", 2.0, "clients of a network or subnet, and of the others, at least"),
        limit(
            "clients_share",
            0.8,
            "share of the clients of a network or subnet that are slower than the middle one of the others by `part_ratio`, at least",
        ),
    ],
    plots: &["service-parts", "io-timeline", "requests-per-client"],
    note: false,
    look,
};

fn look(case: &Case<'_>) -> Look {
    case.all_clients()?;
    let clients = &case.analysis.service_parts.clients;
    let compared = clients.iter().filter(|client| client.parts.transfer.against_peers.is_some()).count();
    if compared == 0 {
        return without_parts(case);
    }
    let rate = |client: &ClientParts| share(real(client.parts.bytes), client.parts.span_s());
    let (mut all, mut perhaps) = networks(case);
    let is_told =
        |client: &ClientParts, told: &[Finding]| told.iter().any(|finding| finding.clients.contains(&client.nid));
    for client in clients {
        if is_told(client, &all) {
            continue;
        }
        let transfer = SlowPart::of(case, &client.parts).into_iter().find(|(slow, _)| slow.which == Which::Transfer);
        let Some((slow, certain)) = transfer else { continue };
        let is_peer = |peer: &&ClientParts| peer.nid != client.nid && peer.parts.direction == client.parts.direction;
        let peers: Vec<f64> = clients.iter().filter(is_peer).map(rate).collect();
        // One peer says that the two differ, not which of them is odd.
        let confidence = if peers.len() >= 2 { Confidence::High } else { Confidence::Medium };
        let rate_ratio = median(peers).map_or(0.0, |peers| share(peers, rate(client)));
        if rate_ratio < case.limit("rate_ratio") {
            continue;
        }
        if certain {
            all.push(found(case, client, &slow, (rate_ratio, confidence)));
        } else {
            perhaps = perhaps.or_else(|| {
                Some(format!(
                    "data of client {} take {:.1} times as long as other clients', but with {} {} that may be chance",
                    client.nid,
                    slow.ratio,
                    slow.against.rpcs,
                    slow.parts.direction.requests()
                ))
            });
        }
    }
    match perhaps {
        Some(why) if all.is_empty() => Err(Nothing::cannot_tell(why)),
        // Of most requests nobody knows when their data moved: as of all.
        None if all.is_empty() && !parts_are_known(case) => without_parts(case),
        _ => {
            all.sort_by(|a, b| b.cost_s.unwrap_or(0.0).total_cmp(&a.cost_s.unwrap_or(0.0)));
            Ok(all)
        }
    }
}

/// Whether the parts of most reads and writes are known.
fn parts_are_known(case: &Case<'_>) -> bool {
    let known: u64 = case.analysis.service_parts.clients.iter().map(|client| client.parts.rpcs).sum();
    let all: u64 = case.analysis.clients.iter().map(|client| client.read.rpcs + client.write.rpcs).sum();
    2 * known >= all
}

/// Networks, and subnets of others, whose clients are slow as a whole, however many there are; why one may be.
fn networks(case: &Case<'_>) -> (Vec<Finding>, Option<String>) {
    let (mut found, mut perhaps) = (Vec::new(), None);
    let mut slow_ones: BTreeSet<&str> = BTreeSet::new();
    for it in &case.analysis.service_parts.networks {
        // Networks come first.
        if it.whole().is_some_and(|network| slow_ones.contains(network)) {
            continue;
        }
        let transfer = SlowPart::of(case, &it.parts).into_iter().find(|(slow, _)| slow.which == Which::Transfer);
        let Some((slow, certain)) = transfer else { continue };
        let Some((own, rate_ratio)) = clients_of(case, it) else { continue };
        if certain {
            slow_ones.insert(&it.network);
            found.push(of_network(case, (it, &own), &slow, rate_ratio));
        } else {
            perhaps = perhaps.or_else(|| {
                Some(format!(
                    "data of clients of {} {} take {:.1} times as long as those of others, but with {} {} that may be chance",
                    kind(it),
                    it.network,
                    slow.ratio,
                    slow.against.rpcs,
                    slow.parts.direction.requests()
                ))
            });
        }
    }
    (found, perhaps)
}

fn kind(it: &NetworkParts) -> &'static str {
    if it.whole().is_some() { "subnet" } else { "network" }
}

/// The clients of a network, if they are slow one by one, and how many times the bytes per second of theirs the others move.
fn clients_of<'a>(case: &Case<'a>, it: &NetworkParts) -> Option<(Vec<&'a ClientParts>, f64)> {
    let of_direction = |client: &&ClientParts| client.parts.direction == it.parts.direction;
    let is_own = |client: &&ClientParts| it.holds(&client.nid);
    let clients = case.analysis.service_parts.clients.iter().filter(of_direction);
    let (own, others): (Vec<&ClientParts>, Vec<&ClientParts>) = clients.partition(is_own);
    if real(own.len().min(others.len()) as u64) < case.limit("clients") {
        return None;
    }
    let mean = |client: &&ClientParts| client.parts.transfer.us.mean.unwrap_or(0.0);
    let rate = |client: &&ClientParts| share(real(client.parts.bytes), client.parts.span_s());
    let usual_us = median(others.iter().map(mean))?;
    let rate_ratio = share(median(others.iter().map(rate))?, median(own.iter().map(rate))?);
    // One client that is slow for itself makes no slow network.
    let slower = own.iter().filter(|client| mean(client) >= case.limit(PART_RATIO.name) * usual_us).count();
    let all_slow = share(real(slower as u64), real(own.len() as u64)) >= case.limit("clients_share");
    (all_slow && rate_ratio >= case.limit("rate_ratio")).then_some((own, rate_ratio))
}

fn of_network(
    case: &Case<'_>,
    (it, clients): (&NetworkParts, &[&ClientParts]),
    slow: &SlowPart<'_>,
    rate_ratio: f64,
) -> Finding {
    let (kind, network) = (kind(it), &it.network);
    let title = format!(
        "The {kind} {network} is slow: data of its {} clients take {:.1} times as long as those of clients of other {kind}s",
        clients.len(),
        slow.ratio
    );
    slow.evidence(case.finding(Severity::Warning, Confidence::High, title))
        .explain(format!(
            "These are the parts of the service time of their {} (in brackets: clients of other {kind}s, same OSTs and sizes): \
             {}. They moved {rate_ratio:.1} times fewer bytes per second each. What they have in common is their {kind}: its router, its \
             link or its kind.",
            slow.parts.direction.requests(),
            slow.in_words(),
        ))
        .evidence("rate_ratio", rate_ratio)
        .evidence("clients", real(clients.len() as u64))
        .clients(clients.iter().map(|client| client.nid.as_str()))
        .cost(slow.longer_s, Cost::RequestSeconds)
        .remedy(format!(
            "Look at what clients of {network} share: LNet routers (`lnetctl route show -v`, `lnetctl peer show -v`), switches and links \
             between them and the servers."
        ))
        .remedy(format!("Measure it with lnet-selftest from one client of each {kind} against the same server."))
        .done()
}

/// Without knowing when data moved: that a client's requests take longer is seen, not why.
fn without_parts(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    let movers = analysis.clients.iter().filter(|client| !client.server && moves_data(client)).count();
    Nothing::not_applicable_if(movers < 2, "fewer than two clients moved data")?;
    let compared = peers::clients(analysis);
    Nothing::not_applicable_if(compared.is_empty(), "no two clients sent requests of the same size to the same OST")?;
    let slow = compared
        .iter()
        .find(|(_, against)| against.ratio >= case.limit(PART_RATIO.name) && against.chance <= case.limit(CHANCE.name));
    let (&client, against) = slow.ok_or(Nothing::Healthy)?;
    let nid = analysis.clients.get(client as usize).map_or("", |client| client.nid.as_str());
    Err(Nothing::cannot_tell(format!(
        "requests of client {nid} take {:.1} times as long as others', and the log does not show when data moved (mask net, profile full)",
        against.ratio
    )))
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
            slow.parts.direction.requests(),
            client.targets,
            slow.in_words(),
        ))
        .evidence("rate_ratio", rate_ratio)
        .clients([nid.as_str()])
        .cost(slow.longer_s, Cost::RequestSeconds)
        .remedy(format!(
            "On the client {nid}: speed and errors of its link (`lnetctl net show -v`, `ethtool`, `ibqueryerrors`), CPU and memory; its \
             switch port and routers."
        ))
        .remedy("Measure it with lnet-selftest against a server, beside another client.")
        .remedy("If the job waits for its slowest process, take the node out of the job, or out of service.")
        .done()
}
