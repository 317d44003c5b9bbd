//! How much was moved in each bin, of requests of which only the begin and the end are known.
//!
//! A target may move a request's bytes at any moment between these. So what it has moved by a moment is at least what had ended by then,
//! and at most what had begun. Of all curves between the two this is the evenest, the string that is pulled taut between them: no other one
//! has a lower peak, so none of its bins holds more than the target must have moved at its busiest. Bytes spread over the time of their own
//! request do: twelve writes that wait for one disk and end one after the other add up to three times what the disk writes.
//!
//! It needs sums by bin alone, which are integers that merge.

use std::collections::VecDeque;

/// Bytes by the edge of a bin, counted from the first.
#[derive(Clone, Copy)]
struct Point {
    edge: usize,
    bytes: u64,
}

impl Point {
    /// Whether the way from here to `a` is steeper than that to `b`; both are later, and not lower.
    fn is_steeper(self, a: Self, b: Self) -> bool {
        let product = |rise: Self, run: Self| {
            u128::from(rise.bytes.saturating_sub(self.bytes)) * (run.edge.saturating_sub(self.edge)) as u128
        };
        product(a, b) > product(b, a)
    }
}

/// Of the bytes of requests that began and that ended in each bin: the bytes moved in it. Their sum is that of what ended.
pub(crate) fn evenest(began: &[u64], ended: &[u64]) -> Vec<u64> {
    let total = ended.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    let (mut most, mut least) = (0_u64, 0_u64);
    let mut string = Taut { from: Point { edge: 0, bytes: 0 }, moved: Vec::with_capacity(ended.len()) };
    // Corners of the shortest ways along either bound, from where the string is fixed so far.
    let (mut upper, mut lower): (VecDeque<Point>, VecDeque<Point>) = Default::default();
    for (bin, ended) in ended.iter().enumerate() {
        let edge = bin + 1;
        least = least.saturating_add(*ended);
        most = most.saturating_add(began.get(bin).copied().unwrap_or(0));
        // Sums of others may be damaged: what has ended had begun.
        let at_most = most.clamp(least, total);
        push(&mut lower, string.from, Point { edge, bytes: least.max(string.from.bytes) }, |from, a, b| {
            from.is_steeper(b, a)
        });
        push(&mut upper, string.from, Point { edge, bytes: at_most.max(string.from.bytes) }, |from, a, b| {
            from.is_steeper(a, b)
        });
        while let (Some(&low), Some(&high)) = (lower.front(), upper.front())
            && string.from.is_steeper(low, high)
        {
            // The bound that is met first bends the string.
            let bend = if low.edge < high.edge { lower.pop_front() } else { upper.pop_front() };
            bend.into_iter().for_each(|bend| string.fix(bend));
        }
    }
    string.fix(Point { edge: ended.len(), bytes: total });
    string.moved
}

/// Adds a corner to a chain that begins at `from`; those behind which the new one hides are none any more.
fn push(chain: &mut VecDeque<Point>, from: Point, new: Point, hides: impl Fn(Point, Point, Point) -> bool) {
    while let Some(&last) = chain.back() {
        let before = chain.len().checked_sub(2).map_or(from, |at| chain[at]);
        if !hides(before, last, new) {
            break;
        }
        chain.pop_back();
    }
    chain.push_back(new);
}

/// The string as far as it is fixed.
struct Taut {
    from: Point,
    moved: Vec<u64>,
}

impl Taut {
    /// Goes straight to a point.
    fn fix(&mut self, to: Point) {
        let (bins, bytes) = (to.edge - self.from.edge, to.bytes.saturating_sub(self.from.bytes));
        let by = |bin: usize| u64::try_from(u128::from(bytes) * bin as u128 / bins as u128).unwrap_or(bytes);
        self.moved.extend((0..bins).map(|bin| by(bin + 1) - by(bin)));
        self.from = to;
    }
}

