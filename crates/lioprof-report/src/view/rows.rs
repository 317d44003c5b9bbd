//! Tables: the first rows, and what all others come to.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use lioprof_model::names::job as job_name;
use lioprof_model::units::share;
use lioprof_model::{Accused, Analysis, Client, Io, Job, Object, Operation, Owner, SentRpcs, Target, TargetKindName};
use serde::Serialize;

use super::limits::{MAX_CLIENTS, MAX_JOBS, MAX_OBJECTS, MAX_OPERATIONS, MAX_OWNERS, MAX_SENT, MAX_TARGETS};
use super::names::NameNumbers;
use super::number::{Exact, IoView, Times};
use crate::object::object;

/// Rows of a table.
#[derive(Debug, Serialize)]
pub(crate) struct Rows<T> {
    pub(crate) rows: Vec<T>,
    /// All rows of the analysis.
    of: usize,
    /// The reads and writes of those that are not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<Others>,
}

/// What rows that are not here come to.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Others {
    rpcs: u64,
    read: IoView,
    write: IoView,
}

impl<T> Rows<T> {
    /// The first `most` of what is there; `figures` of the others are summed up.
    fn new<'a, S: 'a>(
        all: impl IntoIterator<Item = &'a S>,
        most: usize,
        mut row: impl FnMut(&'a S) -> T,
        figures: impl Fn(&'a S) -> (u64, &'a Io, &'a Io),
    ) -> Self {
        let mut all = all.into_iter();
        let rows: Vec<T> = all.by_ref().take(most).map(&mut row).collect();
        let (mut count, mut rpcs, mut read, mut write) = (0, 0_u64, Io::default(), Io::default());
        for other in all {
            let figures = figures(other);
            count += 1;
            rpcs = rpcs.saturating_add(figures.0);
            read.merge(figures.1);
            write.merge(figures.2);
        }
        let others = (count > 0).then(|| Others { rpcs, read: (&read).into(), write: (&write).into() });
        Self { of: rows.len() + count, rows, others }
    }
}

/// Of rows that read and write nothing.
static NO_IO: LazyLock<Io> = LazyLock::new(Io::default);

/// The OSTs of all servers.
pub(crate) fn osts(analysis: &Analysis) -> impl Iterator<Item = &Target> {
    analysis.targets.iter().filter(|it| it.kind == TargetKindName::Ost)
}

pub(crate) fn moved(read: &Io, write: &Io) -> u64 {
    read.bytes.saturating_add(write.bytes)
}

/// The targets of each server.
pub(crate) fn targets<'a>(analysis: &'a Analysis, names: &mut NameNumbers<'a>) -> Rows<impl Serialize + use<'a>> {
    let mut all: Vec<&Target> = analysis.targets.iter().filter(|it| it.kind != TargetKindName::Mgs).collect();
    // If not all fit, the busiest; in the order of their names all the same, as the page first shows them.
    if all.len() > MAX_TARGETS {
        all.sort_by(|a, b| {
            moved(&b.read.io, &b.write.io).cmp(&moved(&a.read.io, &a.write.io)).then_with(|| a.name.cmp(&b.name))
        });
        all[..MAX_TARGETS].sort_by(|a, b| (&a.name, &a.node).cmp(&(&b.name, &b.node)));
    }
    let row = |it: &'a Target| {
        object!(TargetRow {
            target: names.target(&it.name),
            node: &it.node,
            kind: it.kind,
            read: IoView::from(&it.read.io),
            write: IoView::from(&it.write.io),
            // Arrival to end.
            read_total_us: Times::from(&it.read.latency.total_us),
            write_total_us: Times::from(&it.write.latency.total_us),
        })
    };
    Rows::new(all, MAX_TARGETS, row, |it| (it.read.io.rpcs + it.write.io.rpcs, &it.read.io, &it.write.io))
}

pub(crate) fn clients<'a>(analysis: &'a Analysis, names: &mut NameNumbers<'a>) -> Rows<impl Serialize + use<>> {
    let row = |it: &'a Client| {
        object!(ClientRow {
            client: names.client(&it.nid),
            server_us: it.server_us().map(Exact),
            rpcs: it.rpcs,
            read: IoView::from(&it.read),
            write: IoView::from(&it.write),
            targets: it.targets,
        })
    };
    let accused = Accused::clients(analysis);
    let mut clients: Vec<&Client> = analysis.clients_by_server_time().into_iter().filter(|it| !it.server).collect();
    // Stable: what findings name is among the first, the others by their time.
    clients.sort_by_key(|it| accused.place(&it.nid));
    Rows::new(clients, MAX_CLIENTS, row, |it| (it.rpcs, &it.read, &it.write))
}

