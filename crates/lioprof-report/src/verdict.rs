//! How worried to look at the verdict.

use lioprof_model::{Analysis, CheckResult, Severity};
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
    /// Looked, and all is well, or at most worth knowing.
    Healthy,
    /// Nobody looked, or nothing could be seen.
    Unknown,
}

pub(crate) fn verdict(analysis: &Analysis) -> Verdict {
    let judged = analysis.checks.iter().any(|it| it.result != CheckResult::NotEnoughEvidence);
    let level = match analysis.findings.iter().map(|it| it.severity).max() {
        Some(Severity::Critical) => Level::Critical,
        Some(Severity::Warning) => Level::Warning,
        _ if judged => Level::Healthy,
        _ => Level::Unknown,
    };
    Verdict { level, text: lioprof_model::verdict(analysis) }
}

#[cfg(test)]
mod tests {
    use lioprof_model::Check;

    use super::*;

    fn with_checks(results: &[CheckResult]) -> Analysis {
        let check = |&result| Check { id: "x".to_owned(), result, reason: None };
        Analysis { checks: results.iter().map(check).collect(), ..Analysis::default() }
    }

    #[test]
    fn silence_is_only_health_if_somebody_looked() {
        use CheckResult::{Healthy, NotEnoughEvidence};
        for (results, level) in [
            (&[][..], Level::Unknown),
            (&[NotEnoughEvidence, NotEnoughEvidence], Level::Unknown),
            (&[Healthy, NotEnoughEvidence], Level::Healthy),
        ] {
            assert_eq!(verdict(&with_checks(results)).level, level, "{results:?}");
        }
    }
}
