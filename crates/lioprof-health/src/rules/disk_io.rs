//! Small and fragmented disk I/O.

use std::collections::BTreeMap;

use lioprof_model::units::{percent, real, share};
use lioprof_stats::Share;

use super::rule::{Draft, Rule};
use super::state::all_targets;
use crate::facts::{DiskHistogram, ServerFacts};
use crate::outcome::Status::Warning;

/// Share of bulk requests that take more than one disk I/O, from which an OST's free space is fragmented.
const FRAGMENTED: f64 = 0.25;
/// Share of disk I/Os that are small, from which disks with a RAID lose most of their bandwidth.
const SMALL: f64 = 0.50;
/// An I/O of fewer bytes is small: a stripe of a RAID's disk has this size or more.
const SMALL_BYTES: u64 = 64 << 10;

pub(super) const DISK_IO: Rule = Rule {
    id: "disk_io",
    title: "disk I/O in one piece, and large",
    noun: "OST",
    expected: "certainly fewer than 25 % of bulk requests in several disk I/Os, and fewer than 50 % of disk I/Os below 64 KiB",
    remedy: "The counters hold everything since the mount or since they were cleared, so it may be the work of one application. Small \
             I/O comes from clients: larger writes, aligned to the stripe. Requests in many parts come from fragmented free space on \
             a full OST, or from a device whose max_sectors_kb is below the RPC size.",
    check: disk_io,
};

fn disk_io(servers: &[ServerFacts], draft: &mut Draft) {
    for (facts, target) in all_targets(servers).filter(|(_, target)| target.kind == "ost") {
        let Some(disk) = draft.fact(&target.disk_io, &facts.server, &target.name) else { continue };
        let wrong: Vec<String> = [
            exceeds(&disk.fragments, |parts| parts > 1, FRAGMENTED, "in several disk I/Os"),
            exceeds(&disk.sizes, |end_bytes| end_bytes < SMALL_BYTES, SMALL, "below 64 KiB"),
        ]
        .concat();
        draft.judge(&facts.server, &target.name, (!wrong.is_empty()).then(|| (Warning, wrong.join("; "))));
    }
}

/// Where the share of those that are `bad` is certain to reach the limit, for reads and for writes. A bucket's number is its upper end.
fn exceeds(histogram: &DiskHistogram, bad: fn(u64) -> bool, limit: f64, how: &str) -> Vec<String> {
    let one = |(what, counts): (&str, &BTreeMap<u64, u64>)| {
        let all: u64 = counts.values().sum();
        let hits: u64 = counts.iter().filter(|(end, _)| bad(**end)).map(|(_, count)| count).sum();
        let certain = all > 0 && Share::of(real(hits), real(all)).proves(limit);
        certain.then(|| format!("{} of {all} {what} {how}", percent(share(hits, all), 0)))
    };
    [("reads", &histogram.reads), ("writes", &histogram.writes)].into_iter().filter_map(one).collect()
}
