//! What locks of the OSTs cost.

use lioprof_model::{Better, LockSeries, Locks};

use super::figure::{Draft, Drafts, Measured};
use super::noise::{PerBin, real};
use super::pair::{Pair, Sided};
use super::totals::io_bytes;

const GIB: f64 = (1_u64 << 30) as f64;

/// Bytes that the clients got for it.
fn gib(sided: &Sided<'_>) -> Option<f64> {
    let totals = &sided.analysis.totals;
    let bytes = io_bytes(&totals.read)? + io_bytes(&totals.write)?;
    (bytes > 0.0).then_some(bytes / GIB)
}

pub(super) fn locks(pair: &Pair<'_>) -> Drafts {
    let mut out = Drafts::new();
    if pair.both(|it| it.analysis.locks.is_none()) == [true, true] {
        return out;
    }
    for (name, of, bins) in [
        ("conflicts", conflicts as Of, (|series| counts(&series.conflicts)) as Bins),
        (
            "alternations",
            |locks| real(locks.objects.iter().map(|it| it.alternations).sum()),
            |series| counts(&series.conflicts),
        ),
        ("wait_s", |locks| locks.totals.wait_s, |series| values(&series.waiting)),
    ] {
        let sum = pair.both(|it| it.analysis.locks.as_ref().map(of));
        out.insert(name.to_owned(), Draft::new(sum.map(Measured::exact), None));
        // What an event counts on the other side, where one has none.
        let each = pair.both(|it| it.analysis.locks.as_ref().and_then(|locks| of_one(locks, of)));
        let usual = each[0].or(each[1]).unwrap_or(1.0);
        // The same fight over twice the bytes costs half as much.
        let rate = pair.both(|it| per_gib(it, of, bins, usual));
        let headline = name == "wait_s";
        let one = Draft { headline, ..Draft::new(rate, Some(Better::Lower)) };
        out.insert(format!("{}_per_gib", if headline { "lock_wait_s" } else { name }), one);
    }
    out
}

type Of = fn(&Locks) -> f64;
type Bins = fn(&LockSeries) -> PerBin;

fn conflicts(locks: &Locks) -> f64 {
    real(locks.totals.conflicts)
}

/// A figure per conflict; `None` without any.
fn of_one(locks: &Locks, of: Of) -> Option<f64> {
    Some(of(locks) / conflicts(locks)).filter(|each| each.is_finite() && *each > 0.0)
}

/// A figure per GiB that the clients got for it. `usual`: what a conflict adds to the figure, for a side that has none.
fn per_gib(it: &Sided<'_>, of: Of, bins: Bins, usual: f64) -> Measured {
    let (Some(locks), Some(gib)) = (&it.analysis.locks, gib(it)) else { return Measured::exact(None) };
    let (value, conflicts) = (of(locks), conflicts(locks));
    if value == 0.0 {
        // None seen is not none: a few may have been missed by chance.
        return Measured::events(0.0, usual / gib);
    }
    let mut all = PerBin::new(it.analysis.series.bins);
    locks.series.targets.iter().for_each(|series| all.add_bins(&bins(series)));
    let events = independent(&it.activity.span.map(|span| all.part(span)).unwrap_or_default()).min(conflicts.max(1.0));
    Measured::events(events, value / gib / events)
}

/// So many independent events vary as much over time: conflicts come in bursts, and some of them last longer than others.
fn independent(bins: &PerBin) -> f64 {
    let busy = bins.busy_bins();
    // All of them in one bin are one burst, for all that is known.
    let Some(error) = bins.error(busy) else { return 1.0 };
    // How much they vary is unsure itself if there are few bins.
    1.0 / (error.relative.powi(2) + real(busy).powi(-2))
}

fn counts(values: &[u64]) -> PerBin {
    let mut bins = PerBin::new(values.len());
    bins.add_counts(values);
    bins
}

fn values(values: &[f64]) -> PerBin {
    let mut bins = PerBin::new(values.len());
    bins.add(values.iter().copied());
    bins
}
