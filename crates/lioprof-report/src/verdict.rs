//! What the findings come to, in one sentence.

use lioprof_model::units::plural;
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
    Info,
    /// Looked, and all is well.
    Healthy,
    /// Nobody looked, or nothing could be seen.
    Unknown,
}

pub(crate) fn verdict(analysis: &Analysis) -> Verdict {
    let count = |severity| analysis.findings.iter().filter(|it| it.severity == severity).count() as u64;
    let (critical, warnings, infos) = (count(Severity::Critical), count(Severity::Warning), count(Severity::Info));
    let undecided = analysis.checks.iter().filter(|it| it.result == CheckResult::NotEnoughEvidence).count() as u64;
    let looked = analysis.checks.len() as u64;
    let silent = (undecided > 0).then(|| format!("{} had too little evidence", plural(undecided, "check")));
    // Findings come worst first.
    let worst = analysis.findings.first().filter(|it| it.severity > Severity::Info);
    if let Some(worst) = worst {
        let level = if worst.severity == Severity::Critical { Level::Critical } else { Level::Warning };
        let others = critical + warnings - 1;
        let more = if others > 0 { format!(" And {}.", plural(others, "more problem")) } else { String::new() };
        return Verdict { level, text: format!("{}.{more}", worst.title.trim_end_matches('.')) };
    }
    let (level, text) = match (looked, infos) {
        (0, _) => (Level::Unknown, "Nothing was looked for: this analysis holds figures, but no findings.".to_owned()),
        _ if looked == undecided => {
            (Level::Unknown, format!("Nothing can be said: all {} had too little evidence.", plural(looked, "check")))
        }
        (_, 0) => (Level::Healthy, {
            let found = format!("Nothing wrong was found by {}", plural(looked - undecided, "check"));
            silent.map_or_else(|| format!("{found}."), |silent| format!("{found}; {silent}."))
        }),
        (_, infos) => (Level::Info, format!("Nothing costly was found; {} worth knowing.", plural(infos, "fact"))),
    };
    Verdict { level, text }
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
            (&[Healthy], Level::Healthy),
        ] {
            assert_eq!(verdict(&with_checks(results)).level, level, "{results:?}");
        }
        let text = verdict(&with_checks(&[Healthy, NotEnoughEvidence])).text;
        assert_eq!(text, "Nothing wrong was found by 1 check; 1 check had too little evidence.");
    }
}
