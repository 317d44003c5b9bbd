//! What locks of the OSTs cost.

use lioprof_model::{Better, Figure, LockSeries, Locks};

use super::figure::{Measured, figure};
use super::noise::{PerBin, real};
use super::pair::{Pair, Sided};
use super::totals::{Figures, io_bytes};

const GIB: f64 = (1_u64 << 30) as f64;

/// Bytes that the clients got for it.
fn gib(sided: &Sided<'_>) -> Option<f64> {
    let totals = &sided.analysis.totals;
    let bytes = io_bytes(&totals.read)? + io_bytes(&totals.write)?;
    (bytes > 0.0).then_some(bytes / GIB)
}

pub(super) fn locks(pair: &Pair<'_>) -> Figures {
    let mut out = Figures::new();
    if pair.both(|it| it.analysis.locks.is_none()) == [true, true] {
        return out;
    }
    type Of = fn(&Locks) -> f64;
    type Bins = fn(&LockSeries) -> PerBin;
    let per: [(&str, Of, Bins); 3] = [
        ("conflicts", |locks| real(locks.totals.conflicts), |series| counts(&series.conflicts)),
        (
            "alternations",
            |locks| real(locks.objects.iter().map(|it| it.alternations).sum()),
            |series| counts(&series.conflicts),
        ),
        ("wait_s", |locks| locks.totals.wait_s, |series| values(&series.waiting)),
    ];
    for (name, of, bins) in per {
        let sum = pair.both(|it| it.analysis.locks.as_ref().map(of));
        out.insert(name.to_owned(), figure(sum.map(Measured::exact), None, &pair.rules));
        // The same fight over twice the bytes costs half as much.
        let rate = pair.both(|it| {
            let Some(locks) = &it.analysis.locks else { return Measured::exact(None) };
            let value = of(locks);
            // No conflict is no estimate.
            if value == 0.0 {
                return Measured::exact(gib(it).map(|_| 0.0));
            }
            let mut all = PerBin::new(it.analysis.series.bins);
            locks.series.targets.iter().for_each(|series| all.add_bins(&bins(series)));
            let error = it.activity.span.and_then(|span| all.part(span).error(pair.rules.min_bins));
            Measured::of_bins(gib(it).map(|gib| value / gib), error, &pair.rules)
        });
        let headline = name == "wait_s";
        let one = Figure { headline, ..figure(rate, Some(Better::Lower), &pair.rules) };
        out.insert(format!("{}_per_gib", if headline { "lock_wait_s" } else { name }), one);
    }
    out
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
