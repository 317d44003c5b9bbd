//! Figures per OST, client and operation.

use std::collections::BTreeMap;

use lioprof_model::{
    Analysis, Better, Client, Distribution, Io, Latency, Operation, Row, Rows, Target, TargetKindName,
};

use super::activity::{mean_times, of_target};
use super::figure::{Measured, figure};
use super::noise::{PerBin, real};
use super::pair::{Pair, Sided};
use super::totals::{Figures, MINOR, PERCENTILES, busy_rate, io_bytes, is_minor, over_activity, overall_error};

/// Rows of each kind: 100,000 clients would make a file that nobody opens.
const MOST_ROWS: usize = 1000;

/// Rows with their sides, and how many more there are.
type Joined<'a, K, T> = (Vec<(K, [Option<&'a T>; 2])>, u64);

/// Puts what both sides have under the same key side by side, largest first.
fn join<K: Ord, T>(sides: [Vec<(K, &T)>; 2], size: impl Fn(&T) -> u64) -> Joined<'_, K, T> {
    let mut joined: BTreeMap<K, [Option<&T>; 2]> = BTreeMap::new();
    for (at, side) in sides.into_iter().enumerate() {
        for (key, one) in side {
            // The same OST on two servers (failover): the one that did more.
            let slot = &mut joined.entry(key).or_default()[at];
            if slot.is_none_or(|before| size(before) < size(one)) {
                *slot = Some(one);
            }
        }
    }
    let mut rows: Vec<_> = joined.into_iter().collect();
    let largest = |sides: &[Option<&T>; 2]| sides.iter().flatten().map(|one| size(one)).max();
    rows.sort_by_key(|(_, sides)| std::cmp::Reverse(largest(sides)));
    let left_out = rows.len().saturating_sub(MOST_ROWS) as u64;
    rows.truncate(MOST_ROWS);
    (rows, left_out)
}

/// A row whose figures `fill` gives: of what a side does not have, counts are 0 and the rest is unknown.
fn row<T>(name: &str, sides: [Option<&T>; 2], figures: Figures) -> Row {
    Row { name: name.to_owned(), is_before: sides[0].is_some(), is_after: sides[1].is_some(), figures }
}

/// What of each side, where it has such a row.
fn measured<'a, T>(
    pair: &Pair<'a>,
    sides: [Option<&T>; 2],
    of: impl Fn(&Sided<'a>, &T) -> Measured,
    absent: Option<f64>,
) -> [Measured; 2] {
    let side = |sided: &Sided<'a>, one: Option<&T>| one.map_or_else(|| Measured::exact(absent), |one| of(sided, one));
    [side(&pair.before, sides[0]), side(&pair.after, sides[1])]
}

pub(super) fn targets(pair: &Pair<'_>) -> Rows {
    fn list(analysis: &Analysis) -> Vec<(String, &Target)> {
        let osts = analysis.targets.iter().filter(|target| target.kind == TargetKindName::Ost);
        osts.map(|target| (target.name.clone(), target)).collect()
    }
    let sides = [list(pair.before.analysis), list(pair.after.analysis)];
    let (rows, left_out) = join(sides, |target: &Target| target.read.io.bytes + target.write.io.bytes);
    let rows = rows.into_iter().map(|(name, sides)| row(&name, sides, target_figures(pair, &name, sides)));
    Rows { rows: rows.collect(), left_out }
}

fn target_figures(pair: &Pair<'_>, name: &str, sides: [Option<&Target>; 2]) -> Figures {
    let rules = &pair.rules;
    let mut figures = Figures::new();
    for (io, of) in [("read", (|it| &it.read) as fn(&Target) -> &lioprof_model::TargetIo), ("write", |it| &it.write)] {
        let minor = is_minor(pair, io == "read");
        let past = if io == "read" { "read" } else { "written" };
        let bytes = measured(pair, sides, |_, it| Measured::exact(io_bytes(&of(it).io)), Some(0.0));
        figures.insert(format!("{past}_bytes"), figure(bytes, None, rules));
        let rpcs = measured(pair, sides, |_, it| Measured::exact(Some(real(of(it).io.rpcs))), Some(0.0));
        figures.insert(format!("{io}_rpcs"), figure(rpcs, None, rules));
        let rate = measured(
            pair,
            sides,
            |it, _| {
                let bins = of_target(
                    it.analysis,
                    name,
                    if io == "read" { |series| &series.read_bytes } else { |series| &series.write_bytes },
                );
                let rate = busy_rate(&bins, it.analysis.series.bin_s, rules);
                if minor { Measured { error: Err(MINOR.to_owned()), ..rate } } else { rate }
            },
            None,
        );
        figures.insert(format!("{io}_bandwidth_bytes_per_s"), figure(rate, Some(Better::Higher), rules));
        for (percentile, share, value) in PERCENTILES {
            let times = measured(
                pair,
                sides,
                |it, target| {
                    let times = &of(target).latency.total_us;
                    let spread = mean_times(it.analysis, name).busy_error(rules.min_bins);
                    Measured::percentile(times, (share, value(times)), (spread, None), rules)
                },
                None,
            );
            figures.insert(format!("{io}_total_{percentile}_us"), figure(times, Some(Better::Lower), rules));
        }
    }
    figures
}

