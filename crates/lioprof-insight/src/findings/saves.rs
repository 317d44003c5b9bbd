//! What the run would save without a finding: the prediction of its remedy.

use lioprof_model::{Analysis, Change, Direction, Finding, Prediction};

use super::load::sizes_are_known;

/// Clients in the place of one that does all the work.
const WRITERS: u32 = 2;

/// Remedies of findings that are tried.
const MOST: usize = 12;

/// Writes into each finding what the replay says of its remedy.
pub(super) fn fill(findings: &mut [Finding], analysis: &Analysis) {
    for finding in findings {
        let prediction = remedy(finding, analysis).and_then(|change| analysis.what_if.of(&[change]));
        save(finding, prediction);
    }
}

/// Writes a prediction into a finding.
pub(super) fn save(finding: &mut Finding, prediction: Option<&Prediction>) {
    finding.saves_s = prediction.map(|prediction| prediction.saves_s);
    finding.saves_s_min = prediction.map(|prediction| prediction.saves_s_min);
    finding.saves_s_max = prediction.map(|prediction| prediction.saves_s_max);
}

/// What to predict: the remedies of what is more than a note, then what else may save time, each once.
pub(super) fn worth_trying(analysis: &Analysis, candidates: impl Iterator<Item = Change>) -> Vec<Vec<Change>> {
    // Without the requests in between, nobody knows what a client waited for.
    if !(analysis.selected.opcodes.is_empty() && analysis.selected.targets.is_empty()) {
        return Vec::new();
    }
    let mut changes: Vec<Vec<Change>> = Vec::new();
    for change in told(analysis).take(MOST).chain(candidates) {
        let change = vec![change];
        if !changes.contains(&change) {
            changes.push(change);
        }
    }
    changes
}

/// The remedies of what is more than a note.
pub(super) fn told(analysis: &Analysis) -> impl Iterator<Item = Change> {
    let told = analysis.findings.iter().filter(|finding| finding.is_more_than_a_note());
    told.filter_map(|finding| remedy(finding, analysis))
}

/// What would be otherwise without it; `None` if a replay cannot tell.
fn remedy(finding: &Finding, analysis: &Analysis) -> Option<Change> {
    let client = || finding.clients.first().cloned();
    match finding.id.as_str() {
        "sluggish-ost" => match (finding.targets.as_slice(), finding.nodes.as_slice()) {
            ([target], _) => Some(Change::TargetAsPeers { target: target.clone() }),
            (_, [node]) => Some(Change::NodeAsPeers { node: node.clone() }),
            _ => None,
        },
        // Of a whole network nothing is replayed.
        "slow-client-link" if finding.clients.len() == 1 => Some(Change::ClientAsPeers { client: client()? }),
        "single-writer" => Some(Change::Writers { client: client()?, writers: WRITERS }),
        // Without targets it is the work of clients that is uneven.
        "hot-ost" | "load-imbalance" if !finding.targets.is_empty() => Some(Change::SpreadEvenly),
        "lock-ping-pong" | "many-writers" => Some(Change::NoLockWaits),
        "small-io-between-large" => Some(Change::NoSmall),
        // What requests would carry more is not known where nobody knows what they carry.
        "small-rpcs" | "gapped-rpcs" if Direction::ALL.into_iter().all(|it| sizes_are_known(analysis, it)) => {
            Some(Change::FullSize)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use lioprof_model::{Confidence, Severity};

    use super::*;

    #[test]
    fn a_finding_has_the_prediction_of_its_remedy() {
        let prediction = |change: Change, saves_s: f64| Prediction {
            changes: vec![change],
            elapsed_s: 10.0,
            saves_s,
            saves_s_min: saves_s - 1.0,
            saves_s_max: saves_s + 1.0,
        };
        let mut analysis = Analysis::default();
        let target = "a-OST0001".to_owned();
        analysis.what_if.predictions =
            vec![prediction(Change::NoLockWaits, 3.0), prediction(Change::TargetAsPeers { target }, 20.0)];
        let finding = |id: &str, target: &str| Finding {
            targets: vec![target.to_owned()],
            ..Finding::new(id, Severity::Warning, Confidence::High, id)
        };
        let mut findings = [
            finding("sluggish-ost", "a-OST0001"),
            finding("sluggish-ost", "a-OST0002"),
            finding("lock-ping-pong", "a-OST0001"),
            finding("trace-quality", "a-OST0001"),
        ];
        fill(&mut findings, &analysis);
        let saves = findings.each_ref().map(|finding| finding.saves_s);
        assert_eq!(saves, [Some(20.0), None, Some(3.0), None]);
        assert_eq!((findings[0].saves_s_min, findings[0].saves_s_max), (Some(19.0), Some(21.0)));
    }
}
