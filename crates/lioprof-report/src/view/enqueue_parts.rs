//! Lock requests: what their time was made of.

use std::borrow::Cow;

use lioprof_model::names::target_of;
use lioprof_model::{Analysis, EnqueuePart, EnqueueSplit};
use serde::Serialize;

use super::limits::MAX_PARTS;
use super::number::{Exact, Times};
use super::rows::senders;
use crate::object::object;

/// Rows of all requests, of targets and of clients: of each those that took longest in sum. Empty if no parts are known.
pub(crate) fn enqueue_parts(analysis: &Analysis) -> Vec<impl Serialize + use<'_>> {
    let it = &analysis.enqueue_parts;
    let all = vec![("all", "all requests".into(), &it.all)];
    let targets =
        it.targets.iter().map(|it| ("target", target_of(it.target.as_deref(), &it.node), &it.parts)).collect();
    let of = senders(analysis);
    let clients = it.clients.iter().map(|it| (of(&it.nid), it.nid.as_str().into(), &it.parts)).collect();
    [all, targets, clients].into_iter().flat_map(longest).map(row).collect()
}

type Row<'a> = (&'static str, Cow<'a, str>, &'a EnqueueSplit);

fn longest(mut rows: Vec<Row<'_>>) -> Vec<Row<'_>> {
    rows.retain(|(_, _, parts)| parts.known() > 0);
    rows.sort_by(|a, b| b.2.total.sum_us.cmp(&a.2.total.sum_us).then(a.1.cmp(&b.1)));
    rows.truncate(MAX_PARTS);
    rows
}

fn row<'a>((of, name, parts): Row<'a>) -> impl Serialize + use<'a> {
    let part = |it: &EnqueuePart| object!(EnqueuePartView { us: Times::from(&it.us), sum_us: it.sum_us.map(Exact) });
    object!(EnqueueRow {
        of,
        name,
        enqueues: parts.enqueues,
        unknown: parts.unknown,
        waited: parts.waited,
        total: part(&parts.total),
        queue: part(&parts.queue),
        service: part(&parts.service),
        lock_wait: part(&parts.lock_wait),
        other_wait: part(&parts.other_wait),
    })
}
