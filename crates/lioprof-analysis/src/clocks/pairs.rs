//! RPCs that are in two logs.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::{ClockReading, Symbol, Symbols};

use super::estimate::Bounds;
use super::sample::{ExchangeSample, Handled, Identified, Sampled, Sent};

/// What a node's log holds for comparing clocks.
pub(crate) struct NodeLog<'a> {
    pub(crate) exchanges: ExchangeSample,
    /// Whether the node is a client, which is never a reference.
    pub(crate) is_client: bool,
    /// Time of its first and last record.
    pub(crate) span_us: Option<(i64, i64)>,
    /// Its clock as it was read from outside meanwhile.
    pub(crate) readings: &'a [ClockReading],
}

/// Two nodes (positions in the list of nodes, the smaller one first) and the RPCs between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Link {
    /// Bounds on the second node's clock relative to the first one's.
    pub(crate) bounds: Bounds,
    pub(crate) pairs: u64,
}

/// An RPC that is in two logs; nodes are positions in the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) sender: usize,
    pub(crate) receiver: usize,
    pub(crate) sent: Sent,
    pub(crate) handled: Handled,
    /// NID of the sender.
    pub(crate) nid: Symbol,
    /// One in this many RPCs between the two was looked for.
    pub(crate) one_in: u64,
}

/// The RPCs that are in two logs.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) links: BTreeMap<(usize, usize), Link>,
    pub(crate) of_clients: Vec<Pair>,
    /// Nodes that are one server, under two names.
    pub(crate) same: BTreeSet<(usize, usize)>,
    /// Those of all samples.
    pub(crate) symbols: Symbols,
}

