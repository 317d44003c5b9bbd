//! What went wrong between servers and clients, by client: rare, so rows without a fault cost one test.

use lioprof_model::merge::{earliest, latest};
use lioprof_model::parts::sums::FaultSums;
use lioprof_model::units::seconds;
use lioprof_model::{ClientFaults, LockEvent, LockHappening, RpcRow, Symbol};
use lustre_debuglog::Opcode;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::failures::Failures;
use crate::renumber::renumber_fields;

/// Clients listed; those with fewest faults are left out.
const MAX_CLIENTS: usize = 100;
/// `-ENOTCONN`: the server does not know the client, because it has evicted it or was restarted.
const NOT_CONNECTED: i32 = -107;
/// `-ETIMEDOUT`: a bulk transfer did not arrive.
const TIMED_OUT: i32 = -110;

/// Of a fault at this time.
fn at(sum: &mut FaultSums, time_us: i64) {
    earliest(&mut sum.first_us, &Some(time_us));
    latest(&mut sum.last_us, &Some(time_us));
}

/// Faults but evictions. Connects alone are none: every mount begins with one.
fn faults(client: &ClientFaults) -> u64 {
    client.not_connected_rpcs + client.timed_out_rpcs + client.dropped_rpcs + client.resent_rpcs + client.replayed_rpcs
}

/// Faults by client, and in all.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Faults {
    clients: FxHashMap<Symbol, FaultSums>,
    /// Also those of clients that the log does not name.
    pub(crate) evictions: u64,
    pub(crate) dropped_rpcs: u64,
    pub(crate) callbacks_timed_out: u64,
}

lioprof_model::merge_fields!(Faults { clients, evictions, dropped_rpcs, callbacks_timed_out });
renumber_fields!(Faults {} keys { clients } without { evictions, dropped_rpcs, callbacks_timed_out });

impl Faults {
    /// Counts what is wrong with a request, if anything is.
    pub(crate) fn row(&mut self, row: &RpcRow) {
        let connect = matches!(row.opcode, Opcode::OST_CONNECT | Opcode::MDS_CONNECT);
        if !(row.resent || row.replay || row.dropped || connect) {
            return;
        }
        let sum = self.clients.entry(row.nid).or_default();
        sum.resent_rpcs += u64::from(row.resent);
        sum.replayed_rpcs += u64::from(row.replay);
        sum.dropped_rpcs += u64::from(row.dropped);
        self.dropped_rpcs += u64::from(row.dropped);
        sum.connects += u64::from(connect);
        if !connect {
            at(sum, row.end_us);
        }
    }

    /// Counts an eviction or a callback without an answer, if this is one.
    pub(crate) fn lock_event(&mut self, event: &LockEvent) {
        self.evictions += u64::from(event.happening.is_eviction());
        self.callbacks_timed_out += u64::from(matches!(event.happening, LockHappening::CallbackTimedOut { .. }));
        if let Some(nid) = event.happening.evicted() {
            let sum = self.clients.entry(nid).or_default();
            sum.evictions += 1;
            at(sum, event.time_us);
        }
    }

    /// The clients with faults, most evictions and then most faults first; `failures` tells errors of connections and transfers.
    pub(super) fn finish(&self, failures: &Failures, name: impl Fn(Symbol) -> String) -> Vec<ClientFaults> {
        let mut sums: FxHashMap<Symbol, (FaultSums, [u64; 2])> = FxHashMap::default();
        for (nid, sum) in &self.clients {
            sums.entry(*nid).or_default().0.merge(sum);
        }
        for (place, rc) in [NOT_CONNECTED, TIMED_OUT].into_iter().enumerate() {
            for (nid, failed) in failures.by_client(rc) {
                let (sum, of_errors) = sums.entry(nid).or_default();
                of_errors[place] += failed.rpcs;
                earliest(&mut sum.first_us, &failed.first_us);
                latest(&mut sum.last_us, &failed.last_us);
            }
        }
        let client =
            |(nid, (sum, [not_connected_rpcs, timed_out_rpcs])): (Symbol, (FaultSums, [u64; 2]))| ClientFaults {
                nid: name(nid),
                evictions: sum.evictions,
                not_connected_rpcs,
                timed_out_rpcs,
                dropped_rpcs: sum.dropped_rpcs,
                resent_rpcs: sum.resent_rpcs,
                replayed_rpcs: sum.replayed_rpcs,
                connects: sum.connects,
                first: sum.first_us.map(seconds),
                last: sum.last_us.map(seconds),
            };
        let mut clients: Vec<ClientFaults> =
            sums.into_iter().map(client).filter(|client| client.evictions + faults(client) > 0).collect();
        clients.sort_by(|a, b| {
            let weight = |client: &ClientFaults| (client.evictions, faults(client));
            weight(b).cmp(&weight(a)).then_with(|| a.nid.cmp(&b.nid))
        });
        clients.truncate(MAX_CLIENTS);
        clients
    }
}
