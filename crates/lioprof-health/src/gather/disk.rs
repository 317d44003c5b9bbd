//! Disk I/O of a target, from `brw_stats` (see [`lioprof_params::brw`] for its form).

use lioprof_params::brw::{self, Bucket};
use lioprof_params::{OSDS, Tree, size_bytes};

use crate::facts::{DiskHistogram, DiskIo};

/// Histogram of the durations of disk I/O, milliseconds.
const TIMES: &str = "io_time";

/// The buckets of a target; `None` if there is no such file.
pub(super) fn buckets(tree: &mut Tree, target: &str) -> Option<Vec<Bucket>> {
    let mut read = |kind: &'static str, dir: &str| tree.read(kind, &format!("{dir}/{target}/brw_stats"));
    // To 2.14 the OST has it, too.
    let text = OSDS.iter().find_map(|osd| read("osd brw_stats", osd)).or_else(|| read("ost brw_stats", "obdfilter"))?;
    Some(brw::parse(&text))
}

pub(super) fn read(tree: &mut Tree, target: &str) -> Option<DiskIo> {
    let buckets = buckets(tree, target)?;
    Some(DiskIo { sizes: histogram(&buckets, "disk_io_size"), fragments: histogram(&buckets, "disk_fragmented_ios") })
}

/// Durations of disk I/O.
pub(super) fn times(buckets: &[Bucket]) -> DiskHistogram {
    histogram(buckets, TIMES)
}

fn histogram(buckets: &[Bucket], name: &str) -> DiskHistogram {
    let mut histogram = DiskHistogram::default();
    for bucket in buckets.iter().filter(|bucket| bucket.histogram == name) {
        let Some(end) = size_bytes(&bucket.bucket) else { continue };
        if bucket.read > 0 {
            *histogram.reads.entry(end).or_default() += bucket.read;
        }
        if bucket.write > 0 {
            *histogram.writes.entry(end).or_default() += bucket.write;
        }
    }
    histogram
}
