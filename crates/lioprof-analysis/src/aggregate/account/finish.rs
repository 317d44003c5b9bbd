//! Rasters to the rows of an analysis.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lioprof_model::units::{real, seconds};
use lioprof_model::{
    ServiceParts, SpentOn, Symbol, Symbols, TargetParts, TimeAccount, TimeOf, TimeSeries, TimeSpent, TimeSpentSeries,
};

use super::raster::{Cell, Raster};
use super::sums::{AccountSums, Spending, Whose};
use super::under_way::UnderWay;
use crate::few::beyond_first;

/// Clients and jobs listed.
const TOP: usize = 1_000;

/// What time is spent on, with names, which are in the same order in every run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    on: SpentOn,
    target: Option<String>,
    node: String,
}

impl Named {
    fn of((on, target): Spending, symbols: &Symbols) -> Self {
        Self { on, target: target.name.map(|name| name.to_string()), node: symbols.text(target.node) }
    }
}

/// All that time is spent on, each once: bins have places in it.
struct SpentOnNames {
    /// In their order. Nothing is the last.
    names: Vec<Named>,
    /// How much of the time that is spent on each its peers would not have needed.
    excess_shares: Vec<Option<f64>>,
    /// Places of the numbers of rasters.
    places: Vec<usize>,
}

impl SpentOnNames {
    fn new(spendings: &[Spending], symbols: &Symbols, parts: &ServiceParts) -> Self {
        let of_numbers: Vec<Named> = spendings.iter().map(|&spending| Named::of(spending, symbols)).collect();
        let mut names = of_numbers.clone();
        names.push(Named { on: SpentOn::Nothing, target: None, node: String::new() });
        names.sort_unstable();
        names.dedup();
        let place = |named: &Named| names.binary_search(named).expect("each name is in the list");
        let places = of_numbers.iter().map(place).collect();
        let excess_shares = names.iter().map(|named| excess_share(named, parts)).collect();
        Self { names, excess_shares, places }
    }

    fn nothing(&self) -> usize {
        self.names.len() - 1
    }
}

/// Time by places in [`SpentOnNames`].
type Divided = BTreeMap<usize, u64>;

/// The account. `parts` says how much longer than their peers targets took.
pub(crate) fn finish(mut sums: AccountSums, symbols: &Symbols, parts: &ServiceParts) -> TimeAccount {
    let names = SpentOnNames::new(&sums.spendings, symbols, parts);
    let mut account = TimeAccount::default();
    let raster = sums.raster_of_all();
    if !raster.is_empty() {
        let bins = divided(raster, &names);
        let all = time_of(String::new(), raster, &bins, &names);
        account.resolution_us = 1 << raster.shift;
        account.series = series(raster, &bins, &names, &all);
        account.all = Some(all);
    }
    let [clients, jobs] = busiest(&sums, symbols);
    let most = sums.most_bins_of_one();
    let listed = |(name, under_way): (Symbol, &UnderWay)| {
        let raster = under_way.raster(most);
        time_of(symbols.text(name), &raster, &divided(&raster, &names), &names)
    };
    account.clients = clients.into_iter().map(listed).collect();
    account.jobs = jobs.into_iter().map(listed).collect();
    account
}

