//! The lists of a [`Live`].

use lioprof_model::Live;
use lioprof_model::live::{LiveAccess, LiveClient, LiveFlow, LiveJob, LiveObject, LiveTarget, LiveWait, Top};
use lioprof_model::names;

use crate::figures::{bandwidth, count, rate, rpc_size, time};
use crate::level::{Level, View};
use crate::table::{Cell, Column, Row, Table, name, number};

/// A column of a list of `T`, and what a row has in it.
type Field<T> = (Column, fn(&T) -> Cell);

const TARGETS: &[Field<LiveTarget>] = &[
    (name("target"), |it| Cell::name(it.target.as_deref())),
    (number("read MiB/s"), |it| bandwidth(&it.read)),
    (number("write MiB/s"), |it| bandwidth(&it.write)),
    (number("reads/s"), |it| rate(it.read.rpcs_per_s)),
    (number("writes/s"), |it| rate(it.write.rpcs_per_s)),
    (number("queue ms"), |it| time(it.queue_p50_us)),
    (number("q99 ms"), |it| time(it.queue_p99_us)),
    (number("serv ms"), |it| time(it.service_p50_us)),
    (number("s99 ms"), |it| time(it.service_p99_us)),
    (number("in flight"), |it| rate(it.in_flight)),
    (number("confl/s"), |it| rate(it.conflicts_per_s)),
    (number("read KiB"), |it| rpc_size(&it.read)),
    (number("write KiB"), |it| rpc_size(&it.write)),
    (number("clients"), |it| count(it.clients)),
    (number("RPCs/s"), |it| rate(it.rpcs_per_s)),
    (name("server"), |it| Cell::name(it.server.as_deref())),
];

const CLIENTS: &[Field<LiveClient>] = &[
    (name("client"), |it| Cell::name(it.nid.as_deref())),
    (number("read MiB/s"), |it| bandwidth(&it.read)),
    (number("write MiB/s"), |it| bandwidth(&it.write)),
    (number("reads/s"), |it| rate(it.read.rpcs_per_s)),
    (number("writes/s"), |it| rate(it.write.rpcs_per_s)),
    (number("confl/s"), |it| rate(it.conflicts_per_s)),
    (number("waiting"), |it| rate(it.waiting)),
    (number("targets"), |it| count(it.targets)),
    (number("read KiB"), |it| rpc_size(&it.read)),
    (number("write KiB"), |it| rpc_size(&it.write)),
    (number("RPCs/s"), |it| rate(it.rpcs_per_s)),
];

const JOBS: &[Field<LiveJob>] = &[
    (name("job"), |it| Cell::name(it.job.as_deref().map(|it| names::job(Some(it), true)))),
    (number("read MiB/s"), |it| bandwidth(&it.read)),
    (number("write MiB/s"), |it| bandwidth(&it.write)),
    (number("reads/s"), |it| rate(it.read.rpcs_per_s)),
    (number("writes/s"), |it| rate(it.write.rpcs_per_s)),
    (number("clients"), |it| count(it.clients)),
    (number("read KiB"), |it| rpc_size(&it.read)),
    (number("write KiB"), |it| rpc_size(&it.write)),
    (number("RPCs/s"), |it| rate(it.rpcs_per_s)),
];

const OBJECTS: &[Field<LiveObject>] = &[
    (name("object"), |it| Cell::name(it.object.as_deref())),
    (name("target"), |it| Cell::name(it.target.as_deref())),
    (number("confl/s"), |it| rate(it.conflicts_per_s)),
    (number("clients"), |it| count(it.clients)),
    (number("read MiB/s"), |it| bandwidth(&it.read)),
    (number("write MiB/s"), |it| bandwidth(&it.write)),
    (number("reads/s"), |it| rate(it.read.rpcs_per_s)),
    (number("writes/s"), |it| rate(it.write.rpcs_per_s)),
    (name("server"), |it| Cell::name(it.server.as_deref())),
];

const WAITS: &[Field<LiveWait>] = &[
    (name("waits"), |it| Cell::name(it.waiter.as_deref())),
    (name("for"), |it| Cell::name(it.holder.as_deref())),
    (number("confl/s"), |it| rate(it.conflicts_per_s)),
    (name("target"), |it| Cell::name(it.target.as_deref())),
    (name("server"), |it| Cell::name(it.server.as_deref())),
];

