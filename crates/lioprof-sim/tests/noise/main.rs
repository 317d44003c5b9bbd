//! How often two runs of the same program seem to differ: the table of false alarms in `docs/compare.md`.
//!
//! `LIOPROF_BLESS=1` writes the table anew.

#[cfg(test)]
#[path = "../common/analyzed.rs"]
mod analyzed;
#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Write as _;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use lioprof_analysis::Analysis;
    use lioprof_insight::compare;
    use lioprof_model::{ChangeVerdict, Comparison, ComparisonRules};
    use lioprof_sim::scenario::{Options, Scenario};

    use crate::analyzed::{analyzed, usual};
    use lioprof_testkit::blessed_table;

    /// Programs that move bytes: healthy ones, and some with a fault, which must not seem to come and go either.
    const SCENARIOS: &[&str] = &[
        "file-per-process",
        "shared-aligned",
        "busy",
        "direct-io",
        "read-lustre-aware",
        "hdf5-metadata",
        "hdf5-collective-metadata",
        "lock-pingpong",
        "many-writers",
        "thread-starved",
        "heavy-tail",
    ];
    /// Seeds with which the method was chosen, and others.
    const CHOSEN: std::ops::Range<u64> = 1..11;
    const HELD_OUT: std::ops::Range<u64> = 201..211;
    /// What `--fail-on` is usually given.
    const LIMIT: f64 = 0.1;

    /// What pairs of runs say.
    #[derive(Default)]
    struct Tally {
        pairs: u64,
        /// Headline figures that were judged, and those that were better or worse.
        judged: u64,
        changed: u64,
        /// Pairs that `--fail-on regression=10%` refuses.
        refused: u64,
        /// How often each figure made one worse.
        figures: BTreeMap<String, u64>,
    }

    impl Tally {
        fn add(&mut self, comparison: &Comparison) {
            self.pairs += 1;
            for (_, figure) in comparison.headlines() {
                self.judged += u64::from(figure.verdict != ChangeVerdict::Unknown);
                self.changed += u64::from(matches!(figure.verdict, ChangeVerdict::Better | ChangeVerdict::Worse));
            }
            let regressions = comparison.regressions(LIMIT);
            self.refused += u64::from(!regressions.is_empty());
            for (name, _) in regressions {
                *self.figures.entry(name.to_owned()).or_default() += 1;
            }
        }
    }

    /// Runs of a scenario, one for each seed.
    fn runs(scenario: &Scenario, seeds: std::ops::Range<u64>) -> Vec<Analysis> {
        seeds.map(|seed| analyzed(scenario, &Options { seed, size: 2, ..usual() })).collect()
    }

    /// Every run against every other, both ways round.
    fn tally(runs: &[Analysis]) -> Tally {
        let mut tally = Tally::default();
        for (at, before) in runs.iter().enumerate() {
            for after in runs.iter().skip(at + 1) {
                tally.add(&compare(before, after, &ComparisonRules::default()));
                tally.add(&compare(after, before, &ComparisonRules::default()));
            }
        }
        tally
    }

    /// All scenarios, on two threads.
    fn everything() -> Vec<[Tally; 2]> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(BTreeMap::new());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(name) = SCENARIOS.get(at) else { break };
                        let scenario =
                            Scenario::all().iter().find(|it| it.name == *name).expect("there is such a scenario");
                        let tallies = [CHOSEN, HELD_OUT].map(|seeds| tally(&runs(scenario, seeds)));
                        done.lock().unwrap().insert(at, tallies);
                    }
                });
            }
        });
        done.into_inner().unwrap().into_values().collect()
    }

    fn share(part: u64, of: u64) -> String {
        if of == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * part as f64 / of as f64) }
    }

    fn table(all: &[[Tally; 2]]) -> String {
        let mut table = "\n| program | figures judged per pair | seem to differ | same, other seeds | refused by \
            `--fail-on regression=10%` | same, other seeds |\n|---|---|---|---|---|---|\n"
            .to_owned();
        let mut row = |name: &str, [chosen, held_out]: [&Tally; 2]| {
            writeln!(
                table,
                "| {name} | {:.1} | {} | {} | {} | {} |",
                (chosen.judged + held_out.judged) as f64 / (chosen.pairs + held_out.pairs) as f64,
                share(chosen.changed, chosen.judged),
                share(held_out.changed, held_out.judged),
                share(chosen.refused, chosen.pairs),
                share(held_out.refused, held_out.pairs),
            )
            .unwrap();
        };
        for (name, [chosen, held_out]) in SCENARIOS.iter().zip(all) {
            row(name, [chosen, held_out]);
        }
        let sums = [0, 1].map(|at| {
            let mut sum = Tally::default();
            for tallies in all {
                sum.pairs += tallies[at].pairs;
                sum.judged += tallies[at].judged;
                sum.changed += tallies[at].changed;
                sum.refused += tallies[at].refused;
            }
            sum
        });
        row("all", [&sums[0], &sums[1]]);
        table.push('\n');
        table
    }

    #[test]
    fn the_same_program_does_not_seem_to_differ() {
        let all = everything();
        for (name, tallies) in SCENARIOS.iter().zip(&all) {
            for tally in tallies {
                println!("{name}: {:?}", tally.figures);
            }
        }
        blessed_table("docs/compare.md", ("<!-- false alarms -->\n", "<!-- end of the false alarms -->"), &table(&all));
    }
}
