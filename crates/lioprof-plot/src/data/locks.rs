//! Lock contention, made safe to draw.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, LockEvidence, LockSeries, LockTarget, LockTotals, Locks};

use super::bins::total;
use crate::draw::{EXPANSION, Ink, TRUE_CONFLICT, UNCLASSIFIED};
use crate::figure::units::{counted, percent};

/// The lock figures if there is anything to see in them; else why not.
pub(crate) fn contended(analysis: &Analysis) -> Result<&Locks, &'static str> {
    let locks = analysis.locks.as_ref().ok_or("lock contention was not analysed")?;
    let any = locks.totals.conflicts > 0
        || locks.mdt_totals.conflicts > 0
        || locks.targets.iter().any(|t| t.totals.conflicts > 0);
    if any { Ok(locks) } else { Err(NO_CONFLICT) }
}

/// Why a plot is left out.
pub(crate) const NO_CONFLICT: &str = "no conflict between clients";

/// Extent locks are those of OSTs; the other locks are on MDTs.
pub(crate) fn is_ost(target: &str) -> bool {
    !target.contains("-MDT")
}

/// Conflicts on MDTs, which plots of OSTs leave out, as a note; empty if there are none.
pub(crate) fn mdt_note(locks: &Locks) -> Option<String> {
    let conflicts = locks.mdt_totals.conflicts;
    let are = if conflicts == 1 { "is" } else { "are" };
    (conflicts > 0).then(|| format!("{} on MDTs {are} not in this plot.", counted(conflicts, "conflict")))
}

/// Conflicts by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Kinds {
    /// True, expansion-only, unclassified.
    pub(crate) parts: [f64; 3],
}

impl Kinds {
    pub(crate) const NAMES: [&str; 3] = ["true", "expansion-only", "unclassified"];
    pub(crate) const INKS: [Ink; 3] = [TRUE_CONFLICT, EXPANSION, UNCLASSIFIED];

    fn add(&mut self, totals: &LockTotals) {
        let all = totals.conflicts as f64;
        let certain = (totals.true_conflicts.unwrap_or(0) as f64).min(all);
        let expansion = (totals.expansion_conflicts.unwrap_or(0) as f64).min(all - certain);
        for (sum, more) in self.parts.iter_mut().zip([certain, expansion, all - certain - expansion]) {
            *sum += more;
        }
    }

    pub(crate) fn all(&self) -> f64 {
        self.parts.iter().sum()
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.parts.iter_mut().zip(other.parts).for_each(|(sum, more)| *sum += more);
    }

    /// `20 % true, 80 % expansion-only`.
    pub(crate) fn describe(&self) -> String {
        let all = self.all();
        let part = |(name, part): (&str, &f64)| match *part {
            p if p <= 0.0 => None,
            p if p >= all => Some(format!("all {name}")),
            p => Some(format!("{} {name}", percent(p / all))),
        };
        Self::NAMES.into_iter().zip(&self.parts).filter_map(part).collect::<Vec<_>>().join(", ")
    }
}

/// An OST with conflicts between clients; the rows of all nodes that served it.
#[derive(Clone, Debug)]
pub(crate) struct Contended<'a> {
    pub(crate) name: &'a str,
    /// Its name, and whether its figures are inferred while others are not.
    pub(crate) label: String,
    pub(crate) kinds: Kinds,
    /// Client-seconds; never NaN.
    pub(crate) wait_s: f64,
    pub(crate) rows: Vec<&'a LockTarget>,
    pub(crate) series: Vec<&'a LockSeries>,
}

/// The name of a target, marked if only its figures are inferred.
pub(crate) fn label(locks: &Locks, name: &str, inferred: bool) -> String {
    let marked = inferred && locks.evidence == LockEvidence::Mixed;
    if marked { format!("{name} (inferred)") } else { name.to_owned() }
}

/// Seconds as they are, no number is 0.
pub(crate) fn seconds(value: f64) -> f64 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

/// Sum that is 0, not -0, without any.
pub(crate) fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// OSTs with conflicts between clients, most conflicts first.
pub(crate) fn contended_osts(locks: &Locks) -> Vec<Contended<'_>> {
    let mut by_name: BTreeMap<&str, (Vec<&LockTarget>, Vec<&LockSeries>)> = BTreeMap::new();
    for target in locks.targets.iter().filter(|t| is_ost(&t.target)) {
        by_name.entry(&target.target).or_default().0.push(target);
    }
    for series in locks.series.targets.iter().filter(|s| is_ost(&s.target)) {
        by_name.entry(&series.target).or_default().1.push(series);
    }
    let mut osts: Vec<Contended<'_>> = Vec::new();
    for (name, (rows, series)) in by_name {
        let mut kinds = Kinds::default();
        rows.iter().for_each(|row| kinds.add(&row.totals));
        if rows.is_empty() {
            let of = |pick: fn(&LockSeries) -> &Vec<u64>| {
                series.iter().fold(0, |sum: u64, s| sum.saturating_add(total(pick(s))))
            };
            kinds.add(&LockTotals {
                conflicts: of(|s| &s.conflicts),
                true_conflicts: Some(of(|s| &s.true_conflicts)),
                expansion_conflicts: Some(of(|s| &s.expansion_conflicts)),
                ..LockTotals::default()
            });
        }
        let wait_s = sum(rows.iter().map(|row| seconds(row.totals.wait_s)));
        let inferred = rows.iter().any(|row| row.is_inferred());
        if kinds.all() > 0.0 {
            osts.push(Contended { name, label: label(locks, name, inferred), kinds, wait_s, rows, series });
        }
    }
    osts.sort_by(|a, b| b.kinds.all().total_cmp(&a.kinds.all()).then_with(|| a.name.cmp(b.name)));
    osts
}
