//! What a replay does: requests that go out when others are over, and take their share of disks and links.

use std::collections::BTreeMap;

use super::chain::{Link, chain};
use super::run::{Kind, Request, Run};

/// Parts of a bulk request's service: before the transfer, the transfer, after it.
pub(super) const BEFORE: usize = 0;
pub(super) const TRANSFER: usize = 1;
pub(super) const AFTER: usize = 2;

/// A request of the replay. Times are microseconds, moments those of the log since the first arrival.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Client that sent it.
    pub(super) client: usize,
    /// Who sends it in the replay: the client, or one in its place.
    pub(super) stream: usize,
    pub(super) place: usize,
    pub(super) node: usize,
    pub(super) kind: Kind,
    pub(super) bytes: f64,
    pub(super) log2_bytes: u32,
    /// Its OST is of another kind than those of other servers.
    pub(super) apart: bool,
    pub(super) object: u32,
    /// Between its first and its last byte some are left out.
    pub(super) gapped: bool,
    /// There is no such request.
    pub(super) gone: bool,
    pub(super) arrival_us: f64,
    pub(super) end_us: f64,
    /// What let it go out.
    pub(super) link: Link,
    /// How many requests of its stream, or of all, must be over before it goes out ..
    pub(super) after: usize,
    /// .. and how long after that.
    pub(super) think_us: f64,
    /// Time that it waited for a thread.
    pub(super) queue_us: f64,
    /// Bulk requests in service on the server when it was served, if it waited for others to be over: with no more than these it need not
    /// wait.
    pub(super) seats: Option<usize>,
    /// What each part takes if nothing else is under way; of requests without bulk data the first part is all.
    pub(super) work_us: [f64; 3],
}

impl Step {
    /// What its parts on the disk take.
    pub(super) fn disk_us(&self) -> f64 {
        self.work_us[BEFORE] + self.work_us[AFTER]
    }

    /// The same request with other work on the disk. A part keeps its share.
    pub(super) fn set_disk_us(&mut self, disk_us: f64) {
        let was_us = self.disk_us();
        if was_us > 0.0 {
            let factor = disk_us / was_us;
            self.work_us[BEFORE] *= factor;
            self.work_us[AFTER] *= factor;
        } else {
            self.work_us[self.disk_part()] = disk_us;
        }
    }

    /// The part in which its data meet the disk: reads before the transfer, writes after it.
    pub(super) fn disk_part(&self) -> usize {
        if self.kind == Kind::Read { BEFORE } else { AFTER }
    }
}

/// All steps, in the order in which they arrived.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) streams: usize,
    pub(super) nodes: usize,
    pub(super) places: usize,
    /// Disks that serve one request after the other, by place; empty: none.
    pub(super) takes_turns: Vec<bool>,
    /// The run is over with the last read or write, see [`Run::moves_data`].
    pub(super) moves_data: bool,
    /// Bytes per µs that a server, a stream and all together move at most; empty: as many as they like.
    pub(super) most_of_all: Option<f64>,
    pub(super) most_of_node: Vec<f64>,
    pub(super) most_of_stream: Vec<f64>,
}

impl Plan {
    /// What happened: each part's work is how long it took.
    pub(super) fn of(run: &Run) -> Self {
        let nodes_of_places = run.nodes_of_places();
        let links = chain(run);
        let seats = seats(run, &nodes_of_places);
        let written = written(run, &nodes_of_places);
        let steps = run.requests.iter().enumerate().map(|(number, request)| {
            let node = nodes_of_places[request.place];
            let place = match request.kind {
                Kind::Sync if run.places[request.place].target.is_none() => {
                    last_written(&written, node, request).unwrap_or(request.place)
                }
                _ => request.place,
            };
            let moment = |time_us: i64| run.since_first(time_us);
            let start_us = request.start_us.clamp(request.arrival_us, request.end_us.max(request.arrival_us));
            let service_us = moment(request.end_us) - moment(start_us);
            let work_us = match request.parts.filter(|_| request.kind.is_bulk()) {
                Some((before_us, transfer_us)) => {
                    let [before_us, transfer_us] = [before_us, transfer_us].map(f64::from);
                    [before_us, transfer_us, (service_us - before_us - transfer_us).max(0.0)]
                }
                None => [service_us.max(0.0), 0.0, 0.0],
            };
            let link = links[number];
            Step {
                client: request.client,
                stream: request.client,
                place,
                node,
                kind: request.kind,
                bytes: f64::from(request.bytes),
                log2_bytes: request.log2_bytes(),
                apart: run.is_apart(place),
                object: request.object,
                gapped: request.gapped,
                gone: false,
                arrival_us: moment(request.arrival_us),
                end_us: moment(request.end_us),
                link,
                after: 0,
                think_us: link.think_us,
                queue_us: moment(start_us) - moment(request.arrival_us),
                seats: seats[number],
                work_us,
            }
        });
        Self {
            steps: steps.collect(),
            streams: run.clients.len(),
            nodes: nodes_of_places.last().map_or(0, |last| last + 1),
            places: run.places.len(),
            takes_turns: Vec::new(),
            moves_data: run.moves_data(),
            most_of_all: None,
            most_of_node: Vec::new(),
            most_of_stream: Vec::new(),
        }
    }
}

/// Writes by client and server: when each was over, and where, sorted.
type Written = BTreeMap<(usize, usize), Vec<(i64, usize)>>;

fn written(run: &Run, nodes_of_places: &[usize]) -> Written {
    let mut written = Written::new();
    for request in run.requests.iter().filter(|request| request.kind == Kind::Write) {
        let writer = (request.client, nodes_of_places[request.place]);
        written.entry(writer).or_default().push((request.end_us, request.place));
    }
    written.values_mut().for_each(|writes| writes.sort_unstable());
    written
}

/// A sync names no target; it is sent once this client's writes to the server complete.
fn last_written(written: &Written, node: usize, sync: &Request) -> Option<usize> {
    let writes = written.get(&(sync.client, node))?;
    let before = writes.partition_point(|&(end_us, _)| end_us <= sync.arrival_us);
    Some(writes[before.checked_sub(1)?].1)
}

/// How many bulk requests each server had in service when each request's service began, if there were fewer than when it arrived: then
/// it waited for one of them to be over, and not only for a processor.
fn seats(run: &Run, nodes_of_places: &[usize]) -> Vec<Option<usize>> {
    const ENDS: u8 = 0;
    const ARRIVES: u8 = 1;
    const STARTS: u8 = 2;
    let mut seats = vec![None; run.requests.len()];
    let mut at_arrival = vec![0; run.requests.len()];
    let mut events: Vec<(usize, i64, u8, usize)> = Vec::new();
    for (number, request) in run.requests.iter().enumerate().filter(|(_, request)| request.kind.is_bulk()) {
        let node = nodes_of_places[request.place];
        if request.arrival_us <= request.start_us && request.start_us < request.end_us {
            let times = [(request.end_us, ENDS), (request.arrival_us, ARRIVES), (request.start_us, STARTS)];
            events.extend(times.map(|(at_us, event)| (node, at_us, event, number)));
        }
    }
    events.sort_unstable();
    let (mut of_node, mut in_service) = (0, 0usize);
    for (node, _, event, number) in events {
        if node != of_node {
            (of_node, in_service) = (node, 0);
        }
        match event {
            ENDS => in_service = in_service.saturating_sub(1),
            ARRIVES => at_arrival[number] = in_service,
            _ => {
                seats[number] = (in_service < at_arrival[number]).then_some(in_service);
                in_service += 1;
            }
        }
    }
    seats
}
