//! Many figures at once: the more there are, the more of them chance makes look changed.

use std::collections::BTreeMap;

use lioprof_model::{ComparisonRules, Figure};

use super::figure::{Draft, Drafts};
use super::logs::Logs;
use super::noise::real;

/// The probability of error of every interval of a family of figures.
///
/// Benjamini and Hochberg's procedure at `error_rate`: of `m` figures, `r` are taken to have changed if the intervals of `r` exclude "no
/// change" at an error of `r / m` times the rate, for the largest such `r`. With intervals of that error (Benjamini and Yekutieli 2005),
/// on average no more than a share of `error_rate` of the changes that are claimed are false, and the verdict is what the interval shows.
pub(super) fn error<'a>(drafts: impl Iterator<Item = &'a Draft>, rules: &ComparisonRules) -> f64 {
    let inferred: Vec<&Draft> = drafts.filter(|it| it.is_inferred()).collect();
    let all = inferred.len().max(1);
    let error = |changed: usize| rules.error_rate * real(changed.max(1) as u64) / real(all as u64);
    let mut changed = all;
    // From above: the first number that gives itself is the largest one.
    loop {
        let excluded = inferred.iter().filter(|it| it.interval(error(changed)).is_ok_and(Logs::excludes_none)).count();
        if excluded >= changed || excluded == 0 {
            return error(excluded.min(changed));
        }
        changed = excluded;
    }
}

/// The figures of a family.
pub(super) fn figures(drafts: &Drafts, error: f64, rules: &ComparisonRules) -> BTreeMap<String, Figure> {
    drafts.iter().map(|(name, draft)| (name.clone(), draft.figure(error, rules))).collect()
}
