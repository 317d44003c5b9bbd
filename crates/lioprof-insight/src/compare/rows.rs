//! Figures per OST, client and operation.

use std::collections::BTreeMap;

use lioprof_model::{
    Analysis, Better, Client, Direction, Distribution, Latency, Operation, Row, Rows, Target, TargetIo, TargetKindName,
    TimeOf,
};

use super::activity::{OST_READ, OST_WRITE, of_target};
use super::family;
use super::figure::{Draft, Drafts, Measured};
use super::noise::{PerBin, real};
use super::pair::{Pair, Sided};
use super::ranks::Ranks;
use super::totals::{PERCENTILES, busy_rate, different_bins, io_bytes, overall_error};

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
    figures: Drafts,
}

impl<'a, T> RowFigures<'_, 'a, T> {
    /// A count: 0 of a side that does not have the row.
    fn count(&mut self, figure: impl Into<String>, better: Option<Better>, of: impl Fn(&T) -> Option<f64>) {
        self.put(figure.into(), better, Some(0.0), |_, it| Measured::exact(of(it)));
    }

    /// A number of events that are better fewer: none of a side that does not have the row.
    fn events(&mut self, figure: &str, of: impl Fn(&T) -> f64) {
        let sides = self.sides.map(|one| Measured::events(one.map_or(0.0, &of), 1.0));
        self.figures.insert(figure.to_owned(), Draft::new(sides, Some(Better::Lower)));
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
        self.figures.insert(name, Draft::new(sides, better));
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
    let draft = |(name, sides): (String, [Option<&'a T>; 2])| {
        let mut row = RowFigures { pair, name, sides, figures: Drafts::new() };
        fill(&mut row);
        RowFigures { figures: pair.settled(row.figures), ..row }
    };
    let drafts: Vec<_> = joined.into_iter().map(draft).collect();
    let error = family::error(drafts.iter().flat_map(|row| row.figures.values()), &pair.rules);
    let row = |row: RowFigures<'_, 'a, T>| Row {
        name: row.name,
        is_before: row.sides[0].is_some(),
        is_after: row.sides[1].is_some(),
        figures: family::figures(&row.figures, error, &pair.rules),
    };
    Rows { rows: drafts.into_iter().map(row).collect(), left_out, error: Some(error) }
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
    let name = row.name.clone();
    let other_bins = different_bins(row.pair);
    for (direction, of) in
        [(Direction::Read, (|it| &it.read) as fn(&Target) -> &TargetIo), (Direction::Write, |it| &it.write)]
    {
        let (io, is_read) = (direction.name(), direction == Direction::Read);
        row.count(format!("{}_bytes", if is_read { "read" } else { "written" }), None, |it| io_bytes(&of(it).io));
        row.count(format!("{io}_rpcs"), None, |it| Some(real(of(it).io.rpcs)));
        row.measure(format!("{io}_bandwidth_bytes_per_s"), Better::Higher, |it, target| {
            let bins = of_target(it.analysis, &name, if is_read { |it| &it.read_bytes } else { |it| &it.write_bytes });
            busy_rate(&bins, it.analysis.series.bin_s, of(target).io.rpcs).unless(other_bins.clone())
        });
        for (percentile, share, value) in PERCENTILES {
            row.measure(format!("{io}_total_{percentile}_us"), Better::Lower, |it, target| {
                let times = &of(target).latency.total_us;
                percentile_of(it, times, (share, value(times)), Some((direction, Some(&name))))
            });
        }
    }
}

/// A percentile of times; `which` reads or writes these are the total times of, of which OST.
fn percentile_of(
    it: &Sided<'_>,
    times: &Distribution,
    (share, value): (f64, Option<u64>),
    which: Option<(Direction, Option<&str>)>,
) -> Measured {
    let Some(value) = value else { return Measured::exact(None) };
    let all = which.and_then(|(direction, target)| it.requests.all(direction, target, times.count));
    if let Some(all) = all {
        return Measured::ranks(value, Ranks::of_all(&all, share, real(value)));
    }
    // As those of all OSTs cluster.
    let deviation = which.and_then(|(direction, _)| {
        let at = PERCENTILES.iter().position(|(_, other, _)| *other == share)?;
        let of_direction = it.clustering[usize::from(direction == Direction::Write)];
        Some((of_direction[at] * share * (1.0 - share) / real(times.count)).sqrt())
    });
    Measured::ranks(value, Ranks::of_some(times, share, deviation))
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
    let nid = row.name.clone();
    row.count("read_bytes", None, |it| io_bytes(&it.read));
    row.count("written_bytes", None, |it| io_bytes(&it.write));
    row.count("rpcs", None, |it| Some(real(it.rpcs)));
    row.count("read_rpcs", None, |it| Some(real(it.read.rpcs)));
    row.count("write_rpcs", None, |it| Some(real(it.write.rpcs)));
    row.measure("bandwidth_bytes_per_s", Better::Higher, |it, client| {
        let bytes = io_bytes(&client.read).zip(io_bytes(&client.write)).map(|(read, write)| read + write);
        // Over its own time: one that is done early is no slower for it.
        let busy_us = it.analysis.time_account.client(&nid).map(TimeOf::covered_us).filter(|us| *us > 0);
        let rate = bytes.zip(busy_us).map(|(bytes, us)| bytes / (real(us) / 1e6));
        // Bytes per client and bin are not kept; its requests vary as they do.
        let own = requests(it.analysis, &nid).busy_error(client.read.rpcs + client.write.rpcs);
        // The time that they are divided by is no surer than for all.
        let error = own.zip(overall_error(it)).map(|(own, all)| own.max(all));
        Measured::mean(rate, error)
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
    row.count("rpcs", None, |it| Some(real(it.rpcs)));
    row.events("errors", |it| real(it.errors));
    for (time, of) in [
        ("queue", (|it| &it.queue_us) as fn(&Latency) -> &Distribution),
        ("service", |it| &it.service_us),
        ("total", |it| &it.total_us),
    ] {
        for (percentile, share, value) in PERCENTILES {
            row.measure(format!("{time}_{percentile}_us"), Better::Lower, |it, operation| {
                let times = of(&operation.latency);
                let direction = match operation.opcode {
                    OST_READ => Some(Direction::Read),
                    OST_WRITE => Some(Direction::Write),
                    _ => None,
                };
                let which = direction.filter(|_| time == "total").map(|direction| (direction, None));
                percentile_of(it, times, (share, value(times)), which)
            });
        }
    }
}
