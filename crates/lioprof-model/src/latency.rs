//! Times of RPCs: distributions, and the buckets that they are made of: those of an HDR histogram of two significant digits.
//!
//! A bucket's number is the index in such a histogram (128 buckets per factor of two above 255, one per microsecond
//! below), so a sum of rows by bucket number *is* the histogram, in whatever engine it was made.

use serde::{Deserialize, Serialize};

/// Buckets per factor of two.
const PER_OCTAVE: u64 = 128;

/// Bucket of a time.
#[must_use]
pub fn latency_bucket(us: u64) -> u16 {
    let octave = (us / PER_OCTAVE).max(1).ilog2();
    let index = u64::from(octave) * PER_OCTAVE + (us >> octave);
    u16::try_from(index).expect("64 octaves of 128 buckets")
}

/// Shortest time in a bucket, microseconds.
#[must_use]
pub fn latency_bucket_low_us(bucket: u16) -> u64 {
    let (octave, within) = split(bucket);
    within << octave
}

/// Longest time in a bucket, microseconds: the value that percentiles are given as.
#[must_use]
pub fn latency_bucket_high_us(bucket: u16) -> u64 {
    let (octave, _) = split(bucket);
    latency_bucket_low_us(bucket) + ((1 << octave) - 1)
}

/// The bucket of the longest time; a number above it, as damaged files may hold, counts as this one.
const LAST: u16 = 7423;

fn split(bucket: u16) -> (u32, u64) {
    let bucket = u64::from(bucket.min(LAST));
    let octave = (bucket / PER_OCTAVE).saturating_sub(1);
    (u32::try_from(octave).expect("a u16 over 128"), bucket - octave * PER_OCTAVE)
}

/// A distribution of times in microseconds. Count, mean and max are exact; percentiles are those of an
/// HDR histogram (relative error below 0.8 %).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Samples.
    pub count: u64,
    /// Mean; `null` without samples, like all below.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<u64>,
    /// 90 %.
    pub p90: Option<u64>,
    /// 99 %.
    pub p99: Option<u64>,
    /// 99.9 %.
    pub p999: Option<u64>,
    /// Largest.
    pub max: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous_and_within_one_in_128() {
        assert_eq!(
            (latency_bucket(0), latency_bucket(255), latency_bucket(256), latency_bucket(257)),
            (0, 255, 256, 256)
        );
        for bucket in 0..latency_bucket(u64::MAX) {
            let (low, high) = (latency_bucket_low_us(bucket), latency_bucket_high_us(bucket));
            assert_eq!((latency_bucket(low), latency_bucket(high)), (bucket, bucket));
            assert_eq!(latency_bucket_low_us(bucket + 1), high + 1);
            assert!(u128::from(high - low) * 128 <= u128::from(low));
        }
        assert_eq!(latency_bucket(u64::MAX), LAST);
        assert_eq!((latency_bucket_high_us(LAST), latency_bucket_high_us(u16::MAX)), (u64::MAX, u64::MAX));
    }
}
