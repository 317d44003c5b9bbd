//! Sums of parts to the rows of an analysis.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::units::seconds;
use lioprof_model::{
    AgainstPeers, ClientParts, Direction, NetworkParts, ServerParts, ServiceParts, ServiceSplit, SizeParts, SplitPart,
    Symbols, Target, TargetKindName, TargetParts, network, subnet,
};
use lustre_debuglog::TargetKind;

use super::against::{Strata, against_peers, all_together};
use super::sums::{PartKey, PartSum, PartSums};
use crate::cells::Times;

/// A key with names, which are in the same order in every run.
struct Named {
    nid: String,
    node: String,
    target: Option<String>,
    /// It is an OST whose name is known: one that has peers.
    is_ost: bool,
    key: PartKey,
}

/// From this ratio on the disks of all OSTs of a server take far longer than others,
const APART: f64 = 2.0;
/// and from this share of the pairs of requests on in which they did.
const APART_SHARE: f64 = 0.8;

/// Clients in so many subnets, or fewer, are compared by subnet.
const MAX_SUBNETS: usize = 256;

/// Which of the three parts.
const PARTS: [fn(&PartSum) -> &Times; 3] = [|sum| &sum.before, |sum| &sum.transfer, |sum| &sum.after];

/// Of the sums, and of all targets whatever is known of their requests.
pub(crate) fn finish(sums: &PartSums, all: &[Target], symbols: &Symbols) -> ServiceParts {
    let named = |key: &PartKey| Named {
        nid: symbols.text(key.nid),
        node: symbols.text(key.target.node),
        target: key.target.name.map(|name| name.to_string()),
        is_ost: key.target.kind == TargetKind::Ost && key.target.name.is_some(),
        key: *key,
    };
    let rows: Vec<(Named, &PartSum)> = sums.sums.iter().map(|(key, sum)| (named(key), sum)).collect();

    let apart = apart(&rows, all);
    let is_apart = |row: &Named| apart.contains(&(row.node.clone(), row.key.direction));
    let targets = grouped(
        &rows,
        |row| Some((row.target.clone(), row.node.clone())),
        |row| row.is_ost.then(|| (row.nid.clone(), is_apart(row))),
    );
    let servers = grouped(&rows, |row| row.is_ost.then(|| row.node.clone()), |row| Some(row.nid.clone()));
    let of_target = |row: &Named| row.target.as_ref().map(|target| (target.clone(), row.node.clone()));
    let clients = grouped(&rows, |row| Some(row.nid.clone()), of_target);
    let mut networks = grouped(&rows, |row| network(&row.nid).map(str::to_owned), of_target);
    let mut clients_of = distinct(&rows, |row| Some((network(&row.nid)?.to_owned(), row.nid.clone())));
    // Of each client once: it has a row for each target and size.
    let subnets: BTreeMap<&str, String> =
        clients.iter().filter_map(|(nid, _)| Some((nid.as_str(), subnet(nid)?))).collect();
    let subnet_of = |row: &Named| subnets.get(row.nid.as_str()).cloned();
    let in_subnets = distinct(&rows, |row| Some((subnet_of(row)?, row.nid.clone())));
    if (2..=MAX_SUBNETS).contains(&in_subnets.len()) {
        networks.append(&mut grouped(&rows, subnet_of, of_target));
        clients_of.extend(in_subnets);
    }
    let sizes = grouped(&rows, |row| Some(row.key.log2_bytes), |_| None::<()>);

    let osts = distinct(&rows, |row| row.is_ost.then(|| (row.node.clone(), row.target.clone())));
    let targets_of = distinct(&rows, |row| Some((row.nid.clone(), row.target.clone())));
    ServiceParts {
        targets: targets.into_iter().map(|((target, node), parts)| TargetParts { target, node, parts }).collect(),
        servers: servers
            .into_iter()
            .map(|(node, parts)| ServerParts {
                osts: osts.get(&node).copied().unwrap_or(0),
                apart: apart.contains(&(node.clone(), parts.direction)),
                node,
                parts,
            })
            .collect(),
        clients: clients
            .into_iter()
            .map(|(nid, parts)| ClientParts { targets: targets_of.get(&nid).copied().unwrap_or(0), nid, parts })
            .collect(),
        networks: networks
            .into_iter()
            .map(|(network, parts)| NetworkParts {
                clients: clients_of.get(&network).copied().unwrap_or(0),
                network,
                parts,
            })
            .collect(),
        sizes: sizes.into_iter().map(|(log2, parts)| SizeParts { le_bytes: 1 << log2, parts }).collect(),
    }
}

