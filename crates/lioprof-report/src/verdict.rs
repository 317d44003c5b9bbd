//! How worried to look at the verdict.

use lioprof_model::{Analysis, Severity, VerdictState};
use serde::Serialize;

/// The sentence, and how worried to look.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Verdict {
    pub(crate) level: Level,
    pub(crate) text: String,
}

/// How worried to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Critical,
    Warning,
    /// All that could be wrong was looked at, and is at most worth knowing.
    Healthy,
    /// Nobody looked, nothing could be seen, or a check that matters has no answer.
    Unknown,
}

pub(crate) fn verdict(analysis: &Analysis) -> Verdict {
    let worst = analysis.findings.iter().map(|finding| finding.severity).max();
    let level = match (worst, analysis.verdict.state) {
        (Some(Severity::Critical), _) => Level::Critical,
        (Some(Severity::Warning), _) => Level::Warning,
        (_, VerdictState::NoProblem | VerdictState::CouldBeFaster) => Level::Healthy,
        _ => Level::Unknown,
    };
    Verdict { level, text: analysis.verdict.text.clone() }
}

#[cfg(test)]
mod tests {
    use lioprof_model::{Check, CheckResult};

    use super::*;

    fn with_checks(results: &[CheckResult]) -> Analysis {
        let check = |&result| Check { id: "x".to_owned(), result, reason: None, note: false };
        Analysis { checks: results.iter().map(check).collect(), ..Analysis::default() }
    }

    #[test]
    fn silence_is_only_health_if_somebody_looked() {
        use CheckResult::{Healthy, NotApplicable, NotEnoughEvidence};
        for (results, level) in [
            (&[][..], Level::Unknown),
            (&[NotEnoughEvidence, NotEnoughEvidence], Level::Unknown),
            (&[Healthy, NotEnoughEvidence], Level::Unknown),
            (&[Healthy, NotApplicable], Level::Healthy),
        ] {
            assert_eq!(verdict(&with_checks(results)).level, level, "{results:?}");
        }
    }
}
