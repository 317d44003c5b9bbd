//! The run of all rules over an analysis, and what it comes to.

use lioprof_model::{Analysis, Check, CheckResult, Finding, Replays};

use super::case::{Case, Nothing, Question, Shared};
use super::limits::Limits;
use super::rank::rank;
use super::registry::{place, rules};
use super::{could_be_faster, judged_time, saves, verdict};

/// Looks for everything and writes findings, worst first, checks, the state of what clients spent their time on, and the verdict into the
/// analysis. What remedies save is taken from the predictions that it holds.
pub fn find(analysis: &mut Analysis, limits: &Limits) {
    look(analysis, limits);
    settle(analysis, limits);
}

/// The same, after replaying the requests with the remedies of what is found, and with whatever else may save time.
pub fn find_and_predict(analysis: &mut Analysis, limits: &Limits, replay: &mut impl Replays) {
    look(analysis, limits);
    let may_save = replay.candidates(could_be_faster::least_share(limits));
    let changes = saves::worth_trying(analysis, may_save.into_iter().filter(could_be_faster::is_told));
    if !changes.is_empty() {
        analysis.what_if = replay.predict(&changes);
        let together = could_be_faster::together(analysis, limits);
        if !together.is_empty() {
            analysis.what_if.predictions.append(&mut replay.predict(&together).predictions);
        }
    }
    settle(analysis, limits);
}

/// All that can be seen without a replay.
fn look(analysis: &mut Analysis, limits: &Limits) {
    (analysis.findings, analysis.checks) = look_for(analysis, limits, |question| question != Question::Faster);
}

fn settle(analysis: &mut Analysis, limits: &Limits) {
    with_findings(analysis, saves::fill);
    let (mut faster, mut checks) = look_for(analysis, limits, |question| question == Question::Faster);
    analysis.findings.append(&mut faster);
    analysis.checks.append(&mut checks);
    with_findings(analysis, |findings, analysis| rank(findings, analysis, place));
    analysis.time_account.all = judged_time::judged(analysis);
    analysis.verdict = verdict::verdict(analysis);
}

/// Changes the findings of an analysis by what else it holds.
fn with_findings(analysis: &mut Analysis, change: impl FnOnce(&mut [Finding], &Analysis)) {
    let mut findings = std::mem::take(&mut analysis.findings);
    change(&mut findings, analysis);
    analysis.findings = findings;
}

fn look_for(analysis: &Analysis, limits: &Limits, is_asked: impl Fn(Question) -> bool) -> (Vec<Finding>, Vec<Check>) {
    let shared = Shared::default();
    let mut findings: Vec<Finding> = Vec::new();
    let mut checks = Vec::new();
    for rule in rules().iter().filter(|rule| is_asked(rule.question)) {
        let (result, reason) = match (rule.look)(&Case { analysis, rule, limits, shared: &shared }) {
            Err(Nothing::NotApplicable(reason)) => (CheckResult::NotApplicable, Some(reason)),
            Err(Nothing::CannotTell(reason)) => (CheckResult::NotEnoughEvidence, Some(reason)),
            Err(Nothing::Healthy) => (CheckResult::Healthy, None),
            Ok(found) if found.is_empty() => (CheckResult::Healthy, None),
            Ok(found) => {
                findings.extend(found);
                (CheckResult::Found, None)
            }
        };
        checks.push(Check { id: rule.id.to_owned(), result, reason, note: rule.note });
    }
    (findings, checks)
}
