//! A small parser for `lctl get_param` output: the servers' own counters. It shares nothing with the product.

use std::collections::BTreeMap;

/// `NAME=` lines and what follows each.
#[derive(Default)]
pub(crate) struct Counters {
    parameters: BTreeMap<String, Vec<String>>,
}

/// One line of a stats file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counter {
    pub(crate) samples: u64,
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) sum: u64,
    pub(crate) sumsq: u128,
    /// Upper bound in bytes and samples; Lustre 2.17 and later.
    pub(crate) hist: Option<BTreeMap<u64, u64>>,
}

impl Counter {
    /// One more value.
    pub(crate) fn add(&mut self, value: u64) {
        self.min = if self.samples == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.samples += 1;
        self.sum += value;
        self.sumsq += u128::from(value) * u128::from(value);
    }

    /// Two counters as one.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.min = match (self.samples, other.samples) {
            (_, 0) => self.min,
            (0, _) => other.min,
            _ => self.min.min(other.min),
        };
        self.max = self.max.max(other.max);
        self.samples += other.samples;
        self.sum += other.sum;
        self.sumsq += other.sumsq;
        if let Some(hist) = &other.hist {
            let mine = self.hist.get_or_insert_default();
            for (le, samples) in hist {
                *mine.entry(*le).or_default() += samples;
            }
        }
    }
}

/// Counters of one stats file by name: `read_bytes`, `ldlm_cancel`, ...
pub(crate) type Stats = BTreeMap<String, Counter>;

impl Counters {
    pub(crate) fn parse(text: &str) -> Self {
        let mut counters = Self::default();
        let mut lines: Option<&mut Vec<String>> = None;
        for line in text.lines() {
            let begins = line.split_once('=').filter(|(name, _)| is_parameter(name));
            if let Some((name, value)) = begins {
                let new = counters.parameters.entry(name.to_owned()).or_default();
                new.extend((!value.is_empty()).then(|| value.to_owned()));
                lines = Some(new);
            } else if let Some(lines) = &mut lines {
                lines.push(line.to_owned());
            }
        }
        counters
    }

    /// A stats file; nothing if it is not there.
    pub(crate) fn stats(&self, parameter: &str) -> Stats {
        self.parameters
            .get(parameter)
            .map(|lines| lines.iter().filter_map(|line| stats_line(line)).collect())
            .unwrap_or_default()
    }

    /// A `job_stats` file: job, counters.
    pub(crate) fn jobs(&self, parameter: &str) -> Vec<(String, Stats)> {
        let mut jobs: Vec<(String, Stats)> = Vec::new();
        for line in self.parameters.get(parameter).into_iter().flatten() {
            if let Some(job) = line.strip_prefix("- job_id:") {
                jobs.push((job.trim().trim_matches('"').to_owned(), Stats::new()));
            } else if let (Some((_, stats)), Some(row)) = (jobs.last_mut(), job_row(line)) {
                stats.extend([row]);
            }
        }
        jobs
    }

    /// Parameters `PREFIX<middle>SUFFIX`: the middles.
    pub(crate) fn middles(&self, prefix: &str, suffix: &str) -> Vec<String> {
        let middles = self.parameters.keys().filter_map(|name| name.strip_prefix(prefix)?.strip_suffix(suffix));
        middles.map(str::to_owned).collect()
    }

    /// Devices of a kind (`obdfilter`, `mdt`) by their `job_stats`.
    pub(crate) fn devices(&self, kind: &str) -> Vec<String> {
        self.middles(&format!("{kind}."), ".job_stats")
    }

    /// Per-export files: device, NID, counters. `file` is `stats` or `ldlm_stats`.
    pub(crate) fn exports(&self, kind: &str, file: &str) -> Vec<(String, String, Stats)> {
        let rows = self.middles(&format!("{kind}."), &format!(".{file}")).into_iter().filter_map(|middle| {
            let (device, nid) = middle.split_once(".exports.")?;
            let stats = self.stats(&format!("{kind}.{middle}.{file}"));
            Some((device.to_owned(), nid.to_owned(), stats))
        });
        rows.collect()
    }
}

fn is_parameter(name: &str) -> bool {
    name.contains('.')
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_@:".contains(c))
}

