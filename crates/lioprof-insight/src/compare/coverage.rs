//! How often intervals contain the truth, and how often they claim a change where there is none, on made-up runs.

#[cfg(test)]
mod tests {
    use lioprof_model::units::whole;
    use lioprof_model::{Better, ChangeVerdict, ComparisonRules};

    use crate::compare::chance::{Chance, Uncertain, ratio};
    use crate::compare::family;
    use crate::compare::figure::{Draft, Drafts, Measured};
    use crate::compare::noise::PerBin;
    use crate::compare::ranks::Ranks;

    /// Intervals that are to be wrong once in twenty times.
    const ERROR: f64 = 0.05;
    /// Values that are made up for each case, as far as it needs no more runs than `MOST_RUNS`.
    const VALUES: u32 = 600_000;
    const MOST_RUNS: u32 = 4000;
    /// That share of the intervals must contain the truth.
    const LEAST: f64 = 0.93;

    /// A generator whose numbers are the same everywhere (splitmix64).
    struct Random(u64);

    impl Random {
        /// Between 0 and 1, neither of them.
        fn even(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 + 1e-17
        }

        fn normal(&mut self) -> f64 {
            (-2.0 * self.even().ln()).sqrt() * (std::f64::consts::TAU * self.even()).cos()
        }

        /// Values that remember a part of the one before, as logarithms of times and bandwidths do.
        fn course(&mut self, count: usize, memory: f64, spread: f64) -> Vec<f64> {
            let mut last = self.normal();
            let fresh = (1.0 - memory * memory).sqrt();
            std::iter::repeat_with(|| {
                last = memory * last + fresh * self.normal();
                (spread * last).exp()
            })
            .take(count)
            .collect()
        }
    }

    /// Share of the intervals that contain `truth`; `side` makes a value with its chance, out of `values` on both sides together.
    fn coverage(truth: f64, values: usize, mut side: impl FnMut(&mut Random, bool) -> Measured) -> f64 {
        let mut random = Random(20);
        let mut hits = 0;
        let runs = (VALUES / u32::try_from(values).unwrap()).clamp(600, MOST_RUNS);
        for _ in 0..runs {
            let [before, after] = [false, true].map(|after| side(&mut random, after));
            let of = |it: &'_ Measured| (it.value.unwrap(), it.chance.clone().unwrap());
            let ((from, first), (to, second)) = (of(&before), of(&after));
            let uncertain = |value, chance| Uncertain { value, chance };
            let it = ratio(uncertain(from, &first), uncertain(to, &second), ERROR);
            hits += u32::from(it.low <= truth.ln() && truth.ln() <= it.high);
        }
        f64::from(hits) / f64::from(runs)
    }

    fn mean_of(values: impl IntoIterator<Item = f64>, count: usize) -> Measured {
        let mut bins = PerBin::new(count);
        bins.add(values);
        Measured::mean(bins.busy_mean(), bins.busy_error(u64::MAX))
    }

    #[test]
    fn intervals_of_means_contain_the_truth() {
        for (before, after, memory, spread) in [
            (4, 4, 0.0, 0.5),
            (8, 6, 0.0, 0.7),
            (16, 40, 0.0, 1.0),
            (200, 50, 0.0, 1.0),
            (200, 300, 0.5, 0.7),
            (500, 500, 0.8, 0.7),
        ] {
            let share = coverage(4.0, before + after, |random, is_after| {
                let (count, factor) = if is_after { (after, 4.0) } else { (before, 1.0) };
                mean_of(random.course(count, memory, spread).into_iter().map(|it| it * factor), count)
            });
            assert!(share >= LEAST, "{before} and {after} bins, memory {memory}, spread {spread}: {share}");
        }
    }

    #[test]
    fn intervals_of_percentiles_contain_the_truth() {
        for (before, after, memory, share) in [
            (6, 9, 0.0, 0.5),
            (30, 50, 0.0, 0.5),
            (50, 40, 0.0, 0.9),
            (500, 400, 0.0, 0.99),
            (1000, 600, 0.5, 0.5),
            (1000, 1000, 0.5, 0.9),
        ] {
            let got = coverage(0.25, before + after, |random, is_after| {
                let (count, factor) = if is_after { (after, 0.25) } else { (before, 1.0) };
                let times: Vec<f64> = random.course(count, memory, 1.0).into_iter().map(|it| it * factor).collect();
                let mut sorted = times.clone();
                sorted.sort_by(f64::total_cmp);
                let value = sorted[usize::try_from(whole((share * count as f64).ceil())).unwrap().max(1) - 1];
                Measured { value: Some(value), chance: Ok(Chance::Ranks(Ranks::of_all(&times, share, value))) }
            });
            assert!(got >= LEAST, "p{share} of {before} and {after}, memory {memory}: {got}");
        }
    }

    #[test]
    fn intervals_of_events_contain_the_truth() {
        for (before, after) in [(3.0, 6.0), (30.0, 60.0), (0.5, 1.0)] {
            let got = coverage(2.0, 300, |random, is_after| {
                let rate = if is_after { after } else { before };
                // A Poisson process within a unit of time.
                let (mut time, mut events) = (0.0, 0.0);
                loop {
                    time -= random.even().ln() / rate;
                    if time > 1.0 {
                        return Measured::events(events, 1.0);
                    }
                    events += 1.0;
                }
            });
            assert!(got >= LEAST || before < 1.0, "{before} and {after} events: {got}");
        }
    }

    /// Figures of many OSTs, of which `changed` became four times as good.
    fn many(random: &mut Random, osts: usize, changed: usize) -> Drafts {
        let one = |at: usize| {
            let mut side = |factor: f64| mean_of(random.course(40, 0.0, 0.5).into_iter().map(|it| it * factor), 40);
            let sides = [side(1.0), side(if at < changed { 4.0 } else { 1.0 })];
            (format!("{at:04}"), Draft::new(sides, Some(Better::Higher)))
        };
        (0..osts).map(one).collect()
    }

    #[test]
    fn many_rows_do_not_make_false_alarms() {
        let (mut random, rules) = (Random(7), ComparisonRules::default());
        let (mut tables, mut alarms, mut plain) = (0, 0, 0);
        let (mut claimed, mut wrong, mut missed) = (0, 0, 0);
        for _ in 0..60 {
            let is_changed = |error: f64, draft: &Draft| {
                matches!(draft.figure(error, &rules).verdict, ChangeVerdict::Better | ChangeVerdict::Worse)
            };
            let nothing = many(&mut random, 100, 0);
            let error = family::error(nothing.values(), &rules);
            tables += 1;
            alarms += u32::from(nothing.values().any(|draft| is_changed(error, draft)));
            plain += u32::from(nothing.values().any(|draft| is_changed(ERROR, draft)));
            let some = many(&mut random, 100, 10);
            let error = family::error(some.values(), &rules);
            for (name, draft) in &some {
                let (is_changed, truly) = (is_changed(error, draft), name.as_str() < "0010");
                claimed += u32::from(is_changed);
                wrong += u32::from(is_changed && !truly);
                missed += u32::from(!is_changed && truly);
            }
        }
        // Without control nearly every table has a false one.
        assert!(plain > tables * 9 / 10, "{plain} of {tables}");
        assert!(alarms <= tables / 10, "{alarms} of {tables}");
        assert!(wrong * 20 <= claimed * 2 && missed == 0, "{wrong} of {claimed} wrong, {missed} missed");
    }
}