pub(super) fn clients(pair: &Pair<'_>) -> Rows {
    fn list(analysis: &Analysis) -> Vec<(String, &Client)> {
        let clients = analysis.clients.iter().filter(|client| !client.server);
        clients.map(|client| (client.nid.clone(), client)).collect()
    }
    let sides = [list(pair.before.analysis), list(pair.after.analysis)];
    let (rows, left_out) = join(sides, |client: &Client| client.read.bytes + client.write.bytes);
    let rows = rows.into_iter().map(|(nid, sides)| row(&nid, sides, client_figures(pair, &nid, sides)));
    Rows { rows: rows.collect(), left_out }
}

fn client_figures(pair: &Pair<'_>, nid: &str, sides: [Option<&Client>; 2]) -> Figures {
    let rules = &pair.rules;
    let mut figures = Figures::new();
    for (name, of) in [
        ("read_bytes", (|it| io_bytes(&it.read)) as fn(&Client) -> Option<f64>),
        ("written_bytes", |it| io_bytes(&it.write)),
        ("rpcs", |it| Some(real(it.rpcs))),
        ("read_rpcs", |it| Some(real(it.read.rpcs))),
        ("write_rpcs", |it| Some(real(it.write.rpcs))),
    ] {
        let sides = measured(pair, sides, |_, it| Measured::exact(of(it)), Some(0.0));
        figures.insert(name.to_owned(), figure(sides, None, rules));
    }
    let rate = measured(
        pair,
        sides,
        |it, client| {
            let sum = |io: [&Io; 2]| Some(io_bytes(io[0])? + io_bytes(io[1])?);
            // Bytes per client and bin are not kept; its requests vary as they do.
            let own = requests(it.analysis, nid).busy_error(rules.min_bins);
            // The time that they are divided by is no surer than for all.
            let error = own.zip(overall_error(it, rules.min_bins)).map(|(own, all)| own.max(all));
            Measured::of_bins(over_activity(it, sum([&client.read, &client.write])), error, rules)
        },
        None,
    );
    figures.insert("bandwidth_bytes_per_s".to_owned(), figure(rate, Some(Better::Higher), rules));
    figures
}

fn requests(analysis: &Analysis, nid: &str) -> PerBin {
    let mut sum = PerBin::new(analysis.series.bins);
    for flow in analysis.series.flows.iter().filter(|flow| flow.nid.as_deref() == Some(nid)) {
        sum.add_counts(&flow.read_rpcs);
        sum.add_counts(&flow.write_rpcs);
    }
    sum
}

pub(super) fn operations(pair: &Pair<'_>) -> Rows {
    fn list(analysis: &Analysis) -> Vec<(String, &Operation)> {
        analysis.operations.iter().map(|it| (format!("{} {}", it.name, it.service), it)).collect()
    }
    let sides = [list(pair.before.analysis), list(pair.after.analysis)];
    let (rows, left_out) = join(sides, |operation: &Operation| operation.rpcs);
    let rows = rows.into_iter().map(|(name, sides)| row(&name, sides, operation_figures(pair, sides)));
    Rows { rows: rows.collect(), left_out }
}

fn operation_figures(pair: &Pair<'_>, sides: [Option<&Operation>; 2]) -> Figures {
    let rules = &pair.rules;
    let mut figures = Figures::new();
    let rpcs = measured(pair, sides, |_, it| Measured::exact(Some(real(it.rpcs))), Some(0.0));
    figures.insert("rpcs".to_owned(), figure(rpcs, None, rules));
    let errors = measured(pair, sides, |_, it| Measured::exact(Some(real(it.errors))), Some(0.0));
    figures.insert("errors".to_owned(), figure(errors, Some(Better::Lower), rules));
    for (time, of) in [
        ("queue", (|it| &it.queue_us) as fn(&Latency) -> &Distribution),
        ("service", |it| &it.service_us),
        ("total", |it| &it.total_us),
    ] {
        for (percentile, share, value) in PERCENTILES {
            let times = measured(
                pair,
                sides,
                |_, it| {
                    let times = of(&it.latency);
                    Measured::percentile(times, (share, value(times)), (None, None), rules)
                },
                None,
            );
            figures.insert(format!("{time}_{percentile}_us"), figure(times, Some(Better::Lower), rules));
        }
    }
    figures
}
