//! `could-be-faster`: nothing is wrong with it, and the same work would take less time if something were otherwise.

use lioprof_model::units::two_digits;
use lioprof_model::{Analysis, Change, Confidence, Finding, Prediction, Severity};

use super::limits::Limits;
use super::rule::{Case, Limit, Look, Nothing, Question, Rule, limit};
use super::saves::{save, told};

const SAVES_SHARE: Limit =
    limit("saves_share", 0.1, "share of the elapsed time that is saved at least, from which it is told");

pub(super) const RULE: Rule = Rule {
    id: "could-be-faster",
    question: Question::Faster,
    explains: &[],
    meaning: "a replay with one thing otherwise takes less time, and no other finding says so",
    limits: &[SAVES_SHARE],
    plots: &["io-timeline"],
    note: true,
    look,
};

fn look(case: &Case<'_>) -> Look {
    let what_if = &case.analysis.what_if;
    let elapsed_s = what_if.elapsed_s.filter(|s| *s > 0.0).ok_or_else(|| Nothing::not_applicable("nobody waits"))?;
    Nothing::not_applicable_if(what_if.predictions.is_empty(), "nothing was replayed that could save time")?;
    case.most_succeeded()?;
    let least_s = case.limit(SAVES_SHARE.name) * elapsed_s;
    let saves_more = |prediction: &&Prediction| match best_told(case.analysis) {
        None => true,
        // What another finding's remedy saves anyway is not said again.
        Some(told) => what_if.of(&both(told, prediction)).is_some_and(|it| it.saves_s - told.saves_s > least_s),
    };
    let found = alone(case.analysis, least_s).filter(saves_more).max_by(|a, b| a.saves_s.total_cmp(&b.saves_s));
    Ok(found.into_iter().map(|prediction| one(case, prediction, elapsed_s)).collect())
}

/// What to predict after what other findings' remedies save: the best of them together with what would be told besides.
pub(super) fn together(analysis: &Analysis, limits: &Limits) -> Vec<Vec<Change>> {
    let (Some(told), Some(elapsed_s)) = (best_told(analysis), analysis.what_if.elapsed_s) else { return Vec::new() };
    let least_s = least_share(limits) * elapsed_s;
    alone(analysis, least_s).map(|prediction| both(told, prediction)).collect()
}

/// Share of the elapsed time that has to be saved.
pub(super) fn least_share(limits: &Limits) -> f64 {
    limits.get(RULE.id, &SAVES_SHARE)
}

fn both(told: &Prediction, other: &Prediction) -> Vec<Change> {
    [told, other].iter().flat_map(|prediction| prediction.changes.clone()).collect()
}

/// The remedy of a finding that saves most.
fn best_told(analysis: &Analysis) -> Option<&Prediction> {
    let predicted = told(analysis).filter_map(|change| analysis.what_if.of(&[change]));
    predicted.max_by(|a, b| a.saves_s.total_cmp(&b.saves_s))
}

/// Whether a change is one to be told here. Whether there are clients that could write as well, a replay does not know: `single-writer` tells of
/// those that wait.
pub(super) fn is_told(change: &Change) -> bool {
    !matches!(change, Change::Writers { .. } | Change::TargetFaster { .. })
}

/// Changes that save so much for certain, and are no finding's remedy.
fn alone(analysis: &Analysis, least_s: f64) -> impl Iterator<Item = &Prediction> {
    let told: Vec<Change> = told(analysis).collect();
    analysis.what_if.predictions.iter().filter(move |prediction| match prediction.changes.as_slice() {
        [change] => is_told(change) && prediction.saves_s_min > least_s && !told.contains(change),
        _ => false,
    })
}

fn one(case: &Case<'_>, prediction: &Prediction, elapsed_s: f64) -> Finding {
    let change = &prediction.changes[0];
    let [takes_s, took_s] = [prediction.elapsed_s, elapsed_s].map(two_digits);
    let draft = case
        .finding(
            Severity::Info,
            Confidence::Medium,
            format!("{} the same work would take {takes_s} s instead of {took_s} s", otherwise(change)),
        )
        .explain(
            "The requests of the log were replayed like that. No rule finds a fault: this is how the work was asked for, or how fast its \
             slowest part is.",
        )
        .evidence("elapsed_s", elapsed_s)
        .evidence("predicted_s", prediction.elapsed_s)
        .remedy(remedy(change));
    let draft = match change {
        Change::TargetAsPeers { target } | Change::TargetFaster { target, .. } => draft.targets([target.as_str()]),
        Change::NodeAsPeers { node } => draft.nodes([node.as_str()]),
        Change::ClientAsPeers { client } | Change::Writers { client, .. } => draft.clients([client.as_str()]),
        Change::SpreadEvenly | Change::NoLockWaits | Change::FullSize | Change::NoSmall => draft,
    };
    let mut finding = draft.done();
    save(&mut finding, Some(prediction));
    finding
}

