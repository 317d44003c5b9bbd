//! The two analyses that are compared.

use lioprof_model::{Analysis, ComparisonRules};

use super::activity::Activity;
use super::figure::{Draft, Drafts, Measured};
use super::requests::Requests;

/// One analysis, and what is looked up in it again and again.
pub(super) struct Sided<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) activity: Activity,
    pub(super) requests: Requests<'a>,
    /// How slow reads and writes cluster in time, see [`clustering`](super::totals::clustering).
    pub(super) clustering: [[f64; 3]; 2],
}

/// Both, and when a change counts.
pub(super) struct Pair<'a> {
    pub(super) before: Sided<'a>,
    pub(super) after: Sided<'a>,
    pub(super) rules: ComparisonRules,
    /// Both are the same capture: chance has no part in what differs, since nothing does.
    pub(super) is_itself: bool,
}

impl<'a> Pair<'a> {
    /// The same of both sides.
    pub(super) fn both<T>(&self, of: impl Fn(&Sided<'a>) -> T) -> [T; 2] {
        [of(&self.before), of(&self.after)]
    }

    /// The figures, exact if both sides are the same capture.
    pub(super) fn settled(&self, drafts: Drafts) -> Drafts {
        let exact = |draft: Draft| Draft { sides: draft.sides.map(|side| Measured::exact(side.value)), ..draft };
        if self.is_itself { drafts.into_iter().map(|(name, draft)| (name, exact(draft))).collect() } else { drafts }
    }
}
