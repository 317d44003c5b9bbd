//! What a rule is, what it gets to look at, and what it may answer.

use std::cell::OnceCell;

use lioprof_model::{Analysis, Confidence, Finding, Locks, Severity};

use super::bottleneck::Bottleneck;
use super::draft::Draft;
use super::limits::{Limit, Limits};
use super::load::known_share;

/// A kind of finding.
pub struct Rule {
    /// Its id, as in `findings[].id`.
    pub id: &'static str,
    /// What it means, in one sentence without a full stop.
    pub meaning: &'static str,
    /// What it holds figures against.
    pub limits: &'static [Limit],
    /// The plots that show it, by name, best first.
    pub plots: &'static [&'static str],
    /// It finds what is at most worth knowing, nothing that is wrong.
    pub note: bool,
    pub(super) look: fn(&Case<'_>) -> Look,
}

impl Rule {
    /// A threshold as users name it: `rule.name`.
    pub(super) fn full_name(&self, limit: &Limit) -> String {
        format!("{}.{}", self.id, limit.name)
    }

    fn declared(&self, name: &str) -> &'static Limit {
        let limit = self.limits.iter().find(|limit| limit.name == name);
        limit.unwrap_or_else(|| unreachable!("rule {} declares no limit {name}", self.id))
    }
}

/// What a rule found, worst first; nothing if all is well. Or why there is no answer.
pub(super) type Look = Result<Vec<Finding>, NoAnswer>;

/// Why a rule has no answer: a sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// There is nothing that the rule is about, so nothing of the kind can be wrong.
    NotApplicable(String),
    /// It may be so or not; the sentence says what is missing.
    CannotTell(String),
}

impl NoAnswer {
    pub(super) fn not_applicable(why: impl Into<String>) -> Self {
        Self::NotApplicable(why.into())
    }

    pub(super) fn cannot_tell(why: impl Into<String>) -> Self {
        Self::CannotTell(why.into())
    }
}

/// An analysis before a rule.
pub(super) struct Case<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) rule: &'static Rule,
    pub(super) limits: &'a Limits,
    pub(super) shared: &'a Shared<'a>,
}

/// What several rules need to know, worked out once.
#[derive(Default)]
pub(super) struct Shared<'a> {
    bottleneck: OnceCell<Option<Bottleneck<'a>>>,
}

impl<'a> Case<'a> {
    /// Where reads and writes spend their time.
    pub(super) fn bottleneck(&self) -> Result<&'a Bottleneck<'a>, NoAnswer> {
        let figures = self.shared.bottleneck.get_or_init(|| Bottleneck::of(self.analysis));
        figures.as_ref().ok_or_else(|| self.too_few_of("no reads or writes of known OSTs"))
    }

    /// Locks, if somebody looked at them.
    pub(super) fn locks(&self) -> Result<&'a Locks, NoAnswer> {
        self.analysis.locks.as_ref().ok_or_else(|| NoAnswer::cannot_tell("locks were not looked at (--no-locks)"))
    }

    /// An error if the OST of most reads and writes is not known.
    pub(super) fn osts_are_known(&self) -> Result<(), NoAnswer> {
        let known = known_share(self.analysis) >= 0.5;
        known
            .then_some(())
            .ok_or_else(|| NoAnswer::cannot_tell("the OST of most reads and writes is unknown (mask dlmtrace)"))
    }

    /// Of reads and writes there are too few, or none at all.
    pub(super) fn too_few_of(&self, why: &str) -> NoAnswer {
        let totals = &self.analysis.totals;
        if totals.read.rpcs + totals.write.rpcs == 0 {
            NoAnswer::not_applicable("nothing was read or written on OSTs")
        } else {
            NoAnswer::cannot_tell(why)
        }
    }

    /// The value of one of the rule's thresholds.
    pub(super) fn limit(&self, name: &str) -> f64 {
        self.limits.get(self.rule.id, self.rule.declared(name))
    }

    /// A finding of this rule, to be filled. `title`: one sentence with the decisive figure, without a full stop.
    pub(super) fn finding(&self, severity: Severity, confidence: Confidence, title: impl Into<String>) -> Draft {
        let Self { rule, limits, .. } = self;
        let threshold = |limit: &Limit| (rule.full_name(limit), limits.get(rule.id, limit));
        let finding = Finding {
            thresholds: rule.limits.iter().map(threshold).collect(),
            plot: rule.plots.first().map(|&plot| plot.to_owned()),
            ..Finding::new(rule.id, severity, confidence, title)
        };
        Draft::new(finding, rule.plots)
    }
}
