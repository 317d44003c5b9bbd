//! What a rule is, what it gets to look at, and what it may answer.

use std::cell::OnceCell;

use lioprof_model::units::share;
use lioprof_model::{Analysis, Confidence, Direction, Finding, LockObject, Locks, Severity, SpentOn};
use lioprof_stats::Stands;

use super::bottleneck::Bottleneck;
use super::draft::Draft;
use super::limits::{Limit, Limits};
use super::load::{known_share, sizes_are_known};

/// Share of reads and writes that failed from which the others say little of what was wanted.
const FAILED_SHARE: f64 = 0.1;

/// A kind of finding.
pub struct Rule {
    /// Its id, as in `findings[].id`.
    pub id: &'static str,
    /// Which question of the verdict it answers.
    pub(super) question: Question,
    /// What the clients' time goes to because of it. Such time has a cause; other time needs a reason to be as it should be.
    pub(super) explains: &'static [SpentOn],
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

/// What an administrator asks, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Question {
    /// Did anything fail?
    Failure,
    /// Where did the time go, and is that as it should be?
    Time,
    /// What would make it faster? Answered by replays, once the others are.
    Faster,
    /// Can the capture tell? This is of no system's fault.
    Capture,
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

/// What a rule found, worst first; or why it found nothing.
pub(super) type Look = Result<Vec<Finding>, Nothing>;

/// Why nothing was found: a sentence without a full stop, unless all is well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Nothing {
    /// All is well.
    Healthy,
    /// There is nothing that the rule is about, so nothing of the kind can be wrong.
    NotApplicable(String),
    /// It may be so or not; the sentence says what is missing.
    CannotTell(String),
}

impl Nothing {
    pub(super) fn not_applicable(why: impl Into<String>) -> Self {
        Self::NotApplicable(why.into())
    }

    pub(super) fn cannot_tell(why: impl Into<String>) -> Self {
        Self::CannotTell(why.into())
    }

    pub(super) fn healthy_if(all_is_well: bool) -> Result<(), Self> {
        if all_is_well { Err(Self::Healthy) } else { Ok(()) }
    }

    pub(super) fn not_applicable_if(out_of_place: bool, why: impl Into<String>) -> Result<(), Self> {
        if out_of_place { Err(Self::not_applicable(why)) } else { Ok(()) }
    }

    pub(super) fn cannot_tell_if(unclear: bool, why: impl Into<String>) -> Result<(), Self> {
        if unclear { Err(Self::cannot_tell(why)) } else { Ok(()) }
    }

    /// Nothing unless a figure is above its limit for certain; `why` it may be or not.
    pub(super) fn unless_above(figure: Stands, why: impl FnOnce() -> String) -> Result<(), Self> {
        match figure {
            Stands::Above => Ok(()),
            Stands::Below => Err(Self::Healthy),
            Stands::Undecided => Err(Self::cannot_tell(why())),
        }
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
    pub(super) fn bottleneck(&self) -> Result<&'a Bottleneck<'a>, Nothing> {
        let figures = self.shared.bottleneck.get_or_init(|| Bottleneck::of(self.analysis));
        if figures.is_none() {
            self.data_were_moved()?;
        }
        figures.as_ref().ok_or_else(|| Nothing::cannot_tell("no reads or writes of known OSTs"))
    }

    /// Locks, if somebody looked at them.
    pub(super) fn locks(&self) -> Result<&'a Locks, Nothing> {
        self.analysis.locks.as_ref().ok_or_else(|| Nothing::cannot_tell("locks were not looked at (--no-locks)"))
    }

    /// Whether a client that counts has locked an object. Locks are those of all clients, whatever was selected: it takes two to fight.
    pub(super) fn is_of_selected(&self, object: &LockObject) -> bool {
        let counts = |nid: &String| self.analysis.clients.iter().any(|client| client.nid == *nid);
        !self.analysis.selected.leaves_out_clients() || object.clients.iter().any(counts)
    }

    /// An error if the OST of most reads and writes is not known.
    pub(super) fn osts_are_known(&self) -> Result<(), Nothing> {
        let unknown = known_share(self.analysis) < 0.5;
        Nothing::cannot_tell_if(unknown, "the OST of most reads and writes is unknown (mask dlmtrace)")
    }

    /// An error if there are no reads or writes at all.
    pub(super) fn data_were_moved(&self) -> Result<(), Nothing> {
        let totals = &self.analysis.totals;
        Nothing::not_applicable_if(totals.read.rpcs + totals.write.rpcs == 0, "nothing was read or written on OSTs")
    }

    /// An error if so many reads and writes failed that those that did not say little of what was wanted.
    pub(super) fn most_succeeded(&self) -> Result<(), Nothing> {
        let totals = &self.analysis.totals;
        let (failed, all) = (totals.read.errors + totals.write.errors, totals.read.rpcs + totals.write.rpcs);
        Nothing::cannot_tell_if(
            share(failed, all) >= FAILED_SHARE,
            format!("{failed} of {all} reads and writes failed: what they would have moved, and where, is not known"),
        )
    }

    /// An error if some OSTs were left out by the user: then those that are there cannot be held against the others.
    pub(super) fn all_osts(&self) -> Result<(), Nothing> {
        let left_out = !self.analysis.selected.targets.is_empty();
        Nothing::cannot_tell_if(
            left_out,
            "only some targets were selected (--target), so there is nothing to compare them with",
        )
    }

    /// An error if some clients, or what they do, were left out by the user.
    pub(super) fn all_clients(&self) -> Result<(), Nothing> {
        let left_out = self.analysis.selected.leaves_out_clients();
        Nothing::cannot_tell_if(
            left_out,
            "what other clients and jobs do was left out (--client, --job, --opcode), so there is nothing to compare with",
        )
    }

    /// An error if the sizes of requests are known within a factor of two only.
    pub(super) fn sizes_are_known(&self, direction: Direction) -> Result<(), Nothing> {
        let unknown = !sizes_are_known(self.analysis, direction);
        Nothing::cannot_tell_if(
            unknown,
            format!("the sizes of {} are known within wide bounds only (mask net)", direction.requests()),
        )
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

impl Draft {
    /// The only finding of its rule.
    pub(super) fn alone(self) -> Look {
        Ok(vec![self.done()])
    }
}