/// Finds the RPCs that one node sent and another one handled.
///
/// An xid counts the RPCs of one node, and two nodes that were started in the same second count alike: so the uuid of
/// the sending device and the opcode must be the same, too. What is there twice was sent again, or replayed, and nobody
/// knows which answer belongs to which request.
pub(crate) fn find(nodes: &mut [NodeLog<'_>]) -> Found {
    let mut found = Found::default();
    nodes.iter_mut().for_each(|log| log.exchanges.share(&mut found.symbols));
    let sent = InOrder::of(nodes.iter().map(|log| &log.exchanges.sent[..]).collect());
    let handled = InOrder::of(nodes.iter().map(|log| &log.exchanges.handled[..]).collect());
    found.same = handled.same();
    let mut handled = handled.once().peekable();
    for (sender, sent) in sent.once() {
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

/// RPCs in order, of the samples of nodes.
struct InOrder<'a, T> {
    nodes: Vec<&'a [Sampled<T>]>,
    /// A hundred nodes have millions: they stay where they are, and are put in order by their places.
    places: Vec<(u32, u32)>,
}

impl<'a, T: Identified> InOrder<'a, T> {
    fn of(nodes: Vec<&'a [Sampled<T>]>) -> Self {
        let mut places: Vec<(u32, u32)> = Vec::with_capacity(nodes.iter().map(|sample| sample.len()).sum());
        for (node, sample) in (0..).zip(&nodes) {
            places.extend((0..).zip(*sample).map(|(at, _)| (node, at)));
        }
        places.sort_unstable_by_key(|&(node, at)| (nodes[node as usize][at as usize].rpc.id(), node, at));
        Self { nodes, places }
    }

    fn get(&self, at: usize) -> Option<(usize, &'a Sampled<T>)> {
        self.places.get(at).map(|&(node, at)| (node as usize, &self.nodes[node as usize][at as usize]))
    }

    /// RPCs that occur only once, each with its node.
    fn once(&self) -> impl Iterator<Item = (usize, &'a Sampled<T>)> {
        let id = |at: usize| self.get(at).map(|(_, sampled)| sampled.rpc.id());
        let is_single = move |at: &usize| id(*at) != id(at + 1) && (*at == 0 || id(*at) != id(at - 1));
        (0..self.places.len()).filter(is_single).filter_map(|at| self.get(at))
    }
}

impl InOrder<'_, Handled> {
    /// Nodes that handled the same RPC at the same microseconds. Two servers never do: an RPC goes to one of them, and if to the next one, then
    /// later.
    fn same(&self) -> BTreeSet<(usize, usize)> {
        let neighbours = (1..self.places.len()).filter_map(|at| self.get(at - 1).zip(self.get(at)));
        let same = neighbours.filter(|((a, one), (b, other))| a != b && one.rpc == other.rpc);
        same.map(|((a, _), (b, _))| (a, b)).collect()
    }
}

/// Whether the round trip is at least as long as the wait at the receiver, as it must be on any clock.
fn plausible(sent: &Sent, handled: &Handled) -> bool {
    sent.answered_us - sent.sent_us >= handled.start_us - handled.arrival_us
}

#[cfg(test)]
mod tests {
    use lioprof_model::{RpcRow, SentRpc};
    use lustre_debuglog::{Opcode, Xid};

    use super::super::sample::Exchanges;
    use super::*;

    /// Logs in the making.
    #[derive(Default)]
    struct Logs {
        symbols: Symbols,
        nodes: [Exchanges; 3],
    }

    impl Logs {
        fn sent(&mut self, node: usize, xid: u64, uuid: &str, sent_us: i64, answered_us: i64) {
            let symbols = &mut self.symbols;
            let row = SentRpc {
                node: symbols.intern(b"node"),
                time_us: answered_us,
                pid: 1,
                opcode: Opcode::OST_STATFS,
                device: symbols.intern(uuid.as_bytes()),
                nid: symbols.intern(b"10.0.0.2@tcp"),
                xid: Xid(xid),
                window: None,
                round_trip_us: Some((answered_us - sent_us).cast_unsigned()),
            };
            self.nodes[node].sent(&row, &self.symbols);
        }

        fn handled(&mut self, node: usize, xid: u64, uuid: &str, arrival_us: i64, start_us: i64, end_us: i64) {
            let symbols = &mut self.symbols;
            let text = symbols.intern(b"node");
            let row = RpcRow {
                nid: symbols.intern(b"10.0.0.1@tcp"),
                client_uuid: symbols.intern(uuid.as_bytes()),
                xid: Xid(xid),
                service_us: Some((end_us - start_us).cast_unsigned()),
                total_us: Some((end_us - arrival_us).cast_unsigned()),
                ..RpcRow::made_up(text, Opcode::OST_STATFS, end_us)
            };
            self.nodes[node].handled(&row, &self.symbols);
        }

        fn pairs(&self) -> Vec<((usize, usize), u64)> {
            let log = |exchanges: Exchanges| {
                let exchanges = exchanges.finish(&self.symbols);
                NodeLog { exchanges, is_client: false, span_us: None, readings: &[] }
            };
            find(&mut self.nodes.clone().map(log)).links.iter().map(|(nodes, link)| (*nodes, link.pairs)).collect()
        }
    }

    const MDT: &str = "lustre-MDT0000-mdtlov_UUID";

    #[test]
    fn the_same_xid_of_two_senders_is_told_apart() {
        let mut logs = Logs::default();
        logs.sent(0, 640, MDT, 1000, 1300);
        logs.sent(2, 640, "lustre-MDT0001-mdtlov_UUID", 5000, 5300);
        logs.handled(1, 640, "lustre-MDT0001-mdtlov_UUID", 5100, 5110, 5200);
        logs.handled(1, 640, MDT, 1100, 1110, 1200);
        assert_eq!(logs.pairs(), [((0, 1), 1), ((1, 2), 1)]);
    }

    #[test]
    fn what_is_there_twice_is_left_out() {
        let mut logs = Logs::default();
        logs.sent(0, 640, MDT, 1000, 1300);
        logs.handled(1, 640, MDT, 1100, 1110, 1200);
        logs.handled(1, 640, MDT, 1100, 1110, 1250);
        logs.sent(0, 704, MDT, 2000, 2300);
        logs.handled(1, 704, MDT, 2100, 2110, 2200);
        assert_eq!(logs.pairs(), [((0, 1), 1)]);
    }

    #[test]
    fn an_rpc_that_waited_longer_than_it_took_is_another_one() {
        let mut logs = Logs::default();
        logs.sent(0, 640, MDT, 1000, 1300);
        logs.handled(1, 640, MDT, 1100, 1500, 1600);
        assert_eq!(logs.pairs(), []);
    }

    #[test]
    fn what_a_node_sends_itself_is_no_pair() {
        let mut logs = Logs::default();
        logs.sent(1, 640, MDT, 1000, 1300);
        logs.handled(1, 640, MDT, 1100, 1110, 1200);
        assert_eq!(logs.pairs(), []);
    }
}
