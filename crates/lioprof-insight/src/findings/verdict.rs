//! The verdict: did anything fail, where did the time go, what would make it faster.

use lioprof_model::units::{percent, plural, share};
use lioprof_model::{Analysis, Check, CheckResult, Finding, SpentOn, SpentState, TimeSpent, Verdict, VerdictState};

use super::case::Question;
use super::metadata_bound::{self, HOG};
use super::registry::question;

/// From this share of the clients' time on it is said that it passed elsewhere.
const ELSEWHERE: f64 = 0.2;

/// Sums up the findings, the checks and the account of an analysis.
#[must_use]
pub fn verdict(analysis: &Analysis) -> Verdict {
    let told: Vec<&Finding> = analysis.findings.iter().filter(|it| it.is_more_than_a_note()).collect();
    let answers = |wanted| told.iter().any(|finding| question(&finding.id) == Some(wanted));
    let state = if answers(Question::Failure) {
        VerdictState::Failed
    } else if answers(Question::Time) {
        VerdictState::Cause
    } else if !told.is_empty() {
        // Only the capture is to blame.
        VerdictState::CannotTell
    } else {
        return without_cause(analysis);
    };
    let more = match told.len() - 1 {
        0 => String::new(),
        1 => " There is one more finding.".to_owned(),
        more => format!(" There are {more} more findings."),
    };
    Verdict { state, text: format!("{}.{}{more}", told[0].title, saves(told[0])), findings: kinds(&told) }
}

fn kinds(findings: &[&Finding]) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    for finding in findings {
        if !kinds.contains(&finding.id) {
            kinds.push(finding.id.clone());
        }
    }
    kinds
}

fn saves(finding: &Finding) -> String {
    finding.saves_in_words().map(|saves| format!(" A remedy {saves}.")).unwrap_or_default()
}

/// Nothing above a note is found: that nothing is wrong is a claim, too, and takes the answers of all checks, and a reason for where the
/// time went.
fn without_cause(analysis: &Analysis) -> Verdict {
    let faster = |finding: &&Finding| question(&finding.id) == Some(Question::Faster);
    let (state, text) = match nothing_to_judge(analysis).or_else(|| open(analysis)) {
        Some(text) => (VerdictState::CannotTell, text),
        None => (VerdictState::NoProblem, no_problem(analysis)),
    };
    match analysis.findings.iter().find(faster) {
        Some(finding) => Verdict {
            state: VerdictState::CouldBeFaster,
            text: format!("{}.{} {text}", finding.title, saves(finding)),
            findings: kinds(&[finding]),
        },
        None => Verdict { state, text, findings: Vec::new() },
    }
}

fn no_problem(analysis: &Analysis) -> String {
    let made = analysis.checks.iter().filter(|check| check.result == CheckResult::Healthy).count() as u64;
    let elsewhere = analysis.time_account.all.as_ref().map_or(0.0, |all| all.share_on(SpentOn::Nothing));
    let outside = if elsewhere >= ELSEWHERE {
        format!(" For {} of their time the clients had no request at these servers.", percent(elsewhere, 0))
    } else {
        String::new()
    };
    format!("No problem found ({}).{outside}{}", plural(made, "check"), hog(analysis))
}

/// Who sends most requests to MDTs, where these are most of all there are: worth knowing even if nobody waits for it.
fn hog(analysis: &Analysis) -> String {
    let all = metadata_bound::rpcs_of(analysis, |_| true);
    let rpcs = metadata_bound::rpcs_of(analysis, metadata_bound::is_metadata);
    let hog = metadata_bound::most(analysis, HOG).filter(|_| share(rpcs, all) >= HOG);
    hog.map(|hog| format!(" {} of {all} requests are for metadata, {}.", rpcs, hog.in_words())).unwrap_or_default()
}

/// Why there is nothing to judge.
fn nothing_to_judge(analysis: &Analysis) -> Option<String> {
    if analysis.sent_by_clients().is_some() {
        return Some("There is no log of a server: what clients sent is told, and nothing judged.".to_owned());
    }
    if analysis.only_kernel_logs() {
        let events = plural(analysis.events.len() as u64, "event");
        return Some(format!("No debug log, but a kernel log: {events} told, no requests to judge."));
    }
    if analysis.totals.rpcs == 0 && !analysis.events.is_empty() {
        return Some("No requests to judge: the log tells of events only.".to_owned());
    }
    let is_answer = |check: &Check| matches!(check.result, CheckResult::Found | CheckResult::Healthy) && !check.note;
    let was_checked = analysis.checks.iter().any(is_answer);
    (!was_checked).then(|| "Not enough I/O in the capture to judge.".to_owned())
}