/// The part of what was moved in each bin that is of some of the requests: `part` is of those that ended in it. Bytes are moved in the order
/// in which their requests end.
pub(crate) fn part_of(moved: &[u64], ended: &[u64], part: &[u64]) -> Vec<u64> {
    let mut bins = ended.iter().zip(part).filter(|(ended, _)| **ended > 0);
    let (mut left, mut of) = (0_u64, (0_u64, 0_u64));
    let mut take = |mut bytes: u64| {
        let mut sum = 0;
        while bytes > 0 {
            if left == 0 {
                let Some((&ended, &part)) = bins.next() else { break };
                (left, of) = (ended, (ended, part.min(ended)));
            }
            let now = bytes.min(left);
            let by = |left: u64| {
                u64::try_from(u128::from(of.1) * u128::from(of.0 - left) / u128::from(of.0)).unwrap_or(of.1)
            };
            sum += by(left - now) - by(left);
            (left, bytes) = (left - now, bytes - now);
        }
        sum
    };
    moved.iter().map(|bytes| take(*bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests as bins of their begin and end, and bytes: what began and what ended in each of as many bins.
    fn bins(requests: &[(usize, usize, u64)], count: usize) -> (Vec<u64>, Vec<u64>) {
        let (mut began, mut ended) = (vec![0; count], vec![0; count]);
        for &(from, to, bytes) in requests {
            began[from] += bytes;
            ended[to] += bytes;
        }
        (began, ended)
    }

    #[test]
    fn requests_that_wait_for_one_disk_are_not_drawn_above_what_it_does() {
        let requests: Vec<_> = (0..12).map(|n| (0, n * 3 + 2, 30)).collect();
        let (began, ended) = bins(&requests, 40);
        let moved = evenest(&began, &ended);
        assert_eq!(moved[..36], [10; 36]);
        assert_eq!(moved[36..], [0; 4]);
    }

    #[test]
    fn what_lies_in_one_bin_stays_there_and_idle_bins_are_empty() {
        let (began, ended) = bins(&[(1, 1, 7), (4, 6, 9), (8, 8, 5)], 10);
        assert_eq!(evenest(&began, &ended), [0, 7, 0, 0, 3, 3, 3, 0, 5, 0]);
    }

    #[test]
    fn a_burst_that_has_to_be_one_is_one() {
        let (began, ended) = bins(&[(0, 9, 10), (5, 5, 100)], 10);
        let moved = evenest(&began, &ended);
        assert_eq!((moved[5], moved.iter().sum::<u64>()), (100, 110));
    }

    #[test]
    fn the_estimated_part_is_of_requests_in_the_order_of_their_ends() {
        let (began, ended) = bins(&[(0, 3, 40), (0, 7, 40)], 8);
        let moved = evenest(&began, &ended);
        assert_eq!(moved, [10; 8]);
        assert_eq!(part_of(&moved, &ended, &[0, 0, 0, 0, 0, 0, 0, 40]), [0, 0, 0, 0, 10, 10, 10, 10]);
    }

    /// Of any requests: no byte before its request begins or after it ended, none lost, and a lower peak than that of any other way.
    #[test]
    fn it_is_the_evenest_of_all_ways() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let count = 1 + random(60);
            let requests: Vec<_> = (0..random(40))
                .map(|_| {
                    let from = random(count);
                    let to = from + random(count - from);
                    (usize::try_from(from).unwrap(), usize::try_from(to).unwrap(), random(1_000))
                })
                .collect();
            let (began, ended) = bins(&requests, usize::try_from(count).unwrap());
            let moved = evenest(&began, &ended);
            assert_eq!(moved.len(), ended.len());
            let by = |of: &[u64], edge: usize| of[..edge].iter().sum::<u64>();
            for edge in 0..=ended.len() {
                assert!((by(&ended, edge)..=by(&began, edge)).contains(&by(&moved, edge)), "{requests:?} {edge}");
            }
            // What has to be moved between two edges, whatever the way, is the least that a peak can be.
            let within = |from: usize, to: usize| by(&ended, to).saturating_sub(by(&began, from));
            let edges = 0..=ended.len();
            let needed = edges.clone().flat_map(|to| (0..to).map(move |from| (from, to)));
            let peak = needed.map(|(from, to)| within(from, to).div_ceil((to - from) as u64)).max().unwrap_or(0);
            assert!(moved.iter().all(|bytes| *bytes <= peak), "{requests:?} {moved:?} {peak}");
            let part: Vec<u64> = ended.iter().map(|bytes| bytes / 3).collect();
            let parts = part_of(&moved, &ended, &part);
            assert_eq!(parts.iter().sum::<u64>(), part.iter().sum::<u64>());
            assert!(parts.iter().zip(&moved).all(|(part, all)| part <= all), "{requests:?}");
        }
    }

    /// Sums of others may be anything.
    #[test]
    fn damaged_sums_add_up_all_the_same() {
        for (began, ended) in [(vec![0, 0, 9], vec![5, 5, 5]), (vec![u64::MAX, 3], vec![1, 2]), (vec![], vec![4, 4])] {
            let moved = evenest(&began, &ended);
            assert_eq!(moved.iter().sum::<u64>(), ended.iter().sum::<u64>());
            assert_eq!(moved.len(), ended.len());
        }
        assert_eq!(evenest(&[u64::MAX, u64::MAX], &[u64::MAX, u64::MAX]).iter().sum::<u64>(), u64::MAX);
    }
}
