//! The lists of a [`Live`].

use lioprof_model::Live;
use lioprof_model::live::{LiveAccess, LiveClient, LiveFlow, LiveJob, LiveObject, LiveTarget, LiveWait, Top};

use crate::figures::{bandwidth, count, rate, rpc_size, time};
use crate::level::{Level, View};
use crate::table::{Cell, Column, Row, Table, name, number};

const TARGETS: &[Column] = &[
    name("target"),
    number("read MiB/s"),
    number("write MiB/s"),
    number("reads/s"),
    number("writes/s"),
    number("queue ms"),
    number("q99 ms"),
    number("serv ms"),
    number("s99 ms"),
    number("in flight"),
    number("confl/s"),
    number("read KiB"),
    number("write KiB"),
    number("clients"),
    number("RPCs/s"),
    name("server"),
];

const CLIENTS: &[Column] = &[
    name("client"),
    number("read MiB/s"),
    number("write MiB/s"),
    number("reads/s"),
    number("writes/s"),
    number("confl/s"),
    number("waiting"),
    number("targets"),
    number("read KiB"),
    number("write KiB"),
    number("RPCs/s"),
];

const JOBS: &[Column] = &[
    name("job"),
    number("read MiB/s"),
    number("write MiB/s"),
    number("reads/s"),
    number("writes/s"),
    number("clients"),
    number("read KiB"),
    number("write KiB"),
    number("RPCs/s"),
];

const OBJECTS: &[Column] = &[
    name("object"),
    name("target"),
    number("confl/s"),
    number("clients"),
    number("read MiB/s"),
    number("write MiB/s"),
    number("reads/s"),
    number("writes/s"),
    name("server"),
];

const WAITS: &[Column] = &[name("waits"), name("for"), number("confl/s"), name("target"), name("server")];

const FLOWS: &[Column] = &[
    name("client"),
    number("read MiB/s"),
    number("write MiB/s"),
    number("reads/s"),
    number("writes/s"),
    number("read KiB"),
    number("write KiB"),
];

const ACCESSES: &[Column] = &[
    name("object"),
    name("target"),
    number("read MiB/s"),
    number("write MiB/s"),
    number("reads/s"),
    number("writes/s"),
    number("read KiB"),
    number("write KiB"),
];

/// Columns of a list.
pub(crate) fn columns(level: &Level) -> &'static [Column] {
    match level {
        Level::View(View::Osts) => TARGETS,
        Level::View(View::Clients) => CLIENTS,
        Level::View(View::Jobs) => JOBS,
        Level::View(View::Objects) => OBJECTS,
        Level::View(View::Waits) => WAITS,
        Level::ClientsOf { .. } | Level::UsersOf { .. } => FLOWS,
        Level::ObjectsOf { .. } => ACCESSES,
    }
}

/// The list.
pub(crate) fn table(live: &Live, level: &Level) -> Table {
    let (rows, others) = match level {
        Level::View(View::Osts) => all(&live.targets, target),
        Level::View(View::Clients) => all(&live.clients, client),
        Level::View(View::Jobs) => all(&live.jobs, job),
        Level::View(View::Objects) => all(&live.objects, object),
        Level::View(View::Waits) => all(&live.waits, wait),
        Level::ClientsOf { target, server } => {
            some(&live.flows, |flow| flow.target == *target && flow.server == *server, flow)
        }
        Level::ObjectsOf { nid, target } => some(
            &live.accesses,
            |access| access.nid.as_ref() == Some(nid) && (target.is_none() || access.target == *target),
            access,
        ),
        Level::UsersOf { target, object } => some(
            &live.accesses,
            |access| access.target.as_ref() == Some(target) && access.object.as_ref() == Some(object),
            user,
        ),
    };
    Table { columns: columns(level), rows, others }
}

type Rows = (Vec<Row>, Option<(u64, Row)>);

fn all<T>(top: &Top<T>, row: impl Fn(&T) -> Row) -> Rows {
    (top.rows.iter().map(&row).collect(), top.others.as_ref().map(|others| (top.omitted, row(others))))
}

/// What is left out of a part of a list is not known.
fn some<T>(top: &Top<T>, is: impl Fn(&T) -> bool, row: impl Fn(&T) -> Row) -> Rows {
    (top.rows.iter().filter(|it| is(it)).map(row).collect(), None)
}