/// The change as the beginning of a sentence.
fn otherwise(change: &Change) -> String {
    match change {
        Change::NoLockWaits | Change::NoSmall => change.to_string().replacen("no ", "Without ", 1),
        _ => format!("With {change}"),
    }
}

/// How one gets there.
fn remedy(change: &Change) -> &'static str {
    match change {
        Change::TargetAsPeers { .. } | Change::TargetFaster { .. } => {
            "Look at what that OST's requests wait for: its disks (`iostat -x`), its type (ZFS and ldiskfs differ for small writes)."
        }
        Change::NodeAsPeers { .. } => {
            "Look at what that server's requests wait for: its disks, memory, CPUs, its network link."
        }
        Change::ClientAsPeers { .. } => "Look at that client's network link and load.",
        Change::SpreadEvenly => {
            "Stripe large files over more OSTs: `lfs setstripe -c -1 DIRECTORY`, or `lfs migrate -c -1 FILE`."
        }
        Change::NoLockWaits => {
            "Let each client write objects, or large ranges, of its own: a file per process, or collective buffering."
        }
        Change::FullSize => {
            "Read and write in larger pieces: buffer in the program, collective I/O (`romio_cb_write=enable`), no fsync or O_SYNC after each piece."
        }
        Change::NoSmall => {
            "Collect small reads and writes into large ones: metadata of HDF5 in blocks, buffers in the program."
        }
        Change::Writers { .. } => "Let several clients write, each to objects of its own.",
    }
}

#[cfg(test)]
mod tests {
    use lioprof_model::{CheckResult, VerdictState, WhatIf};

    use super::super::find::find;
    use super::*;

    fn prediction(change: Change, saves_s: f64, saves_s_min: f64) -> Prediction {
        Prediction {
            changes: vec![change],
            elapsed_s: 10.0 - saves_s,
            saves_s,
            saves_s_min,
            saves_s_max: saves_s + 1.0,
        }
    }

    fn found(predictions: Vec<Prediction>) -> Analysis {
        let what_if = WhatIf { elapsed_s: Some(10.0), requests: 9, predictions, ..WhatIf::default() };
        let mut analysis = Analysis { what_if, ..Analysis::default() };
        find(&mut analysis, &Limits::default());
        analysis
    }

    #[test]
    fn what_saves_most_is_told_if_it_saves_a_tenth_for_certain() {
        let client = "10.0.0.1@tcp".to_owned();
        let analysis = found(vec![
            prediction(Change::FullSize, 3.0, 1.1),
            prediction(Change::NoSmall, 2.0, 1.5),
            prediction(Change::SpreadEvenly, 5.0, 0.9),
            prediction(Change::Writers { client, writers: 2 }, 6.0, 4.0),
        ]);
        let faster: Vec<_> = analysis.findings.iter().filter(|finding| finding.id == RULE.id).collect();
        assert_eq!(faster.len(), 1);
        assert_eq!(faster[0].title, "With requests of 1 MiB the same work would take 7 s instead of 10 s");
        assert_eq!((faster[0].severity, faster[0].saves_s), (Severity::Info, Some(3.0)));
        assert_eq!(analysis.verdict.state, VerdictState::CouldBeFaster);
        let says = "With requests of 1 MiB the same work would take 7 s instead of 10 s. A remedy would save about 3 s (1.1 to 4 s). ";
        assert!(analysis.verdict.text.starts_with(says), "{}", analysis.verdict.text);
    }

    #[test]
    fn what_may_save_nothing_is_not() {
        let analysis = found(vec![prediction(Change::FullSize, 3.0, 0.9)]);
        let check = analysis.checks.iter().find(|check| check.id == RULE.id).unwrap();
        assert_eq!(check.result, CheckResult::Healthy);
        assert_ne!(analysis.verdict.state, VerdictState::CouldBeFaster);
    }
}