/// Servers each of whose OSTs takes far longer on the disk than those of the others for the same clients' requests of the same sizes: their
/// disks are of another kind. If it is only one OST, one of only two servers: among more it is the odd one.
fn apart(rows: &[(Named, &PartSum)], all: &[Target]) -> BTreeSet<(String, Direction)> {
    Direction::ALL.into_iter().flat_map(|direction| apart_in(rows, all, direction)).collect()
}

/// Times of an OST by client and size.
type Parts<'a> = Vec<((&'a str, u32), &'a Times)>;

fn apart_in(rows: &[(Named, &PartSum)], all: &[Target], direction: Direction) -> Vec<(String, Direction)> {
    // Reads meet the disk before their data are sent, writes after they have come.
    let disk = PARTS[if direction.is_write() { 2 } else { 0 }];
    let of = || rows.iter().filter(|(row, _)| row.is_ost && row.key.direction == direction);
    let mut times: BTreeMap<(&str, Option<&str>), Times> = BTreeMap::new();
    for (row, sum) in of() {
        times.entry((row.node.as_str(), row.target.as_deref())).or_default().merge(disk(sum));
    }
    let mut means: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for ((node, _), times) in &times {
        means.entry(node).or_default().push(times.distribution().mean.unwrap_or(0.0));
    }
    let mut every: Vec<f64> = means.values().flatten().copied().collect();
    every.sort_by(f64::total_cmp);
    let Some(usual_us) = every.get(every.len().saturating_sub(1) / 2) else { return Vec::new() };
    // A look at the means leaves few to be compared request by request.
    let looks_slow = |means: &Vec<f64>| means.iter().all(|us| *us >= APART.sqrt() * usual_us);
    let many = means.len() > 2;
    // Of an OST whose parts are unknown nobody can tell whether it is as slow as the server's others.
    let moved = |target: &Target| if direction.is_write() { target.write.io.rpcs } else { target.read.io.rpcs } > 0;
    let is_own =
        |target: &&Target, node: &str| target.node == node && target.kind == TargetKindName::Ost && moved(target);
    let are_all = |node: &str, means: &[f64]| means.len() >= all.iter().filter(|target| is_own(target, node)).count();
    let candidates: BTreeSet<&str> = means
        .iter()
        .filter(|(node, means)| (!many || means.len() > 1) && are_all(node, means) && looks_slow(means))
        .map(|(node, _)| *node)
        .collect();
    let mut others: BTreeMap<(&str, u32), Times> = BTreeMap::new();
    let mut own: BTreeMap<(&str, Option<&str>), Parts<'_>> = BTreeMap::new();
    for (row, sum) in of().filter(|_| !candidates.is_empty()) {
        let stratum = (row.nid.as_str(), row.key.log2_bytes);
        if candidates.contains(row.node.as_str()) {
            own.entry((row.node.as_str(), row.target.as_deref())).or_default().push((stratum, disk(sum)));
        } else {
            others.entry(stratum).or_default().merge(disk(sum));
        }
    }
    let differs = |own: &Parts<'_>| {
        let mut strata: Strata<(&str, u32), bool> = Strata::new();
        for (stratum, times) in own {
            if let Some(others) = others.get(stratum) {
                let stratum = strata.entry(*stratum).or_default();
                stratum.entry(true).or_default().merge(times);
                stratum.entry(false).or_default().merge(others);
            }
        }
        let against = against_peers(&strata).remove(&true);
        against.is_some_and(|it| it.ratio.is_none_or(|ratio| ratio >= APART) && it.longer_share >= APART_SHARE)
    };
    let is_apart = |node: &&str| own.iter().filter(|((of, _), _)| of == node).all(|(_, parts)| differs(parts));
    candidates.into_iter().filter(is_apart).map(|node| (node.to_owned(), direction)).collect()
}

