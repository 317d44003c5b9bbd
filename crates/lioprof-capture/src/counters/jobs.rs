//! `job_stats`: YAML, one block per job.
//!
//! ```text
//! job_stats:
//! - job_id:          "a b\x22"
//!   snapshot_time:   1795251092.317132129 secs.nsecs
//!   start_time:      1795251084.549097144 secs.nsecs
//!   read_bytes:      { samples:           6, unit: bytes, min:  4096, max:  2097152, sum:  10485760, sumsq: 197, hist: { 4K: 2, 2M: 4 } }
//! ```
//!
//! (obdclass/lprocfs_jobstats.c.) Recent versions quote ids with odd characters and print these as `\xHH`; the debug log
//! prints ids as they are. The file may be many megabytes long, so it is read line by line.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use lioprof_model::time::unix_seconds;

use lioprof_params::{Counter, Stats, size_bytes};

/// Longest line that is taken for one; the longest real ones, with `hist{}`, have about 500 bytes.
const MAX_LINE_BYTES: u64 = 16 * 1024;

/// One job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) id: String,
    pub(super) stats: Stats,
    /// `hist{}` (2.17 and later): counter, upper bound in bytes, samples.
    pub(super) hist: Vec<(Box<str>, u64, u64)>,
}

/// Hands over each job of a `job_stats` file until `each` says stop (`false`). Returns whether all were handed over.
pub(super) fn parse(mut input: impl BufRead, mut each: impl FnMut(Job) -> bool) -> io::Result<bool> {
    let mut job: Option<Job> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut input).take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if let Some(id) = text.strip_prefix("- job_id:") {
            let next = Job { id: unquote(id.trim_start()).into_owned(), ..Job::default() };
            if job.replace(next).is_some_and(|done| !each(done)) {
                return Ok(false);
            }
        } else if let Some(job) = &mut job {
            job.line(text);
        }
    }
    Ok(job.is_none_or(each))
}

impl Job {
    fn line(&mut self, text: &str) {
        let Some((name, value)) = text.trim_start().split_once(':') else { return };
        let value = value.trim();
        if name == "start_time" {
            self.stats.start_us = value.split_ascii_whitespace().next().and_then(unix_seconds);
        }
        let Some(fields) = value.strip_prefix('{') else { return };
        let (fields, hist) = fields.split_once("hist:").unwrap_or((fields, ""));
        let field = |wanted: &str| {
            let mut fields = fields.split(',').filter_map(|field| field.split_once(':'));
            fields.find(|(name, _)| name.trim() == wanted)?.1.trim_matches([' ', '}']).parse::<u64>().ok()
        };
        // Counters that counted nothing are printed, too.
        let Some(samples) = field("samples").filter(|&samples| samples > 0) else { return };
        let line = Counter { samples, min: field("min"), max: field("max"), sum: field("sum"), sumsq: field("sumsq") };
        self.stats.lines.insert(name.into(), line);
        let buckets = hist.split(',').filter_map(|bucket| bucket.split_once(':'));
        self.hist.extend(buckets.filter_map(|(le, samples)| {
            let samples = samples.trim_matches([' ', '}']).parse().ok()?;
            Some((name.into(), size_bytes(le.trim_matches([' ', '{']))?, samples))
        }));
    }
}

/// Takes away quotes and escapes. Bytes that are no UTF-8 become the replacement character.
fn unquote(text: &str) -> Cow<'_, str> {
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let Some(inner) = inner.filter(|inner| inner.contains('\\')) else {
        return Cow::Borrowed(inner.unwrap_or(text));
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let (byte, tail) = match (first, tail) {
            (b'\\', [b'x', high, low, tail @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                (hex(*high) << 4 | hex(*low), tail)
            }
            (b'\\', [escaped @ (b'\\' | b'"'), tail @ ..]) => (*escaped, tail),
            _ => (first, tail),
        };
        bytes.push(byte);
        rest = tail;
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// A hexadecimal digit.
fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit.saturating_sub(b'A') + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Job> {
        let mut jobs = Vec::new();
        let whole = parse(text.as_bytes(), |job| {
            jobs.push(job);
            true
        });
        assert!(whole.unwrap());
        jobs
    }

    const TEXT: &str = "\
job_stats:
- job_id:          python3.0
  snapshot_time:   1795251092.317132129 secs.nsecs
  start_time:      1795251084.549097144 secs.nsecs
  read_bytes:      { samples:           6, unit: bytes, min:  1048576, max:  2097152, sum:         10485760, sumsq:     19791209299968, hist: { 1M: 2, 2M: 4 } }
  write_bytes:     { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0 }
  sync:            { samples:           2, unit: usecs, min:       28, max:     4518, sum:             4546, sumsq:           20413108 }
- job_id:          old
  snapshot_time:   1795251092
  read_bytes:      { samples:           1, unit: bytes, min:    4096, max:    4096, sum:            4096 }
  statfs:          { samples:           7, unit:  reqs }
";

    #[test]
    fn new_and_old_blocks() {
        let jobs = all(TEXT);
        assert_eq!(jobs.iter().map(|job| job.id.as_str()).collect::<Vec<_>>(), ["python3.0", "old"]);
        assert_eq!(jobs[0].stats.start_us, Some(1_795_251_084_549_097));
        let read = jobs[0].stats.get("read_bytes").unwrap();
        assert_eq!((read.samples, read.min, read.max), (6, Some(1_048_576), Some(2_097_152)));
        assert_eq!((read.sum, read.sumsq), (Some(10_485_760), Some(19_791_209_299_968)));
        assert_eq!(jobs[0].stats.get("write_bytes"), None);
        assert_eq!(jobs[0].hist, [("read_bytes".into(), 1 << 20, 2), ("read_bytes".into(), 2 << 20, 4)]);
        assert_eq!(jobs[1].stats.start_us, None);
        assert_eq!(jobs[1].stats.get("read_bytes").unwrap().sum, Some(4096));
        assert_eq!(jobs[1].stats.get("statfs").unwrap().samples, 7);
    }

    #[test]
    fn ids_are_as_in_the_debug_log() {
        let cases = [
            ("python3.0", "python3.0"),
            (r#""a b""#, "a b"),
            (r#""a\x22b\x5C\x0a""#, "a\"b\\\n"),
            (r#""\"q\\""#, "\"q\\"),
            (r#""\xC3\xA9""#, "é"),
            (r#""\xZZ\x1""#, r"\xZZ\x1"),
            (r#"""#, r#"""#),
        ];
        for (printed, id) in cases {
            assert_eq!(unquote(printed), id, "{printed}");
        }
    }

    #[test]
    fn stops_when_told_and_survives_rubbish() {
        let mut seen = 0;
        let whole = parse(TEXT.as_bytes(), |_| {
            seen += 1;
            false
        });
        assert!(!whole.unwrap());
        assert_eq!(seen, 1);
        for text in ["", "job_stats:\n", "- job_id:", "read_bytes: {", "- job_id: x\n  a: { samples: ,,, hist: { : } }"]
        {
            assert!(all(text).len() <= 1);
        }
        let long = format!("- job_id: {}\n", "x".repeat(100_000));
        assert_eq!(all(&long).len(), 1, "a line without end is cut, not kept");
    }

    #[test]
    fn sizes() {
        assert_eq!(size_bytes("512"), Some(512));
        assert_eq!(size_bytes("4K"), Some(4096));
        assert_eq!(size_bytes("16M"), Some(16 << 20));
        assert_eq!(size_bytes("4é"), None);
        assert_eq!(size_bytes(""), None);
    }
}
