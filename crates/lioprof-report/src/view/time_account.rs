//! Where the time of clients went.

use std::cmp::Reverse;

use lioprof_model::names::{job as job_name, target_of};
use lioprof_model::{Analysis, SpentOn, TimeOf, TimeSpent};
use serde::Serialize;

use super::limits::{MAX_SPENDINGS, MAX_TIMES};
use crate::object::object;

/// What time was spent on: reads and writes by target, the rest in sum. `None` stands for all targets that took less.
type Place<'a> = Option<(SpentOn, Option<&'a str>, &'a str)>;

fn place<'a>(on: SpentOn, target: Option<&'a str>, node: &'a str) -> Place<'a> {
    if on == SpentOn::Bulk { Some((on, target, node)) } else { Some((on, None, "")) }
}

/// Shares over time and in all; `None` if no client sent anything.
pub(crate) fn time_account(analysis: &Analysis) -> Option<impl Serialize + use<'_>> {
    let account = &analysis.time_account;
    let all = account.all.as_ref().filter(|all| all.span_us > 0)?;
    let [clients, jobs] = [&account.clients, &account.jobs].map(|rows| &rows[..rows.len().min(MAX_TIMES)]);
    let places = places(all, &[clients, jobs]);
    let series = &account.series;
    let bins: Vec<Vec<u64>> = places
        .iter()
        .map(|place| {
            let rows = series.spent.iter().filter(|it| is_in(place, &places, it.on, it.target.as_deref(), &it.node));
            let mut sum = vec![0; series.bins];
            rows.for_each(|row| sum.iter_mut().zip(&row.us).for_each(|(sum, us)| *sum += us));
            sum
        })
        .collect();
    let of = |kind: &'static str, name: &str, of: &TimeOf| {
        let us = |place: &Place<'_>| {
            let spent = of.spent.iter().filter(|it| is_in(place, &places, it.on, it.target.as_deref(), &it.node));
            spent.map(|spent| spent.us).sum::<u64>()
        };
        object!(TimeRow {
            of: kind,
            name: name.to_owned(),
            span_us: of.span_us,
            us: places.iter().map(us).collect::<Vec<_>>(),
        })
    };
    let mut rows = vec![of("all clients", "all clients", all)];
    rows.extend(clients.iter().map(|client| of("client", &client.name, client)));
    rows.extend(jobs.iter().map(|job| of("job", job_name(Some(&job.name), true), job)));
    let kinds: Vec<_> = places
        .iter()
        .map(|place| {
            let of = |target: &str| format!("{} of {target}", SpentOn::Bulk.label());
            let name = match place {
                None => of("other targets"),
                Some((SpentOn::Bulk, target, node)) => of(&target_of(*target, node)),
                Some((on, ..)) => on.label().to_owned(),
            };
            object!(TimeKind { on: place.map(|(on, ..)| on), name })
        })
        .collect();
    let judged = |spent: &TimeSpent| {
        let state = spent.state?.label();
        let (name, us) = (spent.description(), spent.us);
        Some(object!(JudgedRow { name, us, state, finding: spent.finding.clone(), reason: spent.reason.clone() }))
    };
    Some(object!(TimeView {
        // Unix seconds.
        start: series.start,
        bin_s: series.bin_s,
        kinds,
        bins,
        rows,
        // What takes much of the time of all clients together, and whether that is as it should be.
        judged: all.spent.iter().filter_map(judged).collect::<Vec<_>>(),
    }))
}

/// Targets with most time first, then all that have no place of their own, then what is no read or write. `rows`: clients and jobs, which
/// can have what all together have not: while a client does nothing, others go on.
fn places<'a>(all: &'a TimeOf, rows: &[&'a [TimeOf]]) -> Vec<Place<'a>> {
    let mut spent: Vec<_> = all.spent.iter().filter(|spent| spent.us > 0).collect();
    spent.sort_by_key(|spent| Reverse(spent.us));
    let own = |spent: &&'a TimeSpent| place(spent.on, spent.target.as_deref(), &spent.node);
    let bulk = |spent: &&TimeSpent| spent.on == SpentOn::Bulk && spent.us > 0;
    let mut places: Vec<Place<'_>> =
        spent.iter().copied().filter(bulk).take(MAX_SPENDINGS).map(|it| own(&it)).collect();
    let every = || std::iter::once(all).chain(rows.iter().copied().flatten());
    if every().flat_map(|of| &of.spent).filter(bulk).any(|spent| !places.contains(&own(&spent))) {
        places.push(None);
    }
    let others = SpentOn::ALL.into_iter().filter(|on| *on != SpentOn::Bulk);
    let any = |on: SpentOn| every().any(|of| of.us_on(on) > 0);
    places.extend(others.filter(|on| any(*on)).map(|on| place(on, None, "")));
    places
}

/// Whether time belongs to a place; reads and writes of targets without one belong to `None`.
fn is_in<'a>(wanted: &Place<'a>, places: &[Place<'a>], on: SpentOn, target: Option<&'a str>, node: &'a str) -> bool {
    let own = place(on, target, node);
    *wanted == own || (wanted.is_none() && on == SpentOn::Bulk && !places.contains(&own))
}
