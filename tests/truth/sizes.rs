//! RPC sizes: samples, min, max, sum and sum of squares of the stats lines, and the histogram of
//! `job_stats`, wherever all sizes are exact and the JSON holds every single RPC.

use std::collections::{BTreeMap, BTreeSet};

use super::Unit;
use crate::counters::Counter;
use crate::figures::{DIRECTIONS, Io, Sampled, counted, every_rpc, io_by, number, rows, text};
use crate::table::Table;

pub(crate) fn compare(unit: &Unit<'_>, table: &mut Table) {
    if unit.wrapped {
        return;
    }
    let Some(sample) = every_rpc(&unit.json) else { return };
    // Data-on-MDT has its own counters.
    let on_osts = |rpc: &&Sampled| rpc.target.as_ref().is_none_or(|name| name.contains("-OST"));
    let sample: Vec<&Sampled> = sample.iter().filter(on_osts).collect();
    for (direction, counter) in DIRECTIONS {
        let rpcs: Vec<&Sampled> = sample.iter().filter(|rpc| rpc.direction == direction).copied().collect();
        all(unit, table, direction, counter, &rpcs);
        per_client(unit, table, direction, counter, &rpcs);
        per_ost(unit, table, direction, counter, &rpcs);
    }
}

fn certain(io: &Io) -> bool {
    io.is_exact() && io.errors == 0
}

fn all(unit: &Unit<'_>, table: &mut Table, direction: &str, counter: &str, rpcs: &[&Sampled]) {
    let totals = unit.json.pointer(&format!("/totals/{direction}")).and_then(Io::of).unwrap();
    if !certain(&totals) {
        return;
    }
    let (mut truth, mut all_hists) = (Counter::default(), true);
    for server in &unit.servers {
        for ost in server.truth.devices("obdfilter") {
            let ost = ost_truth(server, &ost, counter);
            all_hists &= ost.samples == 0 || ost.hist.is_some();
            truth.merge(&ost);
        }
    }
    if !all_hists {
        truth.hist = None;
    }
    row(unit, table, &format!("sizes of all {direction}s"), rpcs.iter().copied(), &truth);
}

fn per_client(unit: &Unit<'_>, table: &mut Table, direction: &str, counter: &str, rpcs: &[&Sampled]) {
    let clients = io_by(&unit.json, "clients", direction, |row| text(row, "nid").map(str::to_owned));
    let mut truth: BTreeMap<String, Counter> = BTreeMap::new();
    for server in &unit.servers {
        for (_, nid, stats) in server.truth.exports("obdfilter", "stats") {
            truth.entry(nid).or_default().merge(&stats.get(counter).cloned().unwrap_or_default());
        }
    }
    for (nid, truth) in truth {
        if clients.get(&nid).is_none_or(certain) {
            let mine = rpcs.iter().copied().filter(|rpc| rpc.nid == nid);
            row(unit, table, &format!("sizes of {direction}s of client {nid}"), mine, &truth);
        }
    }
}

fn per_ost(unit: &Unit<'_>, table: &mut Table, direction: &str, counter: &str, rpcs: &[&Sampled]) {
    if rpcs.iter().any(|rpc| rpc.target.is_none()) {
        return;
    }
    let targets = io_by(&unit.json, "targets", direction, |row| text(row, "name").map(str::to_owned));
    for server in &unit.servers {
        for ost in server.truth.devices("obdfilter") {
            if !targets.get(&ost).is_none_or(certain) {
                continue;
            }
            let truth = ost_truth(server, &ost, counter);
            let mine = rpcs.iter().copied().filter(|rpc| rpc.target.as_ref() == Some(&ost));
            row(unit, table, &format!("sizes of {direction}s of {ost}"), mine, &truth);
            if let Some(hist) = &truth.hist {
                let got = size_hist(unit, &ost, direction);
                let good = got == *hist;
                table.row(
                    &unit.name,
                    &format!("size_hist of {direction}s of {ost}"),
                    show_hist(&got),
                    show_hist(hist),
                    good,
                );
            }
        }
    }
}

/// The stats line of an OST, with the histogram of all its jobs (whose RPCs all have a job id).
fn ost_truth(server: &crate::captures::Server, ost: &str, counter: &str) -> Counter {
    let stats = server.truth.stats(&format!("obdfilter.{ost}.stats"));
    let mut jobs = Counter::default();
    for (_, stats) in server.truth.jobs(&format!("obdfilter.{ost}.job_stats")) {
        jobs.merge(stats.get(counter).unwrap_or(&Counter::default()));
    }
    let stats = stats.get(counter).cloned().unwrap_or_default();
    let hist = if jobs.samples == stats.samples { jobs.hist } else { None };
    Counter { hist, ..stats }
}

/// `targets[].read.size_hist`: bound, RPCs.
fn size_hist(unit: &Unit<'_>, ost: &str, direction: &str) -> BTreeMap<u64, u64> {
    let targets = rows(&unit.json, "targets").iter().filter(|row| text(row, "name") == Some(ost));
    let buckets = targets.flat_map(|row| rows(&row[direction], "size_hist"));
    buckets.map(|it| (number(it, "le_bytes").unwrap(), number(it, "rpcs").unwrap())).collect()
}

fn row<'a>(unit: &Unit<'_>, table: &mut Table, figure: &str, rpcs: impl Iterator<Item = &'a Sampled>, truth: &Counter) {
    let mut got = counted(rpcs.filter_map(|rpc| rpc.bytes));
    if truth.hist.is_none() {
        got.hist = None;
    }
    // A histogram without samples is printed by some versions only.
    let empty = truth.samples == 0 && got.samples == 0;
    table.row(&unit.name, figure, show(&got), show(truth), empty || got == *truth);
}

fn show(counter: &Counter) -> String {
    let Counter { samples, min, max, sum, sumsq, hist } = counter;
    let hist = hist.as_ref().map(show_hist).unwrap_or_default();
    format!("{samples} samples {min} {max} {sum} {sumsq} {hist}")
}

fn show_hist(hist: &BTreeMap<u64, u64>) -> String {
    let buckets: BTreeSet<String> = hist.iter().map(|(le, n)| format!("{le:>8}: {n}")).collect();
    buckets.into_iter().collect::<Vec<_>>().join(", ")
}
