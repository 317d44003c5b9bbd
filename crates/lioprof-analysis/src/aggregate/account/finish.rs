//! Rasters to the rows of an analysis.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lioprof_model::units::{real, seconds};
use lioprof_model::{
    ServiceParts, SpentOn, Symbols, TargetParts, TimeAccount, TimeOf, TimeSeries, TimeSpent, TimeSpentSeries,
};

use super::raster::{Cell, Raster};
use super::sums::{AccountSums, Spending, Whose};

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
    sums.limit();
    let names = SpentOnNames::new(&sums.spendings, symbols, parts);
    let mut account = TimeAccount::default();
    if !sums.all.is_empty() {
        let bins = divided(&sums.all, &names);
        let all = time_of(String::new(), &sums.all, &bins, &names);
        account.resolution_us = 1 << sums.all.shift;
        account.series = series(&sums.all, &bins, &names, &all);
        account.all = Some(all);
    }
    for (whose, raster) in &sums.rasters {
        let (name, list) = match whose {
            Whose::Client(nid) => (nid, &mut account.clients),
            Whose::Job(job) => (job, &mut account.jobs),
        };
        list.push(time_of(symbols.text(*name), raster, &divided(raster, &names), &names));
    }
    for list in [&mut account.clients, &mut account.jobs] {
        list.sort_by(|a, b| (Reverse(a.covered_us()), &a.name).cmp(&(Reverse(b.covered_us()), &b.name)));
        list.truncate(TOP);
    }
    account
}

/// What the time of each bin was spent on.
fn divided(raster: &Raster, names: &SpentOnNames) -> Vec<Divided> {
    raster.bins().map(|(start_us, cell)| divide(raster, start_us, cell, names)).collect()
}

fn divide(raster: &Raster, start_us: i64, cell: &Cell, names: &SpentOnNames) -> Divided {
    let [from_us, to_us] = [start_us, start_us + raster.width_us()].map(|us| us.clamp(raster.first_us, raster.last_us));
    let length_us = to_us.abs_diff(from_us);
    let mut spent = Divided::new();
    for &(number, us) in cell.us.iter().filter(|(_, us)| *us > 0) {
        *spent.entry(names.places[number as usize]).or_default() += us;
    }
    let all_us: u64 = spent.values().sum();
    let points = raster.points_between(start_us.div_euclid(raster.width_us()), from_us, to_us);
    let (seen, covered) = (u64::from(points.count_ones()), u64::from((points & cell.points).count_ones()));
    // Between two points anything may be; what was under way is no longer than all requests together.
    let covered_us = (length_us * covered).checked_div(seen).unwrap_or(length_us).min(all_us);
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
        TimeSpent { on, target, node, us, excess_us: names.excess_shares[place].map(|share| part_of(us, share)) }
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
