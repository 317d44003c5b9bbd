//! Sums to [`EnqueueParts`].

use lioprof_model::{ClientEnqueues, EnqueuePart, EnqueueParts, EnqueueSplit, Symbols, TargetEnqueues};

use super::sums::{EnqueueSum, EnqueueSums};
use crate::cells::Times;

/// Fills [`EnqueueParts`].
pub(crate) fn finish(sums: &EnqueueSums, symbols: &Symbols) -> EnqueueParts {
    let mut all = EnqueueSum::default();
    sums.targets.values().for_each(|sum| all.merge(sum));
    let target = |(&(node, target), sum): (&_, &_)| TargetEnqueues {
        target: Option::map(target, |target: lustre_debuglog::TargetName| target.to_string()),
        node: symbols.text(node),
        parts: split(sum),
    };
    let mut targets: Vec<TargetEnqueues> = sums.targets.iter().map(target).collect();
    targets.sort_by(|a, b| (&a.target, &a.node).cmp(&(&b.target, &b.node)));
    let client = |(&nid, sum): (&_, &_)| ClientEnqueues { nid: symbols.text(nid), parts: split(sum) };
    let mut clients: Vec<ClientEnqueues> = sums.clients.iter().map(client).collect();
    clients.sort_by(|a, b| a.nid.cmp(&b.nid));
    EnqueueParts { all: split(&all), targets, clients }
}

fn split(sum: &EnqueueSum) -> EnqueueSplit {
    let without_wait: u64 = sum.lock_wait.counts().filter(|(bucket, _)| *bucket == 0).map(|(_, count)| count).sum();
    EnqueueSplit {
        enqueues: sum.total.count() + sum.unknown,
        unknown: sum.unknown,
        waited: sum.lock_wait.count() - without_wait,
        total: part(&sum.total),
        queue: part(&sum.queue),
        service: part(&sum.service),
        lock_wait: part(&sum.lock_wait),
        other_wait: part(&sum.other_wait),
    }
}

fn part(times: &Times) -> EnqueuePart {
    let sum_us = (times.count() > 0).then(|| u64::try_from(times.sum_us()).unwrap_or(u64::MAX));
    EnqueuePart { us: times.distribution(), sum_us }
}
