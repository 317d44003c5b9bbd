//! Times in buckets for plots: four per factor of two.

use serde::{Deserialize, Serialize};

/// How often each time occurred, by [`quarter_octave`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct QuarterOctaves(Vec<u64>);

impl QuarterOctaves {
    /// Counts times of a bucket.
    pub(crate) fn add(&mut self, quarter_octave: u32, count: u64) {
        let bucket = quarter_octave as usize;
        if self.0.len() <= bucket {
            self.0.resize(bucket + 1, 0);
        }
        self.0[bucket] += count;
    }

    /// Buckets in which something was counted, and how often, in order.
    pub(crate) fn filled(&self) -> impl Iterator<Item = (u32, u64)> {
        (0..).zip(self.0.iter().copied()).filter(|(_, count)| *count > 0)
    }
}

impl lioprof_model::Merge for QuarterOctaves {
    fn merge(&mut self, other: &Self) {
        other.filled().for_each(|(bucket, count)| self.add(bucket, count));
    }
}

/// Bucket of a time for plots: four per factor of two, exact below 4.
pub(crate) fn quarter_octave(us: u64) -> u32 {
    if us < 4 {
        return u32::try_from(us).expect("below 4");
    }
    let octave = us.ilog2();
    let quarter = u32::try_from(us >> (octave - 2) & 3).expect("two bits");
    4 * (octave - 1) + quarter
}

/// Lower edge of a [`quarter_octave`] bucket.
pub(crate) fn quarter_octave_edge(bucket: u32) -> u64 {
    if bucket < 4 { u64::from(bucket) } else { u64::from(4 + bucket % 4) << (bucket / 4 - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_and_edges_agree() {
        let mut last = None;
        for us in (0..5000).chain([u64::MAX / 2, u64::MAX]) {
            let bucket = quarter_octave(us);
            assert!(quarter_octave_edge(bucket) <= us);
            assert!(us == u64::MAX || bucket >= 247 || us < quarter_octave_edge(bucket + 1), "{us} {bucket}");
            assert!(last.is_none_or(|l| bucket >= l));
            last = Some(bucket);
        }
    }
}
