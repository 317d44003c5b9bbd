//! RPCs of which two logs tell.

use std::collections::BTreeMap;

use lioprof_model::Symbol;

use super::estimate::Bounds;
use super::sample::{Exchanges, Handled, Identified, Kept, Sent};

/// What a node's log has to say about clocks.
pub(crate) struct NodeLog<'a> {
    pub(crate) exchanges: &'a Exchanges,
    /// It is a client: nobody's reference.
    pub(crate) is_client: bool,
    /// Time of its first and last record.
    pub(crate) span_us: Option<(i64, i64)>,
}

/// Two nodes (positions in the list of nodes, the smaller one first) and the RPCs between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Link {
    /// Of the second node's clock over the first one's.
    pub(crate) bounds: Bounds,
    pub(crate) pairs: u64,
}

/// An RPC of which two logs tell; nodes are positions in the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) sender: usize,
    pub(crate) receiver: usize,
    pub(crate) sent: Sent,
    pub(crate) handled: Handled,
    /// NID of the sender.
    pub(crate) nid: Symbol,
    /// One in so many RPCs between the two was looked for.
    pub(crate) one_in: u64,
}

/// RPCs of which two logs tell.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) links: BTreeMap<(usize, usize), Link>,
    pub(crate) of_clients: Vec<Pair>,
}

/// Finds the RPCs that one node sent and another one handled.
///
/// An xid counts the RPCs of one node, and two nodes that were started in the same second count alike: so the uuid of
/// the sending device and the opcode must be the same, too. What is there twice was sent again, or replayed, and nobody
/// knows which answer belongs to which request.
pub(crate) fn find(nodes: &[NodeLog<'_>]) -> Found {
    let sent = once(nodes, |log| log.exchanges.all_sent().collect());
    let handled = once(nodes, |log| log.exchanges.all_handled().collect());
    let mut found = Found::default();
    let mut handled = handled.into_iter().peekable();
    for (sender, sent) in sent {
        let id = sent.rpc.id;
        while handled.next_if(|(_, other)| other.rpc.id < id).is_some() {}
        let Some((receiver, handled)) = handled.next_if(|(_, other)| other.rpc.id == id) else { continue };
        if sender == receiver || !plausible(&sent.rpc, &handled.rpc) {
            continue;
        }
        let link = found.links.entry((sender.min(receiver), sender.max(receiver))).or_default();
        link.pairs += 1;
        if sender < receiver {
            link.bounds.forth(&sent.rpc, &handled.rpc);
        } else {
            link.bounds.back(&sent.rpc, &handled.rpc);
        }
        if nodes[sender].is_client {
            let one_in = sent.one_in.max(handled.one_in);
            let (sent, nid, handled) = (sent.rpc, handled.nid, handled.rpc);
            found.of_clients.push(Pair { sender, receiver, sent, handled, nid, one_in });
        }
    }
    found
}

/// What is there once, in order, with its node.
fn once<T: Identified + Copy>(
    nodes: &[NodeLog<'_>],
    all: impl Fn(&NodeLog<'_>) -> Vec<Kept<T>>,
) -> Vec<(usize, Kept<T>)> {
    let of_node = |(node, log)| all(log).into_iter().map(move |kept| (node, kept));
    let mut list: Vec<_> = nodes.iter().enumerate().flat_map(of_node).collect();
    list.sort_by_key(|(_, kept)| kept.rpc.id());
    let id = |at: usize| list.get(at).map(|(_, kept)| kept.rpc.id());
    let single: Vec<bool> =
        (0..list.len()).map(|at| id(at) != id(at + 1) && (at == 0 || id(at) != id(at - 1))).collect();
    list.into_iter().zip(single).filter_map(|(it, single)| single.then_some(it)).collect()
}

/// Whatever the clocks show, an RPC is not answered in less time than it waited at the receiver.
fn plausible(sent: &Sent, handled: &Handled) -> bool {
    sent.answered_us - sent.sent_us >= handled.start_us - handled.arrival_us
}
