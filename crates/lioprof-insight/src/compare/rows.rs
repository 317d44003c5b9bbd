//! Figures per OST, client and operation.

use std::collections::BTreeMap;

use lioprof_model::{
    Analysis, Better, Client, Distribution, Latency, Operation, Row, Rows, Target, TargetIo, TargetKindName,
};

use super::activity::{mean_times, of_target};
use super::figure::{Measured, figure};
use super::noise::{PerBin, real};
use super::pair::{Pair, Sided};
use super::totals::{Figures, MINOR, PERCENTILES, busy_rate, io_bytes, is_minor, over_activity, overall_error};

/// Rows of each kind: 100,000 clients would make a file that nobody opens.
const MOST_ROWS: usize = 1000;

/// What both sides have under each name.
type Joined<'a, T> = Vec<(String, [Option<&'a T>; 2])>;

/// Puts what both sides have under the same name side by side, largest first.
fn join<T>(sides: [Vec<(String, &T)>; 2], size: impl Fn(&T) -> u64) -> Joined<'_, T> {
    let mut joined: BTreeMap<String, [Option<&T>; 2]> = BTreeMap::new();
    for (at, side) in sides.into_iter().enumerate() {
        for (name, one) in side {
            // The same OST on two servers (failover): the one that did more.
            let slot = &mut joined.entry(name).or_default()[at];
            if slot.is_none_or(|before| size(before) < size(one)) {
                *slot = Some(one);
            }
        }
    }
    let mut rows: Vec<_> = joined.into_iter().collect();
    let largest = |sides: &[Option<&T>; 2]| sides.iter().flatten().map(|one| size(one)).max();
    rows.sort_by_key(|(_, sides)| std::cmp::Reverse(largest(sides)));
    rows
}

/// A row that is being filled: a `T` on each side that has it.
struct RowFigures<'p, 'a, T> {
    pair: &'p Pair<'a>,
    name: String,
    sides: [Option<&'a T>; 2],
    figures: Figures,
}

impl<'a, T> RowFigures<'_, 'a, T> {
    /// A count: 0 of a side that does not have the row.
    fn count(&mut self, figure: impl Into<String>, better: Option<Better>, of: impl Fn(&T) -> Option<f64>) {
        self.put(figure.into(), better, Some(0.0), |_, it| Measured::exact(of(it)));
    }

