//! Own times against those of peers, stratum by stratum.

use statrs::function::erf::erfc;

/// Standard deviations up to which nobody asks how exactly chance is known.
const NOTHING: f64 = 1.0;
/// Pairs up to which the test is exact; with more the sum of ranks is as good as normal.
const EXACT_PAIRS: u64 = 600;

/// The sum of ranks of own times among those of peers that are alike in everything else (van Elteren's test; with one stratum that of
/// Wilcoxon, Mann and Whitney).
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
    /// Own times and peers' of each stratum, while they are few enough for an exact test.
    strata: Vec<(u64, u64)>,
}

impl RankSum {
    /// Adds a stratum of `own` times and `peers` of others. `longer_twice`: pairs of both in which the own one took longer, counted twice,
    /// and those in which both took equally long, once.
    pub fn add(&mut self, own: u64, peers: u64, longer_twice: u128) {
        let (n, m) = (u128::from(own), u128::from(peers));
        self.own += own;
        self.peers += peers;
        self.longer_twice += longer_twice;
        self.pairs += n * m;
        self.variance_12 += n * m * (n + m + 1);
        if self.pairs <= u128::from(EXACT_PAIRS) {
            self.strata.push((own, peers));
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

    /// Probability that chance alone makes own times longer in so many pairs, or more: exact for few, by the normal distribution for many.
    #[must_use]
    pub fn chance(&self) -> f64 {
        if self.pairs == 0 {
            1.0
        } else if self.pairs <= u128::from(EXACT_PAIRS) && self.z() > NOTHING {
            self.exact()
        } else {
            erfc(self.z() / std::f64::consts::SQRT_2) / 2.0
        }
    }

    /// Every order of the times of a stratum is as likely as any other. Ties are taken for the less favourable order.
    fn exact(&self) -> f64 {
        let mut all = vec![1.0];
        for &(own, peers) in &self.strata {
            let of_stratum = counts(own, peers);
            let mut sums = vec![0.0; all.len() + of_stratum.len() - 1];
            for (place, chance) in all.iter().enumerate() {
                for (more, other) in of_stratum.iter().enumerate() {
                    sums[place + more] += chance * other;
                }
            }
            all = sums;
        }
        let seen = usize::try_from(self.longer_twice / 2).unwrap_or(usize::MAX);
        all.iter().skip(seen).sum::<f64>().min(1.0)
    }
}

/// Probabilities of each number of pairs in which the first is larger, of so many of both: by recursion over the largest of all.
fn counts(own: u64, peers: u64) -> Vec<f64> {
    let (n, m) = (usize::try_from(own).unwrap_or(0), usize::try_from(peers).unwrap_or(0));
    // The largest of all is an own one, which is larger than all peers, with probability n / (n + m).
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for own in 1..=n {
        let mut next = vec![vec![1.0]];
        for peers in 1..=m {
            let mut here = vec![0.0; own * peers + 1];
            let all = (own + peers) as f64;
            for (place, chance) in row[peers].iter().enumerate() {
                here[place + peers] += chance * own as f64 / all;
            }
            for (place, chance) in next[peers - 1].iter().enumerate() {
                here[place] += chance * peers as f64 / all;
            }
            next.push(here);
        }
        row = next;
    }
    row.swap_remove(m)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(own: u64, peers: u64, longer: u128) -> RankSum {
        let mut sum = RankSum::default();
        sum.add(own, peers, 2 * longer);
        sum
    }

    #[test]
    fn few_are_counted_exactly() {
        // Two that take longer than all of fifty: one of 52 * 51 / 2 orders.
        assert!((one(2, 50, 100).chance() - 1.0 / 1326.0).abs() < 1e-12);
        // wilcox.test(c(3, 5, 6), c(1, 2, 4, 0), "greater"): W = 11, p = 0.05714.
        assert!((one(3, 4, 11).chance() - 0.057_142_857).abs() < 1e-8);
        assert!(one(3, 4, 0).chance() > 0.95);
        // Two strata in which the only own one is the longest of four: 1/4 * 1/4.
        let mut both = one(1, 3, 3);
        both.add(1, 3, 6);
        assert!((both.chance() - 1.0 / 16.0).abs() < 1e-12);
    }

    #[test]
    fn many_are_normal_where_few_nearly_are() {
        let (few, many) = (one(20, 30, 400), one(20, 31, 413));
        assert!((few.chance() / many.chance() - 1.0).abs() < 0.1, "{} {}", few.chance(), many.chance());
        assert!(one(1000, 1000, 1_000_000).chance() < 1e-100);
        assert_eq!(RankSum::default().chance(), 1.0);
    }
}