fn target(it: &LiveTarget) -> Row {
    let below = Level::ClientsOf { target: it.target.clone(), server: it.server.clone() };
    Row {
        cells: vec![
            Cell::name(it.target.as_deref()),
            bandwidth(&it.read),
            bandwidth(&it.write),
            rate(it.read.rpcs_per_s),
            rate(it.write.rpcs_per_s),
            time(it.queue_p50_us),
            time(it.queue_p99_us),
            time(it.service_p50_us),
            time(it.service_p99_us),
            rate(it.in_flight),
            rate(it.conflicts_per_s),
            rpc_size(&it.read),
            rpc_size(&it.write),
            count(it.clients),
            rate(it.rpcs_per_s),
            Cell::name(it.server.as_deref()),
        ],
        below: it.server.is_some().then_some(below),
    }
}

fn client(it: &LiveClient) -> Row {
    Row {
        cells: vec![
            Cell::name(it.nid.as_deref()),
            bandwidth(&it.read),
            bandwidth(&it.write),
            rate(it.read.rpcs_per_s),
            rate(it.write.rpcs_per_s),
            rate(it.conflicts_per_s),
            rate(it.waiting),
            count(it.targets),
            rpc_size(&it.read),
            rpc_size(&it.write),
            rate(it.rpcs_per_s),
        ],
        below: it.nid.clone().map(|nid| Level::ObjectsOf { nid, target: None }),
    }
}

fn job(it: &LiveJob) -> Row {
    let name = match it.job.as_deref() {
        Some("") => Some("(none)"),
        name => name,
    };
    Row {
        cells: vec![
            Cell::name(name),
            bandwidth(&it.read),
            bandwidth(&it.write),
            rate(it.read.rpcs_per_s),
            rate(it.write.rpcs_per_s),
            count(it.clients),
            rpc_size(&it.read),
            rpc_size(&it.write),
            rate(it.rpcs_per_s),
        ],
        below: None,
    }
}

fn object(it: &LiveObject) -> Row {
    let below = it.target.clone().zip(it.object.clone());
    Row {
        cells: vec![
            Cell::name(it.object.as_deref()),
            Cell::name(it.target.as_deref()),
            rate(it.conflicts_per_s),
            count(it.clients),
            bandwidth(&it.read),
            bandwidth(&it.write),
            rate(it.read.rpcs_per_s),
            rate(it.write.rpcs_per_s),
            Cell::name(it.server.as_deref()),
        ],
        below: below.map(|(target, object)| Level::UsersOf { target, object }),
    }
}

fn wait(it: &LiveWait) -> Row {
    Row {
        cells: vec![
            Cell::name(it.waiter.as_deref()),
            Cell::name(it.holder.as_deref()),
            rate(it.conflicts_per_s),
            Cell::name(it.target.as_deref()),
            Cell::name(it.server.as_deref()),
        ],
        below: None,
    }
}

fn flow(it: &LiveFlow) -> Row {
    Row {
        cells: vec![
            Cell::name(it.nid.as_deref()),
            bandwidth(&it.read),
            bandwidth(&it.write),
            rate(it.read.rpcs_per_s),
            rate(it.write.rpcs_per_s),
            rpc_size(&it.read),
            rpc_size(&it.write),
        ],
        below: it.nid.clone().map(|nid| Level::ObjectsOf { nid, target: it.target.clone() }),
    }
}

fn user(it: &LiveAccess) -> Row {
    let flow_of = LiveFlow {
        nid: it.nid.clone(),
        target: it.target.clone(),
        server: it.server.clone(),
        read: it.read,
        write: it.write,
    };
    flow(&flow_of)
}

fn access(it: &LiveAccess) -> Row {
    let below = it.target.clone().zip(it.object.clone());
    Row {
        cells: vec![
            Cell::name(it.object.as_deref()),
            Cell::name(it.target.as_deref()),
            bandwidth(&it.read),
            bandwidth(&it.write),
            rate(it.read.rpcs_per_s),
            rate(it.write.rpcs_per_s),
            rpc_size(&it.read),
            rpc_size(&it.write),
        ],
        below: below.map(|(target, object)| Level::UsersOf { target, object }),
    }
}
