//! Disk and network: what the service time of reads and writes was made of.

use std::borrow::Cow;

use lioprof_model::names::target_of;
use lioprof_model::{Analysis, ServiceSplit, SplitPart};
use serde::Serialize;

use super::limits::MAX_PARTS;
use super::number::Times;
use super::rows::senders;
use crate::object::object;

/// Rows of targets, servers and clients, the slowest of each.
pub(crate) fn service_parts(analysis: &Analysis) -> Vec<impl Serialize + use<'_>> {
    let all = &analysis.service_parts;
    let targets = all.targets.iter().map(|it| ("OST", target_of(it.target.as_deref(), &it.node), &it.parts)).collect();
    let servers = all.servers.iter().map(|it| ("server", it.node.as_str().into(), &it.parts)).collect();
    let of = senders(analysis);
    let clients = all.clients.iter().map(|it| (of(&it.nid), it.nid.as_str().into(), &it.parts)).collect();
    [targets, servers, clients].into_iter().flat_map(slowest).map(row).collect()
}

type Row<'a> = (&'static str, Cow<'a, str>, &'a ServiceSplit);

fn slowest(mut rows: Vec<Row<'_>>) -> Vec<Row<'_>> {
    rows.sort_by(|a, b| b.2.mean_service_us().total_cmp(&a.2.mean_service_us()).then(a.1.cmp(&b.1)));
    rows.truncate(MAX_PARTS);
    rows
}

fn row<'a>((of, name, parts): Row<'a>) -> impl Serialize + use<'a> {
    let part = |it: &SplitPart| {
        object!(PartView {
            us: Times::from(&it.us),
            // Own mean over the peers'.
            ratio: it.against_peers.and_then(|against| against.ratio),
        })
    };
    object!(PartsRow {
        of,
        name,
        direction: parts.direction,
        rpcs: parts.rpcs,
        mean_us: parts.mean_service_us(),
        before: part(&parts.before),
        transfer: part(&parts.transfer),
        after: part(&parts.after),
    })
}