/// Rows by whom they are of and direction, compared with the others of the same stratum, direction and size; without a stratum, with
/// nobody's.
fn grouped<W: Ord + Clone, S: Ord>(
    rows: &[(Named, &PartSum)],
    whose: impl Fn(&Named) -> Option<W>,
    stratum: impl Fn(&Named) -> Option<S>,
) -> Vec<(W, ServiceSplit)> {
    let mut sums: BTreeMap<(W, Direction), PartSum> = BTreeMap::new();
    for (row, sum) in rows {
        if let Some(who) = whose(row) {
            sums.entry((who, row.key.direction)).or_default().merge(sum);
        }
    }
    let mut against = PARTS.map(|part| {
        let mut strata: Strata<(S, u32, Direction), (W, Direction)> = BTreeMap::new();
        for (row, sum) in rows {
            let Some((who, of)) = whose(row).zip(stratum(row)) else { continue };
            let PartKey { direction, log2_bytes, .. } = row.key;
            let strata = strata.entry((of, log2_bytes, direction)).or_default();
            strata.entry((who, direction)).or_default().merge(part(sum));
        }
        against_peers(&strata)
    });
    let mut groups: Vec<Vec<&mut AgainstPeers>> = Vec::new();
    for against in &mut against {
        let (reads, writes): (Vec<_>, Vec<_>) = against.iter_mut().partition(|((_, of), _)| *of == Direction::Read);
        groups.extend([reads, writes].map(|group| group.into_iter().map(|(_, against)| against).collect()));
    }
    all_together(&mut groups);
    let row = |(who, sum): ((W, Direction), PartSum)| {
        let parts = parts(who.1, &sum, against.each_mut().map(|against| against.remove(&who)));
        (who.0, parts)
    };
    sums.into_iter().map(row).collect()
}

fn parts(direction: Direction, sum: &PartSum, [before, transfer, after]: [Option<AgainstPeers>; 3]) -> ServiceSplit {
    let part = |times: &Times, against_peers| SplitPart { us: times.distribution(), against_peers };
    ServiceSplit {
        direction,
        rpcs: sum.transfer.count(),
        bytes: sum.bytes,
        first: seconds(sum.first_us.unwrap_or(0)),
        last: seconds(sum.last_us.unwrap_or(0)),
        before: part(&sum.before, before),
        transfer: part(&sum.transfer, transfer),
        after: part(&sum.after, after),
    }
}

/// How many different things each has.
fn distinct<W: Ord, T: Ord>(rows: &[(Named, &PartSum)], pair: impl Fn(&Named) -> Option<(W, T)>) -> BTreeMap<W, u64> {
    let pairs: BTreeSet<(W, T)> = rows.iter().filter_map(|(row, _)| pair(row)).collect();
    let mut counts = BTreeMap::new();
    for (who, _) in pairs {
        *counts.entry(who).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use lioprof_model::{Io, RpcSize, TargetIo};

    use super::super::super::entries::TargetKey;
    use super::*;

    /// Whether the first server is of another kind: OSTs of it, and two of the second server, with what each of ten writes takes on the disk,
    /// microseconds, if the log shows it.
    fn is_apart(first: &[Option<u32>]) -> bool {
        let mut symbols = Symbols::default();
        let (mut sums, mut all) = (PartSums::default(), Vec::new());
        let osts = first.iter().map(|us| ("oss0", *us)).chain([("oss1", Some(1_000)); 2]);
        for (index, (node, us)) in (0..).zip(osts) {
            let name = format!("lustre-OST{index:04x}");
            let (nid, node_symbol) = (symbols.intern(b"10.0.0.1@tcp"), symbols.intern(node.as_bytes()));
            let target = TargetKey { node: node_symbol, kind: TargetKind::Ost, name: name.parse().ok() };
            let mut io = Io::default();
            for _ in 0..10 {
                io.add(RpcSize::Exact(1 << 20), false);
                if let Some(us) = us {
                    let key = PartKey { nid, target, direction: Direction::Write, log2_bytes: 20 };
                    let sum = sums.sums.entry(key).or_default();
                    [(&mut sum.before, 10), (&mut sum.transfer, 100), (&mut sum.after, us)]
                        .into_iter()
                        .for_each(|(times, us)| times.add(u64::from(us)));
                }
            }
            all.push(Target {
                name,
                node: node.to_owned(),
                kind: TargetKindName::Ost,
                read: TargetIo::default(),
                write: TargetIo { io, ..TargetIo::default() },
                opcodes: BTreeMap::new(),
            });
        }
        let parts = finish(&sums, &all, &symbols);
        parts.servers.iter().any(|server| server.node == "oss0" && server.apart)
    }

    #[test]
    fn a_server_is_of_another_kind_if_all_its_osts_are_known_to_be_slower() {
        assert!(is_apart(&[Some(9_000), Some(9_000)]));
        assert!(is_apart(&[Some(9_000)]));
        assert!(!is_apart(&[Some(9_000), Some(1_000)]));
        // The others may be as fast as those of the other server.
        assert!(!is_apart(&[None, None, Some(9_000)]));
    }
}
