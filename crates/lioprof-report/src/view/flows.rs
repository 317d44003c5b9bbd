//! Who used which OST: the busiest clients and targets, and the others.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::{Accused, Analysis, Flow, Io};
use serde::Serialize;

use super::limits::MATRIX;
use super::names::NameNumbers;
use super::number::IoView;
use super::rows::moved;
use crate::object::object;

/// A row or a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "is", content = "number")]
pub(crate) enum Slot {
    /// One client or target.
    One(u32),
    /// I/O whose OST is unknown.
    Unknown,
    /// All that have none of their own.
    Others,
}

/// Client x target. A row or column is the number of a name; see [`Slot`] for the others.
pub(crate) fn matrix<'a>(analysis: &'a Analysis, names: &mut NameNumbers<'a>) -> impl Serialize + use<> {
    let flows: Vec<&Flow> = analysis.flows.iter().filter(|it| it.read.rpcs + it.write.rpcs > 0).collect();
    let (rows, columns) = MATRIX;
    let accused = (Accused::clients(analysis), Accused::targets(analysis));
    let by_client = busiest(&accused.0, flows.iter().map(|it| (it.nid.as_str(), moved(&it.read, &it.write), rpcs(it))));
    let known = flows.iter().filter_map(|it| Some((it.target.as_deref()?, moved(&it.read, &it.write), rpcs(it))));
    let by_target = busiest(&accused.1, known);

    let own_clients: BTreeMap<&str, usize> = by_client.iter().take(rows).enumerate().map(|(i, it)| (*it, i)).collect();
    let mut shown: Vec<&str> = by_target.iter().take(columns).copied().collect();
    shown.sort_unstable();
    let own_targets: BTreeMap<&str, usize> = shown.iter().enumerate().map(|(i, it)| (*it, i)).collect();
    let mut clients: Vec<Slot> = by_client.iter().take(rows).map(|it| Slot::One(names.client(it))).collect();
    let mut targets: Vec<Slot> = shown.iter().map(|it| Slot::One(names.target(it))).collect();
    let (other_clients, other_targets) =
        (by_client.len().saturating_sub(rows), by_target.len().saturating_sub(columns));
    let other_row = clients.len();
    if other_clients > 0 {
        clients.push(Slot::Others);
    }
    let other_column = targets.len();
    if other_targets > 0 {
        targets.push(Slot::Others);
    }
    let unknown_column = targets.len();
    if flows.iter().any(|it| it.target.is_none()) {
        targets.push(Slot::Unknown);
    }

    let mut cells: BTreeMap<(usize, usize), (Io, Io)> = BTreeMap::new();
    for flow in flows {
        let row = own_clients.get(flow.nid.as_str()).copied().unwrap_or(other_row);
        let column = match flow.target.as_deref() {
            Some(target) => own_targets.get(target).copied().unwrap_or(other_column),
            None => unknown_column,
        };
        let (read, write) = cells.entry((row, column)).or_default();
        read.merge(&flow.read);
        write.merge(&flow.write);
    }
    let cells = cells.into_iter().map(|((row, column), (read, write))| {
        object!(Cell { row, column, read: IoView::from(&read), write: IoView::from(&write) })
    });
    let cells = cells.collect::<Vec<_>>();
    // The others: how many clients and targets are in the last row and column.
    object!(Matrix { clients, targets, other_clients, other_targets, cells })
}

fn rpcs(flow: &Flow) -> u64 {
    flow.read.rpcs + flow.write.rpcs
}

/// Names by the findings that name them, then by bytes, then RPCs, then name.
fn busiest<'a>(accused: &Accused<'_>, figures: impl Iterator<Item = (&'a str, u64, u64)>) -> Vec<&'a str> {
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (name, bytes, rpcs) in figures {
        let sum = sums.entry(name).or_default();
        *sum = (sum.0.saturating_add(bytes), sum.1.saturating_add(rpcs));
    }
    let order: BTreeSet<_> =
        sums.into_iter().map(|(name, sum)| (accused.place(name), std::cmp::Reverse(sum), name)).collect();
    order.into_iter().map(|(.., name)| name).collect()
}
