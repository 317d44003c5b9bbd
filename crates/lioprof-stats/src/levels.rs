//! The exact distribution of sums of logarithms, if chance alone decides which times are one's own.

use super::stratum::Equal;

/// Steps per factor of two: times that differ by less than 4 % count as equal.
const STEPS: f64 = 16.0;
/// More steps than this above the shortest of a stratum are no more: a factor of a million.
const FARTHEST: usize = 320;

/// How likely each sum of own levels is, over the strata that were added, and which one was seen.
#[derive(Clone, Debug)]
pub(crate) struct LevelSums {
    chances: Vec<f64>,
    seen: usize,
}

impl Default for LevelSums {
    fn default() -> Self {
        Self { chances: vec![1.0], seen: 0 }
    }
}

#[expect(clippy::cast_precision_loss, reason = "far fewer levels than 2^52")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0 to FARTHEST")]
fn level(time_us: u64, shortest_us: u64) -> usize {
    let octaves = (time_us.max(1) as f64 / shortest_us.max(1) as f64).log2();
    (octaves * STEPS).round().clamp(0.0, FARTHEST as f64) as usize
}

impl LevelSums {
    /// And one more stratum, whose times are in ascending order.
    pub(crate) fn and(self, stratum: &[Equal]) -> Self {
        let shortest_us = stratum.first().map_or(1, |equal| equal.time_us);
        let levels: Vec<(usize, usize, usize)> = stratum
            .iter()
            .map(|equal| {
                let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
                (level(equal.time_us, shortest_us), count(equal.own), count(equal.own + equal.peers))
            })
            .collect();
        let own: usize = levels.iter().map(|(_, own, _)| own).sum();
        let seen: usize = levels.iter().map(|(level, own, _)| level * own).sum();
        let each = levels.iter().flat_map(|&(level, _, all)| std::iter::repeat_n(level, all));
        let of_stratum = choices(each, own);
        let mut chances = vec![0.0; self.chances.len() + of_stratum.len() - 1];
        for (sum, chance) in self.chances.iter().enumerate().filter(|it| *it.1 > 0.0) {
            for (here, other) in chances[sum..].iter_mut().zip(&of_stratum) {
                *here += chance * other;
            }
        }
        Self { chances, seen: self.seen + seen }
    }

    /// Probability of the sum that was seen, or a larger one.
    pub(crate) fn chance(&self) -> f64 {
        self.chances.iter().skip(self.seen).sum::<f64>().min(1.0)
    }
}

/// Probabilities of the sums of `own` of these levels, each choice as likely as any other.
fn choices(levels: impl Iterator<Item = usize>, own: usize) -> Vec<f64> {
    // How many choices of so many of the levels up to here have this sum.
    let mut ways: Vec<Vec<f64>> = vec![Vec::new(); own + 1];
    ways[0] = vec![1.0];
    for level in levels {
        for chosen in (1..=own).rev() {
            let (fewer, here) = ways.split_at_mut(chosen);
            let (fewer, here) = (&fewer[chosen - 1], &mut here[0]);
            if fewer.is_empty() {
                continue;
            }
            if here.len() < fewer.len() + level {
                here.resize(fewer.len() + level, 0.0);
            }
            for (here, count) in here[level..].iter_mut().zip(fewer) {
                *here += count;
            }
        }
    }
    let mut of_all = ways.swap_remove(own);
    let all: f64 = of_all.iter().sum();
    of_all.iter_mut().for_each(|count| *count /= all);
    of_all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_choice_is_as_likely() {
        // Of levels 0, 1, 1, 3 two: sums 1, 1, 3, 2, 4, 4.
        let of_two = choices([0, 1, 1, 3].into_iter(), 2);
        let sixths: Vec<f64> = of_two.iter().map(|chance| (chance * 6.0).round()).collect();
        assert_eq!(sixths, [0.0, 2.0, 1.0, 1.0, 2.0]);
        assert_eq!(choices([5, 7].into_iter(), 0), [1.0]);
    }

    #[test]
    fn levels_are_on_a_logarithmic_scale() {
        assert_eq!([1000, 1010, 2000, 4000, u64::MAX].map(|us| level(us, 1000)), [0, 0, 16, 32, FARTHEST]);
        assert_eq!(level(0, 0), 0);
    }
}
