//! From two values and their noise to a verdict.

use lioprof_model::{Better, ChangeVerdict, ComparisonRules, Distribution, Figure};

use super::noise::percentile_error;

/// A value of one side, with its relative standard error, or why that is unknown.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) value: Option<f64>,
    pub(super) error: Result<f64, String>,
}

impl Measured {
    /// A value that is what it is.
    pub(super) fn exact(value: Option<f64>) -> Self {
        Self { value, error: Ok(0.0) }
    }

    /// A value whose error is known unless there were too few bins.
    pub(super) fn of_bins(value: Option<f64>, error: Option<f64>, rules: &ComparisonRules) -> Self {
        let error = error.ok_or_else(|| format!("fewer than {} time bins with traffic", rules.min_bins));
        Self { value, error }
    }

    /// A percentile of times, microseconds; `spread` and `deviation` are the errors of the bins' means and of the share of
    /// samples below it, where times are known over time.
    pub(super) fn percentile(
        times: &Distribution,
        (share, value): (f64, Option<u64>),
        (spread, deviation): (Option<f64>, Option<f64>),
        rules: &ComparisonRules,
    ) -> Self {
        let value = value.map(super::noise::real);
        let beyond = super::noise::real(times.count) * (1.0 - share);
        let enough = times.count >= rules.min_samples && beyond + 1e-9 >= super::noise::real(rules.min_tail_samples);
        let error = if enough { percentile_error(times, share, deviation) } else { None };
        let error = error
            .map(|error| error.max(spread.unwrap_or(0.0)))
            .ok_or_else(|| format!("too few samples ({})", times.count));
        Self { value, error }
    }
}

/// A figure of which `better` is better; without, only that it is the same can be said.
pub(super) fn figure(sides: [Measured; 2], better: Option<Better>, rules: &ComparisonRules) -> Figure {
    let [before, after] = sides;
    let change = match (before.value, after.value) {
        (Some(before), Some(after)) if before > 0.0 => Some(after / before - 1.0),
        _ => None,
    };
    let errors = match (&before.error, &after.error) {
        (Ok(before), Ok(after)) => Ok((*before, *after)),
        (Err(why), _) => Err(format!("before: {why}")),
        (_, Err(why)) => Err(format!("after: {why}")),
    };
    // Of the ratio of two independent means; of a ratio of 0, of the difference.
    let noise = match (change, &errors) {
        (Some(change), Ok((before, after))) => {
            let ratio = if change > -1.0 { 1.0 + change } else { 1.0 };
            Some(ratio * before.hypot(*after))
        }
        _ => None,
    };
    let judged = judge(before.value, after.value, change, noise, &errors, better, rules);
    let (verdict, reason) = match judged {
        Ok(verdict) => (verdict, None),
        Err(reason) => (ChangeVerdict::Unknown, Some(reason)),
    };
    Figure { before: before.value, after: after.value, change, noise, verdict, reason, better, headline: false }
}

fn judge(
    before: Option<f64>,
    after: Option<f64>,
    change: Option<f64>,
    noise: Option<f64>,
    errors: &Result<(f64, f64), String>,
    better: Option<Better>,
    rules: &ComparisonRules,
) -> Result<ChangeVerdict, String> {
    let (before, after) = match (before, after) {
        (None, None) => return Err("unknown on both sides".to_owned()),
        (None, _) => return Err("unknown before".to_owned()),
        (_, None) => return Err("unknown after".to_owned()),
        (Some(before), Some(after)) => (before, after),
    };
    // Needs no estimate of noise: there is nothing to explain.
    if before == after {
        return Ok(ChangeVerdict::Same);
    }
    errors.as_ref().map_err(Clone::clone)?;
    if let Some((change, noise)) = change.zip(noise)
        && change.abs() <= rules.noise_factor * noise
    {
        return Ok(ChangeVerdict::Same);
    }
    let better = better.ok_or("neither more nor less of it is better")?;
    let is_more = after > before;
    Ok(if is_more == (better == Better::Higher) { ChangeVerdict::Better } else { ChangeVerdict::Worse })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(before: (f64, Option<f64>), after: (f64, Option<f64>), better: Option<Better>) -> ChangeVerdict {
        let side = |(value, error): (f64, Option<f64>)| Measured {
            value: Some(value),
            error: error.ok_or_else(|| "too few".to_owned()),
        };
        figure([side(before), side(after)], better, &ComparisonRules::default()).verdict
    }

    #[test]
    fn a_change_counts_beyond_twice_its_noise() {
        use ChangeVerdict::{Better as B, Same, Unknown, Worse};
        let (lower, higher) = (Some(Better::Lower), Some(Better::Higher));
        assert_eq!(verdict((100.0, Some(0.03)), (90.0, Some(0.0)), lower), B);
        assert_eq!(verdict((100.0, Some(0.06)), (90.0, Some(0.0)), lower), Same);
        assert_eq!(verdict((100.0, Some(0.0)), (90.0, Some(0.03)), higher), Worse);
        assert_eq!(verdict((100.0, Some(0.0)), (110.0, Some(0.03)), higher), B);
        assert_eq!(verdict((100.0, None), (200.0, Some(0.0)), higher), Unknown);
        assert_eq!(verdict((100.0, None), (100.0, None), higher), Same);
        assert_eq!(verdict((100.0, Some(0.0)), (200.0, Some(0.0)), None), Unknown);
        // From and to nothing.
        assert_eq!(verdict((0.0, Some(0.0)), (2.0, Some(0.1)), lower), Worse);
        assert_eq!(verdict((2.0, Some(0.1)), (0.0, Some(0.0)), lower), B);
    }

    #[test]
    fn unknown_is_no_zero() {
        let rules = ComparisonRules::default();
        let one = figure([Measured::exact(None), Measured::exact(Some(3.0))], Some(Better::Lower), &rules);
        assert_eq!((one.change, one.noise, one.verdict), (None, None, ChangeVerdict::Unknown));
        assert_eq!(one.reason.as_deref(), Some("unknown before"));
        let zero = figure([Measured::exact(Some(0.0)), Measured::exact(Some(3.0))], Some(Better::Lower), &rules);
        assert_eq!((zero.change, zero.verdict), (None, ChangeVerdict::Worse));
    }
}
