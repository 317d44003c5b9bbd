//! The verdict on an analysis.

use crate::analysis::{Analysis, Format, Input};
use crate::findings::{Check, CheckResult, Severity};
use crate::units::plural;

/// What an analysis says of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// A cause is found; this is how serious the worst one is.
    CauseFound(Severity),
    /// All checks that the workload allows were made, and found nothing.
    NothingWrong,
    /// No cause is found, but something that could be wrong could not be checked.
    CannotTell,
}

/// Judges the analysis. That nothing is wrong is a claim, too: it takes the answers of all checks.
#[must_use]
pub fn judge(analysis: &Analysis) -> Judgement {
    let worst = analysis.findings.iter().map(|finding| finding.severity).max();
    match worst.filter(|severity| *severity > Severity::Info) {
        Some(severity) => Judgement::CauseFound(severity),
        None if !was_checked(analysis) || undecided(analysis).next().is_some() => Judgement::CannotTell,
        None => Judgement::NothingWrong,
    }
}

/// Whether any check had something to look at.
fn was_checked(analysis: &Analysis) -> bool {
    let is_answer = |check: &Check| matches!(check.result, CheckResult::Found | CheckResult::Healthy);
    !only_events(analysis) && analysis.checks.iter().any(|check| is_answer(check) && !check.note)
}

/// Whether no request is there to be judged, but events are.
fn only_events(analysis: &Analysis) -> bool {
    analysis.totals.rpcs == 0 && !analysis.events.is_empty()
}

/// Checks whose answer is missing for saying that nothing is wrong.
fn undecided(analysis: &Analysis) -> impl Iterator<Item = &Check> {
    analysis.checks.iter().filter(|check| check.result == CheckResult::NotEnoughEvidence && !check.note)
}

/// Sums up the analysis in one sentence: the worst finding, that nothing is wrong, or what is missing to say so.
#[must_use]
pub fn verdict(analysis: &Analysis) -> String {
    let count = |severity| analysis.findings.iter().filter(|finding| finding.severity == severity).count() as u64;
    if let (Judgement::CauseFound(_), Some(first)) = (judge(analysis), analysis.findings.first()) {
        let more = match count(Severity::Critical) + count(Severity::Warning) - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let saves = first.saves_in_words().map(|saves| format!(" A remedy {saves}.")).unwrap_or_default();
        return format!("{}{more}.{saves}", first.title);
    }
    if analysis.sent_by_clients().is_some() {
        return "There is no log of a server: what clients sent is told, and nothing judged.".to_owned();
    }
    let is_kernel_log = |input: &Input| input.format == Format::KernelLog;
    if !analysis.inputs.is_empty() && analysis.inputs.iter().all(is_kernel_log) {
        let events = analysis.events.len() as u64;
        return format!("No debug log, but a kernel log: {} told, no requests to judge.", plural(events, "event"));
    }
    if only_events(analysis) {
        return "No requests to judge: the log tells of events only.".to_owned();
    }
    if !was_checked(analysis) {
        return "Not enough I/O in the capture to judge.".to_owned();
    }
    let open = undecided(analysis).count() as u64;
    match undecided(analysis).next() {
        None => {
            let made = analysis.checks.iter().filter(|check| check.result == CheckResult::Healthy).count() as u64;
            format!("Nothing is wrong: {} found nothing.", plural(made, "check"))
        }
        Some(Check { id, reason, .. }) => format!(
            "Cannot tell whether something is wrong: no cause is found, but {} without an answer. {id}: {}.",
            if open == 1 { "1 check is".to_owned() } else { format!("{open} checks are") },
            reason.as_deref().unwrap_or("not enough evidence"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Confidence, Finding};

    fn check(result: CheckResult) -> Check {
        Check { id: "a".to_owned(), result, reason: Some("no log".to_owned()), note: false }
    }

    fn finding(severity: Severity, title: &str) -> Finding {
        Finding::new("a", severity, Confidence::High, title)
    }

    #[test]
    fn the_verdict_is_the_worst_finding() {
        let mut analysis = Analysis::default();
        assert_eq!(verdict(&analysis), "Not enough I/O in the capture to judge.");
        analysis.checks = vec![check(CheckResult::Healthy), check(CheckResult::NotEnoughEvidence)];
        assert_eq!(
            verdict(&analysis),
            "Cannot tell whether something is wrong: no cause is found, but 1 check is without an answer. a: no log."
        );
        assert_eq!(judge(&analysis), Judgement::CannotTell);
        // What is only worth knowing may stay open.
        analysis.checks[1].note = true;
        assert_eq!(verdict(&analysis), "Nothing is wrong: 1 check found nothing.");
        analysis.checks[1] = check(CheckResult::NotApplicable);
        assert_eq!(judge(&analysis), Judgement::NothingWrong);
        // Nothing but notes is no judgement.
        analysis.checks[0].note = true;
        assert_eq!(judge(&analysis), Judgement::CannotTell);
        analysis.checks[0].note = false;
        analysis.findings = vec![finding(Severity::Info, "A note")];
        assert_eq!(judge(&analysis), Judgement::NothingWrong);
        analysis.findings.insert(0, finding(Severity::Warning, "Reads are slow"));
        assert_eq!(verdict(&analysis), "Reads are slow.");
        analysis.findings.insert(0, finding(Severity::Critical, "Clients fight"));
        assert_eq!(verdict(&analysis), "Clients fight (and 1 more).");
        let first = &mut analysis.findings[0];
        (first.saves_s, first.saves_s_min, first.saves_s_max) = (Some(28.77), Some(-1.0), Some(33.2));
        assert_eq!(verdict(&analysis), "Clients fight (and 1 more). A remedy would save 28.8 s (0 to 33.2 s).");
    }
}
