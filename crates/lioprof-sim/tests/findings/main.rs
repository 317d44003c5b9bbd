//! What the findings say of every scenario, in several sizes and with several seeds: the confusion table of
//! `docs/findings.md`.
//!
//! `LIOPROF_BLESS=1` writes the table anew.

#[cfg(test)]
#[path = "../common/analyzed.rs"]
mod analyzed;
#[cfg(test)]
mod cut;
#[cfg(test)]
mod expected;
#[cfg(test)]
mod healthy;
#[cfg(test)]
mod kinds;
#[cfg(test)]
mod made;
#[cfg(test)]
mod pairs;
#[cfg(test)]
mod power;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod table;

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use lioprof_sim::scenario::Scenario;
    use lioprof_testkit::blessed_table;

    use crate::runs::{RUNS, Seen, seen};
    use crate::{cut, expected, healthy, kinds, pairs, power, table};

    /// Every scenario in every size, on two threads.
    fn everything() -> Vec<Seen> {
        let jobs: Vec<_> =
            Scenario::all().iter().flat_map(|scenario| RUNS.iter().map(move |run| (scenario, run))).collect();
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while let Some((scenario, run)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let seen = seen(scenario, run);
                        done.lock().unwrap().push(seen);
                    }
                });
            }
        });
        done.into_inner().unwrap()
    }

    #[test]
    fn the_right_finding_ranks_first() {
        let all = everything();
        let wrong: Vec<String> = all
            .iter()
            .filter_map(|seen| Some(format!("{}, {}: {}", seen.scenario, seen.run.name, expected::wrong(seen)?)))
            .collect();
        table::compare(&all);
        assert!(wrong.is_empty(), "other findings rank first:\n{}", wrong.join("\n"));
    }

    #[test]
    fn the_beginning_of_a_pathology_is_not_health() {
        let wrong = cut::called_healthy();
        assert!(wrong.is_empty(), "called healthy:\n{}", wrong.join("\n"));
    }

    #[test]
    fn kinds_of_real_runs_are_judged_rightly_in_every_size() {
        let wrong = kinds::judged_wrongly();
        assert!(wrong.is_empty(), "judged wrongly:\n{}", wrong.join("\n"));
    }

    #[test]
    fn healthy_runs_raise_no_alarm() {
        let half = healthy::RUNS / 2;
        let mut said = std::thread::scope(|scope| {
            let other = scope.spawn(|| healthy::said(half..healthy::RUNS));
            let mut said = healthy::said(0..half);
            said.merge(other.join().unwrap());
            said
        });
        said.alarms.values_mut().for_each(|seeds| seeds.sort_unstable());
        blessed_table(
            "docs/findings.md",
            ("<!-- healthy runs -->\n", "<!-- end of the healthy runs -->"),
            &said.table(),
        );
        assert!(100 * said.alarmed <= healthy::RUNS, "false alarms: {:?}", said.alarms);
    }

    #[test]
    fn effects_are_found_where_they_are() {
        let (wrong, table) = power::curves();
        blessed_table("docs/findings.md", ("<!-- power curves -->\n", "<!-- end of the power curves -->"), &table);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn of_two_causes_both_are_named_the_larger_first() {
        let wrong = pairs::named_wrongly();
        assert!(wrong.is_empty(), "not both named, or not in order:\n{}", wrong.join("\n"));
    }

    #[test]
    fn every_scenario_has_an_expectation() {
        for scenario in Scenario::all() {
            assert!(expected::of(scenario.name).is_some(), "{}: what is to be found?", scenario.name);
        }
    }
}
