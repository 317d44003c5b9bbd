//! The two analyses that are compared.

use lioprof_model::{Analysis, ComparisonRules};

use super::activity::Activity;

/// One analysis, and what is looked up in it again and again.
pub(super) struct Sided<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) activity: Activity,
}

/// Both, and when a change counts.
pub(super) struct Pair<'a> {
    pub(super) before: Sided<'a>,
    pub(super) after: Sided<'a>,
    pub(super) rules: ComparisonRules,
}

impl<'a> Pair<'a> {
    /// The same of both sides.
    pub(super) fn both<T>(&self, of: impl Fn(&Sided<'a>) -> T) -> [T; 2] {
        [of(&self.before), of(&self.after)]
    }
}
