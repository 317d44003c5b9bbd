//! The account of the time, in which each client and each job has a row per target.

use std::collections::BTreeMap;

use crate::time_account::{SpentOn, TimeAccount, TimeOf, TimeSpent};

/// Things that a client or a job spent time on, most first; what is left is summed up by kind.
const SPENT: usize = 16;

pub(super) fn bounded(account: &TimeAccount) -> TimeAccount {
    TimeAccount {
        resolution_us: account.resolution_us,
        all: account.all.clone(),
        clients: account.clients.iter().map(cut).collect(),
        jobs: account.jobs.iter().map(cut).collect(),
        series: account.series.clone(),
    }
}

fn cut(of: &TimeOf) -> TimeOf {
    let mut cut = TimeOf { name: of.name.clone(), spent: Vec::new(), ..*of };
    if of.spent.len() <= SPENT {
        cut.spent.clone_from(&of.spent);
        return cut;
    }
    let (kept, rest) = of.spent.split_at(SPENT);
    let mut by_kind: BTreeMap<SpentOn, TimeSpent> = BTreeMap::new();
    for spent in rest {
        let sum = by_kind.entry(spent.on).or_insert_with(|| TimeSpent::new(spent.on, None, String::new(), 0));
        sum.us += spent.us;
        sum.excess_us = [sum.excess_us, spent.excess_us].into_iter().flatten().reduce(|a, b| a + b);
    }
    cut.spent = kept.iter().cloned().chain(by_kind.into_values()).collect();
    cut
}
