//! Parts of the time of lock requests as tables, and back.

use lioprof_model::Symbols;
use lioprof_model::parts::Bucket;
use lioprof_model::parts::rollup::{EnqueueTime, EnqueueTimes, EnqueuesOf};

use super::sums::{EnqueueSum, EnqueueSums};
use crate::cells::Times;
use crate::parts::{BadPart, optional_target};

/// The rows of a node, by name.
pub(in super::super) fn export(sums: &EnqueueSums, node: &str, symbols: &Symbols) -> Vec<EnqueueTimes> {
    let mut rows = Vec::new();
    for ((_, target), sum) in &sums.targets {
        add_rows(sum, (node, EnqueuesOf::Target, target.map(|target| target.to_string())), &mut rows);
    }
    for (nid, sum) in &sums.clients {
        add_rows(sum, (node, EnqueuesOf::Client, Some(symbols.text(*nid))), &mut rows);
    }
    rows.sort_by(|a, b| (a.whose, &a.name, a.part, a.times.bucket).cmp(&(b.whose, &b.name, b.part, b.times.bucket)));
    rows
}

fn add_rows(sum: &EnqueueSum, (node, whose, name): (&str, EnqueuesOf, Option<String>), to: &mut Vec<EnqueueTimes>) {
    let EnqueueSum { unknown, total, queue, service, lock_wait, other_wait } = sum;
    let row = |part, times| EnqueueTimes { node: node.to_owned(), whose, name: name.clone(), part, times };
    for (part, times) in [
        (EnqueueTime::Total, total),
        (EnqueueTime::Queue, queue),
        (EnqueueTime::Service, service),
        (EnqueueTime::LockWait, lock_wait),
        (EnqueueTime::OtherWait, other_wait),
    ] {
        to.extend(times.buckets().into_iter().map(|times| row(part, times)));
    }
    if *unknown > 0 {
        to.push(row(EnqueueTime::Unknown, Bucket { count: *unknown, ..Bucket::default() }));
    }
}

/// Adds rows to the sums.
pub(in super::super) fn import(
    rows: &[EnqueueTimes],
    symbols: &mut Symbols,
    sums: &mut EnqueueSums,
) -> Result<(), BadPart> {
    for row in rows {
        let sum = match row.whose {
            EnqueuesOf::Target => {
                let key = (symbols.intern(row.node.as_bytes()), optional_target(row.name.as_ref())?);
                sums.targets.entry(key).or_default()
            }
            EnqueuesOf::Client => {
                let nid = row.name.as_ref().ok_or_else(|| BadPart::new("the NID of a client", "null"))?;
                sums.clients.entry(symbols.intern(nid.as_bytes())).or_default()
            }
        };
        let times: &mut Times = match row.part {
            EnqueueTime::Unknown => {
                sum.unknown += row.times.count;
                continue;
            }
            EnqueueTime::Total => &mut sum.total,
            EnqueueTime::Queue => &mut sum.queue,
            EnqueueTime::Service => &mut sum.service,
            EnqueueTime::LockWait => &mut sum.lock_wait,
            EnqueueTime::OtherWait => &mut sum.other_wait,
        };
        times.add_bucket(&row.times);
    }
    Ok(())
}
