//! `stats` files: one counter per line.
//!
//! ```text
//! snapshot_time             1795253598.050000000 secs.nsecs
//! start_time                1795253438.506022951 secs.nsecs          (2.15 and later)
//! read_bytes                14 samples [bytes] 1048576 4194304 50331648 197912092999680
//! ldlm_enqueue              2 samples [reqs]
//! ```
//!
//! (obdclass/lprocfs_status.c, `lprocfs_stats_seq_show`: samples, then min, max and sum if the counter keeps them, then
//! the sum of squares. The sum of squares wraps at 2^64, which takes a million RPCs of 4 MiB.)

use std::collections::BTreeMap;

use lioprof_model::time::unix_seconds;

/// One counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// How often it was counted.
    pub samples: u64,
    /// Smallest value, if the counter keeps values.
    pub min: Option<u64>,
    /// Largest value.
    pub max: Option<u64>,
    /// Sum of values.
    pub sum: Option<u64>,
    /// Sum of squares modulo 2^64.
    pub sumsq: Option<u64>,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// When the counters were cleared, if the version says so.
    pub start_us: Option<i64>,
    /// Counters by name.
    pub lines: BTreeMap<Box<str>, Counter>,
}

impl Stats {
    /// Reads the text of a file; lines of another form are skipped.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut stats = Self::default();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(name), Some(second)) = (words.next(), words.next()) else { continue };
            if name.trim_end_matches(':') == "start_time" {
                stats.start_us = unix_seconds(second);
            } else if words.next() == Some("samples")
                && let Ok(samples) = second.parse()
            {
                // The unit, then the figures.
                let mut figure = words.skip(1).map(|word| word.parse().ok());
                let mut next = || figure.next().flatten();
                let line = Counter { samples, min: next(), max: next(), sum: next(), sumsq: next() };
                stats.lines.insert(name.into(), line);
            }
        }
        stats
    }

    /// A counter by name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Counter> {
        self.lines.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line() {
        let stats = Stats::parse(
            "snapshot_time             1795253598.05 secs.nsecs\n\
             start_time                1795253438.506022951 secs.nsecs\n\
             read_bytes                14 samples [bytes] 1048576 4194304 50331648 197912092999680\n\
             ldlm_enqueue              2 samples [reqs]\n\
             req_qdepth                166 samples [reqs] 0 0 0 0\n\
             write_bytes               3 samples [bytes] 1 2 3 18446744073709551615\n\
             broken                    x samples [reqs] 1\n\
             also broken\n",
        );
        assert_eq!(stats.start_us, Some(1_795_253_438_506_022));
        let line = |samples, rest: [u64; 4]| {
            let [min, max, sum, sumsq] = rest.map(Some);
            Counter { samples, min, max, sum, sumsq }
        };
        assert_eq!(stats.lines.len(), 4);
        assert_eq!(stats.get("read_bytes"), Some(&line(14, [1_048_576, 4_194_304, 50_331_648, 197_912_092_999_680])));
        assert_eq!(stats.get("ldlm_enqueue"), Some(&Counter { samples: 2, ..Counter::default() }));
        assert_eq!(stats.get("req_qdepth"), Some(&line(166, [0; 4])));
        assert_eq!(stats.get("write_bytes"), Some(&line(3, [1, 2, 3, u64::MAX])));
    }
}