/// The clients and jobs that had requests for most of the time, in this order, and by name.
fn busiest<'a>(sums: &'a AccountSums, symbols: &Symbols) -> [Vec<(Symbol, &'a UnderWay)>; 2] {
    let most = sums.most_bins_of_one();
    let [mut clients, mut jobs] = [Vec::new(), Vec::new()];
    for (&whose, under_way) in &sums.each {
        let covered_us: u64 = divisions(&under_way.raster(most)).map(|(_, division)| division.covered_us).sum();
        match whose {
            Whose::Client(nid) => clients.push((covered_us, nid, under_way)),
            Whose::Job(job) => jobs.push((covered_us, job, under_way)),
        }
    }
    [clients, jobs].map(|mut list| {
        let order = |a: &(u64, Symbol, _), b: &(u64, Symbol, _)| {
            b.0.cmp(&a.0).then_with(|| symbols.text(a.1).cmp(&symbols.text(b.1)))
        };
        let beyond = beyond_first(&mut list, TOP, order).len();
        list.truncate(list.len() - beyond);
        list.sort_unstable_by(order);
        list.into_iter().map(|(_, name, under_way)| (name, under_way)).collect()
    })
}

/// What the time of each bin was spent on.
fn divided(raster: &Raster, names: &SpentOnNames) -> Vec<Divided> {
    divisions(raster).map(|(cell, division)| divide(cell, division, names)).collect()
}

/// How long a bin is, and for how much of it something was under way.
#[derive(Clone, Copy)]
struct Division {
    length_us: u64,
    covered_us: u64,
    /// Of all requests together.
    all_us: u64,
}

fn divisions(raster: &Raster) -> impl Iterator<Item = (&Cell, Division)> {
    raster.bins().map(|(start_us, cell)| {
        let [from_us, to_us] =
            [start_us, start_us + raster.width_us()].map(|us| us.clamp(raster.first_us, raster.last_us));
        let length_us = to_us.abs_diff(from_us);
        let all_us = cell.us.iter().map(|(_, us)| us).sum();
        let points = raster.points_between(start_us.div_euclid(raster.width_us()), from_us, to_us);
        let (seen, covered) = (u64::from(points.count_ones()), u64::from((points & cell.points).count_ones()));
        // Between two points anything may be; what was under way is no longer than all requests together.
        let covered_us = (length_us * covered).checked_div(seen).unwrap_or(length_us).min(all_us);
        (cell, Division { length_us, covered_us, all_us })
    })
}

fn divide(cell: &Cell, Division { length_us, covered_us, all_us }: Division, names: &SpentOnNames) -> Divided {
    let mut spent = Divided::new();
    for &(number, us) in cell.us.iter().filter(|(_, us)| *us > 0) {
        *spent.entry(names.places[number as usize]).or_default() += us;
    }
    let mut left_us = covered_us;
    let mut left_of_all = all_us;
    for us in spent.values_mut() {
        // What is left is divided by what is left: shares add up exactly.
        let share = (u128::from(left_us) * u128::from(*us)).checked_div(u128::from(left_of_all)).unwrap_or(0);
        left_of_all -= *us;
        *us = u64::try_from(share).expect("a share of the time is no longer than the time");
        left_us -= *us;
    }
    if covered_us < length_us {
        spent.insert(names.nothing(), length_us - covered_us);
    }
    spent
}

fn time_of(name: String, raster: &Raster, divided: &[Divided], names: &SpentOnNames) -> TimeOf {
    let mut sums = Divided::new();
    for (&place, us) in divided.iter().flatten() {
        *sums.entry(place).or_default() += us;
    }
    let spent = |(place, us): (usize, u64)| {
        let Named { on, target, node } = names.names[place].clone();
        let excess_us = names.excess_shares[place].map(|share| part_of(us, share));
        TimeSpent { excess_us, ..TimeSpent::new(on, target, node, us) }
    };
    let mut spent: Vec<TimeSpent> = sums.into_iter().map(spent).collect();
    // Stable: equal ones stay in the order of their names.
    spent.sort_by_key(|spent| Reverse(spent.us));
    TimeOf {
        name,
        first: seconds(raster.first_us),
        last: seconds(raster.last_us),
        span_us: raster.last_us.abs_diff(raster.first_us),
        spent,
    }
}

/// How much of the service time of a target's reads and writes its peers would not have needed, where that is certain.
fn excess_share(named: &Named, parts: &ServiceParts) -> Option<f64> {
    if named.on != SpentOn::Bulk || named.target.is_none() {
        return None;
    }
    let own = parts.targets.iter().filter(|parts| parts.target == named.target && parts.node == named.node);
    let (mut longer_us, mut service_us) = (None, 0.0);
    for TargetParts { parts, .. } in own {
        service_us += parts.mean_service_us() * real(parts.rpcs);
        for (_, part) in parts.in_order() {
            let (Some(against), Some(mean_us)) = (part.against_peers, part.us.mean) else { continue };
            if against.takes_longer() {
                let more_us = (mean_us - against.peers_mean_us) * real(parts.rpcs);
                longer_us = Some(longer_us.unwrap_or(0.0) + more_us);
            }
        }
    }
    longer_us.filter(|_| service_us > 0.0).map(|longer_us| (longer_us / service_us).clamp(0.0, 1.0))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of microseconds")]
fn part_of(us: u64, share: f64) -> u64 {
    (real(us) * share).round() as u64
}

fn series(raster: &Raster, divided: &[Divided], names: &SpentOnNames, all: &TimeOf) -> TimeSeries {
    let row = |spent: &TimeSpent| {
        let named = Named { on: spent.on, target: spent.target.clone(), node: spent.node.clone() };
        let place = names.names.binary_search(&named).expect("each name is in the list");
        let us = divided.iter().map(|bin| bin.get(&place).copied().unwrap_or(0)).collect();
        TimeSpentSeries { on: named.on, target: named.target, node: named.node, us }
    };
    TimeSeries {
        start: seconds(raster.first_bin * raster.width_us()),
        bin_s: seconds(raster.width_us()),
        bins: raster.bins.len(),
        spent: all.spent.iter().map(row).collect(),
    }
}
