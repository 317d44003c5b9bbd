//! What services' threads do, and for whom a scheduler's rule holds requests back.

use lioprof_model::parts::sums::ThrottleSums;
use lioprof_model::traffic::service_name;
use lioprof_model::units::seconds;
use lioprof_model::{RpcRow, Symbol, Symbols, Throttled};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::renumber::{Renumber, renumber_fields, renumber_keys};

/// A thread that had nothing to do for longer than this before it took a request was not what the request waited for, microseconds. A busy
/// thread takes the next request within a few tens of microseconds.
const IDLE_US: i64 = 1_000;

/// What a service of a node did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ServiceSums {
    pub(super) threads: u64,
    pub(super) rpcs: u64,
    pub(super) queue_us: u64,
    pub(super) service_us: u64,
    pub(super) held_us: u64,
}

lioprof_model::merge_fields!(ServiceSums { threads, rpcs, queue_us, service_us, held_us });

/// A thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThreadSum {
    /// The thread that stands for all of its service.
    pub(super) service: Symbol,
    pub(super) sums: ServiceSums,
    /// Its first request: when the thread took it, and how long it had waited, microseconds.
    first: Option<(i64, u64)>,
    /// When it ended its last request.
    last_us: Option<i64>,
}

impl ThreadSum {
    pub(super) fn new(service: Symbol) -> Self {
        Self { service, sums: ServiceSums { threads: 1, ..ServiceSums::default() }, first: None, last_us: None }
    }

    /// The same thread, by another one that stands for its service.
    pub(super) fn of(&self, service: Symbol) -> Self {
        Self { service, ..*self }
    }

    /// Adds a request: those of a thread come in the order of time.
    pub(super) fn add(&mut self, row: &RpcRow) {
        let (queue_us, start_us) = (row.queue_us().unwrap_or(0), row.start_us().unwrap_or(row.end_us));
        self.sums.rpcs += 1;
        self.sums.queue_us += queue_us;
        self.sums.service_us += row.service_us.unwrap_or(0);
        self.take(start_us, queue_us);
        self.first.get_or_insert((start_us, queue_us));
        self.last_us = Some(row.end_us);
    }

    /// The thread takes a request that has waited so long.
    fn take(&mut self, start_us: i64, queue_us: u64) {
        let was_idle = self.last_us.is_some_and(|last_us| start_us - last_us > IDLE_US);
        if was_idle && queue_us > IDLE_US.unsigned_abs() {
            self.sums.held_us += queue_us;
        }
    }

    /// Adds what the same thread did later.
    pub(super) fn go_on(&mut self, later: &Self) {
        if let Some((start_us, queue_us)) = later.first {
            self.take(start_us, queue_us);
        }
        let threads = self.sums.threads;
        self.sums.merge(&later.sums);
        self.sums.threads = threads;
        self.first = self.first.or(later.first);
        self.last_us = later.last_us.or(self.last_us);
    }
}

/// Whose requests a rule of a token bucket filter let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct ThrottleKey {
    node: Symbol,
    /// The thread that stands for all of the service.
    service: Symbol,
    rate: u32,
    nid: Symbol,
    job: Option<Symbol>,
}

renumber_fields!(ThrottleKey { node, service, nid, job } without { rate });

/// Requests that rules of token bucket filters let through.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Throttles(FxHashMap<ThrottleKey, ThrottleSums>);

impl Renumber for Throttles {
    fn renumber(&mut self, to: &[Symbol]) {
        renumber_keys(&mut self.0, to);
    }
}

impl Throttles {
    /// Counts a request if a rule let it through.
    #[inline]
    pub(super) fn row(&mut self, row: &RpcRow, service: Symbol) {
        if let Some(rate) = row.tbf_rate {
            let RpcRow { node, nid, job, end_us, .. } = *row;
            let sums = ThrottleSums {
                rpcs: 1,
                queue_us: row.queue_us().unwrap_or(0),
                service_us: row.service_us.unwrap_or(0),
                first_us: Some(end_us),
                last_us: Some(end_us),
            };
            self.add(ThrottleKey { node, service, rate, nid, job }, &sums);
        }
    }

    fn add(&mut self, key: ThrottleKey, sums: &ThrottleSums) {
        self.0.entry(key).or_default().merge(sums);
    }

    /// Adds those of another node, or of the same one later, whose threads stand for the same services as these say.
    pub(super) fn merge(&mut self, other: &Self, mut service: impl FnMut(Symbol) -> Symbol) {
        for (key, sums) in &other.0 {
            self.add(ThrottleKey { service: service(key.service), ..*key }, sums);
        }
    }

    /// All of them, those that waited for longest first.
    pub(super) fn finish(&self, symbols: &Symbols) -> Vec<Throttled> {
        let row = |(key, sums): (&ThrottleKey, &ThrottleSums)| Throttled {
            node: symbols.text(key.node),
            service: lioprof_model::symbol::escape(service_name(symbols.bytes(key.service))),
            rate: key.rate,
            nid: symbols.text(key.nid),
            job: key.job.map(|job| symbols.text(job)),
            rpcs: sums.rpcs,
            queue_us: sums.queue_us,
            service_us: sums.service_us,
            first: seconds(sums.first_us.unwrap_or(0)),
            last: seconds(sums.last_us.unwrap_or(0)),
        };
        let mut rows: Vec<Throttled> = self.0.iter().map(row).collect();
        rows.sort_by(|a, b| {
            let place = |it: &Throttled| (it.node.clone(), it.service.clone(), it.rate, it.nid.clone(), it.job.clone());
            b.queue_us.cmp(&a.queue_us).then_with(|| place(a).cmp(&place(b)))
        });
        rows
    }
}

#[cfg(test)]
mod tests {
    use lustre_debuglog::Opcode;

    use super::*;

    /// A request that waited and was served for so long, and ended then.
    fn row(end_us: i64, queue_us: u64, service_us: u64) -> RpcRow {
        let made_up = RpcRow::made_up(Symbol(0), Opcode::MDS_GETATTR, end_us);
        RpcRow { service_us: Some(service_us), total_us: Some(queue_us + service_us), ..made_up }
    }

    #[test]
    fn a_request_waits_for_a_thread_or_is_held_back() {
        let mut thread = ThreadSum::new(Symbol(0));
        // Of the first request nobody knows what its thread did before.
        thread.add(&row(10_000, 5_000, 1_000));
        // Taken as soon as the thread was free.
        thread.add(&row(11_010, 8_000, 1_000));
        assert_eq!(thread.sums.held_us, 0);
        // The thread had nothing to do for 88 ms.
        thread.add(&row(100_000, 700_000, 1_000));
        assert_eq!((thread.sums.held_us, thread.sums.queue_us, thread.sums.rpcs), (700_000, 713_000, 3));
    }
}
