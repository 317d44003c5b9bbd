//! What the capture is of.

use std::collections::BTreeSet;

use lioprof_model::{Analysis, LockEvidence, Node, NodeRole, SizeEvidence};
use serde::Serialize;

use super::limits::MAX_SERVERS;
use super::number::Exact;
use crate::object::object;

/// Servers, file systems, files, and the masks of which there are lines.
pub(crate) fn capture(analysis: &Analysis) -> impl Serialize + use<'_> {
    let server = |it: &'_ Node| (it.name.clone(), it.role.map(|role| role.name()));
    let system = |name: &str| Some(name.rsplit_once('-')?.0.to_owned());
    let has_bulk = analysis.totals.size_evidence.get(&SizeEvidence::Bulk).is_some_and(|rpcs| *rpcs > 0);
    let has_locks = analysis.locks.as_ref().is_some_and(|it| it.evidence != LockEvidence::Rpctrace);
    let masks = [("rpctrace", analysis.totals.rpcs > 0), ("dlmtrace", has_locks), ("net", has_bulk)];
    object!(Capture {
        // Name, and what it serves.
        servers: analysis.nodes.iter().filter(|it| is_server(it)).take(MAX_SERVERS).map(server).collect::<Vec<_>>(),
        file_systems: analysis.targets.iter().filter_map(|it| system(&it.name)).collect::<BTreeSet<_>>(),
        files: analysis.inputs.len(),
        bytes: Exact(analysis.inputs.iter().map(|it| it.bytes).sum()),
        masks: masks.into_iter().filter(|(_, seen)| *seen).map(|(mask, _)| mask).collect::<Vec<_>>(),
    })
}

/// Logs of clients are inputs like those of servers.
pub(super) fn is_server(node: &Node) -> bool {
    node.role != Some(NodeRole::Client)
}
