//! Times of one against those of its peers, stratum by stratum.

use std::collections::BTreeMap;

use lioprof_model::AgainstPeers;
use lioprof_model::latency::latency_bucket_high_us;
use lioprof_stats::{RankSum, Stratum, stand_out};

use crate::cells::Times;

/// Times by stratum and by whom they are of. In order, so that sums of floating-point numbers are the same in each run.
pub(crate) type Strata<S, W> = BTreeMap<S, BTreeMap<W, Times>>;

/// What has been compared up to now.
#[derive(Clone, Debug, Default)]
struct Sum {
    ranks: RankSum,
    own_us: u128,
    peers_mean_us: f64,
}

/// Compares everyone with all others of the same stratum.
pub(crate) fn against_peers<S: Ord, W: Ord + Clone>(strata: &Strata<S, W>) -> BTreeMap<W, AgainstPeers> {
    let mut sums: BTreeMap<W, Sum> = BTreeMap::new();
    for of_stratum in strata.values() {
        let mut all = Times::default();
        of_stratum.values().for_each(|times| all.merge(times));
        let stratum: Stratum = counted(&all).collect();
        for (who, own) in of_stratum {
            if own.count() > 0 && own.count() < all.count() {
                sums.entry(who.clone()).or_default().add(own, &all, &stratum);
            }
        }
    }
    sums.into_iter().map(|(who, sum)| (who, sum.against_peers())).collect()
}

/// Times and how many took so long, by buckets.
fn counted(times: &Times) -> impl Iterator<Item = (u64, u64)> {
    times.counts().map(|(bucket, count)| (latency_bucket_high_us(bucket), count))
}

impl Sum {
    /// Adds own times, some of all those of a stratum.
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 52 bits")]
    fn add(&mut self, own: &Times, all: &Times, stratum: &Stratum) {
        let (mine, peers) = (own.count(), all.count() - own.count());
        self.ranks.add(stratum, &counted(own).collect::<Vec<_>>());
        self.own_us += own.sum_us();
        self.peers_mean_us += (all.sum_us() - own.sum_us()) as f64 / peers as f64 * mine as f64;
    }

    /// Chance is that of the ranks alone.
    #[expect(clippy::cast_precision_loss, reason = "ratios need no more than 52 bits")]
    fn against_peers(&self) -> AgainstPeers {
        let ranks = &self.ranks;
        AgainstPeers {
            rpcs: ranks.own(),
            peer_rpcs: ranks.peers(),
            peers_mean_us: self.peers_mean_us / ranks.own() as f64,
            ratio: (self.peers_mean_us > 0.0).then(|| self.own_us as f64 / self.peers_mean_us),
            longer_share: ranks.longer_share(),
            z: ranks.z(),
            chance: ranks.chance(),
        }
    }
}

/// Makes the chances those of all comparisons together, which are of several groups whose members are each other's peers.
pub(crate) fn all_together(groups: &mut [Vec<&mut AgainstPeers>]) {
    let compared = |against: &&mut AgainstPeers| lioprof_stats::AgainstPeers {
        ratio: against.ratio.unwrap_or(f64::INFINITY),
        chance: against.chance,
    };
    let all: Vec<Vec<lioprof_stats::AgainstPeers>> =
        groups.iter().map(|group| group.iter().map(compared).collect()).collect();
    for (against, chance) in groups.iter_mut().flatten().zip(stand_out(&all).concat()) {
        against.chance = chance;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(us: &[u64]) -> Times {
        let mut times = Times::default();
        us.iter().for_each(|&us| times.add(us));
        times
    }

    fn compared(strata: &[&[(&'static str, &[u64])]]) -> BTreeMap<&'static str, AgainstPeers> {
        let strata: Strata<usize, &str> = strata
            .iter()
            .map(|of_stratum| of_stratum.iter().map(|(who, us)| (*who, times(us))).collect())
            .enumerate()
            .collect();
        against_peers(&strata)
    }

    #[test]
    fn ranks_of_a_stratum_are_those_of_the_rank_sum_test() {
        let both = compared(&[&[("a", &[10, 20, 30]), ("b", &[10, 25])]]);
        // Pairs of a with b: (10,10) half, (10,25) no, (20,10) yes, (20,25) no, (30,10) yes, (30,25) yes: 3.5 of 6.
        let a = both["a"];
        assert_eq!((a.rpcs, a.peer_rpcs, a.longer_share), (3, 2, 3.5 / 6.0));
        assert!((a.z - 0.5 / (6.0 * 6.0 / 12.0f64).sqrt()).abs() < 1e-12);
        assert_eq!((a.peers_mean_us, a.ratio), (17.5, Some(20.0 / 17.5)));
        assert!((both["b"].longer_share - 2.5 / 6.0).abs() < 1e-12 && (both["b"].z + a.z).abs() < 1e-12);
    }

    #[test]
    fn strata_are_not_mixed() {
        // Each of a's RPCs takes as long as its peers' of the same stratum, though its mix is slower.
        let both = compared(&[&[("a", &[1000, 1000, 1000]), ("b", &[1000])], &[("a", &[10]), ("b", &[10, 10, 10])]]);
        assert_eq!((both["a"].longer_share, both["a"].z, both["a"].ratio), (0.5, 0.0, Some(1.0)));
    }

    #[test]
    fn who_has_no_peers_is_not_compared() {
        assert!(compared(&[&[("a", &[1, 2])], &[("b", &[1, 2]), ("c", &[])]]).is_empty());
    }
}