/// What sent requests: a client, or a server, which sends some as a client does.
pub(crate) fn senders(analysis: &Analysis) -> impl Fn(&str) -> &'static str + use<'_> {
    let servers: BTreeSet<&str> = analysis.clients.iter().filter(|it| it.server).map(|it| it.nid.as_str()).collect();
    move |nid| if servers.contains(nid) { "server" } else { "client" }
}

pub(crate) fn jobs<'a>(analysis: &'a Analysis) -> Rows<impl Serialize + use<'a>> {
    let printed = job_is_printed(analysis);
    let row = |it: &'a Job| {
        object!(JobRow {
            job: job_name(it.job.as_deref(), printed),
            server_us: it.server_us().map(Exact),
            most: most_of(&it.service_us),
            rpcs: it.rpcs,
            read: IoView::from(&it.read),
            write: IoView::from(&it.write),
            clients: it.clients,
            targets: it.targets,
        })
    };
    Rows::new(analysis.jobs_by_server_time(), MAX_JOBS, row, |it| (it.rpcs, &it.read, &it.write))
}

/// The operation that took most of the time, and its share.
fn most_of(service_us: &BTreeMap<String, u64>) -> Option<(&str, f64)> {
    // Of equals the first by name.
    let (name, us) = service_us.iter().rev().max_by_key(|(_, us)| **us).filter(|(_, us)| **us > 0)?;
    Some((name, share(*us, service_us.values().sum())))
}

/// Whether the logs name any job.
pub(crate) fn job_is_printed(analysis: &Analysis) -> bool {
    analysis.jobs.iter().any(|it| it.job.is_some())
}

/// Reads and writes of users, groups and projects.
pub(crate) fn owners(analysis: &Analysis) -> Rows<impl Serialize + use<>> {
    let row = |it: &Owner| {
        object!(OwnerRow {
            uid: it.uid,
            gid: it.gid,
            projid: it.projid,
            read: IoView::from(&it.read),
            write: IoView::from(&it.write),
        })
    };
    Rows::new(&analysis.owners, MAX_OWNERS, row, |it| (it.read.rpcs + it.write.rpcs, &it.read, &it.write))
}

/// Objects, and one row of all others.
pub(crate) fn objects<'a>(analysis: &'a Analysis, names: &mut NameNumbers<'a>) -> Rows<impl Serialize + use<>> {
    let row = |it: &'a Object| {
        let target = it.target.as_deref().map(|name| names.target(name));
        object!(ObjectRow {
            // `null`: the others.
            object: it.fid.as_deref().map(|fid| names.object(target, fid)),
            target,
            objects: it.objects,
            read: IoView::from(&it.read),
            write: IoView::from(&it.write),
            clients: it.clients,
            writers: it.writers,
            first_byte: it.first_byte.map(Exact),
            last_byte: it.last_byte.map(Exact),
        })
    };
    Rows::new(&analysis.objects, MAX_OBJECTS, row, |it| (it.read.rpcs + it.write.rpcs, &it.read, &it.write))
}

/// An operation of a service.
#[derive(Debug, Serialize)]
pub(crate) struct OperationRow<'a> {
    opcode: u32,
    name: &'a str,
    service: &'a str,
    rpcs: u64,
    errors: u64,
    queue_us: Times,
    service_us: Times,
    total_us: Times,
    /// Lower edge in microseconds, RPCs; of reads and writes only, the others are not drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_hist_us: Option<&'a [(u64, u64)]>,
}

pub(crate) fn operations(analysis: &Analysis) -> Rows<OperationRow<'_>> {
    fn row_of(it: &Operation) -> OperationRow<'_> {
        OperationRow {
            opcode: it.opcode,
            name: &it.name,
            service: &it.service,
            rpcs: it.rpcs,
            errors: it.errors,
            queue_us: (&it.latency.queue_us).into(),
            service_us: (&it.latency.service_us).into(),
            total_us: (&it.latency.total_us).into(),
            total_hist_us: ["OST_READ", "OST_WRITE"].contains(&it.name.as_str()).then_some(&it.total_hist_us),
        }
    }
    Rows::new(&analysis.operations, MAX_OPERATIONS, row_of, |it| (it.rpcs, &NO_IO, &NO_IO))
}

/// RPCs that servers sent.
pub(crate) fn sent<'a>(analysis: &'a Analysis, names: &mut NameNumbers<'a>) -> Rows<impl Serialize + use<'a>> {
    let mut all: Vec<&SentRpcs> = analysis.sent.iter().collect();
    // Stable: among equals the order of the analysis.
    all.sort_by_key(|it| Reverse(it.rpcs));
    let row = |it: &'a SentRpcs| {
        object!(SentRow {
            node: &it.node,
            name: &it.name,
            target: it.target.as_deref().map(|name| names.target(name)),
            client: names.client(&it.nid),
            rpcs: it.rpcs,
            round_trip_us: Times::from(&it.round_trip_us),
        })
    };
    Rows::new(all, MAX_SENT, row, |it| (it.rpcs, &NO_IO, &NO_IO))
}
