//! Distributions of times.

use lioprof_model::latency::{latency_bucket, latency_bucket_high_us};
use lioprof_model::{Distribution, Latency, RpcRow};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::bins::Bins;

/// Buckets kept one by one; with more, a column of all between the first and the last.
const FEW: usize = 64;

/// How often each time occurred, in buckets of an HDR histogram of two significant digits: a relative error of at most 1/128.
///
/// Hot: most RPCs count in six of them, which are far more than fit a cache. So each begins as small as possible.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Counts {
    /// Buckets and how often, in order. Most combinations have a few RPCs only.
    Few(Vec<(u16, u16)>),
    /// Nobody has to look for a bucket. Counters become wider when one overflows.
    #[serde(deserialize_with = "of_buckets")]
    Many(Bins<u16>),
    #[serde(deserialize_with = "of_buckets")]
    Wide(Bins<u32>),
    #[serde(deserialize_with = "of_buckets")]
    VeryWide(Bins<u64>),
}

/// Bins of buckets: of others, any could be asked for when they are merged.
fn of_buckets<'de, D: Deserializer<'de>, T: Clone + Default + Deserialize<'de>>(from: D) -> Result<Bins<T>, D::Error> {
    let bins = Bins::deserialize(from)?;
    let buckets = (0, usize::from(u16::MAX) + 1);
    if bins.are_within(buckets) { Ok(bins) } else { Err(D::Error::custom("expected buckets of a histogram")) }
}

impl Default for Counts {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Counts {
    fn add(&mut self, bucket: u16, count: u64) {
        let has_room = match self {
            Self::Few(few) => add_to_few(few, bucket, count),
            Self::Many(bins) => add_to(bins.at(bucket.into()), count),
            Self::Wide(bins) => add_to(bins.at(bucket.into()), count),
            Self::VeryWide(bins) => add_to(bins.at(bucket.into()), count),
        };
        if !has_room {
            self.widen();
            self.add(bucket, count);
        }
    }

    /// Makes room for more buckets or larger counts.
    #[cold]
    fn widen(&mut self) {
        *self = match self {
            Self::Few(_) => Self::Many(self.column()),
            Self::Many(_) => Self::Wide(self.column()),
            Self::Wide(_) | Self::VeryWide(_) => Self::VeryWide(self.column()),
        };
    }

    /// With counters that are no narrower.
    fn column<T: Copy + Default + Into<u64> + TryFrom<u64>>(&self) -> Bins<T> {
        let mut bins = Bins::default();
        for (bucket, count) in self.buckets() {
            add_to(bins.at(bucket.into()), count);
        }
        bins
    }

    fn merge(&mut self, other: &Self) {
        other.buckets().for_each(|(bucket, count)| self.add(bucket, count));
    }

    /// Buckets in which something was counted, and how often, in order.
    fn buckets(&self) -> Box<dyn Iterator<Item = (u16, u64)> + '_> {
        match self {
            Self::Few(few) => Box::new(few.iter().map(|&(bucket, count)| (bucket, count.into()))),
            Self::Many(bins) => Box::new(filled(bins)),
            Self::Wide(bins) => Box::new(filled(bins)),
            Self::VeryWide(bins) => Box::new(filled(bins)),
        }
    }

    /// The longest time of the first bucket that these shares of all are in or before. As an HDR histogram has it.
    fn quantiles<const N: usize>(&self, all: u64, shares: [f64; N]) -> [u64; N] {
        let mut buckets = self.buckets();
        let (mut so_far, mut high_us) = (0, 0);
        shares.map(|share| {
            let wanted = rank(share, all);
            while so_far < wanted
                && let Some((bucket, count)) = buckets.next()
            {
                so_far += count;
                high_us = latency_bucket_high_us(bucket);
            }
            high_us
        })
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count"
)]
fn rank(share: f64, all: u64) -> u64 {
    ((share * all as f64).ceil() as u64).max(1)
}

/// Whether there is room for another bucket, or so large a count.
fn add_to_few(few: &mut Vec<(u16, u16)>, bucket: u16, count: u64) -> bool {
    match few.binary_search_by_key(&bucket, |(bucket, _)| *bucket) {
        Ok(at) => add_to(&mut few[at].1, count),
        Err(at) => {
            let mut entry = (bucket, 0);
            let has_room = few.len() < FEW && add_to(&mut entry.1, count);
            if has_room {
                few.insert(at, entry);
            }
            has_room
        }
    }
}

/// Whether the counter is wide enough.
fn add_to<T: Copy + Into<u64> + TryFrom<u64>>(counter: &mut T, count: u64) -> bool {
    let sum = T::try_from((*counter).into() + count);
    sum.map(|sum| *counter = sum).is_ok()
}

fn filled<T: Copy + Default + Into<u64>>(bins: &Bins<T>) -> impl Iterator<Item = (u16, u64)> {
    bins.filled().map(|(bucket, count)| (u16::try_from(bucket).expect("it was one"), count))
}

/// Times in microseconds: exact count, sum and maximum; percentiles from the buckets of an HDR histogram.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Times {
    count: u64,
    sum_us: u128,
    max_us: u64,
    counts: Counts,
}

