//! One against its peers, which differ among themselves.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::discoveries::adjusted;

/// What peers may differ by without anything being wrong, as the standard deviation of the logarithm of a mean time: 20 %. Four OSTs of one
/// age and model that do the same work differ by so much in real captures.
const USUAL_SPREAD: f64 = 0.2;
/// How many peers that experience is worth.
const USUAL_PEERS: f64 = 8.0;
/// Ratios are cut at this, and at its inverse: zeros have no logarithm.
const FARTHEST: f64 = 1e4;
/// With more, one of them makes no difference to what is usual.
const MANY: usize = 40;

/// One that was compared with its peers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgainstPeers {
    /// Own mean over the peers'.
    pub ratio: f64,
    /// Probability that chance alone makes single requests differ as much ([`RankSum`](super::RankSum)).
    pub chance: f64,
}

/// For each of some groups, whose members are each other's peers, the probability that it is not slower than its peers: the greater of that
/// of its requests and that of how far it is from its peers compared with how far these are apart; adjusted for all that were looked at.
#[must_use]
pub fn stand_out(groups: &[Vec<AgainstPeers>]) -> Vec<Vec<f64>> {
    let of_group = |group: &Vec<AgainstPeers>| {
        let ratios: Vec<f64> = group.iter().map(|it| it.ratio).collect();
        group.iter().zip(beyond_peers(&ratios)).map(|(it, chance)| it.chance.max(chance)).collect::<Vec<f64>>()
    };
    let mut chances = adjusted(&groups.iter().flat_map(of_group).collect::<Vec<f64>>()).into_iter();
    groups.iter().map(|group| chances.by_ref().take(group.len()).collect()).collect()
}

/// For each ratio of an own mean to that of all peers, the probability that one of these peers is so far above the others: a one-sided t
/// test of the logarithms whose spread is estimated from the peers (robustly, by the median of distances) and from experience, weighted by
/// their numbers (moderated, after Smyth 2004). In the order given.
fn beyond_peers(ratios: &[f64]) -> Vec<f64> {
    let levels: Vec<f64> = ratios.iter().map(|ratio| ratio.clamp(1.0 / FARTHEST, FARTHEST).ln()).collect();
    let of_all = (levels.len() > MANY).then(|| spread(&levels));
    let chance = |index: usize| {
        let peers = levels.len() - 1;
        let spread = of_all.unwrap_or_else(|| {
            let others: Vec<f64> =
                levels.iter().enumerate().filter(|(other, _)| *other != index).map(|it| *it.1).collect();
            spread(&others)
        });
        let seen = peers.saturating_sub(1) as f64;
        let freedom = USUAL_PEERS + seen;
        let variance = (USUAL_PEERS * USUAL_SPREAD.powi(2) + seen * spread.powi(2)) / freedom;
        let t = levels[index] / (variance * (1.0 + 1.0 / peers as f64)).sqrt();
        StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |student| student.sf(t))
    };
    if levels.len() < 2 { vec![1.0; levels.len()] } else { (0..levels.len()).map(chance).collect() }
}

/// Standard deviation by the median distance from the median.
fn spread(values: &[f64]) -> f64 {
    let middle = median(values.to_vec());
    1.4826 * median(values.iter().map(|value| (value - middle).abs()).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match (values.len() / 2, values.len() % 2) {
        (0, 0) => 0.0,
        (middle, 0) => f64::midpoint(values[middle - 1], values[middle]),
        (middle, _) => values[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ratios of own to peers' means, from the means.
    fn ratios(means: &[f64]) -> Vec<f64> {
        let sum: f64 = means.iter().sum();
        means.iter().map(|mean| mean / ((sum - mean) / (means.len() - 1) as f64)).collect()
    }

    #[test]
    fn one_that_is_twice_as_slow_stands_out_of_peers_that_agree() {
        let chances = beyond_peers(&ratios(&[1.0, 1.05, 0.95, 2.1]));
        assert!(chances[3] < 0.01, "{chances:?}");
        assert!(chances[..3].iter().all(|&chance| chance > 0.3), "{chances:?}");
        let wild = beyond_peers(&ratios(&[1.0, 3.0, 0.4, 2.1]));
        assert!(wild[3] > 0.05, "{wild:?}");
    }

    #[test]
    fn of_many_that_differ_none_stands_out() {
        // 1,350 that differ by 30 %, evenly and as a normal variable would.
        let even: Vec<f64> = (0..1350).map(|n| 0.7 + 0.6 * f64::from(n) / 1349.0).collect();
        let normal = statrs::distribution::Normal::new(0.0, 0.3).unwrap();
        let logarithms: Vec<f64> = (0..1350).map(|n| normal.inverse_cdf((f64::from(n) + 0.5) / 1350.0).exp()).collect();
        for means in [even, logarithms] {
            let least = adjusted(&beyond_peers(&ratios(&means))).into_iter().min_by(f64::total_cmp).unwrap();
            assert!(least > 0.05, "{least}");
        }
    }

    #[test]
    fn two_say_only_that_they_differ_if_they_differ_a_lot() {
        let both = beyond_peers(&[4.0, 0.25]);
        assert!(both[0] < 0.001 && both[1] > 0.9, "{both:?}");
        assert!(beyond_peers(&[1.5, 1.0 / 1.5])[0] > 0.05);
        assert_eq!(beyond_peers(&[7.0]), [1.0]);
    }
}
