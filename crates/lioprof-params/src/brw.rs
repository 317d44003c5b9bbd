//! `brw_stats` of an OSD: histograms of disk I/O.
//!
//! ```text
//!                            read      |     write
//! pages per bulk r/w     rpcs  % cum % |  rpcs        % cum %
//! 256:                     0   0   0   |    2  50  50
//! 1K:                      0   0   0   |    2  50 100
//! ```
//!
//! (obdclass/lprocfs_status.c and osd-*/osd_lproc.c.) These count disk I/O, not RPCs: reads from the cache are not in it.

/// One bucket of one histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Histogram, `pages_per_bulk_rw`.
    pub histogram: String,
    /// Bucket as printed, `1K`.
    pub bucket: Box<str>,
    /// Reads.
    pub read: u64,
    /// Writes.
    pub write: u64,
}

/// The buckets that counted anything.
#[must_use]
pub fn parse(text: &str) -> Vec<Bucket> {
    let mut histogram = String::new();
    let mut buckets = Vec::new();
    for line in text.lines() {
        let Some((left, right)) = line.split_once('|') else { continue };
        if let Some((bucket, read)) = left.split_once(':') {
            let first = |text: &str| text.split_ascii_whitespace().next().and_then(|word| word.parse::<u64>().ok());
            if let (Some(read), Some(write)) = (first(read), first(right))
                && read + write > 0
                && !histogram.is_empty()
            {
                buckets.push(Bucket { histogram: histogram.clone(), bucket: bucket.trim().into(), read, write });
            }
        } else if left.contains('%') {
            histogram = name(left);
        }
    }
    buckets
}

/// `disk I/O size          ios   % cum % ` as `disk_io_size`; unit of count and percentages are left out.
fn name(heading: &str) -> String {
    let end = heading.find("  ").unwrap_or(heading.len());
    let mut name = String::new();
    // `(1/1000s)` says that the buckets are milliseconds.
    for word in heading[..end].split_ascii_whitespace().filter(|word| !word.starts_with('(')) {
        let letters = word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase());
        if !name.is_empty() {
            name.push('_');
        }
        name.extend(letters);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From an OST of Lustre 2.17.57.
    const TEXT: &str = "\
snapshot_time:            1795251098.258265123 secs.nsecs
start_time:               1795251079.714791314 secs.nsecs
elapsed_time:             18.543473809 secs.nsecs

                           read      |     write
pages per bulk r/w     rpcs  % cum % |  rpcs        % cum %
256:\t\t         0   0   0   |    2  50  50
512:\t\t         0   0   0   |    0   0  50
1K:\t\t         3 100 100   |    2  50 100

                           read      |     write
discontiguous pages    rpcs  % cum % |  rpcs        % cum %

                           read      |     write
I/O time (1/1000s)     ios   % cum % |  ios         % cum %
16:\t\t         0   0   0   |    1  25 100

                           read      |     write
disk I/O size          ios   % cum % |  ios         % cum %
1M:\t\t         0   0   0   |    6  60  60
";

    #[test]
    fn buckets_of_all_histograms() {
        let rows: Vec<String> = parse(TEXT)
            .into_iter()
            .map(|it| format!("{} {} {} {}", it.histogram, it.bucket, it.read, it.write))
            .collect();
        let expected =
            ["pages_per_bulk_rw 256 0 2", "pages_per_bulk_rw 1K 3 2", "io_time 16 0 1", "disk_io_size 1M 0 6"];
        assert_eq!(rows, expected);
    }

    #[test]
    fn rubbish_gives_nothing() {
        for text in ["", "|", "1: 2 | 3", "a  % |\n: x | y\n1K: -1 | 2"] {
            assert_eq!(parse(text), []);
        }
    }
}
