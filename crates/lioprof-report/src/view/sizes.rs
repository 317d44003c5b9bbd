//! RPC sizes.

use lioprof_model::{Analysis, SizeBucket, SizeHistogram};
use serde::Serialize;

use super::names::NameNumbers;
use crate::object::object;

/// Targets with histograms of their own.
const MAX_TARGETS: usize = 200;

pub(crate) fn sizes(analysis: &Analysis, names: &NameNumbers<'_>) -> impl Serialize + use<> {
    let (mut read, mut write) = (SizeHistogram::default(), SizeHistogram::default());
    for target in super::rows::osts(analysis) {
        read.merge(&target.read.size_hist);
        write.merge(&target.write.size_hist);
    }
    let mut by_rpcs: Vec<_> = super::rows::osts(analysis).collect();
    by_rpcs.sort_by_key(|it| std::cmp::Reverse(it.read.io.rpcs + it.write.io.rpcs));
    let own = by_rpcs.into_iter().take(MAX_TARGETS).filter_map(|it| {
        Some(object!(TargetSizes {
            target: names.known_target(&it.name)?,
            read: buckets(&it.read.size_hist),
            write: buckets(&it.write.size_hist),
        }))
    });
    let targets = own.collect::<Vec<_>>();
    object!(Sizes { read: buckets(&read), write: buckets(&write), targets })
}

/// `[upper bound in bytes, RPCs, of these with estimated sizes]`.
fn buckets(hist: &SizeHistogram) -> Vec<(u64, u64, u64)> {
    let bucket = |it: &SizeBucket| (it.le_bytes, it.rpcs, it.bounded_rpcs);
    hist.buckets().iter().map(bucket).collect()
}
