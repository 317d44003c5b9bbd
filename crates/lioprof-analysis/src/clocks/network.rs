//! Combines pairs of nodes to one clock for all: a reference, and from each node the path to it with the smallest error.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::Symbols;
use lioprof_model::parts::clock_line::{ClockLine, whole};

use super::estimate::{Estimate, estimate};
use super::pairs::{Found, Link, NodeLog, Pair, find};
use super::readings;

/// A node's clock compared with the reference's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeClock {
    /// Node (position in the list of nodes) whose clock is the reference.
    pub(crate) reference: usize,
    /// The reference's clock as a function of this one.
    pub(crate) to_reference: ClockLine,
    /// Largest error of the reference's time at any time of the node's log.
    pub(crate) error_us: f64,
    /// Largest error of the drift.
    pub(crate) drift_error: f64,
    /// RPCs between this node and all others.
    pub(crate) pairs: u64,
    /// Whether it was read from outside.
    pub(crate) was_read: bool,
    /// First and last record, on this node's clock.
    pub(crate) span_us: (i64, i64),
}

impl NodeClock {
    /// How far this clock is ahead of the reference's in the middle of the log.
    pub(crate) fn offset_us(&self) -> f64 {
        -self.to_reference.offset_us(self.span_us.0 + (self.span_us.1 - self.span_us.0) / 2)
    }

    /// The offset to the microsecond.
    pub(crate) fn rounded_offset_us(&self) -> i64 {
        whole(self.offset_us())
    }

    /// The error, rounded up.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative; large ones saturate")]
    pub(crate) fn rounded_error_us(&self) -> u64 {
        self.error_us.ceil() as u64
    }

    /// How much faster this clock runs than the reference's, microseconds per second, to a thousandth.
    pub(crate) fn rounded_drift_ppm(&self) -> f64 {
        // Not "-0".
        (self.to_reference.back().drift * 1e9).round() / 1e3 + 0.0
    }

    /// The error of the drift, rounded up.
    pub(crate) fn rounded_drift_error_ppm(&self) -> f64 {
        (self.drift_error * 1e9).ceil() / 1e3
    }

    /// The largest difference to the reference's clock during the log.
    pub(crate) fn largest_offset_us(&self) -> f64 {
        let [a, b] = [self.span_us.0, self.span_us.1].map(|us| self.to_reference.offset_us(us).abs());
        a.max(b)
    }
}

/// The clocks of all nodes, as far as they can be compared.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    /// Clock of each node; `None` if it cannot be compared.
    pub(crate) nodes: Vec<Option<NodeClock>>,
    /// RPCs between each node and all others.
    pub(crate) pairs: Vec<u64>,
    /// RPCs of clients that are also in their servers' logs.
    pub(crate) of_clients: Vec<Pair>,
    /// Those of these RPCs.
    pub(crate) symbols: Symbols,
    /// Pairs of nodes whose RPCs contradict each other, because one of the clocks was set.
    pub(crate) contradictory: Vec<(usize, usize)>,
    /// Nodes that are one server, under two names.
    pub(crate) same: BTreeSet<(usize, usize)>,
}

/// Compares the clocks of nodes, which are in the order of their names.
///
/// The reference is the server that exchanges RPCs with most others, the first one if there are several. Every other node is
/// compared over the path with the smallest sum of errors; readings from outside make paths where RPCs make none.
pub(crate) fn clocks(mut logs: Vec<NodeLog<'_>>) -> Clocks {
    let nodes = logs.len();
    // A single log cannot be compared with any other.
    let Found { links, of_clients, same, symbols } = if nodes < 2 { Found::default() } else { find(&mut logs) };
    let mut clocks = Clocks {
        nodes: vec![None; nodes],
        pairs: vec![0; nodes],
        of_clients,
        symbols,
        contradictory: Vec::new(),
        same,
    };
    let mut usable: BTreeMap<(usize, usize), Estimate> = BTreeMap::new();
    for (&(a, b), Link { bounds, pairs }) in &links {
        clocks.pairs[a] += pairs;
        clocks.pairs[b] += pairs;
        // The span of both logs, on the first one's clock: rows of either are to be put on the other's clock.
        let Some(span_us) = logs[a].span_us else { continue };
        let span_us = on_first(span_us, logs[b].span_us, bounds);
        match estimate(bounds, span_us) {
            Some(estimate) => {
                usable.insert((a, b), estimate);
            }
            None => clocks.contradictory.push((a, b)),
        }
    }
    let is_client: Vec<bool> = logs.iter().map(|log| log.is_client).collect();
    let mut reference = most_links(&is_client, &usable);
    readings::add(&logs, reference, &clocks.contradictory, &mut usable);
    reference = reference.or_else(|| most_links(&is_client, &usable));
    let Some(reference) = reference else { return clocks };
    let ways = ways(logs.len(), reference, &usable);
    for (node, way) in ways.into_iter().enumerate() {
        let (Some(Way { to_reference, error_us, drift_error }), Some(span_us)) = (way, logs[node].span_us) else {
            continue;
        };
        let (pairs, was_read) = (clocks.pairs[node], !logs[node].readings.is_empty());
        clocks.nodes[node] =
            Some(NodeClock { reference, to_reference, error_us, drift_error, pairs, was_read, span_us });
    }
    clocks
}