/// `read_bytes   6 samples [bytes] 1048576 2097152 10485760 19791209299968`
fn stats_line(line: &str) -> Option<(String, Counter)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, samples, "samples", _unit, rest @ ..] = &words[..] else { return None };
    let number = |at: usize| rest.get(at).and_then(|word| word.parse().ok()).unwrap_or(0);
    let sumsq = rest.get(3).and_then(|word| word.parse().ok()).unwrap_or(0);
    let samples = samples.parse().ok()?;
    Some(((*name).to_owned(), Counter { samples, min: number(0), max: number(1), sum: number(2), sumsq, hist: None }))
}

/// `  read_bytes: { samples: 6, unit: bytes, min: 1, max: 2, sum: 3, sumsq: 4, hist: { 1M: 2 } }`
fn job_row(line: &str) -> Option<(String, Counter)> {
    let (name, rest) = line.strip_prefix("  ")?.split_once(':')?;
    let rest = rest.trim().strip_prefix('{')?;
    let field = |name: &str| {
        let after = rest.split_once(&format!("{name}:"))?.1.trim_start();
        after.split([',', ' ', '}']).next()?.parse::<u128>().ok()
    };
    let number = |name: &str| field(name).and_then(|it| u64::try_from(it).ok()).unwrap_or(0);
    let hist = rest.split_once("hist: {").map(|(_, hist)| {
        let buckets = hist.split('}').next().unwrap_or("").split(',');
        buckets
            .filter_map(|bucket| bucket.split_once(':'))
            .filter_map(|(le, n)| Some((size(le)?, n.trim().parse().ok()?)))
            .collect()
    });
    let counter = Counter {
        samples: number("samples"),
        min: number(" min"),
        max: number("max"),
        sum: number(" sum"),
        sumsq: field("sumsq").unwrap_or(0),
        hist,
    };
    Some((name.to_owned(), counter))
}

/// `512`, `4K`, `1M`.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let shift = match &text[split..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    Some(text[..split].parse::<u64>().ok()? << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
obdfilter.fs-OST0001.stats=
snapshot_time             1795253598.05 secs.nsecs
read_bytes                14 samples [bytes] 1048576 4194304 50331648 197912092999680
statfs                    5 samples [usecs] 39 63 252 13214
obdfilter.fs-OST0001.job_stats=
job_stats:
- job_id:          python3.0
  snapshot_time:   1795251092.3 secs.nsecs
  read_bytes:      { samples:           6, unit: bytes, min:  4096, max:  2097152, sum:  10485760, sumsq:  197, hist: { 4K: 2, 2M: 4 } }
- job_id:          \"a b\"
  write_bytes:     { samples:           1, unit: bytes, min:  1, max:  1, sum:  1, sumsq:  1 }
obdfilter.fs-OST0001.exports.10.10.0.11@tcp.ldlm_stats=
ldlm_enqueue                        2 samples [reqs]
obdfilter.fs-OST0001.num_exports=3
";

    #[test]
    fn parses_stats_jobs_and_exports() {
        let counters = Counters::parse(TEXT);
        let stats = counters.stats("obdfilter.fs-OST0001.stats");
        let read = &stats["read_bytes"];
        assert_eq!((read.samples, read.min, read.max, read.sum), (14, 1_048_576, 4_194_304, 50_331_648));
        assert_eq!(stats.len(), 2);
        let jobs = counters.jobs("obdfilter.fs-OST0001.job_stats");
        assert_eq!(jobs[0].0, "python3.0");
        let hist = jobs[0].1["read_bytes"].hist.clone().unwrap();
        assert_eq!(hist, BTreeMap::from([(4096, 2), (2 << 20, 4)]));
        let read = &jobs[0].1["read_bytes"];
        assert_eq!((read.min, read.max, read.sum, read.sumsq), (4096, 2_097_152, 10_485_760, 197));
        assert_eq!((jobs[1].0.as_str(), jobs[1].1["write_bytes"].hist.clone()), ("a b", None));
        let exports = counters.exports("obdfilter", "ldlm_stats");
        assert_eq!((exports[0].0.as_str(), exports[0].1.as_str()), ("fs-OST0001", "10.10.0.11@tcp"));
        assert_eq!(exports[0].2["ldlm_enqueue"].samples, 2);
        assert_eq!(counters.devices("obdfilter"), ["fs-OST0001"]);
        assert_eq!(counters.stats("obdfilter.fs-OST0001.num_exports"), Stats::new());
    }
}
