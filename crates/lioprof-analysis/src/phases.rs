//! Where the time of clients' RPCs goes, from RPCs of which both the client's and the server's log tell.

use std::collections::BTreeMap;

use lioprof_model::{RpcPhases, Symbol};
use lustre_debuglog::TargetName;

use crate::cells::Times;
use crate::clocks::{Clocks, Pair};

/// Sums over the RPCs of one client to one target.
#[derive(Default)]
struct Sums {
    rpcs: u64,
    one_in: u64,
    round_trip: Times,
    network: Times,
    queue: Times,
    service: Times,
    /// Both ways on the reference's clock, microseconds.
    out_us: i64,
    back_us: i64,
}

impl Sums {
    fn add(&mut self, pair: &Pair) {
        let Pair { sent, handled, .. } = pair;
        // A reply that overtakes the server's last line, or a clock that was set: less than nothing is nothing.
        let span = |from_us: i64, to_us: i64| u64::try_from(to_us - from_us).unwrap_or(0);
        let round_trip_us = span(sent.sent_us, sent.answered_us);
        self.rpcs += 1;
        self.one_in = self.one_in.max(pair.one_in);
        self.round_trip.add(round_trip_us);
        self.network.add(round_trip_us.saturating_sub(span(handled.arrival_us, handled.end_us)));
        self.queue.add(span(handled.arrival_us, handled.start_us));
        self.service.add(span(handled.start_us, handled.end_us));
    }
}

/// By client, node and target.
pub(crate) fn phases(clocks: &Clocks, names: &[String]) -> Vec<RpcPhases> {
    let mut sums: BTreeMap<(usize, usize, Symbol, Option<TargetName>), Sums> = BTreeMap::new();
    for pair in &clocks.of_clients {
        let sum = sums.entry((pair.sender, pair.receiver, pair.nid, pair.handled.target)).or_default();
        sum.add(pair);
        if let (Some(client), Some(server)) = (&clocks.nodes[pair.sender], &clocks.nodes[pair.receiver]) {
            let (client, server) = (&client.to_reference, &server.to_reference);
            sum.out_us += server.there_us(pair.handled.arrival_us) - client.there_us(pair.sent.sent_us);
            sum.back_us += client.there_us(pair.sent.answered_us) - server.there_us(pair.handled.end_us);
        }
    }
    let row = |((client, server, nid, target), sum): ((usize, usize, Symbol, Option<TargetName>), Sums)| {
        let both = clocks.nodes[client].as_ref().zip(clocks.nodes[server].as_ref());
        RpcPhases {
            client: names[client].clone(),
            nid: clocks.symbols.text(nid),
            node: names[server].clone(),
            target: target.map(|target| target.to_string()),
            rpcs: sum.rpcs,
            one_in: sum.one_in,
            round_trip_us: sum.round_trip.distribution(),
            network_us: sum.network.distribution(),
            queue_us: sum.queue.distribution(),
            service_us: sum.service.distribution(),
            network_out_us: both.map(|_| mean(sum.out_us, sum.rpcs)),
            network_back_us: both.map(|_| mean(sum.back_us, sum.rpcs)),
            clock_error_us: both.map(|(a, b)| a.rounded_error_us() + b.rounded_error_us()),
        }
    };
    let mut rows: Vec<RpcPhases> = sums.into_iter().map(row).collect();
    // By names: numbers of symbols are an accident of the input's order.
    rows.sort_by(|a, b| (&a.client, &a.node, &a.target, &a.nid).cmp(&(&b.client, &b.node, &b.target, &b.nid)));
    rows
}

#[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 52 bits")]
fn mean(sum_us: i64, rpcs: u64) -> f64 {
    sum_us as f64 / rpcs as f64
}