/// The span of two logs on the clock of the first one, roughly.
fn on_first(first: (i64, i64), second: Option<(i64, i64)>, bounds: &super::estimate::Bounds) -> (i64, i64) {
    let Some((from_us, to_us)) = second else { return first };
    let difference_us = bounds.rough_us();
    (first.0.min(from_us - difference_us), first.1.max(to_us - difference_us))
}

/// The node with most links; a client only if there are no servers.
fn most_links(is_client: &[bool], links: &BTreeMap<(usize, usize), Estimate>) -> Option<usize> {
    let of = |node: usize| links.keys().filter(|(a, b)| *a == node || *b == node).count();
    let linked = (0..is_client.len()).map(|node| (!is_client[node], of(node), node)).filter(|(_, links, _)| *links > 0);
    // Of several the first one.
    linked.max_by_key(|&(server, links, node)| (server, links, std::cmp::Reverse(node))).map(|(.., node)| node)
}

/// From a node's clock to the reference's.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    to_reference: ClockLine,
    error_us: f64,
    drift_error: f64,
}

/// For each node the path with the smallest error (Dijkstra).
fn ways(nodes: usize, reference: usize, links: &BTreeMap<(usize, usize), Estimate>) -> Vec<Option<Way>> {
    let mut best: Vec<Option<Way>> = vec![None; nodes];
    let mut done = vec![false; nodes];
    best[reference] = Some(Way::default());
    loop {
        let open = (0..nodes).filter(|&node| !done[node]).filter_map(|node| Some((node, best[node]?)));
        let Some((at, way)) = open.min_by(|(_, a), (_, b)| a.error_us.total_cmp(&b.error_us)) else { return best };
        done[at] = true;
        for (&(a, b), link) in links.iter().filter(|((a, b), _)| *a == at || *b == at) {
            // The line is the second node's clock over the first one's.
            let (next, to_at) = if a == at { (b, link.line.back()) } else { (a, link.line) };
            let longer = Way {
                to_reference: to_at.then(&way.to_reference),
                error_us: way.error_us + link.error_us,
                drift_error: way.drift_error + link.drift_error,
            };
            if !done[next] && best[next].is_none_or(|known| longer.error_us < known.error_us) {
                best[next] = Some(longer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(offset_us: f64, error_us: f64) -> Estimate {
        Estimate { line: ClockLine { at_us: 1_000_000_000, offset_us, drift: 0.0 }, error_us, drift_error: 1e-6 }
    }

    #[test]
    fn the_surest_way_is_taken_even_if_it_is_longer() {
        // 0 and 2 talk, but badly; by way of 1 it is better.
        let links =
            BTreeMap::from([((0, 1), link(100.0, 5.0)), ((0, 2), link(900.0, 60.0)), ((1, 2), link(200.0, 7.0))]);
        assert_eq!(most_links(&[false; 4], &links), Some(0));
        let ways = ways(4, 0, &links);
        let two = ways[2].unwrap();
        assert!((two.to_reference.offset_us(1_000_000_300) + 300.0).abs() < 1e-6, "{two:?}");
        assert!((two.error_us - 12.0).abs() < 1e-9);
        assert!(ways[3].is_none(), "nobody talks to it");
    }

    #[test]
    fn the_reference_talks_to_most() {
        let links = BTreeMap::from([((0, 3), link(0.0, 1.0)), ((1, 3), link(0.0, 1.0)), ((2, 3), link(0.0, 1.0))]);
        assert_eq!(most_links(&[false; 4], &links), Some(3));
        assert_eq!(most_links(&[false, false, false, true], &links), Some(0), "no client");
        assert_eq!(most_links(&[false; 4], &BTreeMap::new()), None);
    }
}
