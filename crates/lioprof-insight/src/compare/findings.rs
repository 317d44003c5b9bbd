//! Findings that came and went.

use lioprof_model::{Analysis, CheckResult, Finding, FindingChange, FindingChanges, FindingPair};

/// Pairs findings of the same kind: first those about the same targets and objects, then in the order of their rank.
pub(super) fn changes(before: &Analysis, after: &Analysis) -> FindingChanges {
    let mut left: Vec<Option<&Finding>> = after.findings.iter().map(Some).collect();
    let mut partners: Vec<Option<&Finding>> = vec![None; before.findings.len()];
    let alike: [fn(&Finding, &Finding) -> bool; 2] =
        [|a, b| a.id == b.id && a.targets == b.targets && a.objects == b.objects, |a, b| a.id == b.id];
    for same in alike {
        for (finding, partner) in before.findings.iter().zip(&mut partners).filter(|(_, partner)| partner.is_none()) {
            let free = left.iter_mut().find(|other| other.is_some_and(|other| same(finding, other)));
            *partner = free.and_then(Option::take);
        }
    }
    let mut changes = FindingChanges::default();
    for (finding, partner) in before.findings.iter().zip(partners) {
        match partner {
            Some(after) => changes.kept.push(FindingPair { before: finding.clone(), after: after.clone() }),
            None => changes.lost.push(change(finding, after)),
        }
    }
    changes.gained = left.into_iter().flatten().map(|finding| change(finding, before)).collect();
    changes
}

fn change(finding: &Finding, other: &Analysis) -> FindingChange {
    let check = other.checks.iter().find(|check| check.id == finding.id);
    let (other, other_reason) = if is_elsewhere(finding, other) {
        (Some(CheckResult::NotApplicable), Some("none of its targets is in that capture".to_owned()))
    } else {
        (check.map(|check| check.result), check.and_then(|check| check.reason.clone()))
    };
    FindingChange { finding: finding.clone(), other, other_reason }
}

/// Whether it is about targets that the other side does not have: a server's log is missing, or they were left out.
fn is_elsewhere(finding: &Finding, other: &Analysis) -> bool {
    let has = |name: &String| other.targets.iter().any(|target| target.name == *name);
    !finding.targets.is_empty() && !finding.targets.iter().any(has)
}
