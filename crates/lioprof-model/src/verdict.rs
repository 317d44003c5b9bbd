//! The verdict on an analysis.

use crate::analysis::Analysis;
use crate::findings::{CheckResult, Severity};
use crate::units::plural;

/// Sums up the analysis in one sentence: the worst finding, or that there is none.
#[must_use]
pub fn verdict(analysis: &Analysis) -> String {
    let count = |severity| analysis.findings.iter().filter(|finding| finding.severity == severity).count() as u64;
    let (critical, warnings) = (count(Severity::Critical), count(Severity::Warning));
    if let Some(first) = analysis.findings.first().filter(|first| first.severity > Severity::Info) {
        let more = match critical + warnings - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        return format!("{}{more}.", first.title);
    }
    if analysis.sent_by_clients().is_some() {
        return "There is no log of a server: what clients sent is told, and nothing judged.".to_owned();
    }
    let result = |result| analysis.checks.iter().filter(|check| check.result == result).count() as u64;
    let unknown = result(CheckResult::NotEnoughEvidence);
    let looked = analysis.checks.len() as u64 - unknown;
    if looked == 0 {
        return "Not enough I/O in the capture to judge.".to_owned();
    }
    let rest = if unknown == 0 { String::new() } else { format!("; {unknown} could not be judged") };
    format!("Nothing wrong found by {}{rest}.", plural(looked, "check"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Check, Confidence, Finding};

    fn check(result: CheckResult) -> Check {
        Check { id: "a".to_owned(), result, reason: None }
    }

    fn finding(severity: Severity, title: &str) -> Finding {
        Finding::new("a", severity, Confidence::High, title)
    }

    #[test]
    fn the_verdict_is_the_worst_finding() {
        let mut analysis = Analysis::default();
        assert_eq!(verdict(&analysis), "Not enough I/O in the capture to judge.");
        analysis.checks = vec![check(CheckResult::Healthy), check(CheckResult::NotEnoughEvidence)];
        assert_eq!(verdict(&analysis), "Nothing wrong found by 1 check; 1 could not be judged.");
        analysis.findings = vec![finding(Severity::Info, "A note")];
        assert!(verdict(&analysis).starts_with("Nothing wrong"));
        analysis.findings.insert(0, finding(Severity::Warning, "Reads are slow"));
        assert_eq!(verdict(&analysis), "Reads are slow.");
        analysis.findings.insert(0, finding(Severity::Critical, "Clients fight"));
        assert_eq!(verdict(&analysis), "Clients fight (and 1 more).");
    }
}
