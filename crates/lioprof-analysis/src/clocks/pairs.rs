//! RPCs of which two logs tell.

use std::collections::BTreeMap;

use super::estimate::Bounds;
use super::sample::{Exchanges, Handled, Identity, Sent};

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

/// Finds the RPCs that one node sent and another one handled.
///
/// An xid counts the RPCs of one node, and two nodes that were started in the same second count alike: so the uuid of
/// the sending device and the opcode must be the same, too. What is there twice was sent again, or replayed, and nobody
/// knows which answer belongs to which request.
pub(crate) fn links(nodes: &[NodeLog<'_>]) -> BTreeMap<(usize, usize), Link> {
    let sent = once(nodes, |log| log.exchanges.all_sent().map(|it| (it.id, *it)).collect());
    let handled = once(nodes, |log| log.exchanges.all_handled().map(|it| (it.id, *it)).collect());
    let mut links: BTreeMap<(usize, usize), Link> = BTreeMap::new();
    let mut handled = handled.into_iter().peekable();
    for (id, sender, sent) in sent {
        while handled.next_if(|(other, ..)| *other < id).is_some() {}
        let Some((_, receiver, handled)) = handled.next_if(|(other, ..)| *other == id) else { continue };
        if sender == receiver || !plausible(&sent, &handled) {
            continue;
        }
        let link = links.entry((sender.min(receiver), sender.max(receiver))).or_default();
        link.pairs += 1;
        if sender < receiver {
            link.bounds.forth(&sent, &handled);
        } else {
            link.bounds.back(&sent, &handled);
        }
    }
    links
}

/// What is there once, in order.
fn once<T>(nodes: &[NodeLog<'_>], all: impl Fn(&NodeLog<'_>) -> Vec<(Identity, T)>) -> Vec<(Identity, usize, T)> {
    let of_node = |(node, log)| all(log).into_iter().map(move |(id, it)| (id, node, it));
    let mut list: Vec<_> = nodes.iter().enumerate().flat_map(of_node).collect();
    list.sort_by_key(|(id, ..)| *id);
    let twice: Vec<bool> = (0..list.len())
        .map(|at| {
            let same = |other: usize| list.get(other).is_some_and(|(id, ..)| *id == list[at].0);
            same(at + 1) || at > 0 && same(at - 1)
        })
        .collect();
    list.into_iter().zip(twice).filter_map(|(it, twice)| (!twice).then_some(it)).collect()
}

/// Whatever the clocks show, an RPC is not answered in less time than it waited at the receiver.
fn plausible(sent: &Sent, handled: &Handled) -> bool {
    sent.answered_us - sent.sent_us >= handled.start_us - handled.arrival_us
}