const FLOWS: &[Field<LiveFlow>] = &[
    (name("client"), |it| Cell::name(it.nid.as_deref())),
    (number("read MiB/s"), |it| bandwidth(&it.read)),
    (number("write MiB/s"), |it| bandwidth(&it.write)),
    (number("reads/s"), |it| rate(it.read.rpcs_per_s)),
    (number("writes/s"), |it| rate(it.write.rpcs_per_s)),
    (number("read KiB"), |it| rpc_size(&it.read)),
    (number("write KiB"), |it| rpc_size(&it.write)),
];

const ACCESSES: &[Field<LiveAccess>] = &[
    (name("object"), |it| Cell::name(it.object.as_deref())),
    (name("target"), |it| Cell::name(it.target.as_deref())),
    (number("read MiB/s"), |it| bandwidth(&it.read)),
    (number("write MiB/s"), |it| bandwidth(&it.write)),
    (number("reads/s"), |it| rate(it.read.rpcs_per_s)),
    (number("writes/s"), |it| rate(it.write.rpcs_per_s)),
    (number("read KiB"), |it| rpc_size(&it.read)),
    (number("write KiB"), |it| rpc_size(&it.write)),
];

/// Columns of a list.
pub(crate) fn columns(level: &Level) -> Vec<Column> {
    table(&Live::default(), level).columns
}

/// The list.
pub(crate) fn table(live: &Live, level: &Level) -> Table {
    match level {
        Level::View(View::Osts) => all(&live.targets, TARGETS, |it| {
            let below = Level::ClientsOf { target: it.target.clone(), server: it.server.clone() };
            it.server.is_some().then_some(below)
        }),
        Level::View(View::Clients) => {
            all(&live.clients, CLIENTS, |it| it.nid.clone().map(|nid| Level::ObjectsOf { nid, target: None }))
        }
        Level::View(View::Jobs) => all(&live.jobs, JOBS, |_| None),
        Level::View(View::Objects) => all(&live.objects, OBJECTS, |it| users_of(&it.target, &it.object)),
        Level::View(View::Waits) => all(&live.waits, WAITS, |_| None),
        Level::ClientsOf { target, server } => {
            let flows = live.flows.rows.iter().filter(|flow| flow.target == *target && flow.server == *server);
            some(flows, FLOWS, objects_of)
        }
        Level::ObjectsOf { nid, target } => {
            let is_its = |access: &&LiveAccess| access.nid.as_ref() == Some(nid);
            let is_there = |access: &&LiveAccess| target.is_none() || access.target == *target;
            let accesses = live.accesses.rows.iter().filter(is_its).filter(is_there);
            some(accesses, ACCESSES, |it| users_of(&it.target, &it.object))
        }
        Level::UsersOf { target, object } => {
            let is_of_it =
                |access: &&LiveAccess| access.target.as_ref() == Some(target) && access.object.as_ref() == Some(object);
            let flows: Vec<LiveFlow> = live.accesses.rows.iter().filter(is_of_it).map(flow_of).collect();
            some(&flows, FLOWS, objects_of)
        }
    }
}

/// `below` is what a row leads to.
fn all<T>(top: &Top<T>, fields: &[Field<T>], below: fn(&T) -> Option<Level>) -> Table {
    let others = top.others.as_ref().map(|others| (top.omitted, row(others, fields, below)));
    Table { others, ..some(&top.rows, fields, below) }
}

/// What is left out of a part of a list is not known.
fn some<'a, T: 'a>(
    rows: impl IntoIterator<Item = &'a T>,
    fields: &[Field<T>],
    below: fn(&T) -> Option<Level>,
) -> Table {
    let columns = fields.iter().map(|(column, _)| *column).collect();
    Table { columns, rows: rows.into_iter().map(|it| row(it, fields, below)).collect(), others: None }
}

fn row<T>(it: &T, fields: &[Field<T>], below: fn(&T) -> Option<Level>) -> Row {
    Row { cells: fields.iter().map(|(_, cell)| cell(it)).collect(), below: below(it) }
}

fn objects_of(it: &LiveFlow) -> Option<Level> {
    it.nid.clone().map(|nid| Level::ObjectsOf { nid, target: it.target.clone() })
}

fn users_of(target: &Option<String>, object: &Option<String>) -> Option<Level> {
    let both = target.clone().zip(object.clone());
    both.map(|(target, object)| Level::UsersOf { target, object })
}

fn flow_of(it: &LiveAccess) -> LiveFlow {
    LiveFlow {
        nid: it.nid.clone(),
        target: it.target.clone(),
        server: it.server.clone(),
        read: it.read,
        write: it.write,
    }
}