/// What cannot be told: checks, and where the time went.
fn open(analysis: &Analysis) -> Option<String> {
    let cannot = "Cannot tell whether something is wrong:";
    let checks = analysis.checks.iter().filter(|check| !check.note);
    let mut undecided = checks.filter_map(|check| Some((&check.id, check.without_answer()?)));
    if let Some((id, reason)) = undecided.next() {
        let unmade = plural(1 + undecided.count() as u64, "check");
        return Some(format!("{cannot} {unmade} could not be made. {id}: {reason}."));
    }
    let all = analysis.time_account.all.as_ref()?;
    let unknown = |spent: &&TimeSpent| spent.state == Some(SpentState::CannotTell);
    let spent = all.spent.iter().find(unknown)?;
    let (of_time, what) = (percent(share(spent.us, all.span_us), 0), spent.description());
    let reason = spent.reason.as_deref().unwrap_or("the log does not show why");
    Some(format!("{cannot} {of_time} of the clients' time has no explanation ({what}): {reason}."))
}

#[cfg(test)]
mod tests {
    use lioprof_model::{Confidence, Severity, TimeAccount, TimeOf};

    use super::*;

    fn check(result: CheckResult) -> Check {
        Check { id: "a".to_owned(), result, reason: Some("no log".to_owned()), note: false }
    }

    fn finding(id: &str, severity: Severity, title: &str) -> Finding {
        Finding::new(id, severity, Confidence::High, title)
    }

    fn says(analysis: &Analysis, state: VerdictState, text: &str) {
        let verdict = verdict(analysis);
        assert_eq!((verdict.state, &*verdict.text), (state, text));
    }

    #[test]
    fn that_nothing_is_wrong_takes_all_answers() {
        let mut analysis = Analysis::default();
        says(&analysis, VerdictState::CannotTell, "Not enough I/O in the capture to judge.");
        analysis.checks = vec![check(CheckResult::Healthy), check(CheckResult::NotEnoughEvidence)];
        says(
            &analysis,
            VerdictState::CannotTell,
            "Cannot tell whether something is wrong: 1 check could not be made. a: no log.",
        );
        // What is only worth knowing may stay open.
        analysis.checks[1].note = true;
        says(&analysis, VerdictState::NoProblem, "No problem found (1 check).");
        analysis.checks[1] = check(CheckResult::NotApplicable);
        says(&analysis, VerdictState::NoProblem, "No problem found (1 check).");
        // Nothing but notes is no judgement.
        analysis.checks[0].note = true;
        says(&analysis, VerdictState::CannotTell, "Not enough I/O in the capture to judge.");
        analysis.checks[0].note = false;
        analysis.findings = vec![finding("client-bound", Severity::Info, "A note")];
        says(&analysis, VerdictState::NoProblem, "No problem found (1 check).");
    }

    #[test]
    fn time_without_an_explanation_is_no_health() {
        let queue =
            |state, us| TimeSpent { state: Some(state), ..TimeSpent::new(SpentOn::Queue, None, "oss1".to_owned(), us) };
        let of = |spent: Vec<TimeSpent>| {
            let all = TimeOf { span_us: 100, spent, ..TimeOf::default() };
            let time_account = TimeAccount { all: Some(all), ..TimeAccount::default() };
            Analysis { checks: vec![check(CheckResult::Healthy)], time_account, ..Analysis::default() }
        };
        let nothing = TimeSpent::new(SpentOn::Nothing, None, String::new(), 60);
        says(
            &of(vec![queue(SpentState::CannotTell, 40), nothing.clone()]),
            VerdictState::CannotTell,
            "Cannot tell whether something is wrong: 40 % of the clients' time has no explanation (queued on oss1): \
             the log does not show why.",
        );
        says(
            &of(vec![queue(SpentState::AsItShouldBe, 40), nothing]),
            VerdictState::NoProblem,
            "No problem found (1 check). For 60 % of their time the clients had no request at these servers.",
        );
    }

    #[test]
    fn what_failed_comes_before_what_is_slow() {
        let mut analysis = Analysis {
            findings: vec![finding("small-rpcs", Severity::Warning, "Writes are small")],
            ..Analysis::default()
        };
        says(&analysis, VerdictState::Cause, "Writes are small.");
        analysis.findings.insert(0, finding("evictions", Severity::Critical, "A client was evicted"));
        says(&analysis, VerdictState::Failed, "A client was evicted. There is one more finding.");
        assert_eq!(verdict(&analysis).findings, ["evictions", "small-rpcs"]);
        let first = &mut analysis.findings[0];
        (first.saves_s, first.saves_s_min, first.saves_s_max) = (Some(28.77), Some(-1.0), Some(33.2));
        let text = "A client was evicted. A remedy may save up to 33 s. There is one more finding.";
        says(&analysis, VerdictState::Failed, text);
        // A capture that lost half of it proves nothing.
        analysis.findings = vec![finding("trace-quality", Severity::Critical, "32 % are lost")];
        says(&analysis, VerdictState::CannotTell, "32 % are lost.");
    }
}
