//! Disks that are slower than those of other OSTs, from the counters while they were watched.
//!
//! The statistics are those of the findings: a rank test of the durations against those of all other OSTs, reads and writes apart; how
//! far the OST is from its peers compared with how far these are apart; and all OSTs at once.

use std::collections::BTreeMap;

use lioprof_model::units::real;
use lioprof_stats::{AgainstPeers, RankSum, Stratum, stand_out};

use super::rule::{Draft, Rule};
use super::state::all_targets;
use crate::facts::{DiskHistogram, Fact, ServerFacts};
use crate::outcome::Status::Warning;

/// Mean duration over the peers', from which an OST is slow: as in the finding of a slow OST.
const RATIO: f64 = 2.0;
/// Probability that chance makes one look so slow, at most.
const CHANCE: f64 = 0.05;

pub(super) const LATENCY: Rule = Rule {
    id: "disk_latency",
    title: "disk latency against other OSTs",
    noun: "OST",
    expected: "mean disk I/O certainly not twice as long as on the other OSTs (brw_stats, I/O time)",
    remedy: "Look at the disk or RAID of this OST: rebuild, failing disk, write cache off, another path. If it just gets larger I/O than \
             its peers, that shows in brw_stats, too.",
    check: latency,
};

/// Durations of an OST in one direction against those of its peers.
struct Compared {
    /// Sums over both directions.
    ranks: RankSum,
    own_ms: f64,
    /// What the peers' means would have made of the same mix.
    peers_ms: f64,
}

fn latency(servers: &[ServerFacts], draft: &mut Draft) {
    // Nobody asked.
    if all_targets(servers).all(|(_, target)| target.watched.is_none()) {
        return;
    }
    let mut watched: Vec<(&str, &str, &DiskHistogram)> = Vec::new();
    for (facts, target) in all_targets(servers).filter(|(_, target)| target.kind == "ost") {
        match &target.watched {
            Some(Fact::Known(times)) if !times.reads.is_empty() || !times.writes.is_empty() => {
                watched.push((&facts.server, &target.name, times));
            }
            Some(Fact::Known(_)) => draft.unknown(&facts.server, &target.name, "no disk I/O while it was watched"),
            Some(Fact::Unknown(why)) => draft.unknown(&facts.server, &target.name, why),
            None => draft.unknown(&facts.server, &target.name, "was not watched"),
        }
    }
    let everyone = [direction(&watched, |times| &times.reads), direction(&watched, |times| &times.writes)];
    let compared: Vec<Option<Compared>> = watched.iter().map(|(.., times)| compare(times, &everyone)).collect();
    let group =
        compared.iter().flatten().map(|it| AgainstPeers { ratio: it.own_ms / it.peers_ms, chance: it.ranks.chance() });
    let mut chances = stand_out(&[group.collect()]).concat().into_iter();
    for ((server, target, _), compared) in watched.into_iter().zip(compared) {
        let Some(compared) = compared else {
            draft.unknown(server, target, "no other OST did disk I/O in the same direction");
            continue;
        };
        let ratio = compared.own_ms / compared.peers_ms;
        let chance = chances.next().unwrap_or(1.0);
        let found = || {
            let own = real(compared.ranks.own());
            format!(
                "{:.1} ms per disk I/O, {ratio:.1} times the other OSTs' {:.1} ms ({} I/Os against {}, chance {chance:.3})",
                compared.own_ms / own,
                compared.peers_ms / own,
                compared.ranks.own(),
                compared.ranks.peers(),
            )
        };
        let slow = ratio >= RATIO && chance <= CHANCE;
        draft.judge(server, target, slow.then(|| (Warning, found())));
    }
}

/// Durations by the upper end of their bucket, milliseconds.
type Durations = BTreeMap<u64, u64>;

/// The durations of all OSTs in one direction.
struct Everyone {
    of: fn(&DiskHistogram) -> &Durations,
    stratum: Stratum,
    sum_ms: f64,
}

fn direction(watched: &[(&str, &str, &DiskHistogram)], of: fn(&DiskHistogram) -> &Durations) -> Everyone {
    let mut all = Durations::new();
    for (&end_ms, &count) in watched.iter().flat_map(|(.., times)| of(times)) {
        *all.entry(end_ms).or_default() += count;
    }
    Everyone { of, stratum: all.iter().map(in_us).collect(), sum_ms: sum_ms(&all) }
}

fn in_us((&end_ms, &count): (&u64, &u64)) -> (u64, u64) {
    (1000 * end_ms, count)
}

/// `None` if there is nothing to compare.
fn compare(times: &DiskHistogram, everyone: &[Everyone]) -> Option<Compared> {
    let mut compared = Compared { ranks: RankSum::default(), own_ms: 0.0, peers_ms: 0.0 };
    for Everyone { of, stratum, sum_ms: all_ms } in everyone {
        let own = of(times);
        let (count, own_ms): (u64, f64) = (own.values().sum(), sum_ms(own));
        let peers = stratum.count() - count;
        if count > 0 && peers > 0 {
            compared.ranks.add(stratum, &own.iter().map(in_us).collect::<Vec<_>>());
            compared.own_ms += own_ms;
            compared.peers_ms += (all_ms - own_ms) / real(peers) * real(count);
        }
    }
    (compared.ranks.own() > 0).then_some(compared)
}

/// With the upper end of each bucket as its duration: up to twice too long, for all OSTs alike.
fn sum_ms(times: &Durations) -> f64 {
    times.iter().map(|(&end_ms, &count)| real(end_ms.max(1)) * real(count)).sum()
}
