//! The comparison, put together.

use lioprof_model::analysis::NOTED_LOSS;
use lioprof_model::units::few;
use lioprof_model::{Analysis, COMPARISON_SCHEMA, Comparison, ComparisonRules, Direction, Generator, Selected, Side};

use super::activity::Activity;
use super::pair::{Pair, Sided};
use super::requests::Requests;
use super::{family, findings, locks, rows, totals};

/// Compares two analyses. Their findings are taken as they are: both should come from the same thresholds.
#[must_use]
pub fn compare(before: &Analysis, after: &Analysis, rules: &ComparisonRules) -> Comparison {
    let sided = |analysis| Sided {
        analysis,
        activity: Activity::of(analysis),
        requests: Requests::of(analysis),
        clustering: totals::clustering(analysis),
    };
    let is_itself = before.series == after.series && before.sample == after.sample && before.totals == after.totals;
    let pair = Pair { before: sided(before), after: sided(after), rules: *rules, is_itself };
    let [totals, locks] = [totals::totals(&pair), locks::locks(&pair)].map(|drafts| pair.settled(drafts));
    let error = family::error(totals.values().chain(locks.values()), rules);
    Comparison {
        schema: COMPARISON_SCHEMA.to_owned(),
        generator: Generator { name: "lioprof".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        before: side(&pair.before),
        after: side(&pair.after),
        rules: *rules,
        notes: notes(&pair),
        findings: findings::changes(before, after),
        totals: family::figures(&totals, error, rules),
        targets: rows::targets(&pair),
        clients: rows::clients(&pair),
        operations: rows::operations(&pair),
        locks: family::figures(&locks, error, rules),
        error: Some(error),
    }
}

fn side(sided: &Sided<'_>) -> Side {
    let Sided { analysis, activity, .. } = sided;
    Side {
        nodes: analysis.nodes.iter().map(|node| node.name.clone()).collect(),
        window: analysis.window,
        activity_s: activity.seconds,
        busy_bins: activity.all.busy_bins(),
        bin_s: analysis.series.bin_s,
        estimated_lost_fraction: analysis.loss.estimated_lost_fraction,
        lost_fraction_min: analysis.loss.lost_fraction_min,
        lost_fraction_max: analysis.loss.lost_fraction_max,
        head_overwritten: analysis.loss.head_overwritten,
        course: activity.course(analysis),
    }
}

fn notes(pair: &Pair<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(different_selections(&pair.before.analysis.selected, &pair.after.analysis.selected));
    notes.extend(different_nodes(pair.before.analysis, pair.after.analysis));
    notes.extend(totals::different_bins(pair));
    for (name, sided) in [("before", &pair.before), ("after", &pair.after)] {
        let loss = &sided.analysis.loss;
        if loss.estimated_lost_fraction.is_some_and(|lost| lost > NOTED_LOSS)
            && let Some(missing) = loss.missing()
        {
            notes.push(format!("the capture {name} lost {missing} of its RPCs: its counts and rates are too low"));
        }
        if loss.head_overwritten {
            notes.push(format!("the head of the capture {name} was overwritten: how much is missing is unknown"));
        }
        if sided.activity.all.busy_bins() == 1 {
            notes.push(format!(
                "all traffic of the capture {name} is in one time bin, which says nothing of how it varies; --bin makes bins shorter"
            ));
        }
    }
    if let Some(why) = totals::different_work(pair) {
        notes.push(format!(
            "{why}: compare rates; durations only if the programs asked for the same, and read-ahead or a cache made the difference"
        ));
    }
    notes.extend(Direction::ALL.iter().filter_map(|it| totals::different_sizes(pair, *it)));
    notes
}

/// That logs of nodes are missing on one side. Where no name is the same, they are different nodes, or files that tell no name.
fn different_nodes(before: &Analysis, after: &Analysis) -> Option<String> {
    fn alone<'a>(mine: &'a Analysis, theirs: &Analysis) -> Vec<&'a str> {
        let is_theirs = |name: &str| theirs.nodes.iter().any(|node| node.name == name);
        mine.nodes.iter().map(|node| node.name.as_str()).filter(|name| !is_theirs(name)).collect()
    }
    let (gone, came) = (alone(before, after), alone(after, before));
    if gone.len() == before.nodes.len() || (gone.is_empty() && came.is_empty()) {
        return None;
    }
    let side = |names: &[&str], side: &str| (!names.is_empty()).then(|| format!("{} only {side}", few(names)));
    let sides: Vec<String> = [side(&gone, "before"), side(&came, "after")].into_iter().flatten().collect();
    Some(format!("the logs are not of the same nodes: {}", sides.join(", ")))
}

/// That one side is a part of its capture which the other is not.
fn different_selections(before: &Selected, after: &Selected) -> Option<String> {
    let part =
        |selected: &Selected| if selected.is_everything() { "everything".to_owned() } else { selected.options() };
    (before != after).then(|| format!("{} before is compared with {} after", part(before), part(after)))
}