    /// A figure that is unknown of a side that does not have the row.
    fn measure(&mut self, figure: impl Into<String>, better: Better, of: impl Fn(&Sided<'a>, &T) -> Measured) {
        self.put(figure.into(), Some(better), None, of);
    }

    fn put(
        &mut self,
        name: String,
        better: Option<Better>,
        absent: Option<f64>,
        of: impl Fn(&Sided<'a>, &T) -> Measured,
    ) {
        let side = |sided, one: Option<&T>| one.map_or_else(|| Measured::exact(absent), |one| of(sided, one));
        let sides = [side(&self.pair.before, self.sides[0]), side(&self.pair.after, self.sides[1])];
        self.figures.insert(name, figure(sides, better, &self.pair.rules));
    }
}

/// The rows that `list` gives of both sides, largest first, with the figures that `fill` puts in.
fn rows<'a, T: 'a>(
    pair: &Pair<'a>,
    list: impl Fn(&'a Analysis) -> Vec<(String, &'a T)>,
    size: impl Fn(&T) -> u64,
    fill: impl Fn(&mut RowFigures<'_, 'a, T>),
) -> Rows {
    let mut joined = join(pair.both(|it| list(it.analysis)), size);
    let left_out = joined.len().saturating_sub(MOST_ROWS) as u64;
    joined.truncate(MOST_ROWS);
    let row = |(name, sides): (String, [Option<&'a T>; 2])| {
        let mut row = RowFigures { pair, name, sides, figures: Figures::new() };
        fill(&mut row);
        Row { name: row.name, is_before: sides[0].is_some(), is_after: sides[1].is_some(), figures: row.figures }
    };
    Rows { rows: joined.into_iter().map(row).collect(), left_out }
}

pub(super) fn targets(pair: &Pair<'_>) -> Rows {
    let osts = |it: &'_ &Target| it.kind == TargetKindName::Ost;
    rows(
        pair,
        |analysis| analysis.targets.iter().filter(osts).map(|it| (it.name.clone(), it)).collect(),
        |target| target.read.io.bytes + target.write.io.bytes,
        target_figures,
    )
}

fn target_figures(row: &mut RowFigures<'_, '_, Target>) {
    let (rules, name) = (&row.pair.rules, row.name.clone());
    for (io, of) in [("read", (|it| &it.read) as fn(&Target) -> &TargetIo), ("write", |it| &it.write)] {
        let minor = is_minor(row.pair, io == "read");
        let past = if io == "read" { "read" } else { "written" };
        row.count(format!("{past}_bytes"), None, |it| io_bytes(&of(it).io));
        row.count(format!("{io}_rpcs"), None, |it| Some(real(of(it).io.rpcs)));
        row.measure(format!("{io}_bandwidth_bytes_per_s"), Better::Higher, |it, _| {
            let bins = of_target(
                it.analysis,
                &name,
                if io == "read" { |series| &series.read_bytes } else { |series| &series.write_bytes },
            );
            let rate = busy_rate(&bins, it.analysis.series.bin_s, rules);
            if minor { Measured { error: Err(MINOR.to_owned()), ..rate } } else { rate }
        });
        for (percentile, share, value) in PERCENTILES {
            row.measure(format!("{io}_total_{percentile}_us"), Better::Lower, |it, target| {
                let times = &of(target).latency.total_us;
                let spread = mean_times(it.analysis, &name).busy_error(rules.min_bins);
                Measured::percentile(times, (share, value(times)), (spread, None), rules)
            });
        }
    }
}

pub(super) fn clients(pair: &Pair<'_>) -> Rows {
    rows(
        pair,
        |analysis| analysis.clients.iter().filter(|it| !it.server).map(|it| (it.nid.clone(), it)).collect(),
        |client| client.read.bytes + client.write.bytes,
        client_figures,
    )
}

fn client_figures(row: &mut RowFigures<'_, '_, Client>) {
    let (rules, nid) = (&row.pair.rules, row.name.clone());
    row.count("read_bytes", None, |it| io_bytes(&it.read));
    row.count("written_bytes", None, |it| io_bytes(&it.write));
    row.count("rpcs", None, |it| Some(real(it.rpcs)));
    row.count("read_rpcs", None, |it| Some(real(it.read.rpcs)));
    row.count("write_rpcs", None, |it| Some(real(it.write.rpcs)));
    row.measure("bandwidth_bytes_per_s", Better::Higher, |it, client| {
        let bytes = io_bytes(&client.read).zip(io_bytes(&client.write)).map(|(read, write)| read + write);
        // Bytes per client and bin are not kept; its requests vary as they do.
        let own = requests(it.analysis, &nid).busy_error(rules.min_bins);
        // The time that they are divided by is no surer than for all.
        let error = own.zip(overall_error(it, rules.min_bins)).map(|(own, all)| own.max(all));
        Measured::of_bins(over_activity(it, bytes), error, rules)
    });
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
    rows(
        pair,
        |analysis| analysis.operations.iter().map(|it| (format!("{} {}", it.name, it.service), it)).collect(),
        |operation| operation.rpcs,
        operation_figures,
    )
}

fn operation_figures(row: &mut RowFigures<'_, '_, Operation>) {
    let rules = &row.pair.rules;
    row.count("rpcs", None, |it| Some(real(it.rpcs)));
    row.count("errors", Some(Better::Lower), |it| Some(real(it.errors)));
    for (time, of) in [
        ("queue", (|it| &it.queue_us) as fn(&Latency) -> &Distribution),
        ("service", |it| &it.service_us),
        ("total", |it| &it.total_us),
    ] {
        for (percentile, share, value) in PERCENTILES {
            row.measure(format!("{time}_{percentile}_us"), Better::Lower, |_, it| {
                let times = of(&it.latency);
                Measured::percentile(times, (share, value(times)), (None, None), rules)
            });
        }
    }
}
