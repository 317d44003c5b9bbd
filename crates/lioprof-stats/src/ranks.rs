//! Own times against those of peers, stratum by stratum.

use statrs::function::erf::erfc;

use super::levels::LevelSums;
use super::stratum::{Equal, Stratum};

/// Pairs up to which every order of the times is counted; with more the sum of ranks is as good as normal, and some that are far off do
/// not decide.
const EXACT_PAIRS: u128 = 400;

/// Own times among those of peers that are alike in everything else: for many the sum of ranks (van Elteren's test; with one stratum that
/// of Wilcoxon, Mann and Whitney), for few an exact permutation test of how long they took, on a logarithmic scale.
///
/// Ranks alone waste what few times say: of six writes to a slow disk, the first may be held in a cache and be the shortest of all, while the
/// others take five times as long as any peer's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankSum {
    /// Own times, and their peers', of all strata.
    own: u64,
    peers: u64,
    /// Pairs in which the own one took longer, counted twice; those that took equally long, once.
    longer_twice: u128,
    pairs: u128,
    /// Twelve times the variance of the rank sum.
    variance_12: u128,
    /// The times of each stratum, while they are few enough for an exact test.
    strata: Vec<Vec<Equal>>,
}

impl RankSum {
    /// Adds own times of a stratum, of which these are some: how long they took in ascending order, microseconds, and how many did.
    pub fn add(&mut self, stratum: &Stratum, own: &[(u64, u64)]) {
        let mut count = 0_u64;
        for (peers_shorter, equal) in stratum.among(own) {
            self.longer_twice += u128::from(equal.own) * (2 * u128::from(peers_shorter) + u128::from(equal.peers));
            count += equal.own;
        }
        let peer_count = stratum.count().saturating_sub(count);
        self.own += count;
        self.peers += peer_count;
        let (own_times, peers) = (u128::from(count), u128::from(peer_count));
        self.pairs += own_times * peers;
        self.variance_12 += own_times * peers * (own_times + peers + 1);
        if self.pairs > EXACT_PAIRS {
            self.strata.clear();
        } else {
            self.strata.push(stratum.with(own).collect());
        }
    }

    /// Own times that have peers.
    #[must_use]
    pub fn own(&self) -> u64 {
        self.own
    }

    /// Peers' times.
    #[must_use]
    pub fn peers(&self) -> u64 {
        self.peers
    }

    /// Share of all pairs in which the own one took longer; equal ones count half.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 52 bits")]
    pub fn longer_share(&self) -> f64 {
        self.longer_twice as f64 / 2.0 / self.pairs as f64
    }

    /// By how many standard deviations the share is above what chance gives.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 52 bits")]
    pub fn z(&self) -> f64 {
        (self.longer_twice as f64 / 2.0 - self.pairs as f64 / 2.0) / (self.variance_12 as f64 / 12.0).sqrt()
    }

    /// Probability that chance alone makes own times as long as they are, or longer.
    #[must_use]
    pub fn chance(&self) -> f64 {
        if self.pairs == 0 {
            1.0
        } else if self.pairs <= EXACT_PAIRS && self.z() > 0.0 {
            self.strata.iter().fold(LevelSums::default(), |sums, of_stratum| sums.and(of_stratum)).chance()
        } else {
            erfc(self.z() / std::f64::consts::SQRT_2) / 2.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds up strata of own times and peers'.
    fn of(strata: &[(&[u64], &[u64])]) -> RankSum {
        let once = |times: &[u64]| {
            let mut times = times.to_vec();
            times.sort_unstable();
            times.into_iter().map(|time_us| (time_us, 1)).collect::<Vec<(u64, u64)>>()
        };
        let mut sum = RankSum::default();
        for (own, peers) in strata {
            let all: Stratum = once(&[*own, *peers].concat()).into_iter().collect();
            sum.add(&all, &once(own));
        }
        sum
    }

    #[test]
    fn few_are_counted_exactly() {
        // Two that take longer than all of fifty: one of 52 * 51 / 2 orders.
        let peers: Vec<u64> = (1000..1050).collect();
        assert!((of(&[(&[9000, 9900], &peers)]).chance() - 1.0 / 1326.0).abs() < 1e-12);
        // Two strata in which the only own one is the longest of four: 1/4 * 1/4.
        let one: (&[u64], &[u64]) = (&[4000], &[1000, 2000, 3000]);
        assert!((of(&[one, one]).chance() - 1.0 / 16.0).abs() < 1e-12);
        assert!(of(&[(&[1000, 1100], &[4000, 5000, 6000])]).chance() > 0.95);
    }

    #[test]
    fn how_long_they_take_counts_among_few() {
        // Six writes to a slow disk against their like (a real run); the first was held in a cache.
        let slow = of(&[
            (&[3027], &[3503, 4236, 4029]),
            (&[8592], &[3644, 4761, 3372]),
            (&[20506], &[3044, 3620, 1856]),
            (&[14931], &[2876, 3288, 4616]),
            (&[19678], &[3079, 4700, 4028]),
            (&[13993], &[2675, 4659, 3400]),
        ]);
        assert!(slow.chance() < 0.002, "{}", slow.chance());
        // As many that are the longest of their like, but not by much.
        let much_alike =
            of(&[(&[3027], &[3503, 4236, 4029]), (&[4770], &[3644, 4761, 3372]), (&[3620], &[3044, 3600, 1856])]);
        assert!(much_alike.chance() > 0.1, "{}", much_alike.chance());
    }

    #[test]
    fn one_that_is_far_off_proves_nothing() {
        let one = of(&[(&[900_000, 1010, 1030], &[1000, 1020, 1040, 1010, 990, 1005])]);
        assert!(one.chance() > 0.15, "{}", one.chance());
    }

    #[test]
    fn many_are_normal_where_few_nearly_are() {
        // As many steps up as down, on a logarithmic scale: both tests see the same.
        let times = |first: u64, count: u64| -> Vec<u64> { (0..count).map(|n| 1000 * (first + n * 7 % 20)).collect() };
        let few = of(&[(&times(30, 20), &times(24, 20))]);
        let many = of(&[(&times(30, 20), &times(24, 21))]);
        let (few, many) = (few.chance(), many.chance());
        assert!(few < 0.05 && many < 0.05 && (few / many).ln().abs() < 1.0, "{few} {many}");
        assert_eq!(RankSum::default().chance(), 1.0);
    }
}