lioprof_model::merge_fields!(Times { count, sum_us } by { max_us: largest, counts: Counts::merge });

fn largest(mine: &mut u64, theirs: &u64) {
    *mine = (*mine).max(*theirs);
}

impl Times {
    pub(crate) fn add(&mut self, us: u64) {
        self.count += 1;
        self.sum_us += u128::from(us);
        self.max_us = self.max_us.max(us);
        self.counts.add(latency_bucket(us), 1);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn sum_us(&self) -> u128 {
        self.sum_us
    }

    /// Buckets and how often, in order.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.counts.buckets()
    }

    /// Adds a time so many times.
    #[cfg(test)]
    pub(crate) fn add_often(&mut self, us: u64, count: u64) {
        self.count += count;
        self.sum_us += u128::from(us) * u128::from(count);
        self.max_us = self.max_us.max(us);
        self.counts.add(latency_bucket(us), count);
    }

    pub(crate) fn distribution(&self) -> Distribution {
        if self.count == 0 {
            return Distribution::default();
        }
        // A bucket stands for its highest value; the largest sample is known exactly.
        let quantiles = self.counts.quantiles(self.count, [0.5, 0.9, 0.99, 0.999]);
        let [p50, p90, p99, p999] = quantiles.map(|us| Some(us.min(self.max_us)));
        Distribution {
            count: self.count,
            mean: Some(mean(self.sum_us, self.count)),
            p50,
            p90,
            p99,
            p999,
            max: Some(self.max_us),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 52 bits")]
fn mean(sum: u128, count: u64) -> f64 {
    sum as f64 / count as f64
}

/// Queue, service and total time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RpcTimes {
    queue: Times,
    service: Times,
    total: Times,
}

lioprof_model::merge_fields!(RpcTimes { queue, service, total });

impl RpcTimes {
    /// Adds what is known of an RPC's times.
    pub(crate) fn add(&mut self, row: &RpcRow) {
        for (times, us) in
            [(&mut self.queue, row.queue_us()), (&mut self.service, row.service_us), (&mut self.total, row.total_us)]
        {
            if let Some(us) = us {
                times.add(us);
            }
        }
    }

    pub(crate) fn latency(&self) -> Latency {
        Latency {
            queue_us: self.queue.distribution(),
            service_us: self.service.distribution(),
            total_us: self.total.distribution(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hdrhistogram::Histogram;

    use super::*;

    #[test]
    fn percentiles_are_within_their_stated_error() {
        let mut times = Times::default();
        for us in 1..=1_000_000u64 {
            times.add(us);
        }
        let d = times.distribution();
        assert_eq!((d.count, d.max, d.mean), (1_000_000, Some(1_000_000), Some(500_000.5)));
        for (got, want) in [(d.p50, 500_000u64), (d.p90, 900_000), (d.p99, 990_000), (d.p999, 999_000)] {
            let error = got.unwrap().abs_diff(want) * 1000 / want;
            assert!(error <= 8, "{got:?} for {want}");
        }
    }

    #[test]
    fn percentiles_are_those_of_an_hdr_histogram() {
        for n in [1, 2, 7, FEW as u64, 1_000, 10_000] {
            let mut times = Times::default();
            let mut histogram = Histogram::<u64>::new(2).unwrap();
            histogram.auto(true);
            let mut buckets = BTreeSet::new();
            for us in (0..n).map(|i| i * i * 37 % 1_000_003) {
                times.add(us);
                buckets.insert(latency_bucket(us));
                histogram.record(us).unwrap();
            }
            let is_few = matches!(times.counts, Counts::Few(_));
            assert_eq!(is_few, buckets.len() <= FEW);
            assert_eq!(is_few, n <= FEW as u64);
            let at = |quantile: f64| Some(histogram.value_at_quantile(quantile).min(times.max_us));
            let found = times.distribution();
            assert_eq!([found.p50, found.p90, found.p99, found.p999], [0.5, 0.9, 0.99, 0.999].map(at), "{n}");
        }
    }

    #[test]
    fn billions_are_counted() {
        let mut times = Times::default();
        (0..2_000).for_each(|us| times.add(us * 50));
        assert!(matches!(times.counts, Counts::Many(_)));
        (0..70_000).for_each(|_| times.add(50));
        assert!(matches!(times.counts, Counts::Wide(_)));
        let add = |times: &mut Times| times.add_often(700, 3_000_000_000);
        add(&mut times);
        let mut twice = times.clone();
        add(&mut times);
        twice.merge(&times);
        let mut few = Times::default();
        (0..3).for_each(|_| add(&mut few));
        assert_eq!(few.counts().collect::<Vec<_>>(), [(latency_bucket(700), 9_000_000_000)]);
        let all: u64 = twice.counts().map(|(_, count)| count).sum();
        assert_eq!((all, all), (9_000_144_000, twice.count()));
        assert_eq!(twice.distribution().p50, Some(703));
    }

    #[test]
    fn no_samples_is_null_not_zero() {
        assert_eq!(Times::default().distribution(), Distribution::default());
    }
}
