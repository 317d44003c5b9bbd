//! `brw_stats`: after `lprocfs_stats_seq_show` for histograms in osd-ldiskfs `osd_lproc.c`.
//!
//! Each RPC is one disk I/O here; a real OSD may split or merge them.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::job_stats::human;
use super::stats::{Clock, seconds};
use crate::counters::{Sizes, Traffic};

/// A page has 2^12 bytes.
const PAGE_EXPONENT: u32 = 12;

/// Disk I/O of a target.
pub(super) fn text(clock: Clock, traffic: &Traffic) -> String {
    let mut text = String::new();
    for (name, us) in [
        ("snapshot_time:", clock.now_us),
        ("start_time:", clock.since_us),
        ("elapsed_time:", (clock.now_us - clock.since_us).max(0)),
    ] {
        writeln!(text, "{name:<26}{} secs.nsecs", seconds(us)).unwrap_or_default();
    }
    table(&mut text, "pages per bulk r/w     rpcs", "rpcs", traffic, |exponent| exponent.saturating_sub(PAGE_EXPONENT));
    table(&mut text, "disk I/O size          ios ", "ios ", traffic, |exponent| exponent);
    text
}

fn table(text: &mut String, title: &str, unit: &str, traffic: &Traffic, bucket: impl Fn(u32) -> u32) {
    let put = |sizes: &Sizes| {
        let mut buckets = Sizes::new();
        for (exponent, rpcs) in sizes {
            *buckets.entry(bucket(*exponent)).or_default() += rpcs;
        }
        buckets
    };
    let (reads, writes) = (put(&traffic.read_sizes), put(&traffic.write_sizes));
    let (all_reads, all_writes): (u64, u64) = (reads.values().sum(), writes.values().sum());
    writeln!(text, "\n                           read      |     write").unwrap_or_default();
    writeln!(text, "{title}  % cum % |  {unit}        % cum %").unwrap_or_default();
    let (mut seen_reads, mut seen_writes) = (0, 0);
    let share = |part: u64, all: u64| (part * 100).checked_div(all).unwrap_or(0);
    for exponent in reads.keys().chain(writes.keys()).copied().collect::<BTreeSet<u32>>() {
        let of = |sizes: &Sizes| sizes.get(&exponent).copied().unwrap_or(0);
        let (read, write) = (of(&reads), of(&writes));
        seen_reads += read;
        seen_writes += write;
        writeln!(
            text,
            "{}:\t\t{read:>10} {:>3} {:>3}   | {write:>4} {:>3} {:>3}",
            human(exponent),
            share(read, all_reads),
            share(seen_reads, all_reads),
            share(write, all_writes),
            share(seen_writes, all_writes),
        )
        .unwrap_or_default();
    }
}
