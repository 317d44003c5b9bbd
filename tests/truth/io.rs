//! Reads and writes: RPCs and bytes per node, client, job, OST, and client x OST.

use std::collections::{BTreeMap, BTreeSet};

use lustre_debuglog::vocab::KernelJob;
use serde_json::Value;

use super::Unit;
use crate::counters::Counter;
use crate::figures::{DIRECTIONS, Io, io_by, number, ost_or_unknown, text};
use crate::table::Table;

pub(crate) fn compare(unit: &Unit<'_>, table: &mut Table) {
    for (direction, counter) in DIRECTIONS {
        let check = Check { unit, direction, counter };
        check.nodes_and_totals(table);
        check.clients(table);
        check.jobs(table);
        check.targets(table);
        check.flows(table);
        check.data_on_mdt(table);
    }
}

struct Check<'a> {
    unit: &'a Unit<'a>,
    direction: &'static str,
    counter: &'static str,
}

type Truth<K> = BTreeMap<K, Counter>;

fn add<K: Ord>(truth: &mut Truth<K>, key: K, counter: Option<&Counter>) {
    truth.entry(key).or_default().merge(counter.unwrap_or(&Counter::default()));
}

impl Check<'_> {
    fn json(&self) -> &Value {
        &self.unit.json
    }

    fn figure(&self, what: &str) -> String {
        format!("{what} {}", self.direction)
    }

    fn nodes_and_totals(&self, table: &mut Table) {
        let nodes = io_by(self.json(), "nodes", self.direction, |row| text(row, "name").map(str::to_owned));
        let mut truth = Truth::new();
        for server in &self.unit.servers {
            for ost in server.truth.devices("obdfilter") {
                let stats = server.truth.stats(&format!("obdfilter.{ost}.stats"));
                add(&mut truth, server.name.clone(), stats.get(self.counter));
                add(&mut truth, String::new(), stats.get(self.counter));
            }
        }
        let total = truth.remove("").unwrap_or_default();
        self.whole_figures(table, "node", &nodes, &truth);
        let totals = self.json().pointer(&format!("/totals/{}", self.direction)).and_then(Io::of);
        self.exactly(table, &self.figure("total"), &totals.unwrap_or_default(), &total);
    }

    fn clients(&self, table: &mut Table) {
        let clients = io_by(self.json(), "clients", self.direction, |row| text(row, "nid").map(str::to_owned));
        let mut truth = Truth::new();
        for server in &self.unit.servers {
            for (_, nid, stats) in server.truth.exports("obdfilter", "stats") {
                add(&mut truth, nid, stats.get(self.counter));
            }
        }
        self.whole_figures(table, "client", &clients, &truth);
    }

    fn jobs(&self, table: &mut Table) {
        let jobs = io_by(self.json(), "jobs", self.direction, |row| Some(text(row, "job").unwrap_or("").to_owned()));
        let mut truth = Truth::new();
        for server in &self.unit.servers {
            for ost in server.truth.devices("obdfilter") {
                for (job, stats) in server.truth.jobs(&format!("obdfilter.{ost}.job_stats")) {
                    // Servers count each thread of a client's kernel by itself.
                    let by_kernel = KernelJob::of(job.as_bytes()).map(|it| String::from_utf8(it.name()).unwrap());
                    add(&mut truth, by_kernel.unwrap_or(job), stats.get(self.counter));
                }
            }
        }
        self.whole_figures(table, "job", &jobs, &truth);
    }

    fn targets(&self, table: &mut Table) {
        let targets = io_by(self.json(), "targets", self.direction, |row| {
            let (name, node) = (text(row, "name")?, text(row, "node")?);
            name.contains("-OST").then(|| (node.to_owned(), name.to_owned()))
        });
        let unknown = io_by_unattributed(self.json(), self.direction);
        let mut truth = Truth::new();
        for server in &self.unit.servers {
            for ost in server.truth.devices("obdfilter") {
                let stats = server.truth.stats(&format!("obdfilter.{ost}.stats"));
                add(&mut truth, (server.name.clone(), ost), stats.get(self.counter));
            }
        }
        for key in keys(&targets, &truth) {
            let unknown = unknown.get(&key.0).cloned().unwrap_or_default();
            let figure = self.figure(&format!("OST {}", key.1));
            self.partly(table, &figure, &at(&targets, &key), &unknown, &at(&truth, &key));
        }
    }

    fn flows(&self, table: &mut Table) {
        let flow = |row: &Value| {
            let target = ost_or_unknown(row)?;
            Some((text(row, "node")?.to_owned(), text(row, "nid")?.to_owned(), target))
        };
        let flows = io_by(self.json(), "flows", self.direction, flow);
        let mut truth = Truth::new();
        for server in &self.unit.servers {
            for (ost, nid, stats) in server.truth.exports("obdfilter", "stats") {
                add(&mut truth, (server.name.clone(), nid, Some(ost)), stats.get(self.counter));
            }
        }
        for (node, nid, target) in keys(&flows, &truth) {
            let Some(ost) = target else { continue };
            let unknown = at(&flows, &(node.clone(), nid.clone(), None));
            let figure = self.figure(&format!("{nid} x {ost}"));
            let key = (node, nid, Some(ost));
            self.partly(table, &figure, &at(&flows, &key), &unknown, &at(&truth, &key));
        }
    }

    fn data_on_mdt(&self, table: &mut Table) {
        let mut truth = Counter::default();
        for server in &self.unit.servers {
            for mdt in server.truth.devices("mdt") {
                for (_, stats) in server.truth.jobs(&format!("mdt.{mdt}.job_stats")) {
                    truth.merge(stats.get(self.counter).unwrap_or(&Counter::default()));
                }
            }
        }
        let dom = self.json().pointer(&format!("/totals/dom_{}", self.direction)).and_then(Io::of);
        self.exactly(table, &self.figure("Data-on-MDT"), &dom.unwrap_or_default(), &truth);
    }

    /// Figures that cover all reads or writes of a key.
    fn whole_figures(&self, table: &mut Table, what: &str, got: &BTreeMap<String, Io>, truth: &Truth<String>) {
        for key in keys(got, truth) {
            self.exactly(table, &self.figure(&format!("{what} {key}")), &at(got, &key), &at(truth, &key));
        }
    }

    /// RPCs equal; bytes equal where they are exact, inside the bounds otherwise.
    fn exactly(&self, table: &mut Table, figure: &str, got: &Io, truth: &Counter) {
        let name = &self.unit.name;
        self.unit.count(table, &format!("{figure} RPCs"), Some(got.moved()), truth.samples);
        let figure = format!("{figure} bytes");
        if self.unit.wrapped {
            // If all RPCs were of one size, so are the survivors.
            if truth.min == truth.max {
                table.within(name, &figure, Some(got.bytes_min), got.at_most(), got.moved() * truth.max);
            }
            self.survivors(table, &format!("{figure}: uncertain RPCs"), got.bounded + got.unsized_);
        } else if got.is_exact() {
            table.equal(name, &figure, Some(got.bytes), truth.sum);
            table.equal(name, &format!("{figure}: bounds"), Some(got.bytes_max - got.bytes_min), 0);
        } else {
            table.within(name, &figure, Some(got.bytes_min), got.at_most(), truth.sum);
        }
    }

    /// What survives in a wrapped capture is exact and attributed, but for RPCs whose own head is overwritten.
    fn survivors(&self, table: &mut Table, figure: &str, doubtful: u64) {
        let headless = number(&self.json()["loss"], "missing_handling").unwrap_or(0);
        table.row(&self.unit.name, figure, doubtful, format!("at most {headless}"), doubtful <= headless);
    }

    /// attributed <= counter <= attributed + unattributed; equal if nothing is unattributed.
    fn partly(&self, table: &mut Table, figure: &str, got: &Io, unknown: &Io, truth: &Counter) {
        if unknown.rpcs == 0 {
            return self.exactly(table, figure, got, truth);
        }
        let name = &self.unit.name;
        if self.unit.wrapped {
            return self.survivors(table, &format!("{figure}: unattributed RPCs"), unknown.rpcs);
        }
        let most = got.moved() + unknown.moved();
        table.within(name, &format!("{figure} RPCs"), Some(got.moved()), Some(most), truth.samples);
        let most = got.at_most().and_then(|most| Some(most + unknown.at_most()?));
        table.within(name, &format!("{figure} bytes"), Some(got.bytes_min), most, truth.sum);
    }
}

/// Unattributed reads or writes by node.
fn io_by_unattributed(json: &Value, direction: &str) -> BTreeMap<String, Io> {
    let nodes = crate::figures::rows(json, "nodes").iter();
    let unknown = nodes.map(|row| {
        let io = row.pointer(&format!("/unattributed/{direction}")).and_then(Io::of);
        (text(row, "name").unwrap().to_owned(), io.unwrap())
    });
    unknown.collect()
}

fn keys<K: Ord + Clone, A, B>(a: &BTreeMap<K, A>, b: &BTreeMap<K, B>) -> BTreeSet<K> {
    a.keys().chain(b.keys()).cloned().collect()
}

fn at<K: Ord, V: Clone + Default>(map: &BTreeMap<K, V>, key: &K) -> V {
    map.get(key).cloned().unwrap_or_default()
}
