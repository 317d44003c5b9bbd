//! From sums to rates, with names for symbols.

use lioprof_model::live::{
    LiveAccess, LiveClient, LiveFlow, LiveIo, LiveJob, LiveObject, LiveRow, LiveServer, LiveTarget, LiveWait, Top,
};
use lioprof_model::units::real;
use lioprof_model::{Distribution, Io, Live, ReadWrite, Symbol, Symbols};
use lustre_debuglog::{ResourceId, TargetKind, TargetName};
use rustc_hash::{FxHashMap, FxHashSet};

use super::slice::{Access, Place, PlaceSum, Slice, Sum};
use crate::aggregate::object_name;
use crate::locks::fid_of;

/// Sums as rates.
pub(super) struct Rates<'a> {
    pub(super) sum: &'a Slice,
    /// Seconds that the sums are of.
    pub(super) traced_s: f64,
    pub(super) server: &'a str,
    pub(super) symbols: &'a Symbols,
}

/// What a client did.
#[derive(Default)]
struct ClientSum {
    sum: Sum,
    targets: FxHashSet<Place>,
    conflicts: u64,
    waited_us: u64,
}

/// What was done with an object.
#[derive(Default)]
struct ObjectSum {
    io: ReadWrite,
    clients: FxHashSet<Symbol>,
    conflicts: u64,
}

