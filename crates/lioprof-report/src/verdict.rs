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
    /// Nothing is wrong, and something would save time.
    Info,
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
        (_, VerdictState::CouldBeFaster) => Level::Info,
        (_, VerdictState::NoProblem) => Level::Healthy,
        _ => Level::Unknown,
    };
    Verdict { level, text: analysis.verdict.text.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_only_health_if_somebody_looked() {
        for (state, severity, level) in [
            (VerdictState::CannotTell, None, Level::Unknown),
            (VerdictState::NoProblem, Some(Severity::Info), Level::Healthy),
            (VerdictState::CouldBeFaster, Some(Severity::Info), Level::Info),
            (VerdictState::Cause, Some(Severity::Warning), Level::Warning),
            (VerdictState::Failed, Some(Severity::Critical), Level::Critical),
            // Only the capture is to blame.
            (VerdictState::CannotTell, Some(Severity::Critical), Level::Critical),
        ] {
            let mut analysis = Analysis::default();
            analysis.verdict.state = state;
            let of = |severity| lioprof_model::Finding { severity, ..lioprof_model::Finding::default() };
            analysis.findings = severity.map(of).into_iter().collect();
            assert_eq!(verdict(&analysis).level, level, "{state:?}, {severity:?}");
        }
    }
}