impl Rates<'_> {
    /// All lists, of the window between two times in Unix seconds.
    pub(super) fn live(&self, from: f64, to: f64) -> Live {
        let all = &self.sum.all;
        let server = LiveServer {
            name: self.server.to_owned(),
            // Before anything is decoded there is no window.
            from: from.max(0.0),
            to,
            traced_s: self.traced_s,
            rpcs_per_s: self.per_s(all.rpcs),
            read: self.io(&all.io.read),
            write: self.io(&all.io.write),
            ..LiveServer::default()
        };
        Live {
            servers: vec![server],
            targets: Top::new(self.targets(), Live::MOST_TARGETS),
            clients: self.clients(),
            jobs: self.jobs(),
            flows: Top::new(self.flows(), Live::MOST_PAIRS),
            objects: Top::new(self.objects(), Live::MOST_ROWS),
            accesses: self.accesses(),
            waits: self.waits(),
            ..Live::default()
        }
    }

    fn per_s(&self, count: u64) -> f64 {
        if self.traced_s > 0.0 { real(count) / self.traced_s } else { 0.0 }
    }

    fn io(&self, io: &Io) -> LiveIo {
        LiveIo::of(io, self.traced_s)
    }

    fn text(&self, symbol: Symbol) -> Option<String> {
        Some(self.symbols.text(symbol))
    }

    fn server(&self) -> Option<String> {
        Some(self.server.to_owned())
    }

    fn targets(&self) -> Vec<LiveTarget> {
        let mut clients: FxHashMap<Place, FxHashSet<Symbol>> = FxHashMap::default();
        for (cell, sum) in &self.sum.cells.by_key {
            if sum.io != ReadWrite::default() {
                clients.entry(cell.place).or_default().insert(cell.nid);
            }
        }
        let mut places: FxHashMap<Place, PlaceSum> = self.sum.places.clone();
        for &target in self.sum.conflicts.keys() {
            places.entry(Place { target: Some(target), on_mdt: target.kind() == TargetKind::Mdt }).or_default();
        }
        // RPCs without data whose target is unknown are nothing to list.
        places.retain(|place, here| place.target.is_some() || here.sum.io != ReadWrite::default());
        let row = |(place, here): (&Place, &PlaceSum)| {
            let latency = here.times.latency();
            let total = &latency.total_us;
            LiveTarget {
                target: place.target.map(|target| target.to_string()),
                server: self.server(),
                kind: Some(place.kind().into()),
                rpcs_per_s: self.per_s(here.sum.rpcs),
                read: self.io(&here.sum.io.read),
                write: self.io(&here.sum.io.write),
                queue_p50_us: latency.queue_us.p50,
                queue_p99_us: latency.queue_us.p99,
                service_p50_us: latency.service_us.p50,
                service_p99_us: latency.service_us.p99,
                in_flight: self.at_a_time(total),
                conflicts_per_s: place
                    .target
                    .and_then(|target| self.sum.conflicts.get(&target))
                    .map_or(0.0, |&conflicts| self.per_s(conflicts)),
                clients: clients.get(place).map_or(0, |clients| clients.len() as u64),
            }
        };
        places.iter().map(row).collect()
    }

    /// How many of these went on at a time, on average (Little's law).
    fn at_a_time(&self, times: &Distribution) -> f64 {
        let sum_us = times.mean.unwrap_or(0.0) * real(times.count);
        if self.traced_s > 0.0 { sum_us / 1e6 / self.traced_s } else { 0.0 }
    }

    fn clients(&self) -> Top<LiveClient> {
        let mut clients: FxHashMap<Symbol, ClientSum> = FxHashMap::default();
        for (cell, sum) in &self.sum.cells.by_key {
            let client = clients.entry(cell.nid).or_default();
            client.sum.merge(&of_ost(sum, cell.place));
            if sum.io != ReadWrite::default() {
                client.targets.insert(cell.place);
            }
        }
        for (fight, conflicts) in &self.sum.fights.by_key {
            for party in [fight.holder, fight.waiter] {
                clients.entry(party).or_default().conflicts += conflicts;
            }
        }
        for (&client, waited_us) in &self.sum.waits.by_key {
            clients.entry(client).or_default().waited_us += waited_us;
        }
        let row = |(&nid, client): (&Symbol, &ClientSum)| LiveClient {
            nid: self.text(nid),
            rpcs_per_s: self.per_s(client.sum.rpcs),
            read: self.io(&client.sum.io.read),
            write: self.io(&client.sum.io.write),
            targets: client.targets.len() as u64,
            conflicts_per_s: self.per_s(client.conflicts),
            waiting: self.per_s(client.waited_us) / 1e6,
        };
        let mut top = Top::new(clients.iter().map(row).collect(), Live::MOST_ROWS);
        let beyond = &self.sum.cells.beyond;
        Self::leave_out(&mut top, beyond.rpcs, || LiveClient {
            rpcs_per_s: self.per_s(beyond.rpcs),
            read: self.io(&beyond.io.read),
            write: self.io(&beyond.io.write),
            ..LiveClient::default()
        });
        top
    }

    fn jobs(&self) -> Top<LiveJob> {
        let mut jobs: FxHashMap<Option<Symbol>, (Sum, FxHashSet<Symbol>)> = FxHashMap::default();
        for (cell, sum) in &self.sum.cells.by_key {
            let (job, clients) = jobs.entry(cell.job).or_default();
            job.merge(&of_ost(sum, cell.place));
            clients.insert(cell.nid);
        }
        let row = |(job, (sum, clients)): (&Option<Symbol>, &(Sum, FxHashSet<Symbol>))| LiveJob {
            job: job.map(|job| self.symbols.text(job)),
            rpcs_per_s: self.per_s(sum.rpcs),
            read: self.io(&sum.io.read),
            write: self.io(&sum.io.write),
            clients: clients.len() as u64,
        };
        let mut top = Top::new(jobs.iter().map(row).collect(), Live::MOST_ROWS);
        let beyond = &self.sum.cells.beyond;
        Self::leave_out(&mut top, beyond.rpcs, || LiveJob {
            rpcs_per_s: self.per_s(beyond.rpcs),
            read: self.io(&beyond.io.read),
            write: self.io(&beyond.io.write),
            ..LiveJob::default()
        });
        top
    }

    fn flows(&self) -> Vec<LiveFlow> {
        let mut flows: FxHashMap<(Symbol, Place), ReadWrite> = FxHashMap::default();
        for (cell, sum) in self.sum.cells.by_key.iter().filter(|(_, sum)| sum.io != ReadWrite::default()) {
            flows.entry((cell.nid, cell.place)).or_default().merge(&sum.io);
        }
        let row = |(&(nid, place), io): (&(Symbol, Place), &ReadWrite)| LiveFlow {
            nid: self.text(nid),
            target: place.target.map(|target| target.to_string()),
            server: self.server(),
            read: self.io(&io.read),
            write: self.io(&io.write),
        };
        flows.iter().map(row).collect()
    }

    fn objects(&self) -> Vec<LiveObject> {
        let mut objects: FxHashMap<(TargetName, String), ObjectSum> = FxHashMap::default();
        for (access, io) in &self.sum.accesses.by_key {
            let object = objects.entry((access.target, object_name(access.object))).or_default();
            object.io.merge(io);
            object.clients.insert(access.nid);
        }
        for (fight, conflicts) in &self.sum.fights.by_key {
            let Some(resource) = fight.resource else { continue };
            let object = objects.entry((fight.target, resource_name(fight.target, resource))).or_default();
            object.conflicts += conflicts;
            object.clients.extend([fight.holder, fight.waiter]);
        }
        let row = |((target, name), object): (&(TargetName, String), &ObjectSum)| LiveObject {
            object: Some(name.clone()),
            target: Some(target.to_string()),
            server: self.server(),
            read: self.io(&object.io.read),
            write: self.io(&object.io.write),
            clients: object.clients.len() as u64,
            conflicts_per_s: self.per_s(object.conflicts),
        };
        objects.iter().map(row).collect()
    }

    fn accesses(&self) -> Top<LiveAccess> {
        let row = |(access, io): (&Access, &ReadWrite)| LiveAccess {
            nid: self.text(access.nid),
            object: Some(object_name(access.object)),
            target: Some(access.target.to_string()),
            server: self.server(),
            read: self.io(&io.read),
            write: self.io(&io.write),
        };
        let mut top = Top::new(self.sum.accesses.by_key.iter().map(row).collect(), Live::MOST_PAIRS);
        let beyond = &self.sum.accesses.beyond;
        Self::leave_out(&mut top, beyond.read.rpcs + beyond.write.rpcs, || LiveAccess {
            read: self.io(&beyond.read),
            write: self.io(&beyond.write),
            ..LiveAccess::default()
        });
        top
    }

    fn waits(&self) -> Top<LiveWait> {
        let mut pairs: FxHashMap<(TargetName, Symbol, Symbol), u64> = FxHashMap::default();
        for (fight, conflicts) in &self.sum.fights.by_key {
            *pairs.entry((fight.target, fight.waiter, fight.holder)).or_default() += conflicts;
        }
        let row = |(&(target, waiter, holder), &conflicts): (&(TargetName, Symbol, Symbol), &u64)| LiveWait {
            waiter: self.text(waiter),
            holder: self.text(holder),
            target: Some(target.to_string()),
            server: self.server(),
            conflicts_per_s: self.per_s(conflicts),
        };
        let mut top = Top::new(pairs.iter().map(row).collect(), Live::MOST_ROWS);
        let beyond = self.sum.fights.beyond;
        Self::leave_out(&mut top, beyond, || LiveWait { conflicts_per_s: self.per_s(beyond), ..LiveWait::default() });
        top
    }

    /// Adds what had no room among the sums, if that is anything.
    fn leave_out<T: LiveRow>(top: &mut Top<T>, count: u64, row: impl FnOnce() -> T) {
        if count > 0 {
            top.leave_out(&row());
        }
    }
}

/// Reads and writes of OSTs only, as all sums of clients and jobs are.
fn of_ost(sum: &Sum, place: Place) -> Sum {
    if place.on_mdt { Sum { rpcs: sum.rpcs, ..Sum::default() } } else { sum.clone() }
}

fn resource_name(target: TargetName, resource: ResourceId) -> String {
    fid_of(target, resource).map_or_else(|| resource.to_string(), |fid| fid.to_string())
}
